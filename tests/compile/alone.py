"""Compiles each file of generated/ alone: strict warnings, g++ and clang++, with OpenMP and without, and for aarch64;
headers as C and C++.

CUDA files are compiled as plain C++ against the CPU model's headers here; tests/cuda compiles them with nvcc.
"""

import concurrent.futures
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only"]


def jobs():
    clang = shutil.which("clang++-19") or shutil.which("clang++")
    arm = shutil.which("aarch64-linux-gnu-g++")
    for source in sorted((ROOT / "generated").rglob("*_openmp.cpp")):
        yield ["g++", "-std=c++17", "-fopenmp", *STRICT, str(source)]
        yield ["g++", "-std=c++17", "-march=x86-64-v3", *STRICT, str(source)]
        if clang:
            yield [clang, "-std=c++17", "-fopenmp", *STRICT, str(source)]
        if arm:
            yield [arm, "-std=c++17", "-fopenmp", *STRICT, str(source)]
    for source in sorted((ROOT / "generated").rglob("*_cuda.cu")):
        yield ["g++", "-std=c++17", *STRICT, "-Wno-unknown-pragmas", "-isystem", str(ROOT / "tests/cuda_model/include"), "-x", "c++", str(source)]
    for header in sorted((ROOT / "generated").rglob("*.h")):
        yield ["gcc", "-std=c99", *STRICT, "-x", "c", "-include", str(header), "/dev/null"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return command, done.returncode, done.stderr


def main():
    failed = count = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for command, code, errors in pool.map(run, jobs()):
            count += 1
            if code != 0:
                failed += 1
                print("$ " + " ".join(command))
                print("\n".join(line for line in errors.splitlines() if "error" in line)[:1500])
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
