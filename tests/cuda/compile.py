"""Compiles every generated .cu for sm_80 and sm_90a and holds ptxas' report and the PTX against the committed budget.

tests/cuda/budget.json, per file and architecture: the most registers of any of its kernels, and the most instructions
(of PTX); spills and local stack (0 unless noted); and the least global accesses of 16 bytes, over all its kernels.
`--update` writes it anew; the diff is reviewed like code. `--only WORD` compiles only the files with WORD in their path,
and with `--update` leaves the entries of the others as they are. `--in-turn`: each file for one architecture only, by turns.
`--changed`: a file is only compiled if its text, its headers or a compiler are others than when its budget was written,
and every eighth of the rest, not always the same ones. "compiled" in the budget says what it was written for.
"""

import argparse
import concurrent.futures
import functools
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
from remembered import key_of, remembered, version_of

BUDGET = ROOT / "tests/cuda/budget.json"
ARCHITECTURES = ("sm_80", "sm_90a")
EVERY = 8  # of the files that have not changed
AT_LEAST = {"wide_accesses"}  # of these the budget is the least, of the others the most
WIDE_ACCESS = re.compile(r"\b(?:ld|st)\.global(?:\.\w+)*?\.(?:v4\.[a-z]+32|v2\.[a-z]+64)\b")


def virtual(architecture):
    return architecture.replace("sm", "compute")


def name_of(source, architecture):
    return f"{source.relative_to(ROOT / 'generated')} {architecture}"


@functools.cache
def versions(nvcc):
    return version_of(nvcc) + version_of("g++")


def parts(nvcc, source):
    """What decides what the compiler says of it."""
    headers = sorted((ROOT / "generated").rglob("kgen_cuda.h")) + sorted(source.parent.glob("*.h"))
    return versions(nvcc), str(source.relative_to(ROOT)), source, *headers


def compiled_key(nvcc, source):
    return key_of(*parts(nvcc, source))[:16]


def measure(job):
    """(name, numbers or None, errors) for each architecture."""
    nvcc, source, architectures = job
    key = key_of(pathlib.Path(__file__), *architectures, *parts(nvcc, source))
    return remembered(key, lambda: compiled(nvcc, source, architectures), lambda found: all(numbers for _, numbers, _ in found))


def compiled(nvcc, source, architectures):
    """One call of the compiler for all of them, as the host's part is the same."""
    targets = [f"-gencode=arch={architecture.replace('sm', 'compute')},code={architecture}" for architecture in architectures]
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++17", *targets, "-Xptxas", "-v", "-Xcompiler", "-Wall,-Wextra", "-c",
                   "--keep", "--keep-dir", folder, "-o", str(pathlib.Path(folder) / "out.o"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        names = [name_of(source, architecture) for architecture in architectures]
        if done.returncode != 0 or "warning" in done.stderr:
            return [(name, None, done.stderr) for name in names]
        return [(name, *numbers_of(architecture, done.stderr, pathlib.Path(folder)))
                for name, architecture in zip(names, architectures)]


def numbers_of(architecture, report, folder):
    # "... Compiling entry function 'f' for 'sm_80'" begins what ptxas says of a kernel.
    kernels = re.findall(r"Compiling entry function '\w+' for '(\w+)'(.*?)(?=Compiling entry|\Z)", report, re.DOTALL)
    said = "".join(text for target, text in kernels if target == architecture)
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", said)]
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill", said)]
    stack = [int(n) for n in re.findall(r"(\d+) bytes stack frame", said)]
    if not registers:
        return None, "ptxas reported no kernel"
    # Where nvcc compiles for one architecture alone, the name of the file does not say which.
    files = list(folder.glob(f"*.{virtual(architecture)}.ptx")) or list(folder.glob("*.ptx"))
    if len(files) != 1:
        return None, f"PTX of one architecture was looked for in {[file.name for file in folder.glob('*.ptx')]}"
    ptx = files[0].read_text()
    kernels = re.split(r"^\.visible \.entry|^\.entry|^\.weak \.entry", ptx, flags=re.MULTILINE)[1:]
    instructions = [len(re.findall(r"^\t[^\s./].*;$", kernel, flags=re.MULTILINE)) for kernel in kernels]
    return {"registers": max(registers), "spills": sum(spills), "stack": max(stack, default=0),
            "instructions": max(instructions), "wide_accesses": len(WIDE_ACCESS.findall(ptx))}, ""


def changed(jobs, budget):
    """Those whose budget was written for another text, and every eighth of the others; which ones, all texts decide."""
    new = [job for job in jobs if any(budget.get(name_of(job[1], architecture), {}).get("compiled") != compiled_key(*job[:2])
                                      for architecture in job[2])]
    rest = [job for job in jobs if job not in new]
    first = int(key_of(*(source for _, source, _ in jobs))[:8], 16) % EVERY
    return new + rest[first::EVERY]


def in_turn(source):
    return (ARCHITECTURES[int(key_of(source.name)[:8], 16) % len(ARCHITECTURES)],)


def exceeds(numbers, budget):
    return any(value < budget[key] if key in AT_LEAST else value > budget[key] for key, value in numbers.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", default="", help="part of a file's path in generated/")
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("--changed", action="store_true")
    arguments = parser.parse_args()
    sources = [source for source in sorted((ROOT / "generated").rglob("*_cuda.cu"))
               if arguments.only in str(source.relative_to(ROOT / "generated"))]
    jobs = [(arguments.nvcc, source, in_turn(source) if arguments.in_turn else ARCHITECTURES) for source in sources]
    budget = json.loads(BUDGET.read_text()) if BUDGET.exists() else {}
    if arguments.changed:
        jobs = changed(jobs, budget)
    found, failed = {}, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, numbers, errors in itertools.chain.from_iterable(pool.map(measure, jobs)):
            if numbers is None:
                failed += 1
                print(f"{name}: does not compile cleanly\n{errors[:1500]}")
                continue
            found[name] = numbers
            if arguments.update:
                continue
            allowed = budget.get(name)
            if allowed is None:
                failed += 1
                print(f"{name}: no budget; run tests/cuda/compile.py --update and review the diff")
            elif exceeds(numbers, allowed):
                failed += 1
                print(f"{name}: {numbers} is over the budget {allowed}")
    if arguments.update:
        # Room for small changes: occupancy changes in steps of 16 registers or so anyway.
        for _, source, architectures in jobs:
            for architecture in architectures:
                if (numbers := found.get(name_of(source, architecture))) is not None:
                    numbers["compiled"] = compiled_key(arguments.nvcc, source)
        for numbers in found.values():
            numbers["registers"] = -(-numbers["registers"] // 16) * 16
            numbers["instructions"] = -(-numbers["instructions"] // 50) * 50
        kept = {name: numbers for name, numbers in budget.items() if (ROOT / "generated" / name.split()[0]).exists()}
        BUDGET.write_text(json.dumps({**kept, **found}, indent=1, sort_keys=True) + "\n")
    print(f"{sum(len(architectures) for _, _, architectures in jobs) - failed} passed, {failed} failed")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
