"""Checks that a set of instructions gives one result: emitted OpenMP kernels are compiled by each compiler at -O0, -O2
and -O3, some with -ffp-contract=off and =fast and with flags that give a set, too, and called with the same numbers. What
each set gave must be the same bytes, whatever compiled it.

usage: bits.py [GENERATED]"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
import this_machine  # noqa: E402

# In f32, f64 and bf16: maps, folds along rows and columns, scans, products of matrices, maths.
KERNELS = ["norm/softmax", "norm/layer_norm", "norm/rms_norm", "norm/log_softmax", "loss/cosine_similarity",
           "loss/kl_divergence", "loss/huber_loss", "matmul/matmul", "scan/linear_recurrence", "reduce/mean_variance",
           "giou/giou_planes", "elementwise/muladd"]
CONTRACTED = ["norm/softmax", "norm/layer_norm", "matmul/matmul", "giou/giou_planes"]
SETS = {"baseline": "", "avx2": " avx2 ", "avx512": " avx512vl ", "avx512_bf16": " avx512_bf16 "}
GIVEN = {"-march=x86-64-v3": "avx2", "-march=x86-64-v4": "avx512"}  # flags, and the least set that they compile
COMPILERS = ["g++", *filter(None, [shutil.which("clang++-19")])]


def here():
    """The sets that this machine runs."""
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return [name for name, flag in SETS.items() if flag in flags]


def all_builds():
    """(compiler, flags, kernels)"""
    for compiler in COMPILERS:
        for level in "-O0", "-O2", "-O3":
            yield compiler, [level], KERNELS
        for contract in "off", "fast":
            yield compiler, ["-O3", f"-ffp-contract={contract}"], CONTRACTED
        for given, least in GIVEN.items():
            if least in here():
                yield compiler, ["-O2", given], CONTRACTED


def build(folder, number, generated, compiler, flags, kernels):
    """The library of them, and their headers."""
    command = [*(["ccache"] if shutil.which("ccache") else []), compiler, "-std=c++17", *flags, *this_machine.LEFT_OUT, "-fPIC"]
    objects = []
    for kernel in kernels:
        objects.append(folder / f"{number}_{kernel.replace('/', '_')}.o")
        subprocess.run([*command, "-c", generated / f"{kernel}_openmp.cpp", "-o", objects[-1]], check=True,
                       env={**os.environ, "CCACHE_BASEDIR": str(ROOT)})
    library = folder / f"{number}.so"
    subprocess.run([compiler, "-shared", *objects, "-o", library], check=True)
    return library, [generated / f"{kernel}.h" for kernel in kernels]


def results(library, headers, name):
    """What each function gives with this set."""
    done = subprocess.run([sys.executable, ROOT / "tests/bits/call.py", library, *headers], check=True, text=True,
                          capture_output=True, env={**os.environ, "KGEN_ISA": name})
    lines = [line.split() for line in done.stdout.splitlines()]
    assert all(taken == name for _, taken, _ in lines), (name, lines)
    return {function: given for function, _, given in lines}


def main():
    generated = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "generated").resolve()
    known, compared, wrong = {}, 0, []
    with tempfile.TemporaryDirectory() as made, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        every = list(all_builds())
        libraries = workers.map(lambda job: build(pathlib.Path(made), job[0], generated, *job[1]), enumerate(every))
        for (compiler, flags, _), (library, headers) in zip(every, libraries):
            least = next((GIVEN[flag] for flag in flags if flag in GIVEN), "baseline")
            for name in here()[here().index(least):]:
                for function, given in results(library, headers, name).items():
                    first, by = known.setdefault((name, function), (given, f"{compiler} {' '.join(flags)}"))
                    compared += 1
                    if given != first:
                        wrong.append(f"{function}, {name}: {compiler} {' '.join(flags)} gives other bits than {by}")
    print("\n".join(wrong))
    print(f"{compared} results, {len(known)} functions and sets, {len(wrong)} with other bits")
    return 1 if wrong or compared < 2 * len(known) else 0


if __name__ == "__main__":
    sys.exit(main())
