"""References: matrix products, normalisation and attention."""

import numpy as np

from magnitude import Num, absolute, exp, log, matmul, maximum, rsqrt, sqrt, where
from references_maps import activate, row_sums
from registry import REFERENCES, Result, reference

# Matrix products.


def product(inputs):
    return matmul(Num(inputs["x"]), Num(inputs["y"]))


@reference
def matmul_int8(inputs, sizes, params):
    return {"z": (inputs["x"].astype(np.int64) @ inputs["y"].astype(np.int64)).astype(np.int32)}


@reference
def similarity_int8(inputs, sizes, params):
    products = Num((inputs["query"].astype(np.int64) @ inputs["row"].astype(np.int64).T).astype(np.float64))
    return {"score": products * (inputs["query_scale"][:, None] * inputs["row_scale"])}


@reference
def matmul_activation(inputs, sizes, params):
    return {"z": activate(params["activation"], product(inputs) + inputs["bias"])}


@reference
def matmul_bf16(inputs, sizes, params):
    return {"z": activate(params["activation"], product(inputs))}


for _name in ("matmul", "matmul_halves", "matmul_blocked", "matmul_batched"):
    REFERENCES[_name] = lambda inputs, sizes, params: {"z": product(inputs)}


@reference
def mlp(inputs, sizes, params):
    hidden = activate("gelu", matmul(Num(inputs["x"]), Num(inputs["w1"])) + inputs["b1"])
    return {"z": matmul(hidden, Num(inputs["w2"])) + inputs["b2"]}


@reference
def gated_mlp(inputs, sizes, params):
    x = Num(inputs["x"])
    hidden = activate("silu", matmul(x, Num(inputs["gate"]))) * matmul(x, Num(inputs["up"]))
    return {"z": matmul(hidden, Num(inputs["down"]))}


@reference
def matmul_softmax(inputs, sizes, params):
    score = matmul(Num(inputs["x"]), Num(inputs["w"]))
    e = exp(score - score.max(-1, keep=True))
    return {"p": e / e.sum(-1, keep=True)}


@reference
def linear_norm(inputs, sizes, params):
    v = matmul(Num(inputs["x"]), Num(inputs["w"].T)) + inputs["residual"]
    return {"y": v * rsqrt((v * v).mean(-1, keep=True) + params["eps"]) * inputs["gamma"]}


@reference
def nearest_distance(inputs, sizes, params):
    difference = Num(inputs["x"][:, None, :]) - inputs["centre"]
    return {"distance": 0 - (0 - (difference * difference).sum(-1)).max(-1)}


@reference
def linear(inputs, sizes, params):
    return {"z": matmul(Num(inputs["x"]), Num(inputs["w"].T)) + inputs["bias"]}


@reference
def linear_int8(inputs, sizes, params):
    weights = (inputs["w"].astype(np.float64) - inputs["zero"][:, None]) * inputs["scale"].astype(np.float64)[:, None]
    return {"z": matmul(Num(inputs["x"]), Num(weights.T))}


@reference
def lora(inputs, sizes, params):
    x = Num(inputs["x"])
    low = matmul(x, Num(inputs["down"].T))
    return {"z": matmul(x, Num(inputs["w"].T)) + matmul(low, Num(inputs["up"].T)) * inputs["alpha"]}


@reference
def matmul_tn(inputs, sizes, params):
    return {"z": matmul(Num(inputs["x"].T), Num(inputs["y"]))}


@reference
def matmul_tt(inputs, sizes, params):
    return {"z": matmul(Num(inputs["x"].T), Num(inputs["y"].T))}


@reference
def matmul_triangular(inputs, sizes, params):
    return {"z": matmul(Num(np.tril(inputs["x"])), Num(inputs["y"]))}


@reference
def matmul_chain(inputs, sizes, params):
    return {"z": matmul(matmul(Num(inputs["x"]), Num(inputs["y"])), Num(inputs["w"]))}


@reference
def gram(inputs, sizes, params):
    return {"z": matmul(Num(inputs["x"]), Num(inputs["x"].T))}


@reference
def bilinear(inputs, sizes, params):
    pairs = inputs["x"].astype(np.float64)[:, :, None] * inputs["y"].astype(np.float64)[:, None, :]  # exact
    depth = sizes["K"] * sizes["L"]
    forms = inputs["w"].reshape(sizes["N"], depth)
    return {"z": matmul(Num(pairs.reshape(sizes["M"], depth)), Num(forms.T))}


# Normalisation.


@reference
def softmax(inputs, sizes, params):
    x = Num(inputs["x"])
    e = exp(x - x.max(-1, keep=True))
    return {"y": e / e.sum(-1, keep=True)}


def seen_keys(inputs, sizes):
    key, query = np.arange(sizes["K"]), np.arange(sizes["Q"])
    return (key <= query[:, None]) & (key < inputs["length"][:, None, None, None])


@reference
def softmax_masked(inputs, sizes, params):
    seen = seen_keys(inputs, sizes)
    x = Num(np.where(seen, inputs["x"], -np.inf))
    e = exp(x - x.max(-1, keep=True))
    return {"y": where(seen, e / e.sum(-1, keep=True), 0)}


@reference
def softmax_channels(inputs, sizes, params):
    x = Num(inputs["x"])
    e = exp(x - x.max(1, keep=True))
    return {"y": e / e.sum(1, keep=True)}


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
    y, d_y = Num(inputs["y"]), Num(inputs["d_y"])
    return {"d_x": y * (d_y - (d_y * y).sum(-1, keep=True))}


@reference
def rms_norm_backward(inputs, sizes, params):
    x, d_y = Num(inputs["x"]), Num(inputs["d_y"])
    scale = rsqrt((x * x).mean(-1, keep=True) + params["eps"])
    normal, g = x * scale, d_y * inputs["gamma"]
    d_x = scale * (g - normal * (g * normal).mean(-1, keep=True))
    return {"d_x": d_x, "d_gamma": (d_y * normal).sum(0)}


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
    total = p.sum(-1, keep=True)
    o = matmul(p, v) / total
    # p is rounded like v, at a scale that depends on how the keys are blocked: at most one unit a term.
    slack = 2 * half_unit * (p.v @ np.abs(v.v)) / p.v.sum(-1, keepdims=True)
    return {"o": Result(o, slack=slack), "lse": (top + log(total))[..., 0]}


HALF_UNIT = {"bf16": 2.0**-8, "f16": 2.0**-11}


@reference
def attention_training_forward(inputs, sizes, params):
    return attend(inputs, False, HALF_UNIT.get(params["T"], 0.0))


@reference
def attention(inputs, sizes, params):
    return {"o": attention_training_forward(inputs, sizes, params)["o"]}


@reference
def attention_training(inputs, sizes, params):
    return attention(inputs, sizes, params)


@reference
def attention_causal(inputs, sizes, params):
    result = attend(inputs, True, HALF_UNIT.get(params["T"], 0.0))["o"]
    if sizes["R"] == 0:  # no key to see: the spec says 0
        return {"o": np.zeros(result.value.v.shape)}
    return {"o": result}


@reference
def attention_online(inputs, sizes, params):
    return attention_causal(inputs, sizes, params)
