"""Calls emitted OpenMP kernels by what their headers say, and prints what each gave.

usage: call.py LIBRARY HEADER...

A line for each function: its name, the set of instructions that it took, and a hash of all outputs, in which all NaNs
are one."""

import ctypes
import hashlib
import pathlib
import re
import sys

import numpy

# Sizes that fill vectors and leave a rest, and one that is cut in blocks.
SIZES = {"M": 5, "N": 4173, "K": 37, "B": 3, "V": 1003, "S": 19, "C": 23, "rows": 5}
DTYPES = {"f32": numpy.float32, "f64": numpy.float64, "bf16": numpy.uint16, "f16": numpy.uint16, "bool": numpy.bool_,
          "i32": numpy.int32, "i64": numpy.int64}


def real_numbers(random, name, dtype, shape):
    """Of many magnitudes, and of those bf16 the upper half."""
    values = numpy.asarray(random.normal(size=shape) * numpy.exp2(random.integers(-6, 3, size=shape)))
    if name == "bf16":
        return numpy.asarray(values.astype(numpy.float32).view(numpy.uint32) >> 16, numpy.uint16)
    return numpy.asarray(values, dtype)


def bytes_of(name, array):
    """Those of the numbers, in which all NaNs are the same."""
    if name == "bf16":
        array = (array.astype(numpy.uint32) << 16).view(numpy.float32)
    if array.dtype.kind == "f":
        array = numpy.where(numpy.isnan(array), array.dtype.type("nan"), array)
    return numpy.ascontiguousarray(array).tobytes()


def call(library, function, arguments):
    random = numpy.random.default_rng(31)
    given, outputs = [], []
    for argument in arguments:
        kind, *rest = argument.split(" ", 3)
        if kind == "size":
            given.append(ctypes.c_int64(SIZES[rest[0]]))
        elif kind == "scalar":
            given.append(ctypes.c_double(0.75) if rest[1] == "f64" else ctypes.c_float(0.75))
        elif kind == "workspace_openmp":
            given += [None, ctypes.c_int64(0)]
        elif kind in ("in", "out"):
            shape = [SIZES[d] if d in SIZES else int(d) for d in re.findall(r"\w+", rest[2])]
            array = real_numbers(random, rest[1], DTYPES[rest[1]], shape)
            given.append(array.ctypes.data_as(ctypes.c_void_p))
            outputs += [(rest[1], array)] * (kind == "out")
    status = getattr(library, function + "_openmp")(*given)
    assert status == 0, (function, status)
    return hashlib.sha256(b"".join(bytes_of(*output) for output in outputs)).hexdigest()[:16]


def main():
    library = ctypes.CDLL(sys.argv[1])
    for header in map(pathlib.Path, sys.argv[2:]):
        instructions = getattr(library, header.stem + "_openmp_instructions")
        instructions.restype = ctypes.c_char_p
        for function, text in re.findall(r"@function (\w+) args: (.*) \*/", header.read_text()):
            if not function.endswith("_f16"):
                print(function, instructions().decode(), call(library, function, text.split("; ")))


if __name__ == "__main__":
    main()
