"""The same kernel written in another way gives the same results: every shipped spec in each form of variants.py.

    run.py --kgen PATH [--only WORD] [--target interpret,openmp,cuda_model] [--jobs 2] [--cache FOLDER] [--show]
           [--in-turn] [--model tests/cuda_model --model-library libkgen_cuda_model.a]

What a form computes is compared with the NumPy reference of the spec, as tests/reference/run.py does it, so that two
forms which are wrong alike do not agree. A form may be refused only for the reasons that its maker names. --show prints
the text of each form. --in-turn: of the forms of a spec every second one is compiled, of the next spec the others; all are
interpreted.
"""

import argparse
import collections
import concurrent.futures
import copy
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference"))
sys.path.insert(0, str(HERE.parent / "conformance"))
sys.path.insert(0, str(HERE.parent / "tools"))
import cases  # noqa: E402
import inputs as makers  # noqa: E402
from run import TIMEOUT_S, command_line, expected_outputs  # noqa: E402
from run import partial_contents, prepare_environment, wrong_outputs  # noqa: E402
from spec_file import SPECS, SpecFile  # noqa: E402
import this_machine  # noqa: E402
from variants import variants  # noqa: E402

RUNS = 2  # sizes for each form: the usual ones, and those one beyond the blocks
WORK = 300_000  # element operations a run may take
FLAGS = ["-O0", *this_machine.FLAGS]  # asked is what the text says; other suites have it optimized


def chosen_runs(path):
    """The first sizes of a spec in the conformance list, for its first choice of types."""
    runs = [run for run in cases.expand(path) if run["spec"] == path and run["work"] <= WORK]
    first = [run for run in runs if run["define"] == runs[0]["define"]]
    return first[:RUNS]


def turned(array, variant, name):
    """An array from one form to the other; the same way back."""
    return np.ascontiguousarray(np.transpose(array)) if name in variant.permuted else array


def compare(kgen, spec, variant, run, target, folder):
    """None, or what went wrong; 'refused' when kgen says no and may."""
    sizes = spec.all_sizes(run["sizes"])
    stored = makers.make(spec, run["define"], sizes, run["seed"])
    before = partial_contents(spec, run, sizes)
    expected = expected_outputs(spec, run, sizes, stored)
    form = copy.copy(spec)
    form.path = folder / "spec.toml"
    arrays = {name: turned(value, variant, name) for name, value in {**stored, **before}.items()}
    renamed = {**run, "sizes": {variant.axes.get(axis, axis): size for axis, size in run["sizes"].items()}}
    command = command_line(kgen, form, renamed, target, arrays, folder) + ["--include", str(spec.path.parent)]
    if target != "interpret":
        command += ["--cxxflags", " ".join(FLAGS)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    if done.returncode != 0:
        codes = set(re.findall(r"error\[(KG\d+)\]", done.stderr))
        if codes and codes <= variant.may_refuse:
            return "refused"
        return f"exit {done.returncode}: {' | '.join((done.stderr or done.stdout).strip().splitlines()[:4])}"
    return wrong_outputs(spec, run, folder, expected, before, lambda array, name: turned(array, variant, name))


def attempt(kgen, path, number, targets, show, in_turn):
    """(kind, target, problem) of every form of one spec."""
    spec = SpecFile(path)
    results = []
    for form, variant in enumerate(variants(spec)):
        is_compiled = not in_turn or (form + number) % 2 == 0
        if show:
            print(f"---- {path}, {variant.kind}\n{variant.text}")
        with tempfile.TemporaryDirectory(prefix="kgen_metamorphic_") as name:
            folder = Path(name)
            (folder / "spec.toml").write_text(variant.text)
            for run, target in itertools.product(chosen_runs(path), targets):
                if (target == "cuda_model" and not run["model"]) or not (is_compiled or target == "interpret"):
                    continue
                try:
                    problem = compare(kgen, spec, variant, run, target, folder)
                except Exception as error:  # a file that was not written, no end in time: reported, not fatal
                    problem = f"{type(error).__name__}: {error}"
                results.append((variant.kind, target, problem))
    return path, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kgen", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--only", default="", help="part of the spec's path")
    parser.add_argument("--target", default="interpret,openmp")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--in-turn", action="store_true")
    for name, what in (("cache", "folder"), ("model", "folder"), ("model-library", "archive")):
        parser.add_argument(f"--{name}", type=lambda p: Path(p).resolve(), metavar=what.upper())
    options = parser.parse_args()
    prepare_environment(options)
    paths = sorted(str(p.relative_to(SPECS)) for p in SPECS.rglob("*.toml") if options.only in str(p))
    tally = collections.Counter()
    forms = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        work = pool.map(attempt, itertools.repeat(options.kgen), paths, itertools.count(), itertools.repeat(options.target.split(",")),
                        itertools.repeat(options.show), itertools.repeat(options.in_turn))
        for path, results in work:
            for kind, target, problem in results:
                kind = re.sub(r"over \w+", "over one more axis", kind)
                state = "refused" if problem == "refused" else "failed" if problem else "passed"
                tally[state] += 1
                forms[kind, state] += 1
                if state == "failed":
                    print(f"FAIL [{target}] {path}, {kind}\n     {problem}", flush=True)
    for kind in dict.fromkeys(kind for kind, _ in forms):
        agreed, refused = forms[kind, "passed"], forms[kind, "refused"]
        print(f"{kind}: {agreed} runs agree" + (f", {refused} refused with a reason" if refused else ""))
        tally["failed"] += agreed == 0 and not options.only  # a form that nothing takes tests nothing
    print(f"{tally['passed']} passed, {tally['failed']} failed")
    return 1 if tally["failed"] or not tally["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
