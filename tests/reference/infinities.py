"""Rows with infinities and NaNs, in all forms that a plan gives to such folds: one pass, shares of few long rows, rows that
fill no vector, columns; by the interpreter and both targets. What is right is what torch gives: logsumexp of a row with
inf is inf, of one with -inf alone or of none -inf; softmax and log_softmax of a row with inf, and of one with -inf alone,
are NaN; a NaN makes all of its row NaN.

    infinities.py KGEN MODEL MODEL_LIBRARY
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import this_machine  # noqa: E402

KGEN, MODEL, MODEL_LIBRARY = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
INF, NAN = np.inf, np.nan
SPEC = """kernel = "{name}"
inputs.x = "f32[{axes}]"
outputs.l = "f32[M]"
{outputs}body = '''
l = logsumexp(x, N);
{body}'''
"""
SOFT = (('outputs.s = "f32[{axes}]"\noutputs.g = "f32[{axes}]"\noutputs.a = "f32[M]"\n',
         "s = softmax(x, N);\ng = log_softmax(x, N);\na = logaddexp(at(x, N = 0), logsumexp(at(x, N = index(N) + 1), N));\n"))  # fmt: skip
# name: the axes of x, whether softmaxes come with it, and the lengths of rows
KERNELS = [("alone", "M, N", False, (0, 1, 5, 70, 20000)), ("together", "M, N", True, (1, 5, 9000)), ("columns", "N, M", False, (1, 70))]
TARGETS = {"interpret": [], "openmp": [], "cuda_model": ["--model", MODEL, "--model-library", MODEL_LIBRARY]}


def rows(length):
    """Each kind of row, its numbers at the beginning, at the end and amid."""
    kinds = [[], [INF], [INF, INF], [INF, -INF], [-INF, INF], [NAN], [INF, NAN], [NAN, INF], [-INF], [-INF, NAN]]
    plain, out = np.random.default_rng(3).normal(0, 3, length).astype(np.float32), []
    for kind in kinds:
        for start in {0, max(0, length - len(kind)), length // 2}:
            row = plain.copy()
            kept = kind[: max(0, length - start)]
            row[start : start + len(kept)] = kept
            out.append(row)
    return np.array([*out, np.full(length, -INF, np.float32), np.full(length, INF, np.float32)], np.float32)


def logsumexp(x):
    greatest = x.max(1, initial=-INF)
    with np.errstate(all="ignore"):
        return np.where(np.isinf(greatest), greatest, greatest + np.log(np.exp(x - greatest[:, None]).sum(1)))


def wanted(x, soft):
    x = x.astype(np.float64)
    out = {"l": logsumexp(x)}
    if soft:
        with np.errstate(all="ignore"):
            e = np.exp(x - x.max(1, keepdims=True))
            out["s"] = e / e.sum(1, keepdims=True)
            out["g"] = x - x.max(1, keepdims=True) - np.log(e.sum(1, keepdims=True))
            beyond = np.concatenate([x[:, 1:], np.zeros_like(x[:, :1])], 1)  # outside the row there is 0
            out["a"] = np.logaddexp(x[:, 0], logsumexp(beyond))
    return out


def given(folder, spec, x, names, target):
    np.save(folder / "x.npy", x)
    outputs = [word for name in names for word in ("--out", f"{name}={folder}/{name}.npy")]
    environment = {**os.environ, "KGEN_NATIVE_CACHE": str(folder), "OMP_NUM_THREADS": "2"}
    subprocess.run([KGEN, "run", spec, "--in", f"x={folder}/x.npy", *outputs, "--target", target, "--cxxflags", " ".join(["-O1", *this_machine.FLAGS]),
                    *TARGETS[target]], check=True, stdout=subprocess.DEVNULL, env=environment)  # fmt: skip
    return {name: np.load(folder / f"{name}.npy") for name in names}


def main():
    faults, compared = [], 0
    with tempfile.TemporaryDirectory(prefix="kgen_infinities_") as folder:
        folder = pathlib.Path(folder)
        for name, axes, soft, lengths in KERNELS:
            outputs, body = SOFT if soft else ("", "")
            spec = folder / f"{name}.toml"
            spec.write_text(SPEC.format(name=name, axes=axes, outputs=outputs.format(axes=axes), body=body))
            for length in lengths:
                all_rows = rows(length)
                few = [all_rows] if length < 9000 else [all_rows, all_rows[3:5]]  # few long ones are shared by threads
                for x in few:
                    right = wanted(x, soft)
                    for target in TARGETS:
                        if target == "interpret" and length > 100:
                            continue
                        got = given(folder, spec, x.T.copy() if axes == "N, M" else x, right, target)
                        for output, values in got.items():
                            compared += values.size
                            good = np.isclose(values, right[output], rtol=1e-4, atol=1e-5, equal_nan=True)
                            for at in np.argwhere(~good)[:1]:
                                faults.append(f"{name}, {target}, {x.shape}: {output}{list(at)} is {values[tuple(at)]}, not "
                                              f"{right[output][tuple(at)]}: {x[at[0]][:3]} ... {x[at[0]][-3:]}")
    print("\n".join(faults) or f"{compared} numbers as they should be")
    return 1 if faults or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
