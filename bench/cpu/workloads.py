"""What is measured: our function, its arrays, the answer in double, and the ratio (best peer / ours) that is the goal, if there is one yet.

An output is an array that a call fills; everything else is an input. bf16 travels as its bits in uint16.
"""

from dataclasses import dataclass, field

import numpy as np
import steps

SIDES = ("left", "top", "right", "bottom")
PLANES = [f"{side}_{kind}" for kind in "pt" for side in SIDES]


@dataclass
class Workload:
    name: str
    file: str  # under generated/, without its ending
    function: str
    sizes: dict
    arrays: object  # rng, sizes -> dict of arrays, in the order of the spec
    outputs: list
    truth: object  # arrays (floats as double) of the first rows -> dict of outputs
    goal: float | None
    operations: int = 0
    scalars: dict = field(default_factory=dict)
    by_row: bool = True  # do rows of the outputs depend on the same rows of the inputs?
    tolerance: float = 2e-5
    beats: dict = field(default_factory=dict)  # goals against single peers
    backward: tuple | None = None  # file and function of the gradient, which is called behind the other one
    saved: tuple | None = None  # a spec in this folder, the local that its backward kernel is given, and that one's axes
    by_hand: tuple | None = None  # a spec in this folder and its function, to be called in place of `backward`


WORKLOADS = []


def aligned(shape, dtype=np.float32):
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count].view(dtype).reshape(shape)


def filled(values):
    out = aligned(values.shape, values.dtype)
    out[...] = values
    return out


def to_bf16(values):
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def normal(rng, *shape):
    return filled(rng.standard_normal(shape, np.float32))


def vectors(*names):
    return lambda rng, s: {n: normal(rng, s["N"]) for n in names}


def add(name, file, function, sizes, inputs, outputs, truth, goal, **more):
    """`inputs`: rng, sizes -> dict; `outputs`: sizes -> dict of (shape, dtype)."""

    def arrays(rng, s):
        made = inputs(rng, s)
        for key, (shape, dtype) in outputs(s).items():
            made[key] = aligned(shape, dtype)
        return made

    WORKLOADS.append(Workload(name, file, function, sizes, arrays, list(outputs(sizes)), truth, goal, **more))


def like(name, *axes, dtype=np.float32):
    return lambda s: {name: (tuple(s[a] for a in axes), dtype)}


def boxes(rng, s):
    made = {key: filled(rng.random((s["M"], s["N"]), np.float32)) for key in PLANES}
    for kind in "pt":
        made[f"right_{kind}"] += made[f"left_{kind}"]
        made[f"bottom_{kind}"] += made[f"top_{kind}"]
    return made


def giou(a):
    l, t, r, b, u, v, w, x = (a[key] for key in PLANES)
    overlap = np.maximum(np.minimum(r, w) - np.maximum(l, u), 0) * np.maximum(np.minimum(b, x) - np.maximum(t, v), 0)
    hull = (np.maximum(r, w) - np.minimum(l, u)) * (np.maximum(b, x) - np.minimum(t, v))
    joined = (r - l) * (b - t) + (w - u) * (x - v) - overlap
    return {"giou": overlap / np.maximum(joined, 1e-5) - (hull - joined) / np.maximum(hull, 1e-5)}


def softmax(a):
    e = np.exp(a["x"] - a["x"].max(1, keepdims=True))
    return {"y": e / e.sum(1, keepdims=True)}


def layer_norm(a):
    d = a["x"] - a["x"].mean(1, keepdims=True)
    return {"y": d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * a["gamma"] + a["beta"]}


def softmax_masked(a):
    key, query = np.arange(a["x"].shape[-1]), np.arange(a["x"].shape[-2])
    seen = (key <= query[:, None]) & (key < a["length"][: len(a["x"]), None, None, None])
    e = np.exp(a["x"] - np.where(seen, a["x"], -np.inf).max(-1, keepdims=True)) * seen
    return {"y": e / e.sum(-1, keepdims=True)}


def softmax_channels(a):
    e = np.exp(a["x"] - a["x"].max(1, keepdims=True))
    return {"y": e / e.sum(1, keepdims=True)}


def log_softmax(a):
    d = a["x"] - a["x"].max(1, keepdims=True)
    return {"y": d - np.log(np.exp(d).sum(1, keepdims=True))}


def rms_norm(a):
    return {"y": a["x"] / np.sqrt((a["x"] ** 2).mean(1, keepdims=True) + 1e-6) * a["gamma"]}


def batch_norm(a):
    mean, variance = a["x"].mean((0, 2, 3)), a["x"].var((0, 2, 3))
    scale = a["gamma"] / np.sqrt(variance + 1e-5)
    wide = lambda v: v[:, None, None]  # noqa: E731
    return {"y": (a["x"] - wide(mean)) * wide(scale) + wide(a["beta"]), "batch_mean": mean, "batch_variance": variance}


def linear_recurrence(a):
    h, state = np.empty_like(a["x"]), 0
    for t in range(h.shape[1]):
        state = a["a"][:, t] * state + a["x"][:, t]
        h[:, t] = state
    return {"h": h}


def windows(x, fill):
    """Those of 3 x 3 with stride 2 around a border of 1, along a first axis."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=fill)
    last = [2 * ((n - 1) // 2) + 1 for n in x.shape[2:]]
    return np.stack([padded[:, :, i : i + last[0] : 2, j : j + last[1] : 2] for i in range(3) for j in range(3)])


def average_pool(a):
    inside = windows(np.ones_like(a["x"]), 0).sum(0)
    return {"y": windows(a["x"], 0).sum(0) / inside}


def corners(rng, *shape):
    """Boxes as left, top, right, bottom side by side; all of them meet."""
    return np.concatenate([rng.random((*shape, 2), np.float32), 1 + rng.random((*shape, 2), np.float32)], -1)


def box_giou(a):
    planes = {f"{side}_{k}": a[{"p": "pred", "t": "target"}[k]][..., i] for k in "pt" for i, side in enumerate(SIDES)}
    return giou(planes)["giou"]


def padded_boxes(rng, s):
    made = {key: corners(rng, s["B"], s["N"]) for key in ("pred", "target")}
    made["target"][rng.random((s["B"], s["N"])) < 0.25] = 0
    return {key: filled(value) for key, value in made.items()}


def giou_loss(a):
    mask = a["target"][..., 3] != 0
    values = box_giou(a) * mask
    return {"giou": values, "mask": mask, "loss": (mask * (1 - values)).sum() / max(mask.sum(), 1)}


def packed_boxes(rng, s):
    """Pictures of 0 to twice as many boxes as the padded ones hold."""
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 2 * s["N"] // s["B"] + 1, s["B"] - 1)), [s["N"]]])
    start = filled(np.minimum(start, s["N"]).astype(np.int64))
    return {"box_start": start, "pred": filled(corners(rng, s["N"])), "target": filled(corners(rng, s["N"]))}


def giou_loss_ragged(a):
    values, start = box_giou(a), a["box_start"].astype(np.int64)
    sums = np.add.reduceat(np.append(1 - values, 0), start[:-1]) * (np.diff(start) > 0)
    return {"giou": values, "picture_loss": sums / np.maximum(np.diff(start), 1), "loss": (1 - values).mean()}


def few_boxes(rng, s):
    """As many a picture as training data has: few."""
    return np.minimum(np.abs(rng.normal(0, 3, s["B"])).astype(np.int64), s["N"])


def few_padded_boxes(rng, s):
    made = {key: corners(rng, s["B"], s["N"]) for key in ("pred", "target")}
    made["target"][np.arange(s["N"]) >= few_boxes(rng, s)[:, None]] = 0
    return {key: filled(value) for key, value in made.items()}


def few_packed_boxes(rng, s):
    start = np.concatenate([[0], np.cumsum(few_boxes(rng, s))])
    return {"box_start": filled(start)} | {key: filled(corners(rng, s["N"])) for key in ("pred", "target")}


def giou_slopes(a, of):
    """By the boxes of `of` that count, the others having none: complex steps are as exact as formulas."""
    slopes = {f"d_{key}": np.zeros_like(a[key]) for key in ("pred", "target")}
    for key, side in ((key, side) for key in ("pred", "target") for side in range(4)):
        moved = {name: a[name][of].astype(complex) for name in ("pred", "target")}
        moved[key][:, side] += 1e-30j
        slopes[f"d_{key}"][of, side] = box_giou(moved).imag * 1e30
    return slopes


def giou_step(a):
    valid = a["target"][..., 3] != 0
    share = -a["d_loss"] / max(valid.sum(), 1)
    return giou_loss(a) | {key: share * slope for key, slope in giou_slopes(a, valid).items()}


def giou_ragged_step(a):
    share = -a["d_loss"] / max(len(a["pred"]), 1)
    return giou_loss_ragged(a) | {key: share * slope for key, slope in giou_slopes(a, slice(None)).items()}


def cross_entropy(a):
    top = a["score"].max(1)
    total = np.log(np.exp(a["score"] - top[:, None]).sum(1)) + top
    return {"loss": total - a["score"][np.arange(len(top)), a["target"].astype(np.int64)]}


def gelu_of(x):
    from math import erf

    return x * 0.5 * (1 + np.array([erf(v * 0.5**0.5) for v in x.ravel()]).reshape(x.shape))


def gelu(a):
    return {"y": gelu_of(a["x"])}


def linear_norm(a):
    return rms_norm({"x": a["x"] @ a["w"].T + a["residual"], "gamma": a["gamma"]})


def nearest_distance(a):
    squares = [(a[name] ** 2).sum(1) for name in ("x", "centre")]
    return {"distance": (squares[0][:, None] + squares[1] - 2 * a["x"] @ a["centre"].T).min(1)}


def escapes(a):
    h, w = 1024, 1024
    cx, cy = np.meshgrid(
        np.float32(-2) + np.arange(w, dtype=np.float32) * np.float32(2.5 / w),
        np.float32(-1.25) + np.arange(h, dtype=np.float32) * np.float32(2.5 / h),
    )
    x, y, count = np.zeros_like(cx), np.zeros_like(cy), np.zeros((h, w), np.int32)
    live = np.ones((h, w), bool)
    for _ in range(256):
        xx, yy = x * x, y * y
        live &= xx + yy <= 4
        count += live
        x, y = np.where(live, xx - yy + cx, x), np.where(live, 2 * x * y + cy, y)
    return {"count": count}


V, B = {"N": 2**24}, {"N": 2**25}
W = {"rows": 4096, "N": 4096}

add("add 2^24", "elementwise/add_vectors", "add_vectors_f32", V, vectors("x", "y"), like("z", "N"),
    lambda a: {"z": a["x"] + a["y"]}, 1.2, operations=1)
add("muladd 2^24", "elementwise/muladd", "muladd_f32", V, vectors("a", "b"), like("z", "N"),
    lambda a: {"z": a["a"] * a["b"] + 0.5}, 1.05, operations=2, scalars={"c": 0.5})
for m, n in ((1024, 256), (8192, 4096)):
    add(f"giou planes {m}x{n}", "giou/giou_planes", "giou_planes_f32", {"M": m, "N": n}, boxes, like("giou", "M", "N"),
        giou, 0.95, operations=31)
for name in ("gelu", "silu", "relu"):
    truth = gelu if name == "gelu" else lambda a, name=name: {
        "y": np.maximum(a["x"], 0) if name == "relu" else a["x"] / (1 + np.exp(-a["x"]))}
    add(f"{name} 4096x4096", "elementwise/activation", f"activation_{name}_f32", W,
        lambda rng, s: {"x": normal(rng, s["rows"], s["N"]), "bias": None}, like("y", "rows", "N"), truth, 1.0,
        operations=20)
add("bias + silu 4096x4096", "elementwise/activation", "activation_silu_f32", W,
    lambda rng, s: {"x": normal(rng, s["rows"], s["N"]), "bias": normal(rng, s["N"])}, like("y", "rows", "N"),
    lambda a: {"y": (a["x"] + a["bias"]) / (1 + np.exp(-a["x"] - a["bias"]))}, 1.0, operations=20)
for n in (8192, 8191):  # at odd sizes, rows begin anywhere in lines of memory
    add(f"transpose {n}x{n}", "memory/transpose", "transpose_f32", {"M": n, "N": n},
        lambda rng, s: {"x": filled(rng.random((s["M"], s["N"]), np.float32))}, like("y", "N", "M"),
        lambda a: {"y": a["x"].T}, 1.0, by_row=False)
add("f32 to bf16 2^25", "memory/convert", "convert_f32_bf16", B, vectors("x"), like("y", "N", dtype=np.uint16),
    lambda a: {"y": from_bf16(to_bf16(a["x"].astype(np.float32)))}, 1.0)
add("bf16 to f32 2^25", "memory/convert", "convert_bf16_f32", B,
    lambda rng, s: {"x": filled(to_bf16(rng.standard_normal(s["N"], np.float32)))}, like("y", "N"),
    lambda a: {"y": a["x"]}, 1.0)
add("rope 8x1024x16x128", "elementwise/rope", "rope_f32", {"B": 8, "S": 1024, "H": 16, "R": 64},
    lambda rng, s: {"x": normal(rng, s["B"], s["S"], s["H"], 2 * s["R"]), "cosine": normal(rng, s["S"], s["R"]),
                    "sine": normal(rng, s["S"], s["R"])},
    lambda s: {"y": ((s["B"], s["S"], s["H"], 2 * s["R"]), np.float32)},
    lambda a: {"y": np.concatenate([
        a["x"][..., :64] * a["cosine"][:, None] - a["x"][..., 64:] * a["sine"][:, None],
        a["x"][..., 64:] * a["cosine"][:, None] + a["x"][..., :64] * a["sine"][:, None]], 3)},
    1.0, operations=3, by_row=False)
add("mandelbrot 1024x1024", "elementwise/mandelbrot", "mandelbrot", {"H": 1024, "W": 1024}, lambda rng, s: {},
    like("count", "H", "W", dtype=np.int32), escapes, 1.0, operations=500, by_row=False, tolerance=0.5,
    scalars={"x0": -2.0, "y0": -1.25, "step": 2.5 / 1024}, beats={"C++ loops": 3.0})
for rows, n in ((4096, 4096), (65536, 128), (64, 262144)):
    square, shape = rows == n, {"rows": rows, "N": n}
    add(f"softmax {rows}x{n}", "norm/softmax", "softmax_f32", shape,
        lambda rng, s: {"x": normal(rng, s["rows"], s["N"])}, like("y", "rows", "N"), softmax, 1.4 if square else 1.0,
        operations=20)
    add(f"layer norm {rows}x{n}", "norm/layer_norm", "layer_norm_f32", shape,
        lambda rng, s: {"x": normal(rng, s["rows"], s["N"]), "gamma": normal(rng, s["N"]), "beta": normal(rng, s["N"])},
        like("y", "rows", "N"), layer_norm, 1.3 if square else 1.0, operations=8)
    add(f"log-softmax {rows}x{n}", "norm/log_softmax", "log_softmax_f32", shape,
        lambda rng, s: {"x": normal(rng, s["rows"], s["N"])}, like("y", "rows", "N"), log_softmax,
        1.3 if square else 1.0, operations=20)
    add(f"rms norm {rows}x{n}", "norm/rms_norm", "rms_norm_f32", shape,
        lambda rng, s: {"x": normal(rng, s["rows"], s["N"]), "gamma": normal(rng, s["N"])}, like("y", "rows", "N"),
        rms_norm, 1.3 if square else 1.0, operations=6)
add("masked softmax 16x8x384x384", "norm/softmax_masked", "softmax_masked_f32", {"B": 16, "H": 8, "Q": 384, "K": 384},
    lambda rng, s: {"x": normal(rng, s["B"], s["H"], s["Q"], s["K"]),
                    "length": filled(rng.integers(s["K"] // 2, s["K"] + 1, s["B"], np.int32))},
    like("y", "B", "H", "Q", "K"), softmax_masked, None, operations=20)
add("softmax over channels 4x21x512x512", "norm/softmax_channels", "softmax_channels_f32",
    {"B": 4, "C": 21, "N": 512 * 512}, lambda rng, s: {"x": normal(rng, s["B"], s["C"], s["N"])},
    like("y", "B", "C", "N"), softmax_channels, 1.0, operations=20)
M = {"M": 8192, "N": 4096}
add("row sum 8192x4096", "reduce/row_sum", "row_sum_f32_f32", M, lambda rng, s: {"x": normal(rng, s["M"], s["N"])},
    like("total", "M"), lambda a: {"total": a["x"].sum(1)}, 0.95, operations=1, by_row=False, tolerance=2e-4)
add("column sum 8192x4096", "reduce/column_sum", "column_sum_f32_f32", M,
    lambda rng, s: {"x": normal(rng, s["M"], s["N"])}, like("total", "N"), lambda a: {"total": a["x"].sum(0)}, 1.4,
    operations=1, by_row=False, tolerance=2e-3)
Q = {"M": 4096, "N": 4096}
add("cumsum along rows 4096x4096", "scan/running", "running_cumsum_f32", Q,
    lambda rng, s: {"x": normal(rng, s["M"], s["N"])}, like("y", "M", "N"), lambda a: {"y": a["x"].cumsum(1)}, 3.0,
    operations=1, tolerance=2e-3)
add("cumsum down columns 4096x4096", "scan/cumsum_columns", "cumsum_columns_f32", Q,
    lambda rng, s: {"x": normal(rng, s["M"], s["N"])}, like("y", "M", "N"), lambda a: {"y": a["x"].cumsum(0)}, 3.0,
    operations=1, by_row=False, tolerance=2e-3)
add("linear recurrence 8x2048x1024", "scan/linear_recurrence", "linear_recurrence_f32", {"B": 8, "S": 2048, "C": 1024},
    lambda rng, s: {"a": filled(rng.random((s["B"], s["S"], s["C"]), np.float32)),
                    "x": normal(rng, s["B"], s["S"], s["C"])},
    like("h", "B", "S", "C"), linear_recurrence, 3.0, operations=2, by_row=False)
for b in (1024, 16384):
    add(f"giou loss {b}x256", "giou/giou_loss_padded", "giou_loss_padded_f32", {"B": b, "N": 256}, padded_boxes,
        lambda s: {"giou": ((s["B"], s["N"]), np.float32), "mask": ((s["B"], s["N"]), np.bool_),
                   "loss": ((1,), np.float32)},
        giou_loss, 1.25, operations=31, by_row=False)
    add(f"giou loss ragged {b}", "giou/giou_loss_ragged", "giou_loss_ragged_f32", {"B": b, "N": b * 256}, packed_boxes,
        lambda s: {"giou": ((s["N"],), np.float32), "picture_loss": ((s["B"],), np.float32),
                   "loss": ((1,), np.float32)},
        giou_loss_ragged, 1.25, operations=31, by_row=False)
add("batch norm 32x64x112x112", "norm/batch_norm", "batch_norm_f32", {"B": 32, "C": 64, "H": 112, "W": 112},
    lambda rng, s: {"x": normal(rng, s["B"], s["C"], s["H"], s["W"]), "gamma": normal(rng, s["C"]),
                    "beta": normal(rng, s["C"])},
    lambda s: {"y": ((s["B"], s["C"], s["H"], s["W"]), np.float32)} | {
        name: ((s["C"],), np.float32)
        for name in ("batch_mean", "batch_variance", "running_mean", "running_variance")},
    batch_norm, 1.0, operations=6, by_row=False, scalars={"momentum": 0.1})
for name, truth in (("max", lambda a: {"y": windows(a["x"], -np.inf).max(0)}), ("average", average_pool)):
    add(f"{name} pool 16x64x112x112", f"conv/{name}_pool", f"{name}_pool" + ("_f32" if name == "average" else ""),
        {"B": 16, "C": 64, "H": 112, "W": 112},
        lambda rng, s: {"x": normal(rng, s["B"], s["C"], s["H"], s["W"])},
        lambda s: {"y": ((s["B"], s["C"], 56, 56), np.float32)}, truth, 1.0, operations=9, by_row=False)
add("argmax 8192x4096", "reduce/argmax", "argmax_f32", {"M": 8192, "N": 4096},
    lambda rng, s: {"x": normal(rng, s["M"], s["N"])},
    lambda s: {"position": ((s["M"],), np.int64), "value": ((s["M"],), np.float32)},
    lambda a: {"position": a["x"].argmax(1)}, 1.0, operations=2, by_row=False, tolerance=0)
add("int8 similarity 8x32768x1024", "matmul/similarity_int8", "similarity_int8", {"M": 8, "K": 1024, "N": 32768},
    lambda rng, s: {"query": filled(rng.integers(-128, 128, (s["M"], s["K"]), np.int8)),
                    "row": filled(rng.integers(-128, 128, (s["N"], s["K"]), np.int8)),
                    "query_scale": filled(rng.random(s["M"], np.float32)),
                    "row_scale": filled(rng.random(s["N"], np.float32))},
    like("score", "M", "N"),
    lambda a: {"score": a["query"].astype(np.float64) @ a["row"].astype(np.float64).T * a["query_scale"][:, None]
               * a["row_scale"]},
    None, operations=2 * 8, by_row=False)
add("histogram 2^26", "reduce/histogram", "histogram", {"N": 2**26},
    lambda rng, s: {"x": rng.integers(0, 256, s["N"], np.uint8)}, lambda s: {"counts": ((256,), np.int32)},
    lambda a: {"counts": np.bincount(a["x"].astype(np.int64), minlength=256)}, 1.0, operations=1, by_row=False, tolerance=0)
add("cross entropy 8192x4096", "reduce/cross_entropy", "cross_entropy_f32_f32", {"B": 8192, "V": 4096},
    lambda rng, s: {"score": normal(rng, s["B"], s["V"]), "target": rng.integers(0, s["V"], s["B"], np.int32)},
    lambda s: {"loss": ((s["B"],), np.float32), "mean_loss": ((1,), np.float32)},
    cross_entropy, 1.0, operations=20, by_row=False)


def product(a):
    return {"z": a["x"] @ a["y"]}


def signed_bytes(rng, *shape):
    return filled(rng.integers(-128, 128, shape, np.int8))


def inverse_roots(rng, *shape):
    """Weights whose products keep the size of what they multiply."""
    return filled(normal(rng, *shape) / np.float32(np.sqrt(shape[0])))


def add_product(name, file, function, sizes, x, y, goal, *, dtype=np.float32, z=("M", "N"), made=normal, tolerance=1e-3):
    """x @ y of every size and type: each axis of `x`, `y`, `z` has the size of its name."""
    shape = lambda s, axes: [s[axis] for axis in axes]  # noqa: E731
    add(name, f"matmul/{file}", function, sizes, lambda rng, s: {"x": made(rng, *shape(s, x)), "y": made(rng, *shape(s, y))},
        like("z", *z, dtype=dtype), product, goal, operations=2 * sizes["K"], by_row=False, tolerance=tolerance)


# The goals of products: the fastest peer over ours.
for m, k, n in ((512,) * 3, (1024,) * 3, (2048,) * 3, (4096,) * 3, (1000, 1003, 997), (8192, 64, 8192), (64, 8192, 64),
                (65536, 32, 32)):
    add_product(f"matmul {m}" if m == k == n else f"matmul {m}x{k}x{n}", "matmul", "matmul_f32", {"M": m, "K": k, "N": n},
                "MK", "KN", 0.95)
# Smaller ones take less time than a call from Python: bench/cpu/small has them.
add_product("matmul 256", "matmul", "matmul_f32", {"M": 256, "K": 256, "N": 256}, "MK", "KN", 1.1)
for m, k, n in (8192, 8192, 1), (4096, 4096, 4), (1, 8192, 8192), (8, 4096, 4096):  # bound by memory
    add_product(f"matmul {m}x{k}x{n}", "matmul", "matmul_f32", {"M": m, "K": k, "N": n}, "MK", "KN", 1.0)
for rows in 1, 16:  # as models do that decode
    add(f"linear {rows}x4096x4096", "matmul/linear", "linear_f32", {"M": rows, "K": 4096, "N": 4096},
        lambda rng, s: {"x": normal(rng, s["M"], s["K"]), "w": inverse_roots(rng, s["K"], s["N"]), "bias": normal(rng, s["N"])},
        like("z", "M", "N"), lambda a: {"z": a["x"] @ a["w"].T + a["bias"]}, 1.0, operations=2 * 4096, by_row=False,
        tolerance=1e-3)
add_product("matmul batched 4x1024", "matmul_batched", "matmul_batched_f32", {"B": 4, "M": 1024, "K": 1024, "N": 1024},
            "BMK", "KN", 0.95, z="BMN")
add_product("matmul f64 1024", "matmul", "matmul_f64", {"M": 1024, "K": 1024, "N": 1024}, "MK", "KN", 0.95, dtype=np.float64,
            made=lambda rng, *shape: filled(rng.standard_normal(shape)), tolerance=1e-9)
add_product("matmul bf16 2048", "matmul", "matmul_bf16", {"M": 2048, "K": 2048, "N": 2048}, "MK", "KN", 0.95, dtype=np.uint16,
            made=lambda rng, *shape: filled(to_bf16(normal(rng, *shape))), tolerance=0.02)
add_product("matmul int8 2048", "matmul_int8", "matmul_int8", {"M": 2048, "K": 2048, "N": 2048}, "MK", "KN", 0.95,
            dtype=np.int32, made=signed_bytes, tolerance=0)


for size in (512, 1024, 2048):
    cube = {"M": size, "K": size, "N": size}
    for kind_of, truth in (("relu", lambda v: np.maximum(v, 0)), ("gelu", gelu_of)):
        add(f"matmul + bias + {kind_of} {size}", "matmul/matmul_activation", f"matmul_activation_{kind_of}_f32", cube,
            lambda rng, s: {"x": normal(rng, s["M"], s["K"]), "y": inverse_roots(rng, s["K"], s["N"]), "bias": normal(rng, s["N"])},
            like("z", "M", "N"), lambda a, truth=truth: {"z": truth(a["x"] @ a["y"] + a["bias"])}, 1.0, operations=2 * size,
            by_row=False, tolerance=1e-3)
    add(f"matmul + residual + norm {size}", "matmul/linear_norm", "linear_norm", cube,
        lambda rng, s: {"x": normal(rng, s["M"], s["K"]), "w": inverse_roots(rng, s["N"], s["K"]),
                        "residual": normal(rng, s["M"], s["N"]), "gamma": normal(rng, s["N"])},
        like("y", "M", "N"), linear_norm, 1.0, operations=2 * size, by_row=False, tolerance=1e-3)
    add(f"matmul + softmax {size}", "matmul/matmul_softmax", "matmul_softmax", cube,
        lambda rng, s: {"x": normal(rng, s["M"], s["K"]), "w": inverse_roots(rng, s["K"], s["N"])},
        like("p", "M", "N"), lambda a: {"p": softmax({"x": a["x"] @ a["w"]})["y"]}, 1.0, operations=2 * size, by_row=False,
        tolerance=1e-3)
    add(f"mlp {size}", "matmul/mlp", "mlp_f32", cube | {"H": size},
        lambda rng, s: {"x": normal(rng, s["M"], s["K"]), "w1": inverse_roots(rng, s["K"], s["H"]), "b1": normal(rng, s["H"]),
                        "w2": inverse_roots(rng, s["H"], s["N"]), "b2": normal(rng, s["N"])},
        like("z", "M", "N"), lambda a: {"z": gelu_of(a["x"] @ a["w1"] + a["b1"]) @ a["w2"] + a["b2"]}, 1.0, operations=4 * size,
        by_row=False, tolerance=1e-3)
    add(f"nearest distance {size}", "matmul/nearest_distance", "nearest_distance", {"M": size, "D": size, "N": size},
        lambda rng, s: {"x": normal(rng, s["M"], s["D"]), "centre": normal(rng, s["N"], s["D"])},
        like("distance", "M"), nearest_distance, 1.0, operations=3 * size, by_row=False, tolerance=1e-3)


def add_step(name, forward, backward, sizes, inputs, outputs, truth, goal, tolerance=1e-4, **more):
    """Forward and backward. `inputs` and `outputs` go by the axes of their names, `outputs` to a gradient that is given;
    each floating input gets one."""

    def arrays(rng, s):
        made = inputs(rng, s)
        wanted = {f"d_{key}": array for key, array in made.items() if array is not None and array.dtype == np.float32}
        for key, axes in outputs.items():
            made[key] = aligned([s[axis] for axis in axes] or [1])
            made[f"d_{key}"] = normal(rng, *made[key].shape)
        return made | {key: aligned(array.shape) for key, array in wanted.items()} | {
            key: aligned(shape, np.bool_ if key == "mask" else np.float32) for key, shape in more.get("unread", {}).items()}

    names = list(arrays(np.random.default_rng(1), {axis: 1 for axis in sizes}))
    given = [f"d_{key}" for key in outputs]
    gradients = [key for key in names if key.startswith("d_") and key not in given]
    WORKLOADS.append(Workload(
        name, *forward, sizes, arrays, [*outputs, *gradients, *more.get("unread", {})], truth, goal, by_row=False,
        tolerance=tolerance, backward=backward, by_hand=more.get("by_hand"), saved=more.get("saved"),
        scalars=more.get("scalars", {}), beats=more.get("beats", {})))


for b in (1024, 16384):
    packed = int(few_boxes(np.random.default_rng(1), {"B": b, "N": 256}).sum())
    for kind_of, sizes, given, unread, truth in (
            ("padded", {"B": b, "N": 256}, few_padded_boxes, {"mask": ("B", "N"), "giou": ("B", "N")}, giou_step),
            ("ragged", {"B": b, "N": packed}, few_packed_boxes, {"picture_loss": ("B",), "giou": ("N",)}, giou_ragged_step)):
        add_step(f"giou mean loss {kind_of} step {b}", (f"giou/giou_loss_{kind_of}", f"giou_loss_{kind_of}_f32"),
                 (f"giou/giou_loss_{kind_of}_backward", f"giou_loss_{kind_of}_backward_f32"), sizes, given, {"loss": ()},
                 truth, 5.0, unread={key: tuple(sizes[axis] for axis in axes) for key, axes in unread.items()},
                 beats={"torch": 10.0})
R = {"rows": 8192, "N": 4096}
rows_of = lambda *names: lambda rng, s: {"x": normal(rng, s["rows"], s["N"])} | {n: normal(rng, s["N"]) for n in names}  # noqa: E731
of_rows = {"y": ("rows", "N")}
for kind_of, names, truth in (("softmax", (), steps.softmax), ("layer_norm", ("gamma", "beta"), steps.layer_norm),
                              ("rms_norm", ("gamma",), steps.rms_norm)):
    add_step(f"{kind_of.replace('_', ' ')} step 8192x4096", (f"norm/{kind_of}", f"{kind_of}_f32"),
             (f"norm/{kind_of}_backward", f"{kind_of}_backward_f32"), R,
             rows_of(*names), of_rows, truth, 1.3, tolerance=2e-3)
add_step("cross entropy step 8192x4096", ("reduce/cross_entropy", "cross_entropy_f32_f32"),
         ("reduce/cross_entropy_backward", "cross_entropy_backward_f32_f32"), {"B": 8192, "V": 4096},
         lambda rng, s: {"score": normal(rng, s["B"], s["V"]), "target": rng.integers(0, s["V"], s["B"], np.int32)},
         {"loss": ("B",)}, steps.cross_entropy, 1.3, unread={"mean_loss": (1,)})
for kind_of in ("gelu", "silu", "relu"):
    add_step(f"{kind_of} step 4096x4096", ("elementwise/activation", f"activation_{kind_of}_f32"),
             ("elementwise/activation_backward", f"activation_backward_{kind_of}_f32"), W,
             lambda rng, s: {"x": normal(rng, s["rows"], s["N"]), "bias": None}, of_rows, steps.activation(kind_of), 1.0)
cube = {"M": 1024, "K": 1024, "N": 1024}
add_step("matmul + bias + gelu step 1024", ("matmul/matmul_activation", "matmul_activation_gelu_f32"),
         ("matmul/matmul_activation_backward", "matmul_activation_backward_gelu_f32"), cube,
         lambda rng, s: {"x": normal(rng, s["M"], s["K"]), "y": inverse_roots(rng, s["K"], s["N"]), "bias": normal(rng, s["N"])},
         {"z": ("M", "N")}, steps.matmul_gelu, 1.0, tolerance=2e-3, saved=("matmul_gelu_step", "v", ("M", "N")))
add_step("mlp step 1024", ("matmul/mlp", "mlp_f32"), ("matmul/mlp_backward", "mlp_backward_f32"), cube | {"H": 1024},
         lambda rng, s: {"x": normal(rng, s["M"], s["K"]), "w1": inverse_roots(rng, s["K"], s["H"]), "b1": normal(rng, s["H"]),
                         "w2": inverse_roots(rng, s["H"], s["N"]), "b2": normal(rng, s["N"])},
         {"z": ("M", "N")}, steps.mlp, 1.0, tolerance=2e-3, saved=("mlp_step", "v", ("M", "H")))
queries_and_keys = lambda rng, s: {name: normal(rng, s["B"], s["H"], s["S"], s["D"]) for name in "qkv"}  # noqa: E731
for b, h, s in ((8, 12, 256), (1, 8, 1024), (1, 4, 4096)):
    for kind_of, causal in ("attention", False), ("causal attention", True):
        add(f"{kind_of} {b}x{h}x{s}x64", "attention/attention_causal" if causal else "attention/attention",
            "attention_causal_f32" if causal else "attention_f32", {"B": b, "H": h, "S": s, "R": s, "D": 64},
            queries_and_keys, like("o", "B", "H", "S", "D"), lambda a, causal=causal: {"o": steps.attended(a, causal)}, 1.0,
            operations=4 * s, by_row=False, tolerance=1e-3, scalars={"scale": 0.125})
add_step("attention step 8x12x256x64", ("attention/attention", "attention_f32"),
         ("attention/attention_backward", "attention_backward_f32"), {"B": 8, "H": 12, "S": 256, "R": 256, "D": 64},
         queries_and_keys,
         {"o": ("B", "H", "S", "D")}, steps.attention, 1.0, tolerance=2e-3, scalars={"scale": 0.125},
         by_hand=("attention_backward_by_hand", "attention_backward_by_hand"))


def make_arrays(work):
    return work.arrays(np.random.default_rng(1), work.sizes)


def seen(array):
    return from_bf16(array) if array.dtype == np.uint16 else array


def bytes_moved(arrays):
    return sum(array.nbytes for array in arrays.values() if array is not None)


def check(work, arrays, label, given):
    """The outputs that a side gives, the first and the last rows against double; the outputs are scribbled over for the next call."""
    parts = [slice(None)]
    if work.by_row:
        rows = len(arrays[work.outputs[0]])
        few = min(rows, 16 if arrays[work.outputs[0]].ndim > 1 else 4096)
        parts = [slice(None, few), slice(rows - few, None)]
        total = rows
    for part in parts:
        cut = {
            key: None if array is None else np.asarray(
                seen(array[part] if work.by_row and len(array) == total and array.ndim == arrays[work.outputs[0]].ndim
                     else array), np.float64)
            for key, array in arrays.items() if key not in work.outputs
        }
        for key, expected in work.truth(cut).items():
            if key not in given:
                continue
            found = seen(arrays[key][part]).astype(np.float64)
            close = np.isclose(found, expected, rtol=work.tolerance, atol=work.tolerance)
            if close.mean() < (0.999 if work.tolerance == 0.5 else 1):
                raise RuntimeError(f"{work.name}: {label} is wrong by {np.abs(found - expected).max()}")
    for key in work.outputs:
        arrays[key].view(np.uint8)[...] = 0xFF
