"""Division by one number and extremes of emitted OpenMP code are right, for each compiler and machine that is there."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import builds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kgen", required=True)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.kgen, builds.HERE / "division.toml", "-o", folder], check=True, stdout=subprocess.DEVNULL)
        commands = [command for _, command in builds.all_builds(emitted=True)]
        commands.append([*commands[-1], "-ffp-contract=off"])
        for command in commands:
            program = pathlib.Path(folder) / "program"
            subprocess.run([*command, "-std=c++17", "-O2", "-fopenmp", "-I", folder, builds.HERE / "division.cpp",
                            pathlib.Path(folder) / "division_openmp.cpp", "-o", program], check=True)
            done = subprocess.run([program], capture_output=True, text=True)
            failed += done.returncode != 0
            print(" ".join(command), done.stdout.strip() or f"ended with {done.returncode}")
    print(f"{len(commands) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
