"""When an output agrees with its reference: the formula of the design, in one place."""

import numpy as np

from inputs import FLOATS, seen
from magnitude import Num
from registry import Result

UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
SMALLEST = {"f64": 2.0**-1022, "f32": 2.0**-126, "f16": 2.0**-24, "bf16": 2.0**-126}
LARGEST = {
    "f64": np.finfo(np.float64).max,
    "f32": np.finfo(np.float32).max,
    "f16": 65504.0,
    "bf16": 3.3895313892515355e38,
}
MAX_UNDECIDED = 0.08


def tolerance(expected, element, accumulator):
    """|out - ref| <= 4 u_out |ref| + 8 u_acc (1 + log2 n) S, and no less than the smallest normal number."""
    grown = 8 * UNIT[accumulator] * (1 + np.log2(max(expected.n, 1)))
    return 4 * UNIT[element] * np.abs(expected.v) + grown * expected.s + SMALLEST[element]


def disagreement(got, expected, element, before=None):
    """None, or a sentence on the first element that disagrees. `got` is in storage form, as is `before`: what the
    output held when the kernel was called."""
    result = expected if isinstance(expected, Result) else Result(expected)
    value = result.value
    shape = value.v.shape if isinstance(value, Num) else np.shape(value)
    if got.shape != shape:
        return f"shape {got.shape}, expected {shape}"
    with np.errstate(all="ignore"):
        bad = _different(got, result, element)
    if result.undecided is not None and np.size(result.undecided):
        if np.mean(result.undecided) > MAX_UNDECIDED:
            return f"{100 * np.mean(result.undecided):.1f} % of the elements are too close to call"
        bad &= ~result.undecided
    if result.untouched is not None:
        changed = np.zeros(shape, bool) if before is None else got != before
        bad = np.where(result.untouched, changed, bad)
    if not bad.any():
        return None
    where = np.unravel_index(np.argmax(bad), bad.shape) if bad.shape else ()
    reference = (value.v if isinstance(value, Num) else np.asarray(value))[where]
    return f"{int(bad.sum())} of {bad.size} differ, first at {[int(i) for i in where]}: {seen(got, element)[where]!r}, expected {reference!r}"


def _different(got, result, element):
    value = result.value
    out = seen(got, element)
    if element not in FLOATS and element != "bf16":
        return out != np.asarray(value)
    if not isinstance(value, Num):  # copied or chosen, never computed: the stored value itself
        exact = np.asarray(value, np.float64)
        return ~((out == exact) | (np.isnan(out) & np.isnan(exact)))
    accumulator = "f64" if element == "f64" else "f32"
    bound = tolerance(value, element, accumulator) + result.slack
    close = np.abs(out - value.v) <= bound
    same = (out == value.v) | (np.isnan(out) & np.isnan(value.v))
    overflow = (np.abs(value.v) + bound > LARGEST[element]) & np.isinf(out) & (np.sign(out) == np.sign(value.v))
    return ~(close | same | overflow)
