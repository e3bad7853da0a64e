"""Is generated/ exactly what kgen writes for specs/? Both ways: missing, changed, and files that no spec gives.

To mend: ./kgen specs -o generated, and remove what is named as left over.
"""

import argparse
import filecmp
import pathlib
import subprocess
import sys
import tempfile


def files_below(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name not in ("README.md", "kgen.lock")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    # The lock names specs relative to itself, so kgen itself compares that one; meanwhile the files are made.
    check = subprocess.Popen([arguments.kgen, "check", "specs", "-o", "generated"], cwd=root, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "generated"
        run = subprocess.run([arguments.kgen, "specs", "-o", str(made)], cwd=root)
        if run.returncode != 0:
            check.wait()
            return run.returncode
        here, there = files_below(root / "generated"), files_below(made)
        faults = [f"left over: generated/{path}" for path in sorted(here - there)]
        faults += [f"missing: generated/{path}" for path in sorted(there - here)]
        for path in sorted(here & there):
            if not filecmp.cmp(root / "generated" / path, made / path, shallow=False):
                faults.append(f"changed: generated/{path}")
    faults += check.communicate()[0].splitlines()
    for fault in faults:
        print(fault)
    if faults:
        print("to mend: ./kgen specs -o generated, and remove what is left over")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
