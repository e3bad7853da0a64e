#!/usr/bin/env python3
"""Numbers that choose between forms of a loop, each forced both ways on three specs, against the interpreter.

A spec is a site of such a number if the plan has other loops or storage with one end than with the other. What an end
leaves as the rule has it is not run again: conformance does. Usage: forced.py KGEN openmp|cuda_model MODEL_LIBRARY [--only KEY]
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import sys

from least import FLAGS, ROOT, kgen, verify

ENOUGH = 3
DECIDED = re.compile(r"^  \w+(@\w+)? \S+ \((rule|--decide|schedule)\)\n", re.MULTILINE)

# By target and key: both ends, and specs that have a site.
FORCED = {
    "openmp": {
        "near_bytes": ((256, 1073741824), ["read_at_its_best", "squares", "softmax"]),
        "short_row": ((1, 64), ["sizes_choose_the_sum", "squares", "softmax"]),
        "stack_elements": ((1, 4096), ["softmax", "log_softmax", "layer_norm"]),
        "ahead_rows": ((0, 8), ["bins_of_column_sums", "cumsum_columns", "votes_of_rows"]),
        "ahead_arrays": ((1, 16), ["packs_strided", "muladd", "strided_in_place"]),
    },
    "cuda_model": {
        "array_bytes": ((1, 64), ["gram", "iota", "packs_strided"]),
    },
}


def spec_named(name):
    conformance = ROOT / "tests/conformance/specs" / f"{name}.toml"
    return conformance if conformance.exists() else next((ROOT / "specs").rglob(f"{name}.toml"))


def loops(options, spec, *decisions):
    """The plan, but for the list of numbers."""
    target = "openmp" if options.target == "openmp" else "cuda"
    done = kgen(options.kgen, spec, "--stop-after", "plan", "--targets", target, *decisions)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return DECIDED.sub("", done.stdout)


def force(options, key, ends, name):
    """What is wrong with one spec, a line each, and how often it was run."""
    spec = spec_named(name)
    pins = [("--decide", f"{key}={end}") for end in ends]
    rule, *plans = [loops(options, spec, *pin) for pin in ((), *pins)]
    if plans[0] == plans[1]:
        return [f"{name}: {key} chooses nothing"], 0
    run = [pin for pin, plan in zip(pins, plans) if plan != rule]
    said = [(pin, verify(options, spec, *pin)) for pin in run]
    return [f"{name} {pin[1]}: {wrong}" for pin, wrong in said if wrong], len(run)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kgen", type=pathlib.Path)
    parser.add_argument("target", choices=FLAGS)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="KEY")
    options = parser.parse_args()
    forced = {key: row for key, row in FORCED[options.target].items() if options.only in ("", key)}
    wrong = [f"{key}: fewer than {ENOUGH} specs" for key, (_, names) in forced.items() if len(set(names)) < ENOUGH]
    sites = [(key, ends, name) for key, (ends, names) in forced.items() for name in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda site: force(options, *site), sites))
    wrong += [line for lines, _ in results for line in lines]
    print("\n".join([*wrong, f"{len(sites)} sites, {sum(runs for _, runs in results)} runs, {len(wrong)} wrong"]))
    return 1 if wrong or not sites else 0


if __name__ == "__main__":
    sys.exit(main())
