"""The numbers of corners.py are those of torch autograd: at corners, ties and zeros, of empty axes and of ragged rows.

torch_corners.py
"""
import sys

import numpy as np
import torch
from corners import CASES
from torch.nn import functional


def rows(x, start):
    return torch.tensor_split(x, torch.from_numpy(start)[1:-1])


FORWARD = {
    "two equal arguments get half each": lambda a, b: torch.maximum(a, b),
    "all that are equal share evenly": lambda x: x.amax(),
    "the least of equals": lambda x: x.amin(1),
    "clamp has slope 1 at its bounds": lambda x: x.clamp(0, 1),
    "abs has slope 0 at 0": lambda x: x.abs(),
    "relu has slope 0 at 0": functional.relu,
    "relu6, hardtanh and hardsigmoid have slope 0 at their bounds":
        lambda x: functional.relu6(x) + 10 * functional.hardtanh(x) + 60 * functional.hardsigmoid(x),
    "hardswish has slope 0 and 1 at its bounds": functional.hardswish,
    "the length of nothing has gradient 0": lambda x: x.norm(dim=1),
    "a length that is nothing in one of three": lambda x: x.norm(dim=1).sum(),
    "a power of 0": lambda x, p: x ** p,
    "products with one zero and with two": lambda x: x.prod(1),
    "running products with zeros": lambda x: x.cumprod(0),
    "an element that leads gets all up to the next": lambda x: x.cummax(0).values,
    "a mean of nothing has no gradient": lambda x: x.mean(1),
    "a sum of no rows": lambda x: (x * x).sum(0),
    **{f"{what} of nothing, of rows that have a factor or a summand": forward for what, forward in (
        ("a mean", lambda x, b: (x + b[:, None]).mean(1)), ("a mean of products", lambda x, b: (x * b[:, None]).mean(1)),
        ("a logsumexp", lambda x, b: (x * b[:, None]).logsumexp(1)), ("a length", lambda x, b: (x * b[:, None]).norm(dim=1)),
        ("the root of a sum", lambda x, b: (x * x + b[:, None]).sum(1).sqrt()),
        ("the logarithm of a sum", lambda x, b: (x * b[:, None]).exp().sum(1).log()),
        ("a root mean square", lambda x, b: (x * b[:, None]).pow(2).mean(1).sqrt()),
        ("a variance", lambda x, b: (x * b[:, None] - (x * b[:, None]).mean(1, keepdim=True)).pow(2).mean(1)),
        ("a softmax", lambda x, b: ((x * b[:, None]).softmax(1) * x).sum(1)), ("a product", lambda x, b: (x * b[:, None]).prod(1)))},
    "a mean over no rows of a loss": lambda x, w: (x * w).pow(2).mean(),
    "rounding has slope 0": lambda x: x * x.floor(),
    "elu and softplus at 0": lambda x: functional.elu(x) + 10 * functional.softplus(x),
    "ragged rows, one of them empty": lambda x, start: torch.stack(
        [(row * row).sum() / max(len(row), 1) for row in rows(x, start)]),
    "changed in place in some elements, the others stay":
        lambda c, x: torch.where(torch.from_numpy(c) > 0, 3 * x, x),
    "changed in place, by what is left there": torch.exp,
    "added to in place": lambda token, v, t: t.index_add(0, torch.from_numpy(token), v * v),
    "ragged rows, times the element one place on": lambda x, start: torch.cat(
        [row * torch.cat([row[1:], row.new_zeros(min(len(row), 1))]) for row in rows(x, start)]),
    "ragged rows, read from the end": lambda x, start: torch.cat([row + row.flip(0) for row in rows(x, start)]),
    "entries of a sorted table that repeat add up: a sum over each segment":
        lambda seg, t: functional.embedding(torch.from_numpy(seg), t),
    "lanes alike": lambda x, w: (x[:, None] + w).sum(),
    "tokens that repeat add up": lambda token, t: functional.embedding(torch.from_numpy(token).clip(0, 2), t)
        * torch.from_numpy(token < 3)[:, None],
}


def gradients(forward, given):
    arrays = {name: value if isinstance(value, np.ndarray) and value.dtype.kind == "i" else torch.tensor(
        np.asarray(value, float), requires_grad=True) for name, value in given.items() if name != "d_y"}
    forward(*arrays.values()).backward(torch.tensor(np.asarray(given["d_y"], float)))
    return {f"d_{name}": array.grad for name, array in arrays.items() if torch.is_tensor(array)}


wrong = 0
for name, _, given, expected in CASES:
    if name not in FORWARD:
        continue  # where torch's is NaN, since it multiplies what was not taken by 0
    for array, value in gradients(FORWARD[name], given).items():
        if not np.allclose(value, np.asarray(expected[array], float), rtol=1e-7, atol=1e-12):
            wrong += 1
            print(f"{name}: {array} of torch is {value.tolist()}, not {np.asarray(expected[array]).tolist()}")
missing = set(FORWARD) - {case[0] for case in CASES}
print(f"{len(FORWARD) - wrong} of {len(FORWARD)} are as torch has them", *missing)
sys.exit(1 if wrong or missing else 0)
