"""Rows that several blocks share give the same bits on all devices: as clusters that meet in shared memory (compute
capability 9.0), and as blocks that meet in global memory (8.0). A device with too few multiprocessors for all blocks of a
row computes it in other parts. So do scans, whose tiles several warps share, and blocks the rows and columns that are
few and long. All are compared with NumPy in double precision.

--mutants breaks the templates, one rule at a time, and asks that the model or the results show each of them.
"""

import argparse
import os
import pathlib
import shutil
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


def linear_recurrence(x):
    h, out = numpy.zeros(x.shape[:-1]), numpy.empty_like(x)
    for n in range(x.shape[-1]):
        h = 0.5 * h + x[..., n]
        out[..., n] = h
    return out


CASES = [  # spec, shape of x, function, name of the result
    ("norm/log_softmax.toml", (3, 20000), log_softmax, "y"),  # four blocks a row
    ("norm/log_softmax.toml", (2, 20003), log_softmax, "y"),  # rows that do not begin at whole accesses
    ("norm/instance_norm.toml", (1, 2, 130, 130), instance_norm, "y"),
    ("reduce/logsumexp.toml", (3, 34000), logsumexp, "y"),  # eight
    ("norm/log_softmax.toml", (1, 70000), log_softmax, "y"),  # more than a cluster has
    ("scan/cumsum.toml", (2, 5000), lambda x: x.cumsum(-1), "inclusive"),  # three tiles of 16 warps
    ("scan/cumsum.toml", (2, 5003), lambda x: x.cumsum(-1) - x, "exclusive"),
    ("scan/cumsum.toml", (3, 5003), lambda x: x[:, ::-1].cumsum(-1)[:, ::-1], "reverse"),
    ("../tests/cuda_model/specs/decay.toml", (2, 5003), linear_recurrence, "y"),
    ("scan/cumsum.toml", (2, 33003), lambda x: x[:, ::-1].cumsum(-1)[:, ::-1], "reverse"),  # eight blocks a row
    ("scan/cumsum_columns.toml", (4099, 3), lambda x: x.cumsum(0), "y"),  # 64 threads a column, some with nothing to do
]

# What mutants are tried on: several rows a team, several tiles a row.
TRIALS = {
    "rows": ("norm/log_softmax.toml", (6, 20000), log_softmax, "y"),
    "scan": ("scan/cumsum.toml", (2, 5000), lambda x: x.cumsum(-1), "inclusive"),
    "from the end": ("scan/cumsum.toml", (2, 5000), lambda x: x[:, ::-1].cumsum(-1)[:, ::-1], "reverse"),
    "shares": ("scan/cumsum.toml", (2, 33000), lambda x: x.cumsum(-1), "inclusive"),
    "recurrence": ("../tests/cuda_model/specs/decay.toml", (2, 5000), linear_recurrence, "y"),
    "in order": ("../tests/cuda_model/specs/products.toml", (2, 5000), lambda x: x.cumprod(-1), "p"),  # which underflow
}

MUTANTS = [  # trial, device, text of templates/cuda or templates/common, what stands there instead, of which of its places
    ("rows", "clusters", "    meet();\n", "", 0),  # after each block has told the others what it found
    ("rows", "grid", "    meet();\n", "", 0),
    ("rows", "clusters", "folds++ % 2 * chunks", "folds++ * 0", 0),  # one set of slots: a fast block overwrites what is read
    ("rows", "grid", "folds++ % 2 * chunks", "folds++ * 0", 0),
    ("rows", "clusters", "      meet();  // before", "      {}  // before", 0),  # writes into a block that has not begun
    ("rows", "grid", "    __syncthreads();\n  }\n};", "  }\n};", 0),  # threads that do not wait for the one that waits
    ("rows", "grid", "< 0) __nanosleep(32)", "< -1) __nanosleep(32)", 0),  # the last block is not waited for
    ("rows", "grid", "how.val.cooperative = 1;", "", 0),  # blocks wait for others that never begin
    ("scan", "clusters", "    __syncthreads();\n    for (unsigned warp = 0; warp", "    for (unsigned warp = 0; warp", 0),
    ("scan", "clusters", "if (warp == thread / 32) start = carry;", "", 0),
    ("scan", "clusters", "if (lane >= distance) total", "total", 0),
    ("scan", "clusters", "combine(start, lane == 0 ? values[at(last)] : combine(before, values[at(last)]))",
     "combine(start, combine(before, values[at(last)]))", 0),
    ("shares", "clusters", "ceil_div(ceil_div(length, step), shares)", "(length / step / shares)", 0),  # the end is left out
    ("shares", "clusters", "ceil_div(ceil_div(length, step), shares) * step", "ceil_div(length, shares)", 0),  # unaligned
    ("from the end", "clusters", "kReverse ? threadIdx.x + distance : ", "", 0),
    ("from the end", "clusters", "kReverse ? blockDim.x - 1 - threadIdx.x : threadIdx.x, lane", "threadIdx.x, lane", 0),
    ("recurrence", "clusters", "next.factor.times(term) + next.term", "next.term", 0),
    ("recurrence", "clusters", "(half ? 1 : 0)", "0", 0),
    ("in order", "clusters", "    if (warps > 1) __syncthreads();\n  }", "  }", 0),
    ("in order", "clusters", "if (warp > 0) carry = slots[warp - 1];", "", 0),
]


def run(kgen, model, folder, spec, shape, result, settings, options=()):
    out = folder / "out.npy"
    command = [kgen, "run", ROOT / "specs" / spec, "-D", "T=f32", "--in", f"x={folder / 'x.npy'}", "--out",
               f"{result}={out}", "--target", "cuda_model", *model, *options, "--seed", "1"]  # odd: optional operands are left out
    done = subprocess.run([str(part) for part in command], env={**os.environ, **settings}, capture_output=True, text=True)
    return (numpy.load(out), "") if done.returncode == 0 else (None, done.stdout + done.stderr)


def is_far(found, want):
    return not numpy.abs(found - want).max() <= 1e-5 * max(1, numpy.abs(want).max())


def survives(kgen, model, folder, trial, device, templates):
    """Does the trial give the right results under each of some orders?"""
    spec, shape, function, result = TRIALS[trial]
    x = numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)
    numpy.save(folder / "x.npy", x)
    want = function(x.astype(numpy.float64))
    for seed in range(1, 7):
        settings = {**DEVICES[device][0], "KGEN_MODEL_SEED": str(seed), "KGEN_MODEL_SMS": "2"}
        found, error = run(kgen, model, folder, spec, shape, result, settings, ["--templates", templates])
        if "error:" in error:
            sys.exit(f"does not compile: {error}")
        if found is None or is_far(found, want):
            return False
    return True


def try_mutants(kgen, model, folder):
    failed = 0
    for trial, device in sorted({mutant[:2] for mutant in MUTANTS}):
        if not survives(kgen, model, folder, trial, device, ROOT / "templates"):
            sys.exit(f"{trial} fails on {device} without any mutant")
    for number, (trial, device, text, instead, place) in enumerate(MUTANTS):
        templates = folder / f"templates{number}"
        shutil.copytree(ROOT / "templates", templates)
        files = [*sorted(templates.glob("cuda/*.h")), templates / "common/helpers.h"]
        helpers = [file for file in files if text in file.read_text()]
        if not helpers:
            sys.exit(f"nothing to break: {text!r}")
        parts = helpers[0].read_text().split(text)
        helpers[0].write_text(text.join(parts[: place + 1]) + instead + text.join(parts[place + 1 :]))
        if survives(kgen, model, folder, trial, device, templates):
            failed += 1
            print(f"not noticed on {device}: {instead!r} instead of {text!r}")
    print(f"{len(MUTANTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    parser.add_argument("--model-library", required=True)
    parser.add_argument("--race-flags", default="", help="of the compiler, for the model to look for races")
    parser.add_argument("--mutants", action="store_true")
    arguments = parser.parse_args()
    model = ["--model", ROOT / "tests/cuda_model", "--model-library", arguments.model_library,
             f"--cxxflags=-O1 {arguments.race_flags}"]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["KGEN_NATIVE_CACHE"] = str(folder / "compiled")  # all devices run the same
        if arguments.mutants:
            return try_mutants(arguments.kgen, model, folder)
        for spec, shape, function, result in CASES:
            x = numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)
            numpy.save(folder / "x.npy", x)
            want, first = function(x.astype(numpy.float64)), None
            for device, (settings, same) in DEVICES.items():
                found, error = run(arguments.kgen, model, folder, spec, shape, result, settings)
                if found is None:
                    sys.exit(f"{spec} {shape} on {device}: {error}")
                first = found if first is None else first
                far = is_far(found, want)
                other = same and found.tobytes() != first.tobytes()
                if far or other:
                    failed += 1
                    print(f"{spec} {shape} on {device}: {'wrong' if far else 'other bits than the first device'}")
    print(f"{len(CASES) * len(DEVICES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
