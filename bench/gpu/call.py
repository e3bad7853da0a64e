"""Calls a generated function, on the host or on the device, with the arguments in the order of its interface."""

import ctypes

import numpy as np

from interface import ARRAYS

GUARD = 64
GUARD_BYTE = 0xA5
SCALARS = {
    "f64": ctypes.c_double,
    "f32": ctypes.c_float,
    "f16": ctypes.c_float,
    "bf16": ctypes.c_float,
    "bool": ctypes.c_bool,
    **{
        f"{sign}{bits}": getattr(ctypes, f"c_{'u' * (sign == 'u')}int{bits}")
        for sign in "iu"
        for bits in (8, 16, 32, 64)
    },
}


class HostBuffer:
    """An array in host memory between guard bytes."""

    def __init__(self, array):
        self.shape, self.kind = array.shape, array.dtype
        self.image = np.full(array.nbytes + 2 * GUARD, GUARD_BYTE, np.uint8)
        self.image[GUARD : GUARD + array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)

    @property
    def address(self):
        return self.image.ctypes.data + GUARD

    def read(self):
        guards = np.concatenate([self.image[:GUARD], self.image[len(self.image) - GUARD :]])
        inside = self.image[GUARD : len(self.image) - GUARD]
        return inside.view(self.kind).reshape(self.shape), bool((guards == GUARD_BYTE).all())


def stride_value(function, argument, sizes):
    """Elements from one index to the next of a densely stored array; the name says which: ARRAY_stride_AXIS."""
    array, axis = argument.name.split("_stride_")
    operand = next(a for a in function.of_kind(*ARRAYS) if a.name == array)
    place = operand.extents.index(axis)
    stride = 1
    for extent in operand.shape(sizes)[place + 1 :]:
        stride *= extent
    return stride


def arguments(function, buffers, scalars, sizes, left_out=(), device=None):
    """The ctypes values in the order of the interface. `device` is None for the host's function, which has no status
    word or stream and allocates its workspace; else (stream, workspace address or None, its bytes), and the status word is null."""
    values = []
    for argument in function.arguments:
        if argument.kind in ARRAYS:
            missing = argument.name in left_out
            values.append(ctypes.c_void_p(None if missing else buffers[argument.name].address))
        elif argument.kind == "scalar":
            values.append(SCALARS[argument.type](scalars[argument.name]))
        elif argument.kind == "size":
            values.append(ctypes.c_int64(sizes[argument.name]))
        elif argument.kind == "stride":
            values.append(ctypes.c_int64(stride_value(function, argument, sizes)))
        elif argument.kind == "status" and device:
            values.append(ctypes.c_void_p(None))
        elif argument.kind == "workspace" and device:
            values += [ctypes.c_void_p(device[1]), ctypes.c_int64(device[2])]
        elif argument.kind == "workspace_openmp" and not device:
            values += [ctypes.c_void_p(None), ctypes.c_int64(0)]  # the function allocates
    return values + ([ctypes.c_void_p(device[0])] if device else [])


def workspace_bytes(function, library, sizes):
    """What the function asks for; 0 if it does not say, and then allocates by itself."""
    for name in (f"{function.stem}_cuda_workspace", f"{function.stem}_workspace"):
        if function.of_kind("workspace") and hasattr(library, name):
            query = getattr(library, name)
            query.restype = ctypes.c_int64
            return query(*(ctypes.c_int64(sizes[argument.name]) for argument in function.sizes()))
    return 0
