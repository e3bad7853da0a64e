"""The functions of the body language's library against NumPy: library_test.py --kgen PATH

One kernel for those of single values and one for those along an axis, in f64, by the interpreter and as OpenMP code. A
function that no line here is about counts as a fault.
"""
import argparse
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PRELUDE = Path(__file__).resolve().parents[2] / "generator/body/prelude/library.h"
erf = np.vectorize(math.erf)


def softplus(v):
    return np.logaddexp(v, 0)


def centred(v):
    return v - v.mean(1, keepdims=True)


def exp_of(v):
    return np.exp(v - v.max(1, keepdims=True))


def over_each(row_values, v):
    return np.broadcast_to(row_values, v.shape)


SELU_SLOPE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772

# call: what it should give for v and w
OF_VALUES = {
    "identity(v)": lambda v, w: v,
    "square(v)": lambda v, w: v * v,
    "lerp(v, w, 0.25)": lambda v, w: v + 0.25 * (w - v),
    "atan(v)": lambda v, w: np.arctan(v),
    "asin(v)": lambda v, w: np.arcsin(v),
    "acos(v)": lambda v, w: np.arccos(v),
    "hypot(v, w)": lambda v, w: np.where(np.isnan(v) | np.isnan(w), np.nan, np.hypot(v, w)),
    "log10(v)": lambda v, w: np.log10(v),
    "logaddexp(v, w)": np.logaddexp,
    "isfinite(v)": lambda v, w: np.isfinite(v),
    "pow(v, 1)": lambda v, w: v,
    "pow(v, 2)": lambda v, w: v * v,
    "pow(v - w, 3)": lambda v, w: (v - w) ** 3,
    "pow(v, -1)": lambda v, w: 1 / v,
    "pow(v, w)": np.power,
    "relu(v)": lambda v, w: np.maximum(v, 0),
    "relu6(v)": lambda v, w: np.clip(v, 0, 6),
    "leaky_relu(v)": lambda v, w: np.where(v > 0, v, 0.01 * v),
    "leaky_relu(v, 0.5)": lambda v, w: np.where(v > 0, v, 0.5 * v),
    "elu(v, 2)": lambda v, w: np.where(v > 0, v, 2 * np.expm1(v)),
    "selu(v)": lambda v, w: SELU_SLOPE * np.where(v > 0, v, SELU_ALPHA * np.expm1(v)),
    "celu(v, 2)": lambda v, w: np.where(v > 0, v, 2 * np.expm1(v / 2)),
    "gelu(v)": lambda v, w: 0.5 * v * (1 + erf(v / np.sqrt(2))),
    "gelu_tanh(v)": lambda v, w: 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))),
    "silu(v)": lambda v, w: v / (1 + np.exp(-v)),
    "mish(v)": lambda v, w: v * np.tanh(softplus(v)),
    "softplus(v)": lambda v, w: softplus(v),
    "softsign(v)": lambda v, w: v / (1 + np.abs(v)),
    "log_sigmoid(v)": lambda v, w: -softplus(-v),
    "hardtanh(v)": lambda v, w: np.clip(v, -1, 1),
    "hardsigmoid(v)": lambda v, w: np.clip(v / 6 + 0.5, 0, 1),
    "hardswish(v)": lambda v, w: v * np.clip(v / 6 + 0.5, 0, 1),
    "tanhshrink(v)": lambda v, w: v - np.tanh(v),
}
ALONG_AXIS = {
    "softmax(v, N)": lambda v: exp_of(v) / exp_of(v).sum(1, keepdims=True),
    "log_softmax(v, N)": lambda v: np.log(exp_of(v) / exp_of(v).sum(1, keepdims=True)),
    "logsumexp(v, N)": lambda v: over_each(np.logaddexp.reduce(v, axis=1, keepdims=True), v),
    "variance(v, N)": lambda v: over_each(v.var(1, keepdims=True), v),
    "layernorm(v, N, 0.5)": lambda v: centred(v) / np.sqrt(v.var(1, keepdims=True) + 0.5),
    "rmsnorm(v, N, 0.5)": lambda v: v / np.sqrt((v * v).mean(1, keepdims=True) + 0.5),
    "norm(v, N)": lambda v: over_each(np.linalg.norm(v, axis=1, keepdims=True), v),
    "normalize(v, N)": lambda v: v / np.linalg.norm(v, axis=1, keepdims=True),
}
KEEP = "where(w > 0)"


def kept(of_all):
    """As `of_all` of (values, weights of 0 and 1, what is kept), 0 for what is left out."""
    def of(v, w):
        keep = w > 0
        with np.errstate(all="ignore"):
            return np.where(keep, of_all(np.where(keep, v, 0), keep), 0.0)
    return of


def of_kept(fold):
    return lambda v, w: over_each(np.array([fold(row[keep > 0]) for row, keep in zip(v, w)])[:, None], v)


def mean_of(v, keep):
    return v.sum(1, keepdims=True) / keep.sum(1, keepdims=True)


def spread(v, keep):
    return np.where(keep, v - mean_of(v, keep), 0)


def exp_of_kept(v, keep):
    return np.where(keep, np.exp(v - np.where(keep, v, -np.inf).max(1, keepdims=True)), 0)


def softmax_of_kept(v, keep):
    return exp_of_kept(v, keep) / exp_of_kept(v, keep).sum(1, keepdims=True)


def log_softmax_of_kept(v, w):
    with np.errstate(all="ignore"):
        return np.where(w > 0, np.log(kept(softmax_of_kept)(v, w)), -np.inf)


def variance_of_kept(v, keep):
    return (spread(v, keep) ** 2).sum(1, keepdims=True) / keep.sum(1, keepdims=True)


# Along N of what a where keeps. One row keeps nothing, and what is left out is NaN.
ALONG_KEPT = {
    f"softmax(v, N, {KEEP})": kept(softmax_of_kept),
    f"log_softmax(v, N, {KEEP})": log_softmax_of_kept,
    f"logsumexp(v, N, {KEEP})": of_kept(lambda row: np.logaddexp.reduce(row) if row.size else -np.inf),
    f"variance(v, N, {KEEP})": of_kept(lambda row: row.var() if row.size else np.nan),
    f"layernorm(v, N, 0.5, {KEEP})": kept(lambda v, keep: spread(v, keep) / np.sqrt(variance_of_kept(v, keep) + 0.5)),
    f"layernorm(v, N, {KEEP})": kept(lambda v, keep: spread(v, keep) / np.sqrt(variance_of_kept(v, keep) + 1e-5)),
    f"rmsnorm(v, N, 0.5, {KEEP})": kept(lambda v, keep: v / np.sqrt(mean_of(v * v, keep) + 0.5)),
    f"norm(v, N, {KEEP})": of_kept(np.linalg.norm),
    f"normalize(v, N, {KEEP})": kept(lambda v, keep: v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)),
}


def over_all(call):
    """The same along both axes is that of one long row."""
    one_axis = ALONG_AXIS[call.replace("M, N", "N")]
    return lambda v: one_axis(v.reshape(1, -1)).reshape(v.shape)


ALONG_BOTH = {call: over_all(call) for call in (c.replace("N", "M, N", 1) for c in ALONG_AXIS)}
ALONG_BOTH_KEPT = {
    call.replace("N", "M, N", 1): (lambda of: lambda v, w: of(v.reshape(1, -1), w.reshape(1, -1)).reshape(v.shape))(of)
    for call, of in ALONG_KEPT.items()
}
# Where a formula and the function that it is for may part: ends, and what is far from 0.
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 6.0, -6.0, 40.0, -40.0, 1e-9, 1e200, -1e200, np.inf, -np.inf, np.nan]


def outputs_of(kgen, target, calls, inputs, folder):
    """What the calls give, one output each."""
    shape = "N" if inputs["v"].ndim == 1 else "M, N"
    lines = ['kernel = "library"', *(f'inputs.{name} = "f64[{shape}]"' for name in inputs)]
    lines += [f'outputs.o{i} = "{"bool" if call.startswith("is") else "f64"}[{shape}]"' for i, call in enumerate(calls)]
    lines += ["body = '''", *(f"o{i} = {call};" for i, call in enumerate(calls)), "'''"]
    (folder / "library.toml").write_text("\n".join(lines) + "\n")
    command = [kgen, "run", str(folder / "library.toml"), "--target", target]
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
        command += ["--in", f"{name}={folder}/{name}.npy"]
    for i in range(len(calls)):
        command += ["--out", f"o{i}={folder}/o{i}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"o{i}.npy") for i in range(len(calls))]


def faults(got, wanted, call, inputs):
    close = np.isclose(got.astype(float), wanted.astype(float), rtol=1e-12, atol=1e-14, equal_nan=True)
    for at in np.argwhere(~close)[:1]:
        place = tuple(at)
        values = ", ".join(f"{name} = {array[place]!r}" for name, array in inputs.items())
        yield f"{call}: {got[place]!r} instead of {wanted[place]!r} for {values}"


def compare(kgen, target, table, inputs):
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        found = outputs_of(kgen, target, list(table), inputs, Path(folder))
        for (call, reference), got in zip(table.items(), found):
            for fault in faults(got, reference(*inputs.values()), call, inputs):
                yield f"[{target}] {fault}"


def without_reference():
    named = {call.split("(")[0] for call in [*OF_VALUES, *ALONG_AXIS]}
    for name in re.findall(r"^(?:template <class V> )?\w+ (\w+)\(", PRELUDE.read_text(), re.MULTILINE):
        if name not in named:
            yield f"{name}: there is no reference for it here"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    kgen = str(Path(parser.parse_args().kgen).resolve())
    rng = np.random.default_rng(5)
    values = np.concatenate([EDGES, rng.normal(0, 3, 1000)])
    singles = {"v": np.repeat(values, 3), "w": np.tile(rng.permutation(values), 3)}
    rows = {"v": rng.normal(0, 5, (7, 37))}
    problems = list(without_reference())
    weights = (rng.random((7, 37)) < 0.6).astype(float)
    weights[3] = 0
    some = {"v": np.where(weights > 0, rows["v"], np.nan), "w": weights}
    tables = ((OF_VALUES, singles), (ALONG_AXIS, rows), (ALONG_BOTH, rows), (ALONG_KEPT, some), (ALONG_BOTH_KEPT, some))
    for target in ("interpret", "openmp"):
        for table, inputs in tables:
            problems += compare(kgen, target, table, inputs)
    print("\n".join([*problems, f"{sum(len(t) for t, _ in tables)} calls on 2 targets, {len(problems)} faults"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
