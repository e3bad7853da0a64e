"""Second opinions by torch in double, where it is installed; their arguments are those of opinions_loops.py."""

import numpy as np

try:
    import torch
    from torch.nn import functional
except ImportError:
    torch = None

TORCH = {}


def by_torch(function):
    TORCH[function.__name__] = function
    return function


def t(array):
    return array if torch.is_tensor(array) else torch.from_numpy(np.array(array))


def product(x):
    return t(x["x"]).double() @ t(x["y"]).double()


def by_autograd(forward, of, **outputs):
    """The gradients of inputs, given those of the outputs."""

    def backward(x, s, p):
        leaves = {name: None if x[name] is None else t(x[name]).double().clone().requires_grad_() for name in of}
        results = forward({**x, **leaves}, s, p)
        given = [(results[name], x[f"d_{name}"]) for name in results if x.get(f"d_{name}") is not None]
        sum((result * t(d)).sum() for result, d in given).backward() if given else None
        shape = lambda name: leaves[name].shape if leaves[name] is not None else tuple(s[a] for a in outputs[name])  # noqa: E731
        return {
            f"d_{name}": torch.zeros(shape(name)) if leaf is None or leaf.grad is None else leaf.grad
            for name, leaf in leaves.items()
        }

    return backward


@by_torch
def matmul(x, s, p):
    return {"z": product(x)}


TORCH.update(dict.fromkeys(("matmul_halves", "matmul_blocked", "matmul_batched", "matmul_int8"), matmul))
ACTIVATIONS = {
    "identity": lambda v: v,
    "relu": lambda v: functional.relu(v),
    "gelu": lambda v: functional.gelu(v),
    "silu": lambda v: functional.silu(v),
    "squared_relu": lambda v: functional.relu(v) ** 2,
}


@by_torch
def matmul_activation(x, s, p):
    return {"z": ACTIVATIONS[p["activation"]](product(x) + t(x["bias"]))}


@by_torch
def matmul_bf16(x, s, p):
    return {"z": ACTIVATIONS[p["activation"]](product(x))}


@by_torch
def activation(x, s, p):
    return {"y": ACTIVATIONS[p["act"]](t(x["x"]) + (0 if x["bias"] is None else t(x["bias"])))}


@by_torch
def softmax(x, s, p):
    return {"y": functional.softmax(t(x["x"]), -1)}


@by_torch
def softmax_masked(x, s, p):
    key, query = torch.arange(s["K"]), torch.arange(s["Q"])
    seen = (key <= query[:, None]) & (key < t(x["length"])[:, None, None, None])
    return {"y": functional.softmax(t(x["x"]).masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)}


@by_torch
def softmax_channels(x, s, p):
    return {"y": functional.softmax(t(x["x"]), 1)}


@by_torch
def layer_norm(x, s, p):
    return {"y": functional.layer_norm(t(x["x"]), (s["N"],), t(x["gamma"]), t(x["beta"]), p["eps"])}


@by_torch
def group_norm(x, s, p):
    # Written out, as functional.group_norm refuses groups of one value.
    v = t(x["x"]).reshape(s["B"], s["G"], -1)
    y = ((v - v.mean(-1, True)) / torch.sqrt(v.var(-1, unbiased=False, keepdim=True) + p["eps"])).reshape(x["x"].shape)
    return {"y": y * t(x["gamma"])[:, None, None] + t(x["beta"])[:, None, None]}


def attend(x, causal):
    mask = torch.ones(x["q"].shape[2], x["k"].shape[2], dtype=torch.bool)
    mask = mask.tril() if causal else mask
    return {
        "o": functional.scaled_dot_product_attention(t(x["q"]), t(x["k"]), t(x["v"]), attn_mask=mask, scale=x["scale"])
    }


@by_torch
def attention(x, s, p):
    return attend(x, False)


@by_torch
def attention_training(x, s, p):
    return attend(x, False)


@by_torch
def attention_training_forward(x, s, p):
    scores = x["scale"] * torch.einsum("bhsd,bhrd->bhsr", t(x["q"]), t(x["k"]))
    return attend(x, False) | {"lse": torch.logsumexp(scores, -1)}


@by_torch
def attention_causal(x, s, p):
    return attend(x, True)


@by_torch
def attention_online(x, s, p):
    return attend(x, True)


@by_torch
def prefix_sum(x, s, p):
    return {"y": torch.cumsum(t(x["x"]), 0)}


@by_torch
def cumsum(x, s, p):
    v = t(x["x"])
    inclusive = torch.cumsum(v, 1)
    return {"inclusive": inclusive, "exclusive": inclusive - v, "reverse": torch.cumsum(v.flip(1), 1).flip(1)}


@by_torch
def cumsum_columns(x, s, p):
    return {"y": torch.cumsum(t(x["x"]), 0)}


@by_torch
def conv2d(x, s, p):
    bias = None if x["bias"] is None else t(x["bias"])
    return {"y": functional.conv2d(t(x["x"]), t(x["w"]), bias, stride=2, padding=1)}


@by_torch
def max_pool(x, s, p):
    return {"y": functional.max_pool2d(t(x["x"]), 3, stride=2, padding=1)}


@by_torch
def argmax(x, s, p):
    return {"position": torch.argmax(t(x["x"]), 1), "value": torch.amax(t(x["x"]), 1)}


@by_torch
def cross_entropy(x, s, p):
    loss = functional.cross_entropy(t(x["score"]), t(x["target"]).long(), reduction="none")
    return {"loss": loss, "mean_loss": loss.mean()}


def attention_gradients(x, weights_of):
    q, k, v, o, d_o = (t(x[name]) for name in ("q", "k", "v", "o", "d_o"))
    weights = weights_of(x["scale"] * torch.einsum("bhsd,bhrd->bhsr", q, k))
    towards = torch.einsum("bhsd,bhrd->bhsr", d_o, v) - torch.einsum("bhsd,bhsd->bhs", d_o, o)[..., None]
    return {
        "d_q": x["scale"] * torch.einsum("bhsr,bhsr,bhrd->bhsd", weights, towards, k),
        "d_k": x["scale"] * torch.einsum("bhsr,bhsr,bhsd->bhrd", weights, towards, q),
        "d_v": torch.einsum("bhsr,bhsd->bhrd", weights, d_o),
    }


@by_torch
def attention_backward(x, s, p):
    return attention_gradients(x, lambda scores: torch.softmax(scores, -1))


@by_torch
def attention_training_backward(x, s, p):
    return attention_gradients(x, lambda scores: torch.exp(scores - t(x["lse"])[..., None]))


def at_least(v, least):
    """As max has it: half of the gradient where both are equal. clamp passes it on."""
    return torch.maximum(v, torch.full_like(v, least))


def instance_norm(x, s, p):
    gamma, beta = (None if x[name] is None else t(x[name]) for name in ("gamma", "beta"))
    v = t(x["x"])
    normal = (v - v.mean((2, 3), True)) / torch.sqrt(v.var((2, 3), unbiased=False, keepdim=True) + p["eps"])
    normal = normal if gamma is None else normal * gamma[:, None, None]
    return {"y": normal if beta is None else normal + beta[:, None, None]}


def with_mean(loss):
    return {"loss": loss, "mean_loss": loss.mean()}


def mse_loss(x, s, p):
    return {"loss": functional.mse_loss(t(x["prediction"]), t(x["target"]))}


def huber_loss(x, s, p):
    loss = functional.huber_loss(t(x["prediction"]), t(x["target"]), reduction="none", delta=float(x["delta"]))
    return with_mean(loss)


def kl_divergence(x, s, p):
    prediction, target = t(x["prediction"]), t(x["target"])
    possible = target > 0
    each = torch.where(possible, target, 1) * (torch.where(possible, target, 1).log() - prediction.masked_fill(~possible, 0))
    return with_mean(each.masked_fill(~possible, 0).sum(1))


def hinge_loss(x, s, p):
    score, target = t(x["score"]), t(x["target"]).long()
    apart = at_least(p["margin"] + score - score.gather(1, target[:, None]), 0.0)
    return with_mean(apart.scatter(1, target[:, None], 0.0).sum(1))


def triplet_loss(x, s, p):
    apart = [torch.linalg.vector_norm(t(x["anchor"]) - t(x[name]), dim=1) for name in ("positive", "negative")]
    return with_mean(at_least(apart[0] - apart[1] + p["margin"], 0.0))


def cosine_similarity_backward(x, s, p):
    """With the similarity as it is given, not as it follows from x and y."""
    x = {name: t(value).double() for name, value in x.items()}
    a, b = (x[name].clone().requires_grad_() for name in "xy")
    lengths = [torch.linalg.vector_norm(v, dim=1) for v in (a, b)]
    by = (lengths[0] * lengths[1]).clamp(min=p["eps"])
    towards = (a * b).sum(1) / by.detach() - x["similarity"] * by / by.detach()
    (towards * x["d_similarity"]).sum().backward()
    return {"d_x": a.grad, "d_y": b.grad}


def mlp(x, s, p):
    hidden = functional.gelu(t(x["x"]).double() @ t(x["w1"]).double() + t(x["b1"]))
    return {"z": hidden @ t(x["w2"]).double() + t(x["b2"])}


# What is added last has no part in the gradients of others, so the backward kernels do not read it.


def group_norm_backward(x, s, p):
    return by_autograd(group_norm, ("x", "gamma", "beta"))({**x, "beta": np.zeros(x["gamma"].shape)}, s, p)


def mlp_backward(x, s, p):
    return by_autograd(mlp, ("x", "w1", "b1", "w2", "b2"))({**x, "b2": np.zeros(s["N"])}, s, p)


def gated_mlp(x, s, p):
    v = t(x["x"]).double()
    return {"z": (functional.silu(v @ t(x["gate"])) * (v @ t(x["up"]))) @ t(x["down"])}


def box_giou(pred, target):
    p, b = pred.unbind(-1), target.unbind(-1)
    shared = [at_least(torch.minimum(p[i + 2], b[i + 2]) - torch.maximum(p[i], b[i]), 0.0) for i in (0, 1)]
    around = [at_least(torch.maximum(p[i + 2], b[i + 2]) - torch.minimum(p[i], b[i]), 0.0) for i in (0, 1)]
    areas = [(v[2] - v[0]) * (v[3] - v[1]) for v in (p, b)]
    overlap, hull = shared[0] * shared[1], around[0] * around[1]
    joined = areas[0] + areas[1] - overlap
    return overlap / at_least(joined, 1e-5) - (hull - joined) / at_least(hull, 1e-5)


def giou_loss_padded(x, s, p):
    mask = t(x["mask"]).double()
    giou = box_giou(t(x["pred"]), t(x["target"])) * mask
    return {"giou": giou, "loss": ((1 - giou) * mask).sum() / mask.sum().clamp(min=1)}


def giou_loss_conditional(x, s, p):
    mask = t(x["mask"])[..., None]
    boxes = {name: torch.where(mask, t(x[name]), torch.ones(4)) for name in ("pred", "target")}
    return giou_loss_padded({**x, **boxes}, s, p)


def giou_loss_packed(x, s, p):
    lengths = np.diff(x["box_start"])
    picture = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(s["N"]) - x["box_start"][:-1][picture]
    giou = box_giou(t(x["pred"])[picture, place], t(x["target"]))
    return {"giou": giou, "loss": (1 - giou).sum() / max(giou.numel(), 1)}


def giou_loss_ragged(x, s, p):
    giou = box_giou(t(x["pred"]), t(x["target"]))
    rows = (1 - giou).split(np.diff(x["box_start"]).tolist())
    picture = torch.stack([row.sum() / max(len(row), 1) for row in rows])
    return {"giou": giou, "picture_loss": picture, "loss": (1 - giou).sum() / max(giou.numel(), 1)}


def batch_norm(x, s, p):
    """With the mean and the variance as they are given, not as they follow from x."""
    v, by_channel = x["x"], (0, 2, 3)
    value = lambda own, given: own + (t(given) - own).detach()  # noqa: E731
    mean = value(v.mean(by_channel), x["batch_mean"])
    variance = value(((v - mean.detach()[:, None, None]) ** 2).mean(by_channel), x["batch_variance"])
    scale = x["gamma"] / torch.sqrt(variance + p["eps"])
    return {
        "y": (v - mean[:, None, None]) * scale[:, None, None] + x["beta"][:, None, None],
        "batch_mean": mean,
        "batch_variance": variance,
        "running_mean": torch.lerp(x["old_mean"], mean, x["momentum"]),
        "running_variance": torch.lerp(x["old_variance"], variance, x["momentum"]),
    }


def batch_norm_backward(x, s, p):
    none = np.zeros(s["C"])
    leaves = ("x", "gamma", "beta", "old_mean", "old_variance")
    return by_autograd(batch_norm, leaves)({**x, "beta": none, "old_mean": none, "old_variance": none}, s, p)


def batch_norm_inference(x, s, p):
    mean, variance, gamma, beta = (x[name][:, None, None] for name in ("running_mean", "running_variance", "gamma", "beta"))
    return {"y": (x["x"] - mean) / torch.sqrt(variance + p["eps"]) * gamma + beta}


def batch_norm_inference_backward(x, s, p):
    leaves = ("x", "running_mean", "running_variance", "gamma", "beta")
    return by_autograd(batch_norm_inference, leaves)({**x, "beta": np.zeros(s["C"])}, s, p)


def softmax_masked_backward(x, s, p):
    key, query = torch.arange(s["K"]), torch.arange(s["Q"])
    y = t(x["y"]) * ((key <= query[:, None]) & (key < t(x["length"])[:, None, None, None]))
    derivatives = torch.diag_embed(y) - torch.einsum("bhqk,bhql->bhqkl", y, y)
    return {"d_x": torch.einsum("bhqkl,bhql->bhqk", derivatives, t(x["d_y"]))}


def softmax_channels_backward(x, s, p):
    y = t(x["y"])
    derivatives = torch.diag_embed(y.transpose(1, 2)) - torch.einsum("bcn,bdn->bncd", y, y)
    return {"d_x": torch.einsum("bncd,bdn->bcn", derivatives, t(x["d_y"]))}


def rope(x, s, p):
    one, other = x["x"].reshape(s["B"], s["S"], s["H"], 2, s["R"]).unbind(3)
    cosine, sine = x["cosine"][:, None], x["sine"][:, None]
    return {"y": torch.cat([one * cosine - other * sine, other * cosine + one * sine], -1)}


def cumsum_backward(x, s, p):
    return by_autograd(cumsum, ("x",))({**x, "x": np.zeros((s["M"], s["N"]))}, s, p)


def cumsum_columns_backward(x, s, p):
    return by_autograd(cumsum_columns, ("x",))({**x, "x": np.zeros((s["M"], s["N"]))}, s, p)


def windows_of(x, size, before):
    """Those with stride 2 in each dimension after the second; beyond the border there is NaN."""
    depth = x.dim() - 2
    wide = functional.pad(x, (before, size) * depth, value=torch.nan)
    for d in range(2, x.dim()):
        count = (x.shape[d] + 2 * before - size) // 2 + 1
        wide = wide.unfold(d, size, 2).narrow(d, 0, count)
    return wide.flatten(-depth)


def max_pools(size, before):
    """Those that are the greatest of a window share its gradient: amax shares it, functional.max_pool gives it to one."""
    return lambda x, s, p: {"y": torch.nan_to_num(windows_of(x["x"], size, before), -torch.inf).amax(-1)}


def average_pools(size, before):
    return lambda x, s, p: {"y": windows_of(x["x"], size, before).nanmean(-1)}


def average_pool_3d_backward(x, s, p):
    return by_autograd(average_pools(2, 0), ("x",))({**x, "x": np.zeros([s[axis] for axis in "BCDHW"])}, s, p)


TORCH["batch_norm_backward"] = batch_norm_backward
TORCH["batch_norm_inference_backward"] = batch_norm_inference_backward
TORCH["softmax_masked_backward"] = softmax_masked_backward
TORCH["softmax_channels_backward"] = softmax_channels_backward
TORCH["rope_backward"] = by_autograd(rope, ("x", "cosine", "sine"))
TORCH["cumsum_backward"] = cumsum_backward
TORCH["cumsum_columns_backward"] = cumsum_columns_backward
TORCH["conv2d_backward"] = by_autograd(conv2d, ("x", "w", "bias"), bias="O")
TORCH["max_pool_backward"] = TORCH["max_pool_1d_backward"] = by_autograd(max_pools(3, 1), ("x",))
TORCH["max_pool_3d_backward"] = by_autograd(max_pools(2, 0), ("x",))
TORCH["average_pool_backward"] = TORCH["average_pool_1d_backward"] = by_autograd(average_pools(3, 1), ("x",))
TORCH["average_pool_3d_backward"] = average_pool_3d_backward
TORCH["instance_norm_backward"] = by_autograd(instance_norm, ("x", "gamma", "beta"), gamma="C", beta="C")
TORCH["group_norm_backward"] = group_norm_backward
TORCH["mlp_backward"] = mlp_backward
TORCH["mse_loss_backward"] = by_autograd(mse_loss, ("prediction", "target"))
TORCH["huber_loss_backward"] = by_autograd(huber_loss, ("prediction", "target"))
TORCH["kl_divergence_backward"] = by_autograd(kl_divergence, ("prediction", "target"))
TORCH["hinge_loss_backward"] = by_autograd(hinge_loss, ("score",))
TORCH["triplet_loss_backward"] = by_autograd(triplet_loss, ("anchor", "positive", "negative"))
TORCH["cosine_similarity_backward"] = cosine_similarity_backward
TORCH["gated_mlp_backward"] = by_autograd(gated_mlp, ("x", "gate", "up", "down"))
TORCH["giou_loss_padded_backward"] = by_autograd(giou_loss_padded, ("pred", "target"))
TORCH["giou_loss_conditional_backward"] = by_autograd(giou_loss_conditional, ("pred", "target"))
TORCH["giou_loss_ragged_backward"] = by_autograd(giou_loss_ragged, ("pred", "target"))
TORCH["giou_loss_packed_backward"] = by_autograd(giou_loss_packed, ("pred", "target"))
TORCH["activation_backward"] = by_autograd(activation, ("x", "bias"), bias="N")
TORCH["matmul_activation_backward"] = by_autograd(matmul_activation, ("x", "y", "bias"))
TORCH["cross_entropy_backward"] = by_autograd(cross_entropy, ("score",))
