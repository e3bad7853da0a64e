"""Sums of many f32 numbers by emitted OpenMP code are as exact as docs/maths.md says.

    sums.py --kgen PATH --build FOLDER

Generates the small specs beside this file, compiles them with sums.cpp, and holds the errors that it prints against the
table of the page. The plain loop that it also runs must be far off: else the data would not tell good from bad.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHIPPED = ROOT / "specs/reduce/mean_variance.toml"
FLAGS = ["-std=c++17", "-O2", "-fopenmp"]  # without -march: the narrowest vectors add up the most numbers each
LOOP, FAR_OFF = "loop", 0.1


def promised():
    """{name: the largest error} of the page."""
    page = (ROOT / "docs/maths.md").read_text()
    section = page[page.index("\n## Sums\n") :].split("\n## ")[1]
    return {name: float(bound) for name, bound in re.findall(r"^\| `(\w+)` \|.*\| ([\d.e-]+) \|$", section, re.M)}


def build(kgen, folder):
    folder.mkdir(parents=True, exist_ok=True)
    specs = [*sorted((HERE / "specs").glob("*.toml")), SHIPPED]
    generate = [str(kgen), *map(str, specs), "--targets", "openmp", "-o", str(folder)]
    subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
    compiler = [shutil.which("ccache"), "g++"] if shutil.which("ccache") else ["g++"]
    objects = []
    for source in [HERE / "sums.cpp", *sorted(folder.glob("*_openmp.cpp"))]:
        objects.append(str(folder / f"{source.stem}.o"))
        command = [*compiler, *FLAGS, "-I", str(folder), "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    subprocess.run(["g++", "-fopenmp", *objects, "-o", str(folder / "sums")], check=True)
    return folder / "sums"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kgen", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--build", required=True, type=lambda p: Path(p).resolve())
    options = parser.parse_args()
    done = subprocess.run([build(options.kgen, options.build)], check=True, capture_output=True, text=True)
    bounds, seen, failed, loops = promised(), set(), 0, []
    for name, data, error in (line.split() for line in done.stdout.splitlines()):
        if name == LOOP:
            loops.append(float(error))
            continue
        seen.add(name)
        wrong = not float(error) <= bounds.get(name, 0)  # NaN is wrong, too
        failed += wrong
        print(f"{'FAIL' if wrong else 'ok  '} {name} of {data} numbers: {error}, at most {bounds.get(name, 'not told')}")
    if min(loops, default=0) < FAR_OFF:
        failed += 1
        print(f"FAIL the plain loop is off by {loops} only")
    if unseen := set(bounds) - seen:
        failed += 1
        print(f"FAIL docs/maths.md promises what is not measured: {sorted(unseen)}")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
