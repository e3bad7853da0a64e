"""Running products and linear recurrences on CUDA give what going in order gives, also where the product of a part of
the row leaves the range of f32: with zeros, infinities and NaN where they come in order, and else but for roundings.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = ROOT / "tests/cuda_model/specs/products.toml"
LENGTH = 5003  # three tiles of a block


def factors(rng):
    """Rows by name."""
    def ones(values):
        row = numpy.ones(LENGTH)
        for place, value in values.items():
            row[place] = value
        return row

    near_one = 1 + 0.01 * rng.standard_normal(LENGTH)
    return {
        "normal": rng.standard_normal(LENGTH),  # soon 0
        "near one": near_one,
        "of all sizes": numpy.exp(rng.uniform(-20, 20, LENGTH)),
        "growing": numpy.full(LENGTH, 1.1),
        "shrinking": numpy.full(LENGTH, 0.9),
        "underflow, then large": ones({100: 1e-30, 101: 1e-30, 300: 1e30, 301: 1e30}),
        "overflow, then small": ones({100: 1e30, 101: 1e30, 3000: 1e-30, 3001: 1e-30}),
        "a part underflows, the whole does not": ones({10: 1e30, 11: 1e5, 1500: 1e-30, 1501: 1e-30, 1700: 1e30}),
        "a zero": numpy.where(numpy.arange(LENGTH) == 700, 0, near_one),
        "an infinity": numpy.where(numpy.arange(LENGTH) == 700, numpy.inf, near_one),
        "a NaN": numpy.where(numpy.arange(LENGTH) == 700, numpy.nan, near_one),
        "a zero, then an infinity": ones({700: 0, 900: numpy.inf}),
    }


def in_order(x, d):
    """The results in f32, and the size against which roundings are small."""
    p = numpy.multiply.accumulate(x, axis=1)
    q = numpy.ones_like(x)
    q[:, :-1] = numpy.multiply.accumulate(x[:, ::-1], axis=1)[:, ::-1][:, 1:]
    h, size = numpy.zeros_like(x), numpy.zeros(x.shape)
    total, sum_of_sizes = numpy.zeros(len(x), numpy.float32), numpy.zeros(len(x))
    for n in range(x.shape[1]):
        total = x[:, n] * total + d[:, n]
        sum_of_sizes = numpy.abs(x[:, n]) * sum_of_sizes + numpy.abs(d[:, n])
        h[:, n], size[:, n] = total, sum_of_sizes
    return {"p": (p, numpy.abs(p)), "q": (q, numpy.abs(q)), "h": (h, size)}


def run(kgen, model_library, folder, x, d):
    numpy.save(folder / "x.npy", x)
    numpy.save(folder / "d.npy", d)
    command = [kgen, "run", SPEC, "-D", "T=f32", "--in", f"x={folder / 'x.npy'}", "--in", f"d={folder / 'd.npy'}",
               "--target", "cuda_model", "--model", ROOT / "tests/cuda_model", "--model-library", model_library]
    for name in "pqh":
        command += ["--out", f"{name}={folder / name}.npy"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return {name: numpy.load(folder / f"{name}.npy") for name in "pqh"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    parser.add_argument("--model-library", required=True)
    arguments = parser.parse_args()
    rng = numpy.random.default_rng(1)
    rows = factors(rng)
    x = numpy.array(list(rows.values()), dtype=numpy.float32)
    d = numpy.where(numpy.arange(LENGTH) % 7 == 0, 0, rng.standard_normal(x.shape)).astype(numpy.float32)
    failed = 0
    with tempfile.TemporaryDirectory() as name, numpy.errstate(all="ignore"):
        found = run(arguments.kgen, arguments.model_library, pathlib.Path(name), x, d)
        for output, (want, size) in in_order(x, d).items():
            near = numpy.abs(found[output].astype(numpy.float64) - want) <= 1e-4 * size
            same = (found[output] == want) | (numpy.isnan(found[output]) & numpy.isnan(want))
            right = numpy.where(numpy.isfinite(want), near, same)
            for row, label in enumerate(rows):
                if not right[row].all():
                    failed += 1
                    print(f"{output} of the row '{label}' differs from place {numpy.argmin(right[row])} on")
    print(f"{3 * len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
