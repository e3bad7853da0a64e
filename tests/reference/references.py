"""An independent reference for every shipped kernel: plain numpy in double, or exact whole numbers.

`REFERENCES[kernel](inputs, sizes, params)` returns a dict of outputs. Inputs hold the arrays (floats as double,
with the values the kernel really sees), the tables and the scalars; an optional operand left out is None. An output is an array
(compared exactly), a `Num` (compared within the agreement formula) or a `Result`, which says more.
"""

from dataclasses import dataclass

import numpy as np

from magnitude import Num, absolute, atan2, erf, exp, log, matmul, maximum, minimum, rsqrt, sigmoid, sqrt, where

REFERENCES = {}


@dataclass
class Result:
    """An output with an absolute slack on top of the formula, and with elements that are not compared."""

    value: object
    slack: object = 0.0
    undecided: object = None  # too close to call: compared by nobody, and their share is capped
    untouched: object = None  # elements that the kernel does not write


def reference(function):
    REFERENCES[function.__name__] = function
    return function


def is_float(array):
    return np.issubdtype(np.asarray(array).dtype, np.floating)


# Elementwise.


@reference
def add_vectors(inputs, sizes, params):
    x, y = inputs["x"], inputs["y"]
    return {"z": Num(x) + Num(y) if is_float(x) else x + y}


@reference
def iota(inputs, sizes, params):
    return {"z": np.arange(sizes["N"], dtype=np.int32)}


@reference
def muladd(inputs, sizes, params):
    return {"z": Num(inputs["a"]) * inputs["b"] + inputs["c"]}


def activate(name, x):
    """The activations of the body-language library, and the one that activation.toml writes itself."""
    if name == "identity":
        return x
    if name == "relu":
        return maximum(x, 0.0)
    if name == "squared_relu":
        return maximum(x, 0.0) * maximum(x, 0.0)
    if name == "silu":
        return x * sigmoid(x)
    if name == "gelu":
        return 0.5 * x * (1.0 + erf(x * np.sqrt(0.5)))
    raise KeyError(name)


@reference
def activation(inputs, sizes, params):
    x = Num(inputs["x"])
    return {"y": activate(params["act"], x if inputs["bias"] is None else x + inputs["bias"])}


def philox_word(seed, counter):
    """Word 0 of Philox 4x32-10 with the key in the halves of the seed, the counter in the first two words."""
    seed = np.uint64(np.int64(seed))
    counter = np.asarray(counter, np.uint64)
    low = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    words = [counter & low, counter >> shift, np.zeros_like(counter), np.zeros_like(counter)]
    key = [seed & low, seed >> shift]
    for _ in range(10):
        first = words[0] * np.uint64(0xD2511F53)
        second = words[2] * np.uint64(0xCD9E8D57)
        words = [(second >> shift) ^ words[1] ^ key[0], second & low, (first >> shift) ^ words[3] ^ key[1], first & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return words[0]


@reference
def dropout(inputs, sizes, params):
    x = Num(inputs["x"])
    numbers = (philox_word(inputs["seed"], np.arange(x.v.size)) >> np.uint64(8)).astype(np.float64) / 2.0**24
    kept = (numbers >= inputs["rate"]).reshape(x.v.shape)
    return {"y": where(kept, x / (1.0 - Num(inputs["rate"])), 0.0), "kept": kept}


def escape_counts(cx, cy, limit, step):
    """Steps inside the circle, with `step(x, y, cx, cy)` as the rounded iteration in float."""
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    counts = np.zeros(cx.shape, np.int32)
    inside = np.ones(cx.shape, bool)
    for _ in range(limit):
        inside &= x.astype(np.float64) ** 2 + y.astype(np.float64) ** 2 <= 4
        if not inside.any():
            break
        counts += inside
        x, y = step(np.where(inside, x, 0), np.where(inside, y, 0), cx, cy)
        x, y = np.where(inside, x, 3).astype(cx.dtype), np.where(inside, y, 0).astype(cx.dtype)
    return counts


@reference
def mandelbrot(inputs, sizes, params):
    """Counts in double; undecided where rounding in float, or a nudge of it, changes them: the map is chaotic there."""
    w, h = np.meshgrid(np.arange(sizes["W"], dtype=np.float64), np.arange(sizes["H"], dtype=np.float64))
    cx, cy = inputs["x0"] + inputs["step"] * w, inputs["y0"] + inputs["step"] * h
    limit = params["limit"]

    def plain(x, y, a, b):
        return x * x - y * y + a, 2 * x * y + b

    exact = escape_counts(cx, cy, limit, plain)
    undecided = np.zeros(exact.shape, bool)
    for nudge_x in (-1, 0, 1):
        for nudge_y in (-1, 0, 1):
            near = escape_counts(cx + nudge_x * 2.0**-22, cy + nudge_y * 2.0**-22, limit, plain)
            undecided |= near != exact
    undecided |= escape_counts(cx.astype(np.float32), cy.astype(np.float32), limit, plain) != exact
    return {"count": Result(exact, undecided=undecided)}


# Memory.


@reference
def transpose(inputs, sizes, params):
    return {"y": inputs["x"].T}


@reference
def sgd_momentum(inputs, sizes, params):
    velocity = Num(inputs["momentum"]) * inputs["old_velocity"] + inputs["gradient"]
    return {"velocity": velocity, "weight": Num(inputs["old_weight"]) - Num(inputs["rate"]) * velocity}


@reference
def embedding(inputs, sizes, params):
    token, table = inputs["token"], inputs["table"]
    row = np.zeros((token.size, table.shape[1]))
    inside = (token >= 0) & (token < table.shape[0])
    row[inside] = table[token[inside]]
    return {"row": row}


@reference
def convert(inputs, sizes, params):
    x = inputs["x"]
    if params["U"] == "i8":
        return {"y": np.clip(np.trunc(x), -128, 127).astype(np.int8)}
    return {"y": Num(x.astype(np.float64))}


@reference
def quantize(inputs, sizes, params):
    low, high = (0, 255) if params["Q"] == "u8" else (-128, 127)
    scaled = inputs["x"].astype(np.float32) / np.float32(inputs["scale"])
    shifted = np.rint(scaled) + np.float32(inputs["zero"])
    return {"q": np.clip(np.trunc(shifted), low, high).astype(np.int64)}


@reference
def dequantize(inputs, sizes, params):
    return {"x": Num((inputs["q"].astype(np.int64) - inputs["zero"]).astype(np.float64)) * inputs["scale"]}


@reference
def quantize_rows(inputs, sizes, params):
    x = inputs["x"].astype(np.float32)
    scale = np.abs(x).max(1, initial=0) / np.float32(127)
    q = np.where(scale > 0, scale, 1)
    return {"scale": Num(scale), "q": np.where(scale > 0, np.rint(x.T / q), 0).T.astype(np.int8)}


@reference
def boxes_to_planes(inputs, sizes, params):
    return {side: inputs["boxes"][:, i] for i, side in enumerate(("left", "top", "right", "bottom"))}


@reference
def rope(inputs, sizes, params):
    x = Num(inputs["x"].reshape(sizes["B"], sizes["S"], sizes["H"], 2, sizes["R"]))
    cosine, sine = inputs["cosine"][None, :, None, :], inputs["sine"][None, :, None, :]
    one, other = x[..., 0, :], x[..., 1, :]
    halves = [one * cosine - other * sine, other * cosine + one * sine]
    joined = [np.stack([getattr(h, part) for h in halves], 3) for part in ("v", "s")]
    return {"y": Num(*joined, 1).reshape(inputs["x"].shape)}


# Generalized IoU.


@reference
def box_measures(inputs, sizes, params):
    p, t = ([Num(box[:, i]) for i in range(4)] for box in (inputs["p"], inputs["t"]))
    floor = lambda e: maximum(e, 0.0)  # noqa: E731
    overlap = floor(minimum(p[2], t[2]) - maximum(p[0], t[0])) * floor(minimum(p[3], t[3]) - maximum(p[1], t[1]))
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (p, t)]
    iou = overlap / maximum(areas[0] + areas[1] - overlap, 1e-7)
    if params["measure"] == "intersection_over_union":
        return {"result": iou}
    width, height = maximum(p[2], t[2]) - minimum(p[0], t[0]), maximum(p[3], t[3]) - minimum(p[1], t[1])
    dx, dy = ((p[0] + p[2] - t[0] - t[2]) / 2.0, (p[1] + p[3] - t[1] - t[3]) / 2.0)
    distance = iou - (dx * dx + dy * dy) / maximum(width * width + height * height, 1e-7)
    if params["measure"] == "distance_iou":
        return {"result": distance}
    turn = atan2(t[2] - t[0], t[3] - t[1]) - atan2(p[2] - p[0], p[3] - p[1])
    aspect = 4 / np.pi**2 * turn * turn
    return {"result": distance - aspect * aspect / maximum(1.0 - iou + aspect, 1e-7)}


def generalized_iou(p, t, clamped, eps=1e-5):
    """p and t: four arrays each, left top right bottom."""
    p, t = [Num(e) for e in p], [Num(e) for e in t]
    floor = (lambda e: maximum(e, 0.0)) if clamped else (lambda e: e)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (p, t)]
    overlap = floor(minimum(p[2], t[2]) - maximum(p[0], t[0])) * floor(minimum(p[3], t[3]) - maximum(p[1], t[1]))
    hull = floor(maximum(p[2], t[2]) - minimum(p[0], t[0])) * floor(maximum(p[3], t[3]) - minimum(p[1], t[1]))
    joined = areas[0] + areas[1] - overlap
    return overlap / maximum(joined, eps) - (hull - joined) / maximum(hull, eps)


def planes(inputs, kind):
    return [inputs[f"{side}_{kind}"] for side in ("left", "top", "right", "bottom")]


@reference
def giou_planes(inputs, sizes, params):
    return {"giou": generalized_iou(planes(inputs, "p"), planes(inputs, "t"), True)}


@reference
def giou_planes_plain(inputs, sizes, params):
    return giou_planes(inputs, sizes, params)


@reference
def giou_planes_unclamped(inputs, sizes, params):
    return {"giou": generalized_iou(planes(inputs, "p"), planes(inputs, "t"), False)}


def box_giou(inputs):
    return generalized_iou(np.moveaxis(inputs["pred"], -1, 0), np.moveaxis(inputs["target"], -1, 0), False)


def masked_loss(giou, mask):
    return {"giou": giou, "mask": mask, "loss": giou.reshape(-1).sum(0) / float(max(mask.sum(), 1))}


@reference
def giou_loss_padded(inputs, sizes, params):
    mask = inputs["target"][..., 3] != 0
    return masked_loss(box_giou(inputs) * mask.astype(np.float64), mask)


@reference
def giou_loss_conditional(inputs, sizes, params):
    mask = inputs["target"][..., 3] != 0
    return masked_loss(where(mask, box_giou(inputs), 0.0), mask)


def row_sums(values, starts):
    """Sums of the rows of a packed array of Num."""
    rows = [values[a:b].sum(0) for a, b in zip(starts[:-1], starts[1:])]
    longest = max([1, *np.diff(starts)])
    return Num(np.array([r.v for r in rows]), np.array([r.s for r in rows]), max(values.n, longest))


@reference
def giou_loss_ragged(inputs, sizes, params):
    giou, starts = box_giou(inputs), inputs["box_start"]
    picture = row_sums(giou, starts) / np.maximum(np.diff(starts), 1).astype(np.float64)
    return {"giou": giou, "picture_loss": picture, "loss": giou.sum(0) / float(max(giou.v.size, 1))}


# Matrix products.


def product(inputs):
    return matmul(Num(inputs["x"]), Num(inputs["y"]))


@reference
def matmul_int8(inputs, sizes, params):
    return {"z": (inputs["x"].astype(np.int64) @ inputs["y"].astype(np.int64)).astype(np.int32)}


@reference
def matmul_activation(inputs, sizes, params):
    return {"z": activate(params["activation"], product(inputs) + inputs["bias"])}


@reference
def matmul_bf16(inputs, sizes, params):
    return {"z": activate(params["activation"], product(inputs))}


for _name in ("matmul", "matmul_halves", "matmul_blocked", "matmul_batched"):
    REFERENCES[_name] = lambda inputs, sizes, params: {"z": product(inputs)}


# Normalisation.


@reference
def softmax(inputs, sizes, params):
    x = Num(inputs["x"])
    e = exp(x - x.max(-1, keep=True))
    return {"y": e / e.sum(-1, keep=True)}


def normalised(x, axes, eps):
    d = x - x.mean(axes, keep=True)
    return d * rsqrt((d * d).mean(axes, keep=True) + eps)


@reference
def layer_norm(inputs, sizes, params):
    return {"y": normalised(Num(inputs["x"]), -1, params["eps"]) * inputs["gamma"] + inputs["beta"]}


@reference
def group_norm(inputs, sizes, params):
    shape = inputs["x"].shape
    grouped = Num(inputs["x"].reshape(sizes["B"], sizes["G"], sizes["C"], *shape[2:]))
    y = normalised(grouped, (2, 3, 4), params["eps"]).reshape(shape)
    return {"y": y * inputs["gamma"][:, None, None] + inputs["beta"][:, None, None]}


@reference
def log_softmax(inputs, sizes, params):
    x = Num(inputs["x"])
    d = x - x.max(-1, keep=True)
    return {"y": d - log(exp(d).sum(-1, keep=True))}


@reference
def rms_norm(inputs, sizes, params):
    x = Num(inputs["x"])
    return {"y": x * rsqrt((x * x).mean(-1, keep=True) + params["eps"]) * inputs["gamma"]}


def by_channel(values):
    """A value for each channel, to stand beside [B, C, H, W]."""
    return values[:, None, None]


@reference
def instance_norm(inputs, sizes, params):
    gamma = np.ones(sizes["C"]) if inputs["gamma"] is None else inputs["gamma"]
    beta = np.zeros(sizes["C"]) if inputs["beta"] is None else inputs["beta"]
    return {"y": normalised(Num(inputs["x"]), (2, 3), params["eps"]) * by_channel(gamma) + by_channel(beta)}


@reference
def batch_norm(inputs, sizes, params):
    x = Num(inputs["x"])
    mean = x.mean((0, 2, 3))
    d = x - by_channel(mean)
    variance = (d * d).mean((0, 2, 3))
    blend = lambda old, new: old + (new - old) * inputs["momentum"]  # noqa: E731
    return {
        "y": normalised(x, (0, 2, 3), params["eps"]) * by_channel(inputs["gamma"]) + by_channel(inputs["beta"]),
        "batch_mean": mean,
        "batch_variance": variance,
        "running_mean": blend(Num(inputs["old_mean"]), mean),
        "running_variance": blend(Num(inputs["old_variance"]), variance),
    }


@reference
def batch_norm_inference(inputs, sizes, params):
    d = Num(inputs["x"]) - by_channel(inputs["running_mean"])
    scale = rsqrt(Num(inputs["running_variance"]) + params["eps"])
    return {"y": d * by_channel(scale) * by_channel(inputs["gamma"]) + by_channel(inputs["beta"])}


@reference
def normalize(inputs, sizes, params):
    x = Num(inputs["x"])
    length = {
        "l1": lambda: absolute(x).sum(-1, keep=True),
        "l2": lambda: sqrt((x * x).sum(-1, keep=True)),
        "largest": lambda: absolute(x).max(-1, keep=True),
    }[params["length"]]()
    return {"y": x / maximum(length, params["eps"])}


@reference
def normalize_frobenius(inputs, sizes, params):
    x = Num(inputs["x"])
    length = sqrt((x * x).sum((0, 1)))
    return {"frobenius": length, "y": x / maximum(length, params["eps"])}


@reference
def softmax_backward(inputs, sizes, params):
    y, dy = Num(inputs["y"]), Num(inputs["dy"])
    return {"dx": y * (dy - (dy * y).sum(-1, keep=True))}


@reference
def layer_norm_backward(inputs, sizes, params):
    x, dy = Num(inputs["x"]), Num(inputs["dy"])
    d = x - x.mean(-1, keep=True)
    scale = rsqrt((d * d).mean(-1, keep=True) + params["eps"])
    normal, g = d * scale, dy * inputs["gamma"]
    dx = scale * (g - g.mean(-1, keep=True) - normal * (g * normal).mean(-1, keep=True))
    return {"dx": dx, "dgamma": (dy * normal).sum(0), "dbeta": dy.sum(0)}


@reference
def ragged_mean_square(inputs, sizes, params):
    x, starts = Num(inputs["x"]), inputs["row_start"]
    lengths = np.diff(starts)
    rms = sqrt(row_sums(x * x, starts) / lengths.astype(np.float64))
    owner = np.repeat(np.arange(lengths.size), lengths)
    return {"rms": rms, "y": where(rms.v[owner] > 0, x / rms[owner], 0.0)}


# Attention.


def attend(inputs, causal, half_unit):
    q, k, v = (Num(inputs[name]) for name in "qkv")
    scores = Num(inputs["scale"]) * matmul(q, k.swap(-1, -2))
    seen = np.ones(scores.v.shape[-2:], bool)
    if causal:
        seen = np.tril(seen)
    top = where(seen, scores, Num(-np.inf, 0.0)).max(-1, keep=True)
    p = where(seen, exp(scores - top), 0.0)
    o = matmul(p, v) / p.sum(-1, keep=True)
    # p is rounded like v, at a scale that depends on how the keys are blocked: at most one unit a term.
    slack = 2 * half_unit * (p.v @ np.abs(v.v)) / p.v.sum(-1, keepdims=True)
    return {"o": Result(o, slack=slack)}


HALF_UNIT = {"bf16": 2.0**-8, "f16": 2.0**-11}


@reference
def attention(inputs, sizes, params):
    return attend(inputs, False, HALF_UNIT.get(params["T"], 0.0))


@reference
def attention_causal(inputs, sizes, params):
    result = attend(inputs, True, HALF_UNIT.get(params["T"], 0.0))["o"]
    if sizes["R"] == 0:  # no key to see: the spec says 0
        return {"o": np.zeros(result.value.v.shape)}
    return {"o": result}


@reference
def attention_online(inputs, sizes, params):
    return attention_causal(inputs, sizes, params)


# Scans.


@reference
def prefix_sum(inputs, sizes, params):
    return {"y": Num(inputs["x"]).cumsum(0)}


@reference
def cumsum(inputs, sizes, params):
    x = inputs["x"]
    if not is_float(x):
        inclusive = np.cumsum(x, 1, dtype=np.int64)
        wide = {
            "inclusive": inclusive,
            "exclusive": inclusive - x,
            "reverse": np.cumsum(x[:, ::-1], 1, np.int64)[:, ::-1],
        }
        return {name: value.astype(np.int32) for name, value in wide.items()}
    inclusive = Num(x).cumsum(1)
    exclusive = Num(np.zeros_like(x), n=inclusive.n)
    exclusive.v[:, 1:], exclusive.s[:, 1:] = inclusive.v[:, :-1], inclusive.s[:, :-1]
    return {"inclusive": inclusive, "exclusive": exclusive, "reverse": Num(x[:, ::-1]).cumsum(1)[:, ::-1]}


def running_sum(x):
    return Num(x).cumsum(1) if is_float(x) else np.cumsum(x, 1, np.int64).astype(np.int32)


@reference
def cumsum_columns(inputs, sizes, params):
    y = running_sum(inputs["x"].T)
    return {"y": Num(y.v.T, y.s.T, y.n) if is_float(inputs["x"]) else y.T}


@reference
def running(inputs, sizes, params):
    x, form = inputs["x"], params["form"]
    x = x[:, ::-1] if "reverse" in form else x
    if form == "cummax":
        return {"y": np.maximum.accumulate(x, 1)}
    if form.startswith("cumsum"):  # exclusive: that of the elements before
        before = np.concatenate([np.zeros((len(x), 1), x.dtype), x], 1)[:, :-1]
        y = running_sum(before if form.endswith("exclusive") else x)
        return {"y": y[:, ::-1] if "reverse" in form else y}
    y = np.cumprod(x, 1, np.float64 if is_float(x) else np.int64)
    if form.endswith("exclusive"):
        y = np.concatenate([np.ones((x.shape[0], 1), y.dtype), y], 1)[:, :-1]
    if is_float(x):  # each factor adds a rounding
        y = Num(y, np.abs(y) * np.arange(1, sizes["N"] + 1))
    else:
        y = y.astype(np.int32)
    return {"y": y[:, ::-1] if "reverse" in form else y}


@reference
def linear_recurrence(inputs, sizes, params):
    a, x = Num(inputs["a"]), Num(inputs["x"])
    h = Num(np.zeros_like(x.v), n=max(sizes["S"], 1))
    state = Num(np.zeros((sizes["B"], sizes["C"])))
    for t in range(sizes["S"]):
        state = a[:, t] * state + x[:, t]
        h.v[:, t], h.s[:, t] = state.v, state.s
    return {"h": h}


# Sparse.


@reference
def bsr_matmul(inputs, sizes, params):
    x = padded_rows(inputs["x"], 64)
    z = Num(np.zeros((sizes["R"], 64, sizes["N"])), n=64 * max(sizes["S"], 1))
    for r in range(sizes["R"]):
        for s in range(inputs["row_ptr"][r], inputs["row_ptr"][r + 1]):
            add_block(z, r, inputs["a"][s], x, inputs["col"][s])
    return {"z": z.reshape(64 * sizes["R"], sizes["N"])}


@reference
def coo_matmul(inputs, sizes, params):
    x = padded_rows(inputs["x"], 64)
    blocks = -(-sizes["M"] // 64)
    z = Num(np.zeros((blocks, 64, sizes["N"])), n=64 * max(sizes["S"], 1))
    for s in range(sizes["S"]):
        add_block(z, inputs["row"][s], inputs["a"][s], x, inputs["col"][s])
    named = np.isin(np.arange(sizes["M"]) // 64, inputs["row"])
    z = z.reshape(64 * blocks, sizes["N"])[: sizes["M"]]
    return {"z": Result(z, untouched=np.broadcast_to(~named[:, None], z.v.shape))}


def padded_rows(x, block):
    """x with zero rows up to a whole number of blocks."""
    return np.concatenate([x, np.zeros((-x.shape[0] % block, x.shape[1]))])


def add_block(z, row, a, x, col):
    term = matmul(Num(a), Num(x[64 * col : 64 * col + 64]))
    z.v[row] += term.v
    z.s[row] += term.s


# Windows.


def patches(x, outside):
    """x[b, c, 2p + i - 1, 2q + j - 1] as [b, c, p, q, i, j]."""
    b, c, h, w = x.shape
    p, q = (h - 1) // 2 + 1, (w - 1) // 2 + 1
    wide = np.full((b, c, h + 3, w + 3), outside, np.float64)
    wide[:, :, 1 : h + 1, 1 : w + 1] = x
    rows, columns = 2 * np.arange(p)[:, None] + np.arange(3), 2 * np.arange(q)[:, None] + np.arange(3)
    return wide[:, :, rows[:, None, :, None], columns[None, :, None, :]]


@reference
def conv2d(inputs, sizes, params):
    windows = patches(inputs["x"], 0.0)
    b, c, p, q = windows.shape[:4]
    left = Num(windows.transpose(0, 2, 3, 1, 4, 5).reshape(b * p * q, c * 9))
    right = Num(inputs["w"].reshape(sizes["O"], c * 9).T)
    y = matmul(left, right)
    y = y if inputs["bias"] is None else y + inputs["bias"]
    return {"y": y.reshape(b, p, q, sizes["O"]).swap(2, 3).swap(1, 2)}


@reference
def max_pool(inputs, sizes, params):
    return {"y": patches(inputs["x"], -np.inf).max((4, 5), initial=-np.inf)}


def pooled(x, size, before, outside):
    """Windows of `size` with stride 2 in each dimension after the second, from `before` elements outside on, as further
    dimensions at the end; and the numbers of these."""
    depth = x.ndim - 2
    wide = np.pad(x, [(0, 0)] * 2 + [(before, size)] * depth, constant_values=outside)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (size,) * depth, tuple(range(2, x.ndim)))
    counts = [(extent + 2 * before - size) // 2 + 1 for extent in x.shape[2:]]
    return windows[(slice(None),) * 2 + tuple(slice(0, 2 * n, 2) for n in counts)], tuple(range(-depth, 0))


def averages(x, size, before):
    windows, inner = pooled(x, size, before, 0.0)
    parts, _ = pooled(np.ones(x.shape), size, before, 0.0)
    return {"y": Num(windows).sum(inner) / parts.sum(inner)}


@reference
def average_pool(inputs, sizes, params):
    return averages(inputs["x"], 3, 1)


@reference
def average_pool_1d(inputs, sizes, params):
    return averages(inputs["x"], 3, 1)


@reference
def average_pool_3d(inputs, sizes, params):
    return averages(inputs["x"], 2, 0)


@reference
def max_pool_1d(inputs, sizes, params):
    windows, inner = pooled(inputs["x"], 3, 1, -np.inf)
    return {"y": windows.max(inner)}


@reference
def max_pool_3d(inputs, sizes, params):
    windows, inner = pooled(inputs["x"], 2, 0, -np.inf)
    return {"y": windows.max(inner)}


@reference
def frames_energy(inputs, sizes, params):
    x = inputs["x"]
    frames = max((x.size - 400) // 160 + 1, 0)
    windows = Num(x[160 * np.arange(frames)[:, None] + np.arange(400)])
    return {"energy": (windows * windows).sum(1)}


# Reductions.


@reference
def histogram(inputs, sizes, params):
    return {"counts": np.bincount(inputs["x"], minlength=256).astype(np.int32)}


@reference
def argmax(inputs, sizes, params):
    x = inputs["x"]
    if x.shape[1] == 0:
        return {"position": np.full(x.shape[0], -1), "value": np.full(x.shape[0], -np.inf)}
    return {"position": x.argmax(1), "value": x.max(1)}


@reference
def cross_entropy(inputs, sizes, params):
    score, target = Num(inputs["score"]), inputs["target"]
    top = score.max(1)
    own = score[np.arange(target.size), target] if sizes["V"] else Num(np.zeros(target.size))
    loss = log(exp(score - top[:, None]).sum(1)) + top - own
    return {"loss": loss, "mean_loss": loss.sum(0) / float(max(target.size, 1))}


@reference
def logsumexp(inputs, sizes, params):
    x = Num(inputs["x"])
    top = x.max(1)
    y = log(exp(x - top[:, None]).sum(1)) + top
    return {"y": where(top.v == -np.inf, Num(-np.inf), y)}


@reference
def argmin(inputs, sizes, params):
    x = inputs["x"]
    if x.shape[1] == 0:
        return {"position": np.full(x.shape[0], -1), "value": np.full(x.shape[0], np.inf)}
    return {"position": x.argmin(1), "value": x.min(1)}


@reference
def top1(inputs, sizes, params):
    score = Num(inputs["score"])
    best = score.v.argmax(1) if sizes["V"] else np.full(sizes["B"], -1)
    return {"best": best, "probability": 1.0 / exp(score - score.max(1, keep=True)).sum(1)}


@reference
def mean_variance(inputs, sizes, params):
    x = Num(inputs["x"])
    d = x - x.mean(1, keep=True)
    return {"row_mean": x.mean(1), "row_variance": (d * d).mean(1)}


@reference
def row_sum(inputs, sizes, params):
    return {"total": Num(inputs["x"]).sum(1)}


@reference
def column_sum(inputs, sizes, params):
    return {"total": Num(inputs["x"]).sum(0)}


@reference
def segment_sum(inputs, sizes, params):
    y = row_sums(Num(inputs["x"]), inputs["start"])
    return {"y": y.reshape(sizes["B"], sizes["D"])}


@reference
def segment_sum_by_id(inputs, sizes, params):
    x, number = inputs["x"], inputs["id"]
    named = (number >= 0) & (number < sizes["B"])
    y = Num(np.zeros((sizes["B"], sizes["D"])), n=max(sizes["N"], 1))
    np.add.at(y.v, number[named], x[named])
    np.add.at(y.s, number[named], np.abs(x[named]))
    return {"y": y}


# Losses.


def average(loss):
    """The mean of each row's loss, 0 of none."""
    return loss.sum(0) / float(max(loss.v.size, 1))


@reference
def mse_loss(inputs, sizes, params):
    e = Num(inputs["prediction"]) - inputs["target"]
    return {"loss": average(e * e)}


@reference
def huber_loss(inputs, sizes, params):
    e, delta = absolute(Num(inputs["prediction"]) - inputs["target"]), inputs["delta"]
    loss = where(e.v <= delta, e * e / 2.0, delta * (e - delta / 2))
    return {"loss": loss, "mean_loss": average(loss)}


@reference
def kl_divergence(inputs, sizes, params):
    prediction, target = Num(inputs["prediction"]), Num(inputs["target"])
    loss = where(target.v > 0, target * (log(target) - prediction), 0.0).sum(1)
    return {"loss": loss, "mean_loss": average(loss)}


@reference
def hinge_loss(inputs, sizes, params):
    score, target = Num(inputs["score"]), inputs["target"]
    own = score[np.arange(target.size), target] if sizes["V"] else Num(np.zeros(target.size))
    others = np.arange(sizes["V"]) != target[:, None]
    loss = where(others, maximum(params["margin"] + score - own[:, None], 0.0), 0.0).sum(1)
    return {"loss": loss, "mean_loss": average(loss)}


def lengths(rows):
    return sqrt((rows * rows).sum(1))


@reference
def triplet_loss(inputs, sizes, params):
    anchor = Num(inputs["anchor"])
    near, far = lengths(anchor - inputs["positive"]), lengths(anchor - inputs["negative"])
    loss = maximum(near - far + params["margin"], 0.0)
    return {"loss": loss, "mean_loss": average(loss)}


@reference
def cosine_similarity(inputs, sizes, params):
    x, y = Num(inputs["x"]), Num(inputs["y"])
    return {"similarity": (x * y).sum(1) / maximum(lengths(x) * lengths(y), params["eps"])}
