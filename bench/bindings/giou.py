"""Forward and backward of a GIoU loss through autograd: giou.py KGEN BATCH

Sides: our operator, torch eager, torch.compile, and JAX under jit. "full": each picture has PREDICTIONS boxes. "ragged":
floor(|N(0, 3)|) of them, which our operator takes packed; eager torch picks the predictions that have a box, and what is
compiled for fixed shapes takes padded boxes with a mask. The fastest of the others is what counts.
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

PREDICTIONS, EPS, ROUNDS = 16, 1e-5, 60


def giou(p, t, low, high):
    (left_p, top_p, right_p, bottom_p), (left_t, top_t, right_t, bottom_t) = p, t
    positive = lambda x: high(x, x * 0)
    overlap = positive(low(right_p, right_t) - high(left_p, left_t)) * positive(low(bottom_p, bottom_t) - high(top_p, top_t))
    hull = positive(high(right_p, right_t) - low(left_p, left_t)) * positive(high(bottom_p, bottom_t) - low(top_p, top_t))
    joined = (right_p - left_p) * (bottom_p - top_p) + (right_t - left_t) * (bottom_t - top_t) - overlap
    return overlap / (joined + EPS) - (hull - joined) / (hull + EPS)


def in_torch(p, t, valid, boxes):
    each = torch.where(valid, 1 - giou(p.unbind(-1), t.unbind(-1), torch.minimum, torch.maximum), 0)
    return each.sum() / boxes


def picked_in_torch(p, t, valid, boxes):
    p, t = (p, t) if valid.all() else (p[valid], t[valid])
    return (1 - giou(p.unbind(-1), t.unbind(-1), torch.minimum, torch.maximum)).sum() / boxes


def in_jax(p, t, valid, boxes):
    each = giou([p[..., i] for i in range(4)], [t[..., i] for i in range(4)], jax.numpy.minimum, jax.numpy.maximum)
    return jax.numpy.where(valid, 1 - each, 0).sum() / boxes


def step(loss, p, *others):
    def run():
        p.grad = None
        loss(p, *others).backward()
    return run


def boxes(shape, dice):
    corner = dice.random((*shape, 2), "f4")
    return np.concatenate([corner, corner + 0.1 + dice.random((*shape, 2), "f4")], -1)


def sides(predicted, target, valid, ours):
    boxes = int(valid.sum())
    p, t, v = torch.tensor(predicted, requires_grad=True), torch.tensor(target), torch.tensor(valid)
    gradient = jax.jit(jax.value_and_grad(in_jax), static_argnums=3)
    arrays = [jax.numpy.asarray(a) for a in (predicted, target, valid)]
    return {"ours": step(ours, p), "torch eager": step(picked_in_torch, p, t, v, boxes),
            "torch.compile": step(torch.compile(in_torch, fullgraph=True), p, t, v, boxes),
            "jax": lambda: jax.block_until_ready(gradient(*arrays, boxes))}


def main():
    batch, dice = int(sys.argv[2]), np.random.default_rng(1)
    padded, packed = (kgen.load(ROOT / f"specs/giou/loss_{name}.toml", T="f32") for name in ("padded", "packed"))
    shape, figures = (batch, PREDICTIONS), {}
    drawn = np.minimum(np.floor(np.abs(dice.normal(0, 3, batch))), PREDICTIONS).astype("i8")
    for name, counts in (("full", np.full(batch, PREDICTIONS, "i8")), ("ragged", drawn)):
        valid = np.arange(PREDICTIONS) < counts[:, None]
        predicted, target = boxes(shape, dice), boxes(shape, dice)
        t, together = torch.tensor(target), torch.tensor(target[valid])
        start = torch.tensor(np.concatenate([[0], counts.cumsum()]))
        ours = {"full": lambda p: padded(p, t)[2], "ragged": lambda p: packed(start, p, together)[1]}[name]
        times = turns.measure(sides(predicted, target, valid, ours), rounds=ROUNDS, calls=1)
        figures |= {f"{name}, {side}": value for side, value in turns.best(times).items()}
    turns.tell(figures)


main()
