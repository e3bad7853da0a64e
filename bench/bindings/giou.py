"""Forward and backward of a GIoU loss through autograd, over padded and over packed boxes: giou.py KGEN BATCH

Sides: our operator, torch eager, torch.compile, and JAX under jit. "full": each picture has PREDICTIONS boxes. "ragged":
floor(|N(0, 3)|) of them; there our operator and the others' formulas take packed boxes, without any padding.
"""
import os
import pathlib
import sys

import turns

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["KGEN_EXECUTABLE"] = str(pathlib.Path(sys.argv[1]).resolve())
sys.path.insert(0, str(ROOT / "bindings"))

import jax  # noqa: E402
import kgen  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

PREDICTIONS, EPS = 16, 1e-5


def giou(p, t, low, high):
    (left_p, top_p, right_p, bottom_p), (left_t, top_t, right_t, bottom_t) = p, t
    positive = lambda x: high(x, x * 0)
    overlap = positive(low(right_p, right_t) - high(left_p, left_t)) * positive(low(bottom_p, bottom_t) - high(top_p, top_t))
    hull = positive(high(right_p, right_t) - low(left_p, left_t)) * positive(high(bottom_p, bottom_t) - low(top_p, top_t))
    joined = (right_p - left_p) * (bottom_p - top_p) + (right_t - left_t) * (bottom_t - top_t) - overlap
    return overlap / (joined + EPS) - (hull - joined) / (hull + EPS)


def in_torch(p, t):
    return (1 - giou(p.unbind(-1), t.unbind(-1), torch.minimum, torch.maximum)).sum() / max(p.numel() // 4, 1)


def in_jax(p, t):
    each = giou([p[..., i] for i in range(4)], [t[..., i] for i in range(4)], jax.numpy.minimum, jax.numpy.maximum)
    return (1 - each).sum() / max(p.size // 4, 1)


def step(loss, p, *others):
    def run():
        p.grad = None
        loss(p, *others).backward()
    return run


def boxes(shape, dice):
    corner = dice.random((*shape, 2), "f4")
    return np.concatenate([corner, corner + 0.1 + dice.random((*shape, 2), "f4")], -1)


def sides(predicted, target, ours):
    p, t = torch.tensor(predicted, requires_grad=True), torch.tensor(target)
    gradient, *arrays = jax.jit(jax.value_and_grad(in_jax)), jax.numpy.asarray(predicted), jax.numpy.asarray(target)
    return {"ours": step(ours, p, t), "torch eager": step(in_torch, p, t),
            "torch.compile": step(torch.compile(in_torch, fullgraph=True), p, t),
            "jax": lambda: jax.block_until_ready(gradient(*arrays))}


def main():
    batch, dice = int(sys.argv[2]), np.random.default_rng(1)
    padded, ragged = kgen.load(ROOT / "specs/giou/loss_padded.toml"), kgen.load(ROOT / "specs/giou/loss_ragged.toml")
    counts = np.minimum(np.floor(np.abs(dice.normal(0, 3, batch))), PREDICTIONS).astype("i8")
    start = torch.tensor(np.concatenate([[0], counts.cumsum()]))
    cases = {"full": ((batch, PREDICTIONS), lambda p, t: padded(p, t)[2]),
             "ragged": ((int(counts.sum()),), lambda p, t: ragged(start, p, t)[2])}
    figures = {}
    for name, (shape, ours) in cases.items():
        own = sides(boxes(shape, dice), boxes(shape, dice), ours)
        times = turns.measure(own, rounds=int(os.environ.get("ROUNDS", 60)), calls=1)
        figures |= {f"{name}, {side}": value for side, value in turns.best(times).items()}
    turns.tell(figures)


main()
