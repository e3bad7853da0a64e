"""Training steps, forward and backward: their answers in double, and how torch and JAX take gradients.

A step is measured as the call of the forward function and that of the backward one. Its arrays are the inputs, the
outputs, `d_z` of the outputs that are given a gradient, and the gradients `d_x` of inputs.
"""

from math import erf

import numpy as np


def of_gelu(v):
    """gelu and its derivative."""
    below = 0.5 * (1 + np.vectorize(lambda x: erf(x * 0.5**0.5), otypes=[np.float64])(v))
    return v * below, below + v * np.exp(-0.5 * v * v) / (2 * np.pi) ** 0.5


def softmax(a):
    e = np.exp(a["x"] - a["x"].max(-1, keepdims=True))
    y = e / e.sum(-1, keepdims=True)
    return {"y": y, "d_x": (a["d_y"] - (a["d_y"] * y).sum(-1, keepdims=True)) * y}


def layer_norm(a):
    d = a["x"] - a["x"].mean(1, keepdims=True)
    scale = 1 / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
    normal, given = d * scale, a["d_y"] * a["gamma"]
    d_x = scale * (given - given.mean(1, keepdims=True) - normal * (given * normal).mean(1, keepdims=True))
    gradients = {"d_x": d_x, "d_gamma": (a["d_y"] * normal).sum(0), "d_beta": a["d_y"].sum(0)}
    return {"y": normal * a["gamma"] + a["beta"], **gradients}


def rms_norm(a):
    scale = 1 / np.sqrt((a["x"] ** 2).mean(1, keepdims=True) + 1e-6)
    normal, given = a["x"] * scale, a["d_y"] * a["gamma"]
    d_x = scale * (given - normal * (given * normal).mean(1, keepdims=True))
    return {"y": normal * a["gamma"], "d_x": d_x, "d_gamma": (a["d_y"] * normal).sum(0)}


def cross_entropy(a):
    rows, target = np.arange(len(a["score"])), a["target"].astype(np.int64)
    shifted = a["score"] - a["score"].max(1, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(1, keepdims=True)
    d_score = e / total
    d_score[rows, target] -= 1
    return {"loss": np.log(total[:, 0]) - shifted[rows, target], "d_score": d_score * a["d_loss"][:, None]}


def activation(name):
    def truth(a):
        if name == "relu":
            return {"y": np.maximum(a["x"], 0), "d_x": a["d_y"] * (a["x"] > 0)}
        if name == "gelu":
            y, slope = of_gelu(a["x"])
            return {"y": y, "d_x": a["d_y"] * slope}
        part = 1 / (1 + np.exp(-a["x"]))
        return {"y": a["x"] * part, "d_x": a["d_y"] * part * (1 + a["x"] * (1 - part))}

    return truth


def matmul_gelu(a):
    z, slope = of_gelu(a["x"] @ a["y"] + a["bias"])
    d_v = a["d_z"] * slope
    return {"z": z, "d_x": d_v @ a["y"].T, "d_y": a["x"].T @ d_v, "d_bias": d_v.sum(0)}


def mlp(a):
    hidden, slope = of_gelu(a["x"] @ a["w1"] + a["b1"])
    d_v = a["d_z"] @ a["w2"].T * slope
    gradients = {"d_x": d_v @ a["w1"].T, "d_w1": a["x"].T @ d_v, "d_b1": d_v.sum(0)}
    return {"z": hidden @ a["w2"] + a["b2"], **gradients, "d_w2": hidden.T @ a["d_z"], "d_b2": a["d_z"].sum(0)}


def attended(a, causal):
    scores = np.einsum("bhsd,bhrd->bhsr", a["q"], a["k"], optimize=True) / 8
    if causal:
        scores = np.where(np.tri(scores.shape[-2], scores.shape[-1], dtype=bool), scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhsr,bhrd->bhsd", e / e.sum(-1, keepdims=True), a["v"], optimize=True)


def attention(a):
    over = lambda text, *arrays: np.einsum(text, *arrays, optimize=True)  # noqa: E731
    scores = over("bhsd,bhrd->bhsr", a["q"], a["k"]) / 8
    e = np.exp(scores - scores.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    d_p = over("bhsd,bhrd->bhsr", a["d_o"], a["v"])
    d_s = p * (d_p - (p * d_p).sum(-1, keepdims=True)) / 8
    gradients = {"d_q": over("bhsr,bhrd->bhsd", d_s, a["k"]), "d_k": over("bhsr,bhsd->bhrd", d_s, a["q"])}
    return {"o": over("bhsr,bhrd->bhsd", p, a["v"]), **gradients, "d_v": over("bhsr,bhsd->bhrd", p, a["d_o"])}


def given_and_wanted(work, arrays):
    """The names of the inputs, of the outputs whose gradients are given, and of the inputs whose gradients are wanted."""
    given = [name for name in work.outputs if f"d_{name}" in arrays]
    inputs = [name for name, array in arrays.items()
              if array is not None and name not in work.outputs and name not in {f"d_{z}" for z in given}]
    return inputs, given, [name for name in inputs if f"d_{name}" in work.outputs]


def parted(values, count):
    """The outputs that are given a gradient, and the others."""
    values = values if isinstance(values, tuple) else (values,)
    return values[:count], values[count:]


def torch_step(work, arrays, tensors, function):
    """`tensors`: those of the arrays, by name."""
    import torch

    inputs, given, wanted = given_and_wanted(work, arrays)
    leaves = [tensors[name].requires_grad_(name in wanted) for name in inputs]
    d = [tensors[f"d_{name}"] for name in given]

    def call():
        values, others = parted(function(*leaves), len(given))
        gradients = torch.autograd.grad(values, [tensors[name] for name in wanted], d)
        return (*(value.detach() for value in values), *gradients, *(value.detach() for value in others))

    return call


def jax_step(work, arrays, function):
    import jax
    import jax.numpy as jnp

    inputs, given, wanted = given_and_wanted(work, arrays)
    held = {name: jnp.asarray(arrays[name]) for name in inputs}
    d = tuple(jnp.asarray(arrays[f"d_{name}"]) for name in given)

    def of_leaves(held, leaves):
        return parted(function(*({**held, **leaves}[name] for name in inputs)), len(given))

    @jax.jit
    def step(held, d):
        values, back, others = jax.vjp(lambda leaves: of_leaves(held, leaves), {name: held[name] for name in wanted}, has_aux=True)
        gradients, = back(d)
        return (*values, *(gradients[name] for name in wanted), *others)

    return lambda: jax.block_until_ready(step(held, d))
