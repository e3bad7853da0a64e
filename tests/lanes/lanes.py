"""Compiles and runs a program of templates with each compiler and for each machine that runs here.

usage: lanes.py PROGRAM.cpp"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/maths"))
import builds  # noqa: E402

FLAGS = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wno-unused-function", "-Wno-unknown-pragmas",
         "-Werror"]


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, command in builds.all_builds():
            program = pathlib.Path(folder) / name
            source = ROOT / "tests/lanes" / sys.argv[1]
            made = subprocess.run([*command, *FLAGS, "-I", ROOT / "templates", source, "-o", program],
                                  capture_output=True, text=True)
            done = subprocess.run([program], capture_output=True, text=True) if made.returncode == 0 else made
            if done.returncode == 0:
                passed += 1
            else:
                failed += 1
                print(f"{name}: {done.returncode}\n{done.stdout[:800]}{done.stderr[:800]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
