"""Random inputs for a kernel: by element type and shape, or by a maker of its own where values have a meaning.

A maker changes or fills the dict of arrays, which are in storage form but for bf16 and f16: those are floats here, and
`stored` rounds them.
"""

import numpy as np

from references_folds import pooled

INTEGERS = {name: np.dtype(name[0] + str(int(name[1:]) // 8)).type for name in "i8 i16 i32 i64 u8 u16 u32 u64".split()}
FLOATS = {"f64": np.float64, "f32": np.float32, "f16": np.float16}
MAKERS = {}


def to_bf16(values):
    """The bits of the nearest bf16, ties to even."""
    with np.errstate(over="ignore"):
        bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    half, one = np.uint64(16), np.uint64(1)  # plain numbers would make floats of single values in older NumPy
    rounded = ((bits + np.uint64(0x7FFF) + ((bits >> half) & one)) >> half).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded).astype(np.uint16, order="C")


def from_bf16(bits):
    wide = np.atleast_1d(np.asarray(bits, np.uint16)).astype(np.uint32) << np.uint32(16)
    return wide.view(np.float32).astype(np.float64).reshape(np.shape(bits))


def stored(values, element):
    """An array as it travels in .npy files: bf16 as its bits."""
    if element == "bf16":
        return to_bf16(values)
    if element == "bool":
        return np.asarray(values, bool)
    return np.asarray(values).astype({**INTEGERS, **FLOATS}[element], order="C")


def seen(array, element):
    """What the kernel sees in a stored array: floats as double."""
    if element == "bf16":
        return from_bf16(array)
    return array.astype(np.float64) if element in FLOATS else array


def random_array(rng, element, shape):
    if element == "bool":
        return rng.random(shape) < 0.5
    if element in INTEGERS:
        limits = np.iinfo(INTEGERS[element])
        return rng.integers(max(limits.min, -1000), min(limits.max, 1000), shape, endpoint=True)
    return rng.standard_normal(shape)


def make(spec, define, sizes, seed):
    """The stored inputs, tables and scalars of one case; optional operands are left out for odd seeds."""
    rng = np.random.default_rng(seed)
    types = {o.name: spec.element_type(o.type, define) for o in spec.of("inputs") + spec.of("tables")}
    arrays = {o.name: random_array(rng, types[o.name], o.shape(sizes)) for o in spec.of("inputs") + spec.of("tables")}
    for operand in spec.of("inputs"):
        if operand.keys.get("optional") and seed % 2:
            arrays[operand.name] = None
    if spec.kernel in MAKERS:
        MAKERS[spec.kernel](rng, arrays, sizes)
    result = {}
    for name, value in arrays.items():
        if name not in types:
            declared = spec.element_type(spec.scalars[name], define)
            result[name] = int(value) if declared in INTEGERS else float(seen(stored(value, declared), declared))
        else:
            result[name] = None if value is None else stored(value, types[name])
    return result


def maker(*kernels):
    def register(function):
        for kernel in kernels:
            MAKERS[kernel] = function
        return function

    return register


@maker("muladd")
def _(rng, arrays, sizes):
    arrays["c"] = rng.standard_normal()


@maker("dropout")
def _(rng, arrays, sizes):
    arrays["rate"] = 0.25
    arrays["seed"] = int(rng.integers(-(2**62), 2**62))


@maker("mandelbrot")
def _(rng, arrays, sizes):
    arrays["x0"], arrays["y0"] = -2.0, -1.25
    arrays["step"] = 2.5 / max(sizes["H"], sizes["W"], 1)


@maker("lora")
def _(rng, arrays, sizes):
    arrays["alpha"] = 0.75


@maker("sgd_momentum")
def _(rng, arrays, sizes):
    arrays["rate"], arrays["momentum"] = 0.1, 0.9


@maker("convert")
def _(rng, arrays, sizes):
    if arrays["x"].dtype.kind == "f":
        arrays["x"] = arrays["x"] * 100.0  # beyond what i8 holds, too


@maker("quantize")
def _(rng, arrays, sizes):
    arrays["scale"], arrays["zero"] = 0.0171, 11


@maker("box_measures")
def _(rng, arrays, sizes):
    for name in "pt":
        arrays[name] = random_boxes(rng, (sizes["N"],))


@maker("embedding", "embedding_backward")
def _(rng, arrays, sizes):
    arrays["token"] = rng.integers(-2, sizes["V"] + 2, sizes["N"])


def random_boxes(rng, shape):
    """Boxes left, top, right, bottom, stacked last; one in eight has no area. Bottoms are above 0."""
    corner = rng.uniform(0.1, 8, (*shape, 2))
    extent = rng.uniform(0.2, 4, (*shape, 2)) * (rng.random((*shape, 1)) > 0.125)
    return np.concatenate([corner, corner + extent], -1)


@maker("giou_planes", "giou_planes_plain", "giou_planes_unclamped")
def _(rng, arrays, sizes):
    for kind in "pt":
        boxes = random_boxes(rng, (sizes["M"], sizes["N"]))
        for i, side in enumerate(("left", "top", "right", "bottom")):
            arrays[f"{side}_{kind}"] = boxes[..., i]


@maker("giou_loss_padded", "giou_loss_padded_backward", "giou_loss_ragged", "giou_loss_ragged_backward")
def _(rng, arrays, sizes):
    for name in ("pred", "target"):
        arrays[name] = random_boxes(rng, arrays[name].shape[:-1])
    if "box_start" in arrays:
        arrays["box_start"] = random_starts(rng, sizes["B"], sizes["N"])
    else:
        arrays["target"][rng.random(arrays["target"].shape[:-1]) < 0.4] = 0


@maker("giou_loss_packed", "giou_loss_packed_backward")
def _(rng, arrays, sizes):
    for name in ("pred", "target"):
        arrays[name] = random_boxes(rng, arrays[name].shape[:-1])
    slots = rng.permutation(sizes["B"] * sizes["P"])[: sizes["N"]]  # no picture has more targets than predictions
    counts = np.bincount(slots // max(sizes["P"], 1), minlength=sizes["B"])
    arrays["box_start"] = np.concatenate([[0], np.cumsum(counts)])


@maker("giou_loss_conditional", "giou_loss_conditional_backward")
def _(rng, arrays, sizes):
    MAKERS["giou_loss_padded"](rng, arrays, sizes)
    if "mask" in arrays:
        arrays["mask"] = arrays["target"][..., 3] != 0
    arrays["pred"][arrays["target"][..., 3] == 0] = np.nan  # what padding holds must not matter


def random_starts(rng, rows, total):
    """Row starts of a packed array of `total` elements, empty rows among them."""
    cuts = np.sort(rng.integers(0, total + 1, max(rows - 1, 0)))
    return np.concatenate([[0], cuts, [total]]) if rows else np.zeros(1)


@maker("ragged_mean_square")
def _(rng, arrays, sizes):
    arrays["row_start"] = random_starts(rng, sizes["B"], sizes["N"])
    arrays["x"][rng.random(sizes["N"]) < 0.2] = 0


@maker("segment_sum")
def _(rng, arrays, sizes):
    arrays["start"] = random_starts(rng, sizes["B"], sizes["N"])


@maker("segment_sum_by_id")
def _(rng, arrays, sizes):
    arrays["id"] = rng.integers(-1, sizes["B"] + 1, sizes["N"])


@maker("attention", "attention_causal", "attention_online", "attention_backward", "attention_training",
       "attention_training_forward", "attention_training_backward")
def _(rng, arrays, sizes):
    arrays["scale"] = arrays["q"].shape[-1] ** -0.5


@maker("linear_recurrence", "linear_recurrence_backward")
def _(rng, arrays, sizes):
    arrays["a"] = rng.uniform(-1, 1, arrays["a"].shape)


@maker("bsr_matmul")
def _(rng, arrays, sizes):
    arrays["row_ptr"] = random_starts(rng, sizes["R"], sizes["S"])
    arrays["col"] = rng.integers(0, max(-(-sizes["K"] // 64), 1), sizes["S"])


@maker("coo_matmul")
def _(rng, arrays, sizes):
    arrays["row"] = np.sort(rng.integers(0, max(-(-sizes["M"] // 64), 1), sizes["S"]))
    arrays["col"] = rng.integers(0, max(-(-sizes["K"] // 64), 1), sizes["S"])


@maker("argmax", "argmin")
def _(rng, arrays, sizes):
    arrays["x"] = np.round(arrays["x"] * 4)  # many equals
    arrays["x"][rng.random(arrays["x"].shape) < 0.5 / max(sizes["N"], 1)] = np.nan


@maker("cross_entropy", "cross_entropy_backward")
def _(rng, arrays, sizes):
    arrays["target"] = rng.integers(0, max(sizes["V"], 1), sizes["B"])


@maker("batch_norm")
def _(rng, arrays, sizes):
    arrays["old_variance"], arrays["momentum"] = rng.uniform(0.1, 2, sizes["C"]), 0.1


@maker("batch_norm_backward")
def _(rng, arrays, sizes):
    arrays["batch_variance"], arrays["momentum"] = rng.uniform(0.1, 2, sizes["C"]), 0.1


@maker("max_pool_backward", "max_pool_1d_backward", "max_pool_3d_backward")
def _(rng, arrays, sizes):
    arrays["x"] = np.round(arrays["x"] * 4)  # many equals
    windows, inner = pooled(arrays["x"], *((2, 0) if "D" in sizes else (3, 1)), -np.inf)
    arrays["y"] = windows.max(inner)


@maker("batch_norm_inference", "batch_norm_inference_backward")
def _(rng, arrays, sizes):
    arrays["running_variance"] = rng.uniform(0.1, 2, sizes["C"])


@maker("normalize")
def _(rng, arrays, sizes):
    arrays["x"][::3] = 0  # rows without a direction


@maker("huber_loss", "huber_loss_backward")
def _(rng, arrays, sizes):
    arrays["delta"] = 0.75


@maker("kl_divergence", "kl_divergence_backward")
def _(rng, arrays, sizes):
    for name in ("prediction", "target"):
        weight = np.exp(arrays[name])
        arrays[name] = weight / weight.sum(1, keepdims=True)
    arrays["prediction"] = np.log(arrays["prediction"])
    impossible = rng.random(arrays["target"].shape) < 0.2
    arrays["target"][impossible] = 0
    arrays["prediction"][impossible & (rng.random(impossible.shape) < 0.5)] = -np.inf


@maker("hinge_loss", "hinge_loss_backward")
def _(rng, arrays, sizes):
    MAKERS["cross_entropy"](rng, arrays, sizes)


@maker("cosine_similarity", "cosine_similarity_backward")
def _(rng, arrays, sizes):
    arrays["x"][::3] = 0  # rows without a direction


@maker("logsumexp")
def _(rng, arrays, sizes):
    arrays["x"] *= 40  # exponentials beyond what f32 holds
    arrays["x"][::4] = -np.inf


@maker("quantize_rows")
def _(rng, arrays, sizes):
    arrays["x"][::3] = 0


@maker("running")
def _(rng, arrays, sizes):
    if arrays["x"].dtype.kind == "f":
        arrays["x"] = np.sign(arrays["x"]) * np.exp(0.05 * arrays["x"])  # products that neither vanish nor overflow
