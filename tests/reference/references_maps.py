"""References: elementwise kernels, those that move memory, and generalized IoU."""

import numpy as np

from magnitude import Num, atan2, erf, maximum, minimum, sigmoid, where
from registry import Result, is_float, reference

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


def box_giou(pred, target, params):
    clamped = params.get("iou") != "unclamped"
    return generalized_iou(np.moveaxis(pred, -1, 0), np.moveaxis(target, -1, 0), clamped)


def masked_loss(giou, mask):
    """The mean of 1 - giou where the mask is set."""
    apart = (1.0 - giou) * mask.astype(np.float64)
    return {"giou": giou, "mask": mask, "loss": apart.reshape(-1).sum(0) / float(max(mask.sum(), 1))}


@reference
def giou_loss_padded(inputs, sizes, params):
    mask = inputs["target"][..., 3] != 0
    return masked_loss(box_giou(inputs["pred"], inputs["target"], params) * mask.astype(np.float64), mask)


@reference
def giou_loss_conditional(inputs, sizes, params):
    mask = inputs["target"][..., 3] != 0
    return masked_loss(where(mask, box_giou(inputs["pred"], inputs["target"], params), 0.0), mask)


def row_sums(values, starts):
    """Sums of the rows of a packed array of Num."""
    rows = [values[a:b].sum(0) for a, b in zip(starts[:-1], starts[1:])]
    longest = max([1, *np.diff(starts)])
    return Num(np.array([r.v for r in rows]), np.array([r.s for r in rows]), max(values.n, longest))


@reference
def giou_loss_ragged(inputs, sizes, params):
    giou, starts = box_giou(inputs["pred"], inputs["target"], params), inputs["box_start"]
    picture = row_sums(1.0 - giou, starts) / np.maximum(np.diff(starts), 1).astype(np.float64)
    return {"giou": giou, "picture_loss": picture, "loss": (1.0 - giou).sum(0) / float(max(giou.v.size, 1))}


@reference
def giou_loss_packed(inputs, sizes, params):
    starts = inputs["box_start"]
    beside = [inputs["pred"][b, : starts[b + 1] - starts[b]] for b in range(sizes["B"])]
    giou = box_giou(np.concatenate([np.zeros((0, 4)), *beside]), inputs["target"], params)
    return {"giou": giou, "loss": (1.0 - giou).sum(0) / float(max(giou.v.size, 1))}
