"""Expands cases.toml into single runs: (spec, define, sizes, seed, work, model). The rules are at the top of that file.

As a program: `cases.py --list [--only WORD] [--model]` prints one JSON object a line.
"""

import argparse
import itertools
import json
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference"))
from spec_file import SpecFile, evaluate  # noqa: E402

PRIME = 61
LARGE = 4092
THIN = 3


def axis_sizes(entry, least, large):
    """The sizes to sweep one axis over, its usual size first."""
    if len(entry) != 2:
        return list(dict.fromkeys(entry))
    usual, block = entry
    sweep = [usual, 0, 1, block - 1, block, block + 1, PRIME, large]
    return [size for size in dict.fromkeys(sweep) if size >= least]


def sweep_sizes(case):
    """All sizes of a case, as (sizes, in the few). One axis at a time; the few are usual, all b + 1, and all ones."""
    axes, least = case.get("axes", {}), case.get("least", {})
    large = case.get("large", LARGE)
    swept = {axis: axis_sizes(entry, least.get(axis, 0), large) for axis, entry in axes.items()}
    usual = {axis: sizes[0] for axis, sizes in swept.items()}
    beyond = {axis: entry[1] + 1 if len(entry) == 2 else entry[1] for axis, entry in axes.items()}
    ones = {axis: max(1, least.get(axis, 0)) if len(axes[axis]) == 2 else axes[axis][0] for axis in axes}
    result = [(sizes, True) for sizes in (usual, beyond, ones)] if axes else []
    thin = {
        axis: min(sizes[0], THIN) if len(axes[axis]) == 2 else min(filter(None, sizes)) for axis, sizes in swept.items()
    }
    for axis, sizes in swept.items():
        for size in sizes[1:]:
            others = thin if size == large else usual
            result.append(({**others, axis: size}, False))
    result += [(sizes, not axes) for sizes in case.get("sizes", [])]
    unique = {}
    for sizes, few in result:
        unique.setdefault(json.dumps(sizes), (sizes, few))
    return list(unique.values())


def choices(spec, define):
    """Every choice of type and list parameters that `define` leaves open, the first one first."""
    names = {name: values for name, values in spec.choices().items() if name not in define}
    every = [{**define, **dict(zip(names, picked))} for picked in itertools.product(*names.values())]
    return [choice for choice in every if spec.is_made(choice)]


def expand(only=""):
    """Every single run as a dict."""
    listing = tomllib.loads((HERE / "cases.toml").read_text())
    seed = listing["seed"]
    for case in listing["case"]:
        if only not in case["spec"]:
            continue
        spec = SpecFile(case["spec"])
        for number, define in enumerate(choices(spec, case.get("define", {}))):
            for sizes, few in sweep_sizes(case):
                if number and not few:
                    continue
                work = evaluate(case["work"], sizes)
                if work > listing["work_cap"]:
                    raise SystemExit(f"{case['spec']} {sizes}: work {work} is above the cap")
                model = work <= listing["model_cap"]
                yield {
                    "spec": case["spec"],
                    "define": define,
                    "sizes": sizes,
                    "seed": seed,
                    "work": work,
                    "model": model,
                }
                seed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", required=True)
    parser.add_argument("--only", default="", help="part of the spec's path")
    parser.add_argument("--model", action="store_true", help="only what the CUDA model runs")
    options = parser.parse_args()
    for run in expand(options.only):
        if run["model"] or not options.model:
            print(json.dumps(run))


if __name__ == "__main__":
    main()
