#!/usr/bin/env python3
"""All specs with each number of their plans at its least legal value, against the interpreter.

Small sizes then meet what only large ones do by the rules: shares, parts, blocks, chunks, tiles. Specs whose text stays
the same are left out. Usage: least.py KGEN openmp|cuda_model MODEL_LIBRARY [--only WORD] [--share 3]
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
import this_machine  # noqa: E402

LEAST = ["--decide", "least"]
WORK = "200000"  # a case: with more, few sizes are tried in the time
FLAGS = {"openmp": ["-O0", *this_machine.FLAGS], "cuda_model": ["-O0"]}
FOUND = {"lanes_across_parts"}  # wrong once, and only so: these are tried in any share
WITHOUT_VERDICT = "are undecided"


def kgen(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=500)


def text_of(options, spec, *decisions):
    with tempfile.TemporaryDirectory(prefix="kgen_least_") as folder:
        target = "openmp" if options.target == "openmp" else "cuda"
        kgen(options.kgen, spec, "-o", folder, "--targets", target, *decisions)
        files = [path for path in sorted(pathlib.Path(folder).iterdir()) if path.suffix in (".cpp", ".cu")]
        return "".join(path.read_text() for path in files)


def verify(options, spec, *decisions):
    """What is wrong with a spec whose numbers are decided so, if anything."""
    done = kgen(options.kgen, "verify", spec, *decisions, "--target", options.target, "--work", WORK, "--seeds", 1, "--cxxflags",
                " ".join(FLAGS[options.target]), "--model", ROOT / "tests/cuda_model", "--model-library", options.library)
    if done.returncode == 0 or WITHOUT_VERDICT in done.stderr:
        return ""
    return done.stderr.strip()[-500:] or f"exit code {done.returncode}"


def verify_if_changed(options, spec):
    """None: nothing changes; else what `verify` says."""
    if text_of(options, spec) == text_of(options, spec, *LEAST):
        return None
    return verify(options, spec, *LEAST)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kgen", type=pathlib.Path)
    parser.add_argument("target", choices=FLAGS)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--share", type=int, default=1, help="one of so many specs")
    options = parser.parse_args()
    specs = sorted([*(ROOT / "specs").rglob("*.toml"), *(ROOT / "tests/conformance/specs").glob("*.toml")])
    specs = [spec for i, spec in enumerate(specs) if options.only in spec.name and (i % options.share == 0 or spec.stem in FOUND)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda spec: verify_if_changed(options, spec), specs))
    wrong = 0
    for spec, said in zip(specs, results):
        if said:
            wrong += 1
            print(f"{spec.relative_to(ROOT)}: {said}")
    tried = sum(said is not None for said in results)
    print(f"{tried - wrong} passed, {wrong} failed; of {len(specs)} specs the others stay the same")
    return 1 if wrong or tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
