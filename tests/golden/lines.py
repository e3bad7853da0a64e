"""How much there is to read in generated/: budgets of lines. A change that makes kernels longer raises one here, in sight.

Usage: lines.py GENERATED
"""

import pathlib
import sys

TOTAL = "all files"
MOST = {TOTAL: 77500, "norm/softmax_openmp.cpp": 280, "kgen_openmp.h": 3750, "kgen_cuda.h": 2000}


def main():
    folder = pathlib.Path(sys.argv[1])
    lines = {path.relative_to(folder).as_posix(): path.read_text().count("\n") for path in folder.rglob("*")
             if path.is_file()}
    lines[TOTAL] = sum(lines.values())
    over = [f"{name} has {lines[name]} lines, {most} are allowed" for name, most in MOST.items() if lines[name] > most]
    print("\n".join(over) or f"{lines[TOTAL]} lines")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
