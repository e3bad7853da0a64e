"""Counts the bytes that the emitted OpenMP functions move between memory and a small cache, and holds them against
the bytes that they must move.

    traffic.py --build FOLDER [--generated FOLDER] [--only WORD] [--update]

All rows of rows.toml run in one program (driver.cpp) under callgrind, which simulates caches smaller than the arrays and
knows which lines have to be written back. Moved: the lines that were read because they were not in the cache, and the
lines that were written back. A line that is fetched only to be written whole is not counted as read: outputs too large
for the caches go around them. A row may move 1.5 times its floor, or what it gives a reason for; docs/traffic.md
has the table of what was counted, and must say the same (--update writes it).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(ROOT / "tests/sanitize_emitted")]
import sanitize  # noqa: E402
from rows import MOST, all_rows  # noqa: E402

LINE, CACHE = 64, 1 << 18
CACHES = ["--D1=32768,8,64", "--I1=32768,8,64", f"--LL={CACHE},16,64"]
FLAGS = ["-std=c++17", "-O2", "-march=x86-64-v3", "-DKGEN_NO_AVX512", "-fopenmp"]  # valgrind knows no AVX-512
PAGE, BEGIN, END = ROOT / "docs/traffic.md", "<!-- counted: begin -->\n", "<!-- counted: end -->\n"
SEED = 2  # even: optional operands are given
RATIO = r"(?<=\| )(\d+\.\d\d)(?= \|[^|]*\|[^|]*\|$)"
NEAR = 0.05  # of a ratio, that the page may be off


def cannot_run():
    """None, or what is missing here."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed"
    return None if " avx2 " in Path("/proc/cpuinfo").read_text() else "this processor does not run x86-64-v3"


def table_text(source):
    """The C++ file that tells the driver of the functions of an emitted file."""
    header = source.with_name(source.name.replace("_openmp.cpp", ".h"))
    rows = [sanitize.call_text(f, header.read_text()) for f in sanitize.described_functions(header)]
    listed = ",\n    ".join(rows)
    return (
        f'#include "registered.h"\n#include "{source}"\nstatic const Function kFunctions[] = {{\n    {listed}}};\n'
        f"static const Registered kRegistered(kFunctions, {len(rows)});\n"
    )


def compile_object(source, target):
    compiler = [shutil.which("ccache"), "g++"] if shutil.which("ccache") else ["g++"]
    include = ["-I", str(HERE), "-I", str(ROOT / "tests/sanitize_emitted")]
    subprocess.run([*compiler, *FLAGS, *include, "-c", str(source), "-o", str(target)], check=True)
    return str(target)


def build(rows, generated, folder):
    objects = [compile_object(HERE / "driver.cpp", folder / "driver.o")]
    for source in sorted({row.source(generated) for row in rows}):
        place = folder / source.name
        place.write_text(table_text(source))
        objects.append(compile_object(place, place.with_suffix(".o")))
    program = folder / "traffic"
    subprocess.run(["g++", "-fopenmp", *objects, "-o", str(program)], check=True)
    return program


def write_cases(rows, generated, path):
    with open(path, "wb") as file:
        for row in rows:
            header = row.source(generated).with_name(f"{row.file.kernel}.h")
            function = next(f for f in sanitize.described_functions(header) if f.stem == row.function)
            sanitize.write_case(file, row.file, function, row.sizes, SEED)


def dumps(program, cases, folder):
    """(label, counters) of each dump that callgrind wrote, in the order of the calls."""
    for old in folder.glob("dump.*"):
        old.unlink()
    command = ["valgrind", "-q", "--tool=callgrind", "--cache-sim=yes", "--simulate-wb=yes", *CACHES,
               f"--callgrind-out-file={folder / 'dump'}", str(program), str(CACHE), str(cases)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise SystemExit(f"exit {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    result = []
    for path in sorted(folder.glob("dump.*"), key=lambda p: int(p.suffix[1:])):
        text = path.read_text()
        names, totals = (re.search(rf"^{word}: (.*)$", text, re.M).group(1).split() for word in ("events", "totals"))
        label = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.M).group(1)
        counts = dict(zip(names, map(int, totals + ["0"] * len(names))))  # zeros at the end are left out
        result.append((label, counts))
    return result


def moved(counts):
    return LINE * (counts["DLmr"] + counts["DLdmr"] + counts["DLdmw"])


def count(rows, options):
    """Bytes that each row moves."""
    folder = options.build.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    program, cases = build(rows, options.generated, folder), folder / "cases"
    write_cases(rows, options.generated, cases)
    labels, counts = zip(*dumps(program, cases, folder))
    cases.unlink()
    if list(labels) != ["nothing", *(row.function for row in rows)]:
        raise SystemExit(f"callgrind wrote other dumps than one a row: {labels}")
    return [moved(c) - moved(counts[0]) for c in counts[1:]]


def faults(row, ratio, generated):
    """What is wrong with a row. Far below the floor nothing can be: then what is counted is not what happens. (A little
    below are masked reads, and vectors across two lines, of which the simulator counts one.)"""
    problem = row.misstated(generated)
    found = [problem] if problem else []
    if row.floor() < 4 * CACHE:
        found.append(f"its arrays have only {row.floor()} bytes, the cache {CACHE}")
    if ratio > row.most:
        found.append(f"moves {ratio:.2f} times its floor, may move {row.most}")
    if row.reason and ratio < MOST - NEAR:
        found.append(f"moves {ratio:.2f} times its floor: it needs no reason any more")
    if ratio < 0.9:
        found.append(f"moves {ratio:.2f} times its floor, which cannot be")
    return found


def page_rows(rows, ratios):
    lines = ["| function | sizes | floor, MB | moved, of the floor | why more | why slower |", "|---|---|---|---|---|---|"]
    for row, ratio in zip(rows, ratios):
        sizes = ", ".join(f"{axis} = {size}" for axis, size in row.sizes.items())
        lines.append(f"| `{row.function}` | {sizes} | {row.floor() / 1e6:.2f} | {ratio:.2f} | {row.reason} | {row.slow} |")
    return "\n".join(lines) + "\n"


def without_ratios(text):
    return re.sub(RATIO, "", text, flags=re.M)


def page_problem(rows, ratios, update):
    """None, or how the page differs from what was counted."""
    page, text = PAGE.read_text(), page_rows(rows, ratios)
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    if update:
        PAGE.write_text(page[:begin] + text + page[end:])
        return None
    said = [float(number) for number in re.findall(RATIO, page[begin:end], re.M)]
    same = without_ratios(page[begin:end]) == without_ratios(text)
    near = len(said) == len(ratios) and all(abs(a - b) <= NEAR for a, b in zip(said, ratios))
    return None if same and near else "docs/traffic.md says other rows or ratios than were counted: see --update"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--generated", type=lambda p: Path(p).resolve(), default=ROOT / "generated")
    parser.add_argument("--only", default="", help="part of a row: function and sizes; the page is left alone")
    parser.add_argument("--update", action="store_true", help="write the table into the page")
    options = parser.parse_args()
    if problem := cannot_run():
        print(f"SKIP: {problem}")
        return 77
    rows = all_rows(options.only)
    ratios = [moved_bytes / row.floor() for row, moved_bytes in zip(rows, count(rows, options))]
    failed = 0
    for row, ratio in zip(rows, ratios):
        found = faults(row, ratio, options.generated)
        failed += bool(found)
        print(f"{'FAIL' if found else 'ok  '} {ratio:5.2f} {row}: {'; '.join(found)}".rstrip(": "))
    problem = None if options.only else page_problem(rows, ratios, options.update)
    if problem:
        print(problem)
    print(f"{len(rows) - failed} of {len(rows)} rows are within their bounds")
    return 1 if failed or problem or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
