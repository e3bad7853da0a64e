#!/usr/bin/env python3
"""Swaps two statements of each plan that depend on each other: the fuzzer must find each kind of pair that there is.

    swaps.py --swapped build/release/tests/fuzz/kgen_swapped --build FOLDER [--share 8] -- OPTIONS OF run

Kinds are those of the plans themselves, as `openmp fold > read` (see swapped_plan.cpp). A kind is tried on specs whose
plans have such a pair, one after the other. Code that no longer compiles, or a kgen that notices it itself, counts only
if nothing else comes.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = {"openmp": "openmp", "cuda": "cuda_model"}
WEAK = r"FAILED \d+ \(.*?\): (kgen ends with|\w+: does not compile)"
STRONG = r"FAILED \d+ \(.*?\): (?!kgen ends with|\w+: does not compile)"


def specs_of(options):
    shown = subprocess.run([sys.executable, HERE / "run", "--seed", str(options.seed), "--frame", "orders", "--mode",
                            "integers", "--count", str(options.count), "--show"], capture_output=True, text=True, check=True)
    return ['kernel = "' + text for text in re.split(r'^kernel = "', shown.stdout, flags=re.M)[1:]]


def kinds_of(options, specs):
    """Each kind of pair, and the specs that have it."""
    out = collections.defaultdict(list)
    for index, text in enumerate(specs):
        path = options.build / "spec.toml"
        path.write_text(text)
        listed = subprocess.run([options.swapped, "generate", path, "--stop-after", "plan"], capture_output=True, text=True,
                                env=dict(os.environ, KGEN_SWAP="list"))
        if listed.returncode == 0:
            for kind in sorted(set(re.findall(r"^(?:openmp|cuda) .* > .*$", listed.stderr, re.M))):
                out[kind].append(index)
    return out


def tried(options, kind, indices):
    """How the fuzzer took the swap: the failure, and how many specs that took."""
    weak = ""
    for count, index in enumerate(indices[:options.tries], 1):
        command = [sys.executable, HERE / "run", "--kgen", options.swapped, "--seed", options.seed, "--frame", "orders",
                   "--mode", "integers", "--only", index, "--targets", TARGETS[kind.split()[0]], "--flags=-O0",
                   "--shrink-attempts", 0, "--keep", options.build / "kept", *options.rest]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              env=dict(os.environ, KGEN_SWAP=kind))
        if re.search(STRONG, done.stdout):
            return "caught", count
        weak = weak or ("noticed before it ran" if re.search(WEAK, done.stdout) else "")
    return weak or "NOT CAUGHT", min(len(indices), options.tries)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--swapped", type=pathlib.Path, required=True, help="the kgen that swaps")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a folder for what is made")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--count", type=int, default=40, help="specs whose plans are looked at")
    parser.add_argument("--tries", type=int, default=8, help="specs for each kind, at most")
    parser.add_argument("--least", type=int, default=1, help="leave out kinds that fewer specs have")
    parser.add_argument("--share", type=int, help="so many of the kinds; default: all")
    parser.add_argument("rest", nargs="*", help="options of run")
    options = parser.parse_args()
    shutil.rmtree(options.build, ignore_errors=True)
    options.build.mkdir(parents=True)
    kinds = sorted(kinds_of(options, specs_of(options)).items(), key=lambda item: (-len(item[1]), item[0]))
    kinds = [(kind, indices) for kind, indices in kinds if len(indices) >= options.least]
    every = max(1, len(kinds) // options.share) if options.share else 1
    missed, start = 0, time.time()
    for kind, indices in kinds[::every]:
        how, count = tried(options, kind, indices)
        missed += how == "NOT CAUGHT"
        print(f"{kind}: {how}, {count} of {len(indices)} specs", flush=True)
    print(f"{len(kinds[::every])} of {len(kinds)} kinds of pairs in {time.time() - start:.0f} s, {missed} not caught")
    return 1 if missed or not kinds else 0


if __name__ == "__main__":
    sys.exit(main())
