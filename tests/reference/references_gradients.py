"""References: the backward kernels that `kgen grad` writes."""

import itertools

import numpy as np

from magnitude import Num, absolute, erf, exp, lift, log, matmul, maximum, rsqrt, sigmoid, sqrt, where
from references_dense import by_channel, seen_keys
from references_folds import patches, pooled
from registry import Result, reference


def slope(name, v):
    """The derivatives of the activations."""
    if name == "identity":
        return Num(np.ones(v.v.shape))
    if name == "relu":
        return where(v.v > 0, 1.0, 0.0)
    if name == "squared_relu":
        return 2.0 * maximum(v, 0.0)
    if name == "silu":
        return sigmoid(v) * (1.0 + v * sigmoid(0.0 - v))
    if name == "gelu":
        return 0.5 * (1.0 + erf(v * np.sqrt(0.5))) + v * exp(v * v * -0.5) / np.sqrt(2 * np.pi)
    raise KeyError(name)


@reference
def activation_backward(inputs, sizes, params):
    bias = inputs["bias"]
    d_v = Num(inputs["d_y"]) * slope(params["act"], Num(inputs["x"]) + (0.0 if bias is None else bias))
    return {"d_x": d_v, "d_bias": np.zeros(sizes["N"]) if bias is None else d_v.sum(0)}


@reference
def matmul_activation_backward(inputs, sizes, params):
    x, y, d_z = (Num(inputs[name]) for name in ("x", "y", "d_z"))
    v = matmul(x, y) + inputs["bias"]
    d_v = d_z * slope(params["activation"], v)
    # Near 0 the sign may come out otherwise in fewer digits, and relu has another slope there.
    unsure = np.abs(d_z.v) * ((np.abs(v.v) < 1e-5 * v.s) & (params["activation"] == "relu"))
    return {
        "d_x": Result(matmul(d_v, y.swap(0, 1)), slack=unsure @ np.abs(y.v.T)),
        "d_y": Result(matmul(x.swap(0, 1), d_v), slack=np.abs(x.v.T) @ unsure),
        "d_bias": Result(d_v.sum(0), slack=unsure.sum(0)),
    }


@reference
def embedding_backward(inputs, sizes, params):
    d_table = Num(np.zeros((sizes["V"], sizes["D"])), n=max(sizes["N"], 1))
    for token, d_row in zip(inputs["token"], inputs["d_row"]):
        if not 0 <= token < sizes["V"]:
            continue
        d_table.v[token] += d_row
        d_table.s[token] += np.abs(d_row)
    return {"d_table": d_table}


def attention_gradients(inputs, weights_of):
    q, k, v, o, d_o = (Num(inputs[name]) for name in ("q", "k", "v", "o", "d_o"))
    scale = Num(inputs["scale"])
    p = weights_of(scale * matmul(q, k.swap(-1, -2)))
    d_scores = p * (matmul(d_o, v.swap(-1, -2)) - (d_o * o).sum(-1, keep=True))
    return {
        "d_q": scale * matmul(d_scores, k),
        "d_k": scale * matmul(d_scores.swap(-1, -2), q),
        "d_v": matmul(p.swap(-1, -2), d_o),
    }


@reference
def attention_backward(inputs, sizes, params):
    if sizes["R"] == 0:  # no key on which anything depends
        return {f"d_{name}": np.zeros(inputs[name].shape) for name in "qkv"}

    def weights(scores):
        e = exp(scores - scores.max(-1, keep=True))
        return e / e.sum(-1, keep=True)

    return attention_gradients(inputs, weights)


@reference
def attention_training_backward(inputs, sizes, params):
    return attention_gradients(inputs, lambda scores: exp(scores - Num(inputs["lse"])[..., None]))


@reference
def log_softmax_backward(inputs, sizes, params):
    y, d_y = Num(inputs["y"]), Num(inputs["d_y"])
    return {"d_x": d_y - exp(y) * d_y.sum(-1, keep=True)}


@reference
def softmax_channels_backward(inputs, sizes, params):
    y, d_y = Num(inputs["y"]), Num(inputs["d_y"])
    return {"d_x": y * (d_y - (d_y * y).sum(1, keep=True))}


@reference
def softmax_masked_backward(inputs, sizes, params):
    y, d_y = where(seen_keys(inputs, sizes), Num(inputs["y"]), 0), Num(inputs["d_y"])
    return {"d_x": y * (d_y - (d_y * y).sum(-1, keep=True))}


@reference
def cross_entropy_backward(inputs, sizes, params):
    score, target = Num(inputs["score"]), inputs["target"]
    given = [lift(0.0 if inputs[name] is None else inputs[name]) for name in ("d_loss", "d_mean_loss")]
    d_loss = given[0] + given[1] / float(max(target.size, 1))
    e = exp(score - score.max(1, keep=True))
    own = (np.arange(sizes["V"]) == target[:, None]).astype(float)
    d_loss = (d_loss + np.zeros(target.size))[:, None]
    return {"d_score": e / e.sum(1, keep=True) * d_loss - own * d_loss}


@reference
def linear_recurrence_backward(inputs, sizes, params):
    a, h, d_h = (Num(inputs[name]) for name in ("a", "h", "d_h"))
    d_a, d_x = (Num(np.zeros_like(h.v), n=max(sizes["S"], 1)) for _ in range(2))
    state = Num(np.zeros((sizes["B"], sizes["C"])))
    for t in reversed(range(sizes["S"])):
        state = d_h[:, t] + (a[:, t + 1] * state if t + 1 < sizes["S"] else 0.0)
        d_x.v[:, t], d_x.s[:, t] = state.v, state.s
        if t > 0:
            from_a = state * h[:, t - 1]
            d_a.v[:, t], d_a.s[:, t] = from_a.v, from_a.s
    return {"d_a": d_a, "d_x": d_x}


def from_the_end(x):
    return x[:, ::-1].cumsum(1)[:, ::-1]


@reference
def cumsum_backward(inputs, sizes, params):
    none = np.zeros((sizes["M"], sizes["N"]))
    inclusive, exclusive, reverse = (
        Num(none if inputs[f"d_{name}"] is None else inputs[f"d_{name}"]) for name in ("inclusive", "exclusive", "reverse")
    )
    later, beyond = Num(none.copy()), from_the_end(exclusive)
    later.v[:, :-1], later.s[:, :-1] = beyond.v[:, 1:], beyond.s[:, 1:]
    return {"d_x": from_the_end(inclusive) + later + reverse.cumsum(1)}


@reference
def cumsum_columns_backward(inputs, sizes, params):
    return {"d_x": from_the_end(Num(inputs["d_y"]).swap(0, 1)).swap(0, 1)}


@reference
def rope_backward(inputs, sizes, params):
    halves = (sizes["B"], sizes["S"], sizes["H"], 2, sizes["R"])
    x, d_y = (Num(inputs[name].reshape(halves)) for name in ("x", "d_y"))
    cosine, sine = inputs["cosine"][None, :, None, :], inputs["sine"][None, :, None, :]
    one, other, d_one, d_other = x[..., 0, :], x[..., 1, :], d_y[..., 0, :], d_y[..., 1, :]
    turned = [d_one * cosine + d_other * sine, d_other * cosine - d_one * sine]
    joined = [np.stack([getattr(half, part) for half in turned], 3) for part in ("v", "s")]
    return {
        "d_x": Num(*joined).reshape(inputs["x"].shape),
        "d_cosine": (one * d_one + other * d_other).sum((0, 2)),
        "d_sine": (one * d_other - other * d_one).sum((0, 2)),
    }


# Windows.


def unpooled(parts, shape, size, before):
    """The sum of what each element has in all windows that it is in, which lie as those of `pooled`."""
    depth = len(shape) - 2
    counts = parts.v.shape[2 : 2 + depth]
    out = Num(np.zeros((*shape[:2], *(extent + before + size for extent in shape[2:]))), n=size**depth * parts.n)
    for within in itertools.product(range(size), repeat=depth):
        places = (slice(None),) * 2 + tuple(slice(i, i + 2 * n, 2) for i, n in zip(within, counts))
        out.v[places] += parts.v[(..., *within)]
        out.s[places] += parts.s[(..., *within)]
    return out[(slice(None),) * 2 + tuple(slice(before, before + extent) for extent in shape[2:])]


@reference
def conv2d_backward(inputs, sizes, params):
    x, w, d_y = inputs["x"], inputs["w"], Num(inputs["d_y"])
    windows = patches(x, 0.0)
    b, c, p, q = windows.shape[:4]
    d_rows = d_y.reshape(b, sizes["O"], p * q).swap(1, 2).reshape(b * p * q, sizes["O"])
    rows = Num(windows.transpose(0, 2, 3, 1, 4, 5).reshape(b * p * q, c * 9))
    parts = matmul(d_rows, Num(w.reshape(sizes["O"], c * 9))).reshape(b, p, q, c, 3, 3).swap(2, 3).swap(1, 2)
    none = np.zeros(sizes["O"])
    return {
        "d_x": unpooled(parts, x.shape, 3, 1),
        "d_w": matmul(d_rows.swap(0, 1), rows).reshape(w.shape),
        "d_bias": none if inputs["bias"] is None else d_y.sum((0, 2, 3)),
    }


def max_pool_gradient(inputs, size, before):
    """Those that are the greatest of a window share its gradient."""
    windows, inner = pooled(inputs["x"], size, before, -np.inf)
    within = (..., *(None,) * len(inner))
    greatest = windows == inputs["y"][within]
    share = Num(inputs["d_y"] / greatest.sum(inner))[within]
    return {"d_x": unpooled(where(greatest, share, 0.0), inputs["x"].shape, size, before)}


def average_pool_gradient(inputs, size, before):
    there, inner = pooled(np.ones(inputs["x"].shape), size, before, 0.0)
    share = Num(inputs["d_y"] / there.sum(inner))[(..., *(None,) * len(inner))]
    return {"d_x": unpooled(share * there, inputs["x"].shape, size, before)}


@reference
def max_pool_backward(inputs, sizes, params):
    return max_pool_gradient(inputs, 3, 1)


@reference
def max_pool_1d_backward(inputs, sizes, params):
    return max_pool_gradient(inputs, 3, 1)


@reference
def max_pool_3d_backward(inputs, sizes, params):
    return max_pool_gradient(inputs, 2, 0)


@reference
def average_pool_backward(inputs, sizes, params):
    return average_pool_gradient(inputs, 3, 1)


@reference
def average_pool_1d_backward(inputs, sizes, params):
    return average_pool_gradient(inputs, 3, 1)


@reference
def average_pool_3d_backward(inputs, sizes, params):
    nothing = np.zeros([sizes[axis] for axis in "BCDHW"])  # the kernel need not see it
    return average_pool_gradient({**inputs, "x": nothing}, 2, 0)


# Norms.


def norm_backward(x, d_y, axes, eps):
    """The gradient by x of (x - mean) / deviation, and that value itself."""
    d = x - x.mean(axes, keep=True)
    scale = rsqrt((d * d).mean(axes, keep=True) + eps)
    normal = d * scale
    return scale * (d_y - d_y.mean(axes, keep=True) - normal * (d_y * normal).mean(axes, keep=True)), normal


@reference
def layer_norm_backward(inputs, sizes, params):
    d_y = Num(inputs["d_y"])
    d_x, normal = norm_backward(Num(inputs["x"]), d_y * inputs["gamma"], -1, params["eps"])
    return {"d_x": d_x, "d_gamma": (d_y * normal).sum(0), "d_beta": d_y.sum(0)}


@reference
def group_norm_backward(inputs, sizes, params):
    shape = inputs["x"].shape
    in_groups = (sizes["B"], sizes["G"], sizes["C"], sizes["H"], sizes["W"])
    d_y = Num(inputs["d_y"])
    scaled = d_y * inputs["gamma"][:, None, None]
    d_x, normal = norm_backward(Num(inputs["x"]).reshape(in_groups), scaled.reshape(in_groups), (2, 3, 4), params["eps"])
    return {
        "d_x": d_x.reshape(shape),
        "d_gamma": (d_y * normal.reshape(shape)).sum((0, 2, 3)),
        "d_beta": d_y.sum((0, 2, 3)),
    }


@reference
def instance_norm_backward(inputs, sizes, params):
    d_y, gamma = Num(inputs["d_y"]), inputs["gamma"]
    scaled = d_y if gamma is None else d_y * gamma[:, None, None]
    d_x, normal = norm_backward(Num(inputs["x"]), scaled, (2, 3), params["eps"])
    none = np.zeros(sizes["C"])
    return {
        "d_x": d_x,
        "d_gamma": none if gamma is None else (d_y * normal).sum((0, 2, 3)),
        "d_beta": none if inputs["beta"] is None else d_y.sum((0, 2, 3)),
    }


def zero_if_absent(array):
    return lift(0.0 if array is None else array)


@reference
def batch_norm_backward(inputs, sizes, params):
    d_y = zero_if_absent(inputs["d_y"]) + np.zeros(inputs["x"].shape)
    d_mean, d_variance = (
        zero_if_absent(inputs[f"d_batch_{what}"]) + zero_if_absent(inputs[f"d_running_{what}"]) * inputs["momentum"]
        for what in ("mean", "variance")
    )
    d = Num(inputs["x"]) - by_channel(inputs["batch_mean"])
    scale = rsqrt(Num(inputs["batch_variance"]) + params["eps"])
    scaled = scale * inputs["gamma"]
    d_variance = d_variance - 0.5 * (scale * scale * scaled * (d * d_y).sum((0, 2, 3)))
    d_mean = d_mean - scaled * d_y.sum((0, 2, 3))
    count = float(max(sizes["B"] * sizes["H"] * sizes["W"], 1))
    kept = [zero_if_absent(inputs[f"d_running_{what}"]) * (1.0 - inputs["momentum"]) for what in ("mean", "variance")]
    return {
        "d_x": d_y * by_channel(scaled) + 2.0 * by_channel(d_variance) * d / count + by_channel(d_mean) / count,
        "d_gamma": (d * by_channel(scale) * d_y).sum((0, 2, 3)),
        "d_beta": d_y.sum((0, 2, 3)),
        "d_old_mean": kept[0] + np.zeros(sizes["C"]),
        "d_old_variance": kept[1] + np.zeros(sizes["C"]),
    }


@reference
def batch_norm_inference_backward(inputs, sizes, params):
    d_y, d = Num(inputs["d_y"]), Num(inputs["x"]) - by_channel(inputs["running_mean"])
    scale = rsqrt(Num(inputs["running_variance"]) + params["eps"])
    scaled = scale * inputs["gamma"]
    return {
        "d_x": d_y * by_channel(scaled),
        "d_running_mean": 0.0 - scaled * d_y.sum((0, 2, 3)),
        "d_running_variance": -0.5 * (scale * scale * scaled * (d * d_y).sum((0, 2, 3))),
        "d_gamma": (d * by_channel(scale) * d_y).sum((0, 2, 3)),
        "d_beta": d_y.sum((0, 2, 3)),
    }


# Losses.


def given(inputs, rows):
    """The gradient of each row's loss, its share in that of the mean included."""
    d_loss, d_mean = (lift(0.0 if inputs[name] is None else inputs[name]) for name in ("d_loss", "d_mean_loss"))
    return d_loss + d_mean / float(max(rows, 1)) + np.zeros(rows)


@reference
def mse_loss_backward(inputs, sizes, params):
    e = Num(inputs["prediction"]) - inputs["target"]
    d = 2.0 * Num(inputs["d_loss"]) * e / float(max(sizes["N"], 1))
    return {"d_prediction": d, "d_target": 0.0 - d}


@reference
def huber_loss_backward(inputs, sizes, params):
    e, d_each = Num(inputs["prediction"]) - inputs["target"], given(inputs, sizes["N"])
    d = where(np.abs(e.v) <= inputs["delta"], d_each * absolute(e), d_each * inputs["delta"]) * np.sign(e.v)
    return {"d_prediction": d, "d_target": 0.0 - d}


@reference
def kl_divergence_backward(inputs, sizes, params):
    prediction, target = Num(inputs["prediction"]), Num(inputs["target"])
    d_each = given(inputs, sizes["B"])[:, None]
    possible = target.v > 0
    return {
        "d_prediction": where(possible, 0.0 - target * d_each, 0.0),
        "d_target": where(possible, (log(target) - prediction) * d_each + d_each, 0.0),
    }


def part_above_zero(v, d):
    """The gradient of max(v, 0), and how much of it a sign of v that few digits do not tell decides."""
    unsure = np.abs(d.v) * (np.abs(v.v) < 1e-5 * v.s)
    return where(v.v > 0, d, where(v.v == 0, 0.5 * d, 0.0)), unsure


@reference
def hinge_loss_backward(inputs, sizes, params):
    score, target = Num(inputs["score"]), inputs["target"]
    own = score[np.arange(target.size), target] if sizes["V"] else Num(np.zeros(target.size))
    others = np.arange(sizes["V"]) != target[:, None]
    margin = params["margin"] + score - own[:, None]
    d, unsure = part_above_zero(margin, given(inputs, sizes["B"])[:, None] + np.zeros(margin.v.shape))
    d, unsure = where(others, d, 0.0), unsure * others
    slack = np.where(others, unsure, unsure.sum(1, keepdims=True))
    return {"d_score": Result(where(others, d, 0.0 - d.sum(1, keep=True)), slack=slack)}


@reference
def triplet_loss_backward(inputs, sizes, params):
    anchor = Num(inputs["anchor"])
    near, far = anchor - inputs["positive"], anchor - inputs["negative"]
    lengths = [sqrt((rows * rows).sum(1)) for rows in (near, far)]
    d, unsure = part_above_zero(lengths[0] - lengths[1] + params["margin"], given(inputs, sizes["B"]))
    towards = [
        where(length.v[:, None] != 0, rows * d[:, None] / where(length.v == 0, 1.0, length)[:, None], 0.0)
        for rows, length in zip((near, far), lengths)
    ]
    slack = unsure[:, None]
    return {
        "d_anchor": Result(towards[0] - towards[1], slack=2 * slack),
        "d_positive": Result(0.0 - towards[0], slack=slack),
        "d_negative": Result(towards[1], slack=slack),
    }


@reference
def cosine_similarity_backward(inputs, sizes, params):
    x, y, d = (Num(inputs[name]) for name in ("x", "y", "d_similarity"))
    lengths = [sqrt((rows * rows).sum(1)) for rows in (x, y)]
    both = lengths[0] * lengths[1]
    by = maximum(both, params["eps"])
    d_both = where(both.v > params["eps"], 0.0 - d * inputs["similarity"] / by, 0.0)

    def gradient(rows, others, own, other):
        along = where(own.v != 0, other * d_both / where(own.v == 0, 1.0, own), 0.0)
        return rows * along[:, None] + (d / by)[:, None] * others

    return {"d_x": gradient(x, y, *lengths), "d_y": gradient(y, x, *lengths[::-1])}


# Products in a row.


@reference
def mlp_backward(inputs, sizes, params):
    x, w1, w2, d_z = (Num(inputs[name]) for name in ("x", "w1", "w2", "d_z"))
    v = matmul(x, w1) + inputs["b1"]
    hidden = v * 0.5 * (1.0 + erf(v * np.sqrt(0.5)))
    d_v = matmul(d_z, w2.swap(0, 1)) * slope("gelu", v)
    return {
        "d_x": matmul(d_v, w1.swap(0, 1)),
        "d_w1": matmul(x.swap(0, 1), d_v),
        "d_b1": d_v.sum(0),
        "d_w2": matmul(hidden.swap(0, 1), d_z),
        "d_b2": d_z.sum(0),
    }


@reference
def gated_mlp_backward(inputs, sizes, params):
    x, gate, up, down, d_z = (Num(inputs[name]) for name in ("x", "gate", "up", "down", "d_z"))
    v, raised = matmul(x, gate), matmul(x, up)
    open_ = v * sigmoid(v)
    d_hidden = matmul(d_z, down.swap(0, 1))
    d_v, d_raised = d_hidden * raised * slope("silu", v), d_hidden * open_
    return {
        "d_x": matmul(d_v, gate.swap(0, 1)) + matmul(d_raised, up.swap(0, 1)),
        "d_gate": matmul(x.swap(0, 1), d_v),
        "d_up": matmul(x.swap(0, 1), d_raised),
        "d_down": matmul((open_ * raised).swap(0, 1), d_z),
    }


# GIoU, forward: each value goes with its derivatives by the eight sides.


class Dual:
    def __init__(self, v, d):
        self.v, self.d = v, d

    def map(self, other, v, change):
        return Dual(v, [change(a, b) for a, b in zip(self.d, other.d)])

    def __add__(self, o):
        return self.map(o, self.v + o.v, lambda a, b: a + b)

    def __sub__(self, o):
        return self.map(o, self.v - o.v, lambda a, b: a - b)

    def __mul__(self, o):
        return self.map(o, self.v * o.v, lambda a, b: a * o.v + self.v * b)

    def __truediv__(self, o):
        v = self.v / o.v
        return self.map(o, v, lambda a, b: (a - v * b) / o.v)

    def larger(self, o):
        """Of two equal ones each has half of the derivative."""
        share = np.where(self.v.v > o.v.v, 1.0, np.where(self.v.v == o.v.v, 0.5, 0.0))
        return self.map(o, maximum(self.v, o.v), lambda a, b: a * share + b * (1.0 - share))

    def smaller(self, o):
        zero = Dual(self.v * 0.0, [a * 0.0 for a in self.d])
        return zero - (zero - self).larger(zero - o)


def giou_slopes(pred, target):
    """The derivatives of GIoU by the sides of both, stacked last."""
    sides = [*np.moveaxis(pred, -1, 0), *np.moveaxis(target, -1, 0)]
    shape = sides[0].shape
    constant = lambda value: Dual(Num(np.full(shape, value)), [Num(np.zeros(shape))] * 8)  # noqa: E731
    p, t = np.split(
        np.array([Dual(Num(v), [Num(np.full(shape, float(i == k))) for k in range(8)]) for i, v in enumerate(sides)]), 2
    )
    none, eps = constant(0.0), constant(1e-5)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (p, t)]
    shared = [(p[i + 2].smaller(t[i + 2]) - p[i].larger(t[i])).larger(none) for i in (0, 1)]
    around = [(p[i + 2].larger(t[i + 2]) - p[i].smaller(t[i])).larger(none) for i in (0, 1)]
    overlap, hull = shared[0] * shared[1], around[0] * around[1]
    joined = areas[0] + areas[1] - overlap
    giou = overlap / joined.larger(eps) - (hull - joined) / hull.larger(eps)
    return [
        Num(np.stack([d.v for d in half], -1), np.stack([d.s for d in half], -1)) for half in (giou.d[:4], giou.d[4:])
    ]


@reference
def giou_loss_padded_backward(inputs, sizes, params):
    mask = inputs["mask"].astype(np.float64)
    d_each = zero_if_absent(inputs["d_giou"]) - mask * zero_if_absent(inputs["d_loss"]) / float(max(mask.sum(), 1))
    weight = (d_each * mask)[..., None]
    slopes = giou_slopes(inputs["pred"], inputs["target"])
    return dict(zip(("d_pred", "d_target"), (weight * slope for slope in slopes)))


@reference
def giou_loss_conditional_backward(inputs, sizes, params):
    mask = inputs["mask"][..., None]
    every = giou_loss_padded_backward(inputs, sizes, params)
    return {name: where(mask, d, 0.0) for name, d in every.items()}


@reference
def giou_loss_ragged_backward(inputs, sizes, params):
    lengths = np.diff(inputs["box_start"])
    own = lambda v: v[np.repeat(np.arange(lengths.size), lengths)]  # noqa: E731
    d_picture = (zero_if_absent(inputs["d_picture_loss"]) + np.zeros(lengths.size)) / np.maximum(lengths, 1).astype(float)
    d_loss = zero_if_absent(inputs["d_loss"]) / float(max(sizes["N"], 1))
    d_each = (zero_if_absent(inputs["d_giou"]) - d_loss - own(d_picture))[:, None]
    return dict(zip(("d_pred", "d_target"), (d_each * s for s in giou_slopes(inputs["pred"], inputs["target"]))))


@reference
def giou_loss_packed_backward(inputs, sizes, params):
    lengths = np.diff(inputs["box_start"])
    picture = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(sizes["N"]) - inputs["box_start"][:-1][picture]
    d_each = zero_if_absent(inputs["d_giou"]) - zero_if_absent(inputs["d_loss"]) / float(max(sizes["N"], 1))
    d_each = (d_each + np.zeros(sizes["N"]))[:, None]
    d_paired, d_target = (d_each * s for s in giou_slopes(inputs["pred"][picture, place], inputs["target"]))
    d_pred = Num(np.zeros(inputs["pred"].shape), n=d_paired.n)
    d_pred.v[picture, place], d_pred.s[picture, place] = d_paired.v, d_paired.s
    return {"d_pred": d_pred, "d_target": d_target}
