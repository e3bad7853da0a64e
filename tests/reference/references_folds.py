"""References: scans, sparse products, windows, reductions and losses."""

import numpy as np

from magnitude import Num, absolute, exp, log, matmul, maximum, sqrt, where
from references_maps import row_sums
from registry import Result, is_float, reference

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
