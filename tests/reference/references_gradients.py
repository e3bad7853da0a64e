"""References: the backward kernels that `kgen grad` writes."""

import numpy as np

from magnitude import Num, erf, exp, lift, matmul, maximum, sigmoid, where
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


@reference
def attention_backward(inputs, sizes, params):
    q, k, v, o, d_o = (Num(inputs[name]) for name in ("q", "k", "v", "o", "d_o"))
    scale = Num(inputs["scale"])
    scores = scale * matmul(q, k.swap(-1, -2))
    e = exp(scores - scores.max(-1, keep=True))
    p = e / e.sum(-1, keep=True)
    d_scores = p * (matmul(d_o, v.swap(-1, -2)) - (d_o * o).sum(-1, keep=True))
    if sizes["R"] == 0:  # no key: o is 0 / 0, and so is the share of each
        d_scores, k = Num(np.full((*scores.v.shape[:3], 1), np.nan)), Num(np.zeros((*k.v.shape[:2], 1, sizes["D"])))
        return {"d_q": matmul(d_scores, k), "d_k": np.zeros(inputs["k"].shape), "d_v": np.zeros(inputs["v"].shape)}
    return {
        "d_q": scale * matmul(d_scores, k),
        "d_k": scale * matmul(d_scores.swap(-1, -2), q),
        "d_v": matmul(p.swap(-1, -2), d_o),
    }


@reference
def log_softmax_backward(inputs, sizes, params):
    y, d_y = Num(inputs["y"]), Num(inputs["d_y"])
    return {"d_x": d_y - exp(y) * d_y.sum(-1, keep=True)}


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
