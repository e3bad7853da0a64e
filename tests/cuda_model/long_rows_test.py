"""Rows that several blocks share give the same bits on all devices: as clusters that meet in shared memory (compute
capability 9.0), and as blocks that meet in global memory (8.0). A device with too few multiprocessors for all blocks of a
row computes it in other parts. All are compared with NumPy in double precision."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEVICES = {  # settings of the model; whether the device must give the bits of the first
    "clusters": ({"KGEN_MODEL_CAPABILITY": "90"}, True),
    "clusters, other order": ({"KGEN_MODEL_CAPABILITY": "90", "KGEN_MODEL_SEED": "2"}, True),
    "grid": ({"KGEN_MODEL_CAPABILITY": "80"}, True),
    "grid, other order": ({"KGEN_MODEL_CAPABILITY": "80", "KGEN_MODEL_SEED": "3"}, True),
    "grid, rows in turn": ({"KGEN_MODEL_CAPABILITY": "80", "KGEN_MODEL_SMS": "4"}, True),
    "very small": ({"KGEN_MODEL_CAPABILITY": "80", "KGEN_MODEL_SMS": "1"}, False),
}


def log_softmax(x):
    d = x - x.max(axis=-1, keepdims=True)
    return d - numpy.log(numpy.exp(d).sum(axis=-1, keepdims=True))


def instance_norm(x):
    d = x - x.mean(axis=(2, 3), keepdims=True)
    return d / numpy.sqrt((d * d).mean(axis=(2, 3), keepdims=True) + 1e-5)


def logsumexp(x):
    m = x.max(axis=-1)
    return m + numpy.log(numpy.exp(x - m[:, None]).sum(axis=-1))


CASES = [  # spec, shape of x, function, name of the result
    ("norm/log_softmax.toml", (3, 20000), log_softmax, "y"),  # four blocks a row
    ("norm/log_softmax.toml", (2, 20003), log_softmax, "y"),  # rows that do not begin at whole accesses
    ("norm/instance_norm.toml", (1, 2, 130, 130), instance_norm, "y"),
    ("reduce/logsumexp.toml", (3, 34000), logsumexp, "y"),  # eight
    ("norm/log_softmax.toml", (1, 70000), log_softmax, "y"),  # more than a cluster has
]


def run(kgen, model, folder, spec, shape, result, settings):
    out = folder / "out.npy"
    command = [kgen, "run", ROOT / "specs" / spec, "-D", "T=f32", "--in", f"x={folder / 'x.npy'}", "--out",
               f"{result}={out}", "--target", "cuda_model", *model, "--seed", "1"]  # odd: optional operands are left out
    done = subprocess.run([str(part) for part in command], env={**os.environ, **settings}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{spec} {shape}: {done.stdout}{done.stderr}")
    return numpy.load(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    parser.add_argument("--model-library", required=True)
    arguments = parser.parse_args()
    model = ["--model", ROOT / "tests/cuda_model", "--model-library", arguments.model_library]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for spec, shape, function, result in CASES:
            x = numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)
            numpy.save(folder / "x.npy", x)
            want, first = function(x.astype(numpy.float64)), None
            for device, (settings, same) in DEVICES.items():
                found = run(arguments.kgen, model, folder, spec, shape, result, settings)
                first = found if first is None else first
                far = numpy.abs(found - want).max() > 1e-5 * max(1, numpy.abs(want).max())
                other = same and found.tobytes() != first.tobytes()
                if far or other:
                    failed += 1
                    print(f"{spec} {shape} on {device}: {'wrong' if far else 'other bits than the first device'}")
    print(f"{len(CASES) * len(DEVICES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
