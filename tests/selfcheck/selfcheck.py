"""The self-checks of all shipped specs and of further features: they compile without warnings, pass, and fail when the
code is wrong.

`--can-fail` plants faults into emitted OpenMP files instead, from plain ones to one element of one size; each must be
noticed.
"""

import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import this_machine  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRICT = ["-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
GCC = ["g++", *STRICT, *this_machine.FLAGS, "-fopenmp"]
CACHED = ROOT / "tests/tools/cached_cxx"
CLANG = shutil.which("clang++-19") or shutil.which("clang++")

# Beside the shipped specs: features that these have not.
FEATURES = ["atomic_halves", "boolean_folds", "chosen_steps", "host_table", "in_place", "local_arrays",
            "optional_operands", "random_bits", "ragged_grid", "segments", "strided", "windows_sticking_out"]

# What a launcher does before it returns: for a spec, the choice of types, and the fault.
FAULTS = {
    "norm/softmax.toml": [
        ("f32", "if (rows > 0 && N > 0) y[0] = 2;"),
        ("f32", "if (rows > 0 && N % 8 == 1) y[rows * N - 1] *= 1.0001f;"),
        ("f64", "if (rows > 0 && N > 0) y[0] *= 1.00000000001;"),
        ("bf16", "if (rows > 1 && N > 1) y[N] = uint16_t(y[N] + 8);"),
        ("f16", "if (rows * N > 3) y[3] = 0x7e00;"),
    ],
    "matmul/matmul.toml": [("f32", "if (M == 17 && N > 0) z[16 * N] = -z[16 * N] - 1;")],
    "reduce/argmax.toml": [("f32", "if (M > 0) position[0] += 1;")],
    "scan/prefix_sum.toml": [(None, "if (M > 0 && N > 2) y[N - 1] = y[N - 2];")],
}


def run(command, folder, seconds=120):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout + done.stderr


def build(kgen, spec, folder, options=()):
    """The text of what went wrong, or none; the program is `check`."""
    code, said = run([kgen, str(spec), "-o", ".", "--selfcheck", "--targets", "openmp", *options], folder)
    if code != 0:
        return said
    (source,) = pathlib.Path(folder).glob("*_selfcheck.cpp")
    if CLANG:
        code, said = run([CACHED, CLANG, *STRICT, "-O0", "-fPIC", "-shared", source, "-o", source.with_name("clang.so")], folder)
        if code != 0:
            return said
    return compiled(source, folder)


def compiled(source, folder):
    checks, kernel = source.with_name("checks.o"), source.with_name(source.name.replace("_selfcheck", "_openmp"))
    code, said = run([CACHED, *GCC, "-O1", "-c", source, "-o", checks], folder)  # running it takes longest
    if code == 0:
        code, said = run([CACHED, *GCC, "-O0", kernel, checks, "-o", source.with_name("check")], folder)
    return said if code != 0 else None


def passes(kgen, spec):
    with tempfile.TemporaryDirectory() as folder:
        wrong = build(kgen, spec, folder)
        if wrong:
            return f"{spec.name}: {wrong[:2000]}", 0
        code, said = run(["./check", "--no-timing"], folder)
        counts = r"^\w+: (\d+) choices of sizes, (\d+) elements agree, (\d+) too close"
        functions = re.findall(counts, said, re.MULTILINE)
        if code != 0 or not functions or not said.endswith("all agree\n"):
            return f"{spec.name}: {said[-2000:]}", 0
        poor = [f for f in functions if int(f[0]) < 3 or int(f[1]) < 20 or int(f[2]) > int(f[1]) / 20]
        return (f"{spec.name}: too little is compared: {said}" if poor else None), len(functions)


def called_wrongly(kgen):
    """What the program makes of its arguments: the text of what went wrong, or none."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = build(kgen, ROOT / "specs/norm/softmax.toml", folder, ["-D", "T=f32"])
        if wrong:
            return wrong[:2000]
        for words, code, part in ((["--help"], 0, "usage: softmax_selfcheck"),
                                  (["--no-timings"], 2, "there is no --no-timings"), (["x"], 2, "there is no x"),
                                  (["--size"], 2, "--size takes NAME=NUMBER"), (["--size", "N"], 2, "not N"),
                                  (["--size", "N=-1"], 2, "not N=-1"), (["--size", "K=3"], 2, "--size K"),
                                  (["--no-timing", "--size=N=37"], 0, "all agree"),
                                  (["--size", "N=37"], 0, "N=37: ")):
            done, said = run(["./check", *words], folder)
            checks = code == 0 and words != ["--help"]
            if done != code or part not in said or checks != (" elements agree" in said):
                return f"softmax_selfcheck {' '.join(words)} ends with {done}:\n{said[:1000]}"
    return None


def notices(kgen, spec, choice, fault):
    with tempfile.TemporaryDirectory() as folder:
        wrong = build(kgen, ROOT / "specs" / spec, folder, ["-D", f"T={choice}"] if choice else [])
        if wrong:
            return f"{spec}: {wrong[:2000]}"
        (openmp,) = pathlib.Path(folder).glob("*_openmp.cpp")
        text = openmp.read_text()
        end = [found.start() for found in re.finditer(r"^  return (0|memory\.status);$", text, re.M)][-1]
        openmp.write_text(text[:end] + fault + "\n" + text[end:])
        wrong = compiled(next(pathlib.Path(folder).glob("*_selfcheck.cpp")), folder)
        if wrong:
            return f"{spec}: {wrong[:2000]}"
        code, said = run(["./check", "--no-timing"], folder)
        if code != 1 or "SOME ARE WRONG" not in said or " are wrong, first [" not in said:
            return f"{spec}: not noticed: {fault}\n{said[-1000:]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    parser.add_argument("--can-fail", action="store_true")
    arguments = parser.parse_args()
    kgen = str(pathlib.Path(arguments.kgen).resolve())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        if arguments.can_fail:
            faults = [(spec, *fault) for spec, list_ in FAULTS.items() for fault in list_]
            problems = list(pool.map(lambda fault: notices(kgen, *fault), faults))
            print(f"{len(faults)} planted faults")
        else:
            specs = [*sorted((ROOT / "specs").rglob("*.toml")), *sorted((ROOT / "tests/selfcheck").glob("*.toml"))]
            specs += [ROOT / f"tests/conformance/specs/{name}.toml" for name in FEATURES]
            results = list(pool.map(lambda spec: passes(kgen, spec), specs))
            problems = [problem for problem, _ in results] + [called_wrongly(kgen)]
            print(f"{len(results)} self-checks of {sum(count for _, count in results)} functions")
    problems = [problem for problem in problems if problem]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
