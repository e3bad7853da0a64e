"""Compiles each file of generated/ alone: strict warnings, by g++ with OpenMP, and in turn by clang++, without OpenMP, and for
aarch64 (--all: each file in all ways); headers as C and C++.

CUDA files are compiled as plain C++ against the CPU model's headers here; tests/cuda compiles them with nvcc.
"""

import concurrent.futures
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
from remembered import key_of, remembered, version_of

STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only"]
VERSIONS = {}  # of the compilers that are used
ALL = "--all" in sys.argv


def jobs():
    clang = shutil.which("clang++-19") or shutil.which("clang++")
    arm = shutil.which("aarch64-linux-gnu-g++")
    others = [["g++", "-march=x86-64-v3"], *([compiler, "-fopenmp"] for compiler in (clang, arm) if compiler)]
    for i, source in enumerate(sorted((ROOT / "generated").rglob("*_openmp.cpp"))):
        for compiler, option in [["g++", "-fopenmp"], *(others if ALL else [others[i % len(others)]])]:
            yield [compiler, "-std=c++17", option, *STRICT, str(source)]
    for source in sorted((ROOT / "generated").rglob("*_cuda.cu")):
        yield ["g++", "-std=c++17", *STRICT, "-Wno-unknown-pragmas", "-isystem", str(ROOT / "tests/cuda_model/include"), "-x", "c++", str(source)]
    kgens = ROOT / "generated/kgen_openmp.h", ROOT / "generated/kgen_cuda.h"
    for compiler in ["g++", *filter(None, [clang, arm])]:
        yield [compiler, "-std=c++17", "-pedantic", *STRICT, "-x", "c++", "-include", str(kgens[0]), "/dev/null"]
    yield ["g++", "-std=c++17", *STRICT, "-Wno-unknown-pragmas", "-isystem", str(ROOT / "tests/cuda_model/include"), "-x",
           "c++", "-include", str(kgens[1]), "/dev/null"]
    for header in sorted(set((ROOT / "generated").rglob("*.h")) - set(kgens)):
        yield ["gcc", "-std=c99", *STRICT, "-x", "c", "-include", str(header), "/dev/null"]


def files_read(command):
    """The files of ours that one compilation may read."""
    source = pathlib.Path(command[-1] if command[-1] != "/dev/null" else command[-2])
    model = sorted((ROOT / "tests/cuda_model/include").rglob("*")) if "-isystem" in command else []
    return [source, *sorted(source.parent.glob("*.h")), *sorted((ROOT / "generated").glob("kgen_*.h")), *model]


def run(command):
    def compile_it():
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stderr

    words = [word.replace(str(ROOT), "") for word in command]
    key = key_of(VERSIONS[command[0]], *words, *filter(pathlib.Path.is_file, files_read(command)))
    return command, *remembered(key, compile_it, lambda result: result[0] == 0)


def main():
    commands = list(jobs())
    VERSIONS.update({compiler: version_of(compiler) for compiler in {command[0] for command in commands}})
    failed = count = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for command, code, errors in pool.map(run, commands):
            count += 1
            if code != 0:
                failed += 1
                print("$ " + " ".join(command))
                print("\n".join(line for line in errors.splitlines() if "error" in line)[:1500])
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
