#!/usr/bin/env python3
"""Plants faults in a copy of the templates: the fuzzer must find each, and cut a spec down that shows it.

    can_fail.py --build FOLDER -- OPTIONS OF run
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TEMPLATES = HERE.parent.parent / "templates"
MOST_LINES = 12  # of a spec that was cut down
MOST_TRIED = 60  # specs that hold what a fault needs; few of them hold it where it shows

# The fault: file, text, what takes its place; the runner that shows it; what the small spec must still hold; and what
# the specs hold that are tried.
FAULTS = {
    "nothing": ("common/helpers.h", "", "", "openmp", None),
    "clamp": ("openmp/helpers.h", "minimum(maximum(v, low), high)", "minimum(maximum(v, low), T(high + 1))", "openmp",
              r"\bclamp\(", r"\bclamp\("),
    "barrier": ("cuda/helpers.h", "slots[threadIdx.y * blockDim.x] = value;\n  __syncthreads();",
                "slots[threadIdx.y * blockDim.x] = value;", "cuda_model", r"\w+\(.*, \w+",
                r"inputs\.(\w+) = \W\w+\[(\w+), \w+\](?s:.*)(sum|max|min)\(\1, \2\)"),
    "alignment": ("cuda/helpers.h", "% 16 != 0) return false;", "% 16 != 0) return true;", "cuda_model", r"=",
                  r"f32\[\w+, \w+\]"),
    "tail": ("cuda/helpers.h", "i / kFields < left)", "i / kFields < left || kElements > 1)", "cuda_model", r"=",
             r"f32\[\w+, \w+\]"),
}


def plant(fault, folder):
    name, text, other = FAULTS[fault][:3]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TEMPLATES, folder)
    whole = (folder / name).read_text()
    if text not in whole:
        sys.exit(f"can_fail: {name} has no `{text}`")
    (folder / name).write_text(whole.replace(text, other) if text else whole)


def verdict(fault, done, keep):
    """Empty, or what is wrong with how the fuzzer took the fault."""
    pattern = FAULTS[fault][4]
    if pattern is None:
        return "" if done.returncode == 0 else "failed without a fault:\n" + done.stdout
    specs = [path.read_text() for path in keep.glob("*.toml")]
    if done.returncode != 1 or not specs:
        return "was not noticed:\n" + done.stdout
    smallest = min(specs, key=len)
    if not re.search(pattern, smallest):
        return f"was cut down to a spec without {pattern}:\n{smallest}"
    lines = len(smallest.strip().splitlines())
    return "" if lines <= MOST_LINES + 1 else f"was cut down to {lines} lines only:\n{smallest}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a folder for copies")
    parser.add_argument("--only", action="append", help="this fault")
    parser.add_argument("rest", nargs="*", help="options of run")
    options = parser.parse_args()
    wrong = 0
    for fault in options.only or FAULTS:
        folder, keep = options.build / "templates", options.build / "kept"
        plant(fault, folder)
        shutil.rmtree(keep, ignore_errors=True)
        command = [sys.executable, HERE / "run", "--templates", folder, "--keep", keep, "--targets", FAULTS[fault][3],
                   "--mode", "integers", "--flags=-O0", *options.rest]
        for held in FAULTS[fault][5:]:  # in short specs: cutting down takes most of the time
            command += ["--first", "--count", MOST_TRIED, "--frame", "plain",
                        "--holding", r"\A(?=(?:.*\n){,15}\Z)(?s:.*)" + held]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        text = verdict(fault, done, keep)
        text += done.stderr[-2000:] if text else ""
        wrong += text != ""
        print(f"{fault}: {'right' if not text else text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
