"""Forward and backward of a GIoU loss through autograd: giou.py KGEN BATCH

A picture has room for BOXES boxes, of which floor(|N(0, 3)|) are there. "padded": all arrays have that room, and a target
whose bottom is 0 is padding, which each side finds out by itself. "ragged": the boxes that are there, packed; our operator
also gives the loss of each picture. Sides: our operator in torch and in JAX, torch eager, with all boxes or those it picks,
torch.compile, and JAX under jit. The fastest of the others is what counts.
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

BOXES, EPS, ROUNDS, CALLS = 256, 1e-5, 8, 5


def giou(p, t, low, high):
    (left_p, top_p, right_p, bottom_p), (left_t, top_t, right_t, bottom_t) = p, t
    positive = lambda x: high(x, x * 0)
    overlap = positive(low(right_p, right_t) - high(left_p, left_t)) * positive(low(bottom_p, bottom_t) - high(top_p, top_t))
    hull = positive(high(right_p, right_t) - low(left_p, left_t)) * positive(high(bottom_p, bottom_t) - low(top_p, top_t))
    joined = (right_p - left_p) * (bottom_p - top_p) + (right_t - left_t) * (bottom_t - top_t) - overlap
    return overlap / joined.clip(EPS) - (hull - joined) / hull.clip(EPS)


def packed_in_torch(p, t):
    return (1 - giou(p.unbind(-1), t.unbind(-1), torch.minimum, torch.maximum)).mean()


def padded_in_torch(p, t):
    valid = t[..., 3] != 0
    each = torch.where(valid, 1 - giou(p.unbind(-1), t.unbind(-1), torch.minimum, torch.maximum), 0)
    return each.sum() / valid.sum().clip(1)


def picked_in_torch(p, t):
    valid = t[..., 3] != 0
    return packed_in_torch(p[valid], t[valid])


def in_jax(p, t):
    valid = t[..., 3] != 0
    each = giou([p[..., i] for i in range(4)], [t[..., i] for i in range(4)], jax.numpy.minimum, jax.numpy.maximum)
    return jax.numpy.where(valid, 1 - each, 0).sum() / valid.sum().clip(1)


def step(loss, predicted, target):
    p, t = torch.tensor(predicted, requires_grad=True), torch.tensor(target)  # each side lets go of its own gradient

    def run():
        p.grad = None
        loss(p, t).backward()
    return run


def boxes(shape, dice):
    corner = dice.random((*shape, 2), "f4")
    return np.concatenate([corner, corner + 0.1 + dice.random((*shape, 2), "f4")], -1)


def gradient(loss, *arrays):
    compiled = jax.jit(jax.value_and_grad(loss))
    return lambda: jax.block_until_ready(compiled(*arrays))


def sides(predicted, target, ours, in_torch):
    """`ours`: the loss of predictions and targets, of torch or JAX."""
    arrays = [jax.numpy.asarray(a) for a in (predicted, target)]
    others = {f"torch eager, {function.__name__.split('_')[0]}": function for function in in_torch}
    others["torch.compile"] = torch.compile(in_torch[0], fullgraph=True)
    steps = {side: step(loss, predicted, target) for side, loss in {"ours": ours, **others}.items()}
    return steps | {"ours in jax": gradient(ours, *arrays), "jax": gradient(in_jax, *arrays)}


def main():
    batch, dice = int(sys.argv[2]), np.random.default_rng(1)
    padded, packed = (kgen.load(ROOT / f"specs/giou/loss_{name}.toml", T="f32") for name in ("conditional", "ragged"))
    counts = np.minimum(np.floor(np.abs(dice.normal(0, 3, batch))), BOXES).astype("i8")
    valid = np.arange(BOXES) < counts[:, None]
    predicted, target = boxes((batch, BOXES), dice), boxes((batch, BOXES), dice)
    target[~valid] = 0
    start = np.concatenate([[0], counts.cumsum()])
    starts = {torch.Tensor: torch.tensor(start)}
    in_jax_too = jax.numpy.asarray(start.astype("i4"))
    of_picture = lambda p: starts.get(type(p), in_jax_too)
    cases = {"padded": sides(predicted, target, lambda p, t: padded(p, t)[2], (padded_in_torch, picked_in_torch)),
             "ragged": sides(predicted[valid], target[valid], lambda p, t: packed(of_picture(p), p, t)[2],
                             (packed_in_torch,))}
    figures = {}
    for name, case in cases.items():
        times = turns.measure(case, rounds=ROUNDS, calls=CALLS)  # as steps of a training follow each other
        figures |= {f"{name}, {side}": value for side, value in turns.best(times).items()}
    turns.tell(figures)


main()
