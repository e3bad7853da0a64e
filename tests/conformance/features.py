"""Runs `kgen verify` over specs/: small kernels, each naming the features that it joins, on OpenMP and on the CUDA model.

    features.py KGEN MODEL MODEL_LIBRARY [NAME...]
"""

import concurrent.futures
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "specs"
FLAGS = "-O1 -Wall -Wextra -Wconversion -Werror"


def verify(kgen, model, library, spec, target):
    # The model runs every thread as a fiber: fewer operations take as long.
    command = [kgen, "verify", str(spec), "--cxxflags", FLAGS, "--target", target]
    command += ["--work", "100000" if target == "openmp" else "10000"]
    if target == "cuda_model":
        command += ["--model", model, "--model-library", library]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def main():
    kgen, model, library, *names = sys.argv[1:]
    specs = [spec for spec in sorted(FOLDER.glob("*.toml")) if not names or spec.stem in names]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {
            (spec.stem, target): pool.submit(verify, kgen, model, library, spec, target)
            for spec in specs
            for target in ("openmp", "cuda_model")
        }
        for (name, target), run in runs.items():
            done = run.result()
            if done.returncode != 0:
                failed += 1
                print(f"{name} {target}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    print(f"{len(specs)} specs on two targets, {failed} failed")
    return 1 if failed or not specs else 0


if __name__ == "__main__":
    sys.exit(main())
