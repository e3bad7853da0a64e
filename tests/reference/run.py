"""Runs every shipped spec over the conformance list and compares it with the references.

    run.py --kgen PATH [--only WORD] [--target interpret,openmp,cuda_model] [--jobs 2] [--cache FOLDER]
           [--cxxflags FLAGS] [--in-turn] [--model tests/cuda_model --model-library libkgen_cuda_model.a]

For each run it writes the inputs as .npy files, calls `kgen run` and compares what comes out. bf16 travels as its
bits in uint16. A run that fails, crashes, hangs or writes no output counts as failed. Without a list of targets: interpret.
The CUDA model takes only the runs that the list says it can. --cache keeps compiled kernels, so that each (spec, choices)
is compiled once. --in-turn: of the choices of a spec every second one, of the next spec the others.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "conformance"))
import cases  # noqa: E402
import inputs as makers  # noqa: E402
from agreement import disagreement  # noqa: E402
from references import REFERENCES  # noqa: E402
from spec_file import SpecFile  # noqa: E402

TIMEOUT_S = 120
TARGETS = ("interpret", "openmp", "cuda_model")
CACHE_LIMIT = 1000  # compiled kernels; beyond it most are of sources long gone


def what_the_kernel_sees(spec, define, stored):
    types = {o.name: spec.element_type(o.type, define) for o in spec.operands}
    return {name: makers.seen(v, types[name]) if isinstance(v, np.ndarray) else v for name, v in stored.items()}


def expected_outputs(spec, run, sizes, stored):
    """The reference's outputs, in double."""
    with np.errstate(all="ignore"):
        seen = what_the_kernel_sees(spec, run["define"], stored)
        return REFERENCES[spec.kernel](seen, sizes, spec.params(run["define"]))


def partial_contents(spec, run, sizes):
    """What the outputs that may keep their elements hold before the call."""
    rng = np.random.default_rng(run["seed"])
    result = {}
    for operand in spec.of("outputs"):
        if operand.keys.get("partial"):
            element = spec.element_type(operand.type, run["define"])
            result[operand.name] = makers.stored(makers.random_array(rng, element, operand.shape(sizes)), element)
    return result


def command_line(kgen, spec, run, target, stored, folder):
    """Writes the arrays into the folder and returns the command that reads them and writes the outputs beside them."""
    command = [str(kgen), "run", str(spec.path), "--target", target]
    for name, value in run["define"].items():
        command += ["-D", f"{name}={value}"]
    if run["sizes"]:
        command += ["--size", ",".join(f"{axis}={size}" for axis, size in run["sizes"].items())]
    for name, value in stored.items():
        if isinstance(value, np.ndarray):
            np.save(folder / f"{name}.npy", value)
            command += ["--in", f"{name}={folder / name}.npy"]
        elif value is not None:
            command += ["--scalar", f"{name}={value!r}"]
    for operand in spec.of("outputs"):
        command += ["--out", f"{operand.name}={folder / operand.name}.out.npy"]
    return command


def wrong_outputs(spec, run, folder, expected, before, turned=lambda array, name: array):
    """None, or what is wrong with the outputs that a run left. `turned` brings one into the form of the reference."""
    for operand in spec.of("outputs"):
        path = folder / f"{operand.name}.out.npy"
        if not path.exists():
            return f"{operand.name}: not written"
        element = spec.element_type(operand.type, run["define"])
        got = turned(np.load(path), operand.name)
        if problem := disagreement(got, expected[operand.name], element, before.get(operand.name)):
            return f"{operand.name}: {problem}"
    return None


def attempt(kgen, run, target, flags):
    """One run on one target: None, or what went wrong."""
    spec = SpecFile(run["spec"])
    sizes = spec.all_sizes(run["sizes"])
    stored = makers.make(spec, run["define"], sizes, run["seed"])
    before = partial_contents(spec, run, sizes)
    expected = expected_outputs(spec, run, sizes, stored)
    with tempfile.TemporaryDirectory(prefix="kgen_run_") as name:
        folder = Path(name)
        command = command_line(kgen, spec, run, target, {**stored, **before}, folder)
        if flags:
            command += ["--cxxflags", flags]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return f"no end within {TIMEOUT_S} s"
        if done.returncode != 0:
            return f"exit {done.returncode}: {' | '.join((done.stderr or done.stdout).strip().splitlines()[:4])}"
        return wrong_outputs(spec, run, folder, expected, before)


def attempt_all(kgen, group, targets, flags):
    """(run, target, problem) of some runs on all targets; an exception is a failure like any other."""
    results = []
    for run, target in itertools.product(group, targets):
        if target == "cuda_model" and not run["model"]:
            results.append((run, target, "skipped"))
            continue
        try:
            results.append((run, target, attempt(kgen, run, target, flags)))
        except Exception as error:  # a reference or a file that cannot be read: reported, not fatal
            results.append((run, target, f"{type(error).__name__}: {error}"))
    return results


def by_kernel(runs):
    """The runs that share a compiled kernel, which one worker compiles and all of them use."""
    groups = collections.defaultdict(list)
    for run in runs:
        groups[run["spec"], tuple(run["define"].items())].append(run)
    return list(groups.values())


def in_turn(groups):
    """Of the groups of each spec every second one, and at least one."""
    of_spec = collections.defaultdict(list)
    for group in groups:
        of_spec[group[0]["spec"]].append(group)
    return [group for number, own in enumerate(of_spec.values()) for group in (own[number % 2 :: 2] or own)]


def prepare_environment(options):
    """What `kgen run` finds in its environment: the CUDA model and the folder of compiled kernels."""
    for name, value in (("KGEN_CUDA_MODEL", options.model), ("KGEN_CUDA_MODEL_LIBRARY", options.model_library)):
        if value:
            os.environ[name] = str(value)
    if options.cache:
        if options.cache.is_dir() and len(list(options.cache.iterdir())) > CACHE_LIMIT:
            shutil.rmtree(options.cache, ignore_errors=True)
        os.environ["KGEN_NATIVE_CACHE"] = str(options.cache)


def describe(run):
    words = [f"{k}={v}" for part in (run["define"], run["sizes"]) for k, v in part.items()]
    return f"{run['spec']} {' '.join(words)} seed={run['seed']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kgen", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--only", default="", help="part of the spec's path")
    parser.add_argument("--target", default="interpret", help=",".join(TARGETS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cxxflags", default="", help="of emitted code")
    parser.add_argument("--in-turn", action="store_true", help="half of each spec's choices")
    for name, what in (("cache", "folder"), ("model", "folder"), ("model-library", "archive")):
        parser.add_argument(f"--{name}", type=lambda p: Path(p).resolve(), metavar=what.upper())
    options = parser.parse_args()
    prepare_environment(options)
    targets = options.target.split(",")
    if set(targets) - set(TARGETS):
        parser.error(f"targets are {', '.join(TARGETS)}")
    shipped = {str(p.relative_to(HERE.parents[1] / "specs")) for p in (HERE.parents[1] / "specs").rglob("*.toml")}
    runs = list(cases.expand(options.only))
    missing = sorted(
        s for s in shipped - {run["spec"] for run in runs} if options.only in s and not s.endswith(".tune.toml")
    )
    tally = collections.Counter(failed=len(missing))
    for spec in missing:
        print(f"FAIL {spec}: no case in tests/conformance/cases.toml")
    start = time.monotonic()
    groups = by_kernel(runs)
    if options.in_turn:
        groups = in_turn(groups)
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for results in pool.map(attempt_all, itertools.repeat(options.kgen), groups, itertools.repeat(targets),
                                itertools.repeat(options.cxxflags)):
            for run, target, problem in results:
                tally["skipped" if problem == "skipped" else "failed" if problem else "passed"] += 1
                if problem and problem != "skipped":
                    print(f"FAIL [{target}] {describe(run)}\n     {problem}", flush=True)
    if tally["skipped"]:
        print(f"{tally['skipped']} runs too large for the CUDA model left out")
    print(f"{tally['passed']} passed, {tally['failed']} failed in {time.monotonic() - start:.0f} s")
    return 1 if tally["failed"] or not tally["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
