"""Sizes to run a function at, and random data for its arguments. cases.json refines both per kernel."""

import fnmatch
import itertools
import json
import math
from pathlib import Path

import numpy as np

from interface import ARRAYS, evaluate

EDGES = (0, 1, 2, 3, 5, 7, 17, 31, 32, 33, 61, 64, 65, 127, 128, 129, 255, 257, 1023, 1025, 4092)
USUAL = 37
PERIOD = 4194301
NUMPY = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "u64": np.uint64,
    "u32": np.uint32,
    "u16": np.uint16,
    "u8": np.uint8,
    "bool": np.bool_,
}
FLOATS = ("f64", "f32", "f16", "bf16")
BYTES = {name: np.dtype(kind).itemsize for name, kind in NUMPY.items()}


class Cases:
    """The table: what `kernels` says of a kernel, over what `defaults` says of all."""

    def __init__(self, path):
        table = json.loads(Path(path).read_text())
        self.defaults, self.kernels = table["defaults"], table["kernels"]

    def of(self, function, key):
        kernel = self.kernels.get(function.kernel, {})
        return kernel.get(key, self.defaults.get(key))

    def for_argument(self, function, key, argument):
        """The entry of the first pattern in `key` that matches the argument's name."""
        for table in (self.kernels.get(function.kernel, {}), self.defaults):
            for pattern, entry in table.get(key, {}).items():
                if fnmatch.fnmatch(argument.name, pattern):
                    return entry
        return None


def narrow(values, kind):
    """Values in the numpy form of an element type; bf16 by hand, to nearest even."""
    if kind != "bf16":
        return values.astype(NUMPY[kind])
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widen(array, kind):
    """As float64, to be compared."""
    if kind == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def legal(function, cases, sizes, turn):
    """The sizes moved to the nearest that the function's facts allow; `turn` walks through lists of choices."""
    fixed, least = cases.of(function, "fixed") or {}, cases.of(function, "least") or {}
    moved = {}
    for argument in function.sizes():
        size = max(sizes[argument.name], least.get(argument.name, 0))
        if "multiple_of" in argument.facts:
            size = -(-size // argument.facts["multiple_of"][0]) * argument.facts["multiple_of"][0]
        choices = fixed.get(argument.name) or argument.facts.get("one_of")
        moved[argument.name] = choices[turn % len(choices)] if choices else size
    return moved


def work(function, sizes):
    """A generous count of element operations: the product of the sizes."""
    return math.prod(max(1, sizes[argument.name]) for argument in function.sizes())


def bytes_of(function, sizes):
    """Bytes of all arrays: what a perfect kernel moves, each element once."""
    total = 0
    for argument in function.of_kind(*ARRAYS):
        count = math.prod(max(0, extent) for extent in argument.shape(sizes))
        total += count * BYTES[argument.type] * (2 if argument.kind == "inout" else 1)
    return total


def unique(configurations):
    return [dict(items) for items in dict.fromkeys(tuple(sorted(sizes.items())) for sizes in configurations)]


def edge_sizes(function, cases, cap):
    """All sizes alike at each edge, then one axis at each edge and the others at a usual size; work below cap."""
    names = [argument.name for argument in function.sizes()]
    alike = [dict.fromkeys(names, edge) for edge in EDGES]
    single = [{**dict.fromkeys(names, USUAL), name: edge} for name in names for edge in EDGES]
    thin = [{**dict.fromkeys(names, 3), name: edge} for name in names for edge in EDGES[-3:]]
    given = cases.of(function, "sizes") or []
    moved = [legal(function, cases, sizes, turn) for turn, sizes in enumerate(alike + single + thin)]
    return unique(given + [sizes for sizes in moved if work(function, sizes) <= cap])


def largest_alike(function, cases, work_cap, byte_cap, odd):
    """All sizes alike, the largest power of two (or, odd, one less) whose work and bytes stay below the caps."""
    names = [argument.name for argument in function.sizes()]
    best = None
    for power in itertools.count(1):
        sizes = legal(function, cases, dict.fromkeys(names, 2**power - odd), power)
        if not names or power > 40 or work(function, sizes) > work_cap or bytes_of(function, sizes) > byte_cap:
            return best or sizes
        best = sizes
    return best


def c_scalar(argument, value):
    return bool(value) if argument.type == "bool" else float(value) if argument.type in FLOATS else int(value)


def scalars(function, cases):
    """Values of the scalar arguments."""
    values = {}
    for argument in function.of_kind("scalar"):
        given = cases.for_argument(function, "scalars", argument)
        values[argument.name] = c_scalar(
            argument, given if given is not None else 0.5 if argument.type in FLOATS else 3
        )
    return values


def arrays(function, cases, sizes, rng):
    """Contents of every array argument before the call; outputs start as poison."""
    made = {}
    for argument in function.of_kind(*ARRAYS):
        shape = argument.shape(sizes)
        if any(extent < 0 for extent in shape):
            return None
        if argument.kind == "out":
            made[argument.name] = np.full(int(math.prod(shape)) * BYTES[argument.type], 0xFF, np.uint8)
            made[argument.name] = made[argument.name].view(NUMPY[argument.type]).reshape(shape)
        else:
            entry = cases.for_argument(function, "data", argument) or default_entry(argument)
            made[argument.name] = MAKERS[entry["kind"]](entry, argument, shape, sizes, rng)
    return made


def default_entry(argument):
    if "offsets" in argument.facts:
        return {"kind": "offsets", "total": argument.facts["offsets"]}
    if argument.kind == "table":
        entry = {
            "kind": "integers",
            "low": 0,
            "high": argument.facts.get("range", "1"),
            "sorted": "sorted" in argument.facts,
        }
        return {**entry, "kind": "permutation"} if "unique" in argument.facts else entry
    if argument.type in FLOATS:
        return {"kind": "normal"}
    if argument.type == "bool":
        return {"kind": "integers", "low": 0, "high": 2}
    if argument.type in ("i8", "u8"):
        return {
            "kind": "integers",
            "low": -128 if argument.type == "i8" else 0,
            "high": 128 if argument.type == "i8" else 256,
        }
    return {"kind": "integers", "low": 0 if argument.type[0] == "u" else -1000, "high": 1000}


def bound(value, sizes):
    return evaluate(value, sizes) if isinstance(value, str) else value


def repeated(draw, shape, kind):
    """Random numbers for an array. Drawing takes longer than all else, so that large arrays repeat them after a prime
    number of elements, which no stride of a kernel is a multiple of."""
    count = math.prod(shape)
    return np.resize(narrow(np.asarray(draw(min(count, PERIOD))), kind), count).reshape(shape)


def make_normal(entry, argument, shape, sizes, rng):
    scale, mean = entry.get("scale", 1.0), entry.get("mean", 0.0)
    return repeated(lambda count: rng.standard_normal(count, np.float32) * scale + mean, shape, argument.type)


def make_uniform(entry, argument, shape, sizes, rng):
    low, high = entry["low"], entry["high"]
    return repeated(lambda count: rng.random(count, np.float32) * (high - low) + low, shape, argument.type)


def make_integers(entry, argument, shape, sizes, rng):
    low, high = bound(entry["low"], sizes), bound(entry["high"], sizes)
    values = np.asarray(rng.integers(low, max(high, low + 1), shape))
    return (np.sort(values) if entry.get("sorted") else values).astype(NUMPY[argument.type])


def make_permutation(entry, argument, shape, sizes, rng):
    values = rng.permutation(max(bound(entry["high"], sizes), shape[0]))[: shape[0]]
    return (np.sort(values) if entry.get("sorted") else values).astype(NUMPY[argument.type])


def make_offsets(entry, argument, shape, sizes, rng):
    """Rises from 0 to a total, with some empty rows."""
    if shape[0] < 2:
        return np.zeros(shape, NUMPY[argument.type])
    total = bound(entry["total"], sizes)
    inner = np.sort(rng.integers(0, total + 1, shape[0] - 2))
    return np.concatenate([[0], inner, [total]]).astype(NUMPY[argument.type])


def make_boxes(entry, argument, shape, sizes, rng):
    """left, top, right, bottom along the last dimension, each box with an area; a share of them is padding, all 0."""
    corners = rng.random(shape, np.float32) * 0.5
    corners[..., 2:] += 0.5
    corners[rng.random(shape[:-1]) < entry.get("padding", 0.0)] = 0
    return narrow(corners, argument.type)


MAKERS = {
    "normal": make_normal,
    "uniform": make_uniform,
    "integers": make_integers,
    "permutation": make_permutation,
    "offsets": make_offsets,
    "boxes": make_boxes,
}
