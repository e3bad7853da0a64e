"""The loss of a detector in five forms: 1 - GIoU summed over all boxes of a batch, over their number.

Picture b has counts[b] boxes; box n of it is what prediction n should be. Three forms are PyTorch's operations, two are
kernels of specs/giou, whose backward kernels `kgen grad` derives. They give the same numbers but for rounding.
"""
import dataclasses
import pathlib

import kgen
import torch

SPECS = pathlib.Path(__file__).resolve().parents[2] / "specs/giou"
EPS = 1e-5  # as in the specs
padded_kernel = kgen.load(SPECS / "loss_padded.toml")
packed_kernel = kgen.load(SPECS / "loss_packed.toml")


@dataclasses.dataclass
class Targets:
    """The boxes of a batch (left, top, right, bottom), in the layouts that a data loader could give."""
    each: list  # a tensor [counts[b], 4] for each picture
    padded: torch.Tensor  # [B, P, 4], zeros behind the boxes
    packed: torch.Tensor  # [sum of counts, 4]
    start: torch.Tensor  # [B + 1]: where each picture's begin in `packed`
    valid: torch.Tensor  # [B, P]: which of `padded` are boxes


def targets_of(each, predictions):
    counts = torch.tensor([len(boxes) for boxes in each])
    padded = torch.zeros(len(each), predictions, 4, dtype=each[0].dtype)
    for row, boxes in zip(padded, each):
        row[:len(boxes)] = boxes
    start = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
    return Targets(each, padded, torch.cat(each), start, torch.arange(predictions) < counts[:, None])


def giou(p, t):
    left_p, top_p, right_p, bottom_p = p.unbind(-1)
    left_t, top_t, right_t, bottom_t = t.unbind(-1)
    low, high = torch.minimum, torch.maximum
    overlap = (low(right_p, right_t) - high(left_p, left_t)).clamp(min=0)
    overlap = overlap * (low(bottom_p, bottom_t) - high(top_p, top_t)).clamp(min=0)
    hull = (high(right_p, right_t) - low(left_p, left_t)).clamp(min=0)
    hull = hull * (high(bottom_p, bottom_t) - low(top_p, top_t)).clamp(min=0)
    joined = (right_p - left_p) * (bottom_p - top_p) + (right_t - left_t) * (bottom_t - top_t) - overlap
    return overlap / joined.clamp(min=EPS) - (hull - joined) / hull.clamp(min=EPS)


def loop(predicted, targets):
    total = sum((1 - giou(p[:len(t)], t)).sum() for p, t in zip(predicted, targets.each))
    return total / max(len(targets.packed), 1)


def concatenation(predicted, targets):
    return (1 - giou(predicted[targets.valid], targets.packed)).sum() / max(len(targets.packed), 1)


def padding(predicted, targets):
    each = torch.where(targets.valid, 1 - giou(predicted, targets.padded), 0)
    return each.sum() / targets.valid.sum().clamp(min=1)


def padded_operator(predicted, targets):
    _, _, loss = padded_kernel(predicted, targets.padded)
    return loss


def ragged_operator(predicted, targets):
    _, loss = packed_kernel(targets.start, predicted, targets.packed)
    return loss


FORMS = {"per-sample loop": loop, "concatenation": concatenation, "padding": padding, "padded operator": padded_operator,
         "ragged operator": ragged_operator}
OURS = ("padded operator", "ragged operator")
