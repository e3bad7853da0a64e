{{banner}}"""{{kernel}} for NumPy: the function `{{function}}`.

`python {{kernel}}_numpy.py` compiles the library that this module loads, beside it, with $CXX and $CXXFLAGS.
"""
{{imports}}import os
import shlex
import subprocess
import sys
import tempfile

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.join(_FOLDER, "lib{{kernel}}_numpy.so")
_SOURCE = """
#include "{{kernel}}_openmp.cpp"
#include "{{kernel}}.h"
extern "C" const char* {{kernel}}_explain(int status) { return {{kernel}}_error(status); }
"""


def build():
    """Compiles the library. It gets its name when it is whole, so that nobody loads half of it."""
    handle, made = tempfile.mkstemp(suffix=".so", dir=_FOLDER)
    os.close(handle)
    command = [*shlex.split(os.environ.get("CXX") or "c++"), "-O2", "-std=c++17", "-fopenmp", "-fPIC", "-shared"]
    command += [*shlex.split(os.environ.get("CXXFLAGS", "")), "-I", _FOLDER, "-x", "c++", "-", "-o", made]
    try:
        subprocess.run(command, input=_SOURCE, text=True, check=True)
        if os.path.getsize(made) == 0:
            raise SystemExit(f"{shlex.join(command)} made no library: is $CXX a compiler?")
        os.chmod(made, 0o755)
        os.replace(made, _LIBRARY)
    except FileNotFoundError:
        raise SystemExit(f"there is no compiler {command[0]}: name one in $CXX") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"exit code {error.returncode} of {shlex.join(command)}") from None
    finally:
        if os.path.exists(made):
            os.remove(made)


if __name__ == "__main__":
    build()
    sys.exit()

import numpy as np  # noqa: E402 (building needs none)
{{#bf16}}

try:
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = "V2"  # nobody here has arrays of it: what is returned has two bytes an element
{{/bf16}}

if not os.path.exists(_LIBRARY):
    raise ImportError(f"{_LIBRARY} is missing. To make it: {shlex.join([sys.executable, os.path.abspath(__file__)])}")
_library = ctypes.CDLL(_LIBRARY)  # whose functions run without the lock of the interpreter
_library.{{kernel}}_explain.restype = ctypes.c_char_p

{{^bf16}}
_from_dlpack = np.from_dlpack
{{/bf16}}
{{#bf16}}


class _Tensor(ctypes.Structure):
    """The head of what DLPack hands over. NumPy itself does not take elements of bf16."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("type", ctypes.c_uint8 * 4), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32 * 2), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


class _Memory:
    """What NumPy makes an array of, which keeps the owner alive."""
    def __init__(self, address, is_constant, shape, strides, owner):
        self.__array_interface__ = {"data": (address, is_constant), "shape": shape, "strides": strides, "typestr": "<u2",
                                    "version": 3}
        self.owner = owner


def _from_dlpack(value):
    if not str(value.dtype).endswith("bfloat16"):
        return np.from_dlpack(value)
    address_of = ctypes.pythonapi.PyCapsule_GetPointer
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    try:  # since version 1 it says whether the array is constant
        capsule = value.__dlpack__(max_version=(1, 0))
        versioned = _Versioned.from_address(address_of(capsule, b"dltensor_versioned"))
        tensor, is_constant = versioned.tensor, bool(versioned.flags & 1)
    except (TypeError, ValueError):
        capsule = value.__dlpack__()
        tensor, is_constant = _Tensor.from_address(address_of(capsule, b"dltensor")), True  # as NumPy takes it
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(2 * step for step in tensor.strides[:tensor.ndim]) if tensor.strides else None
    memory = _Memory((tensor.data or 0) + tensor.byte_offset, is_constant, shape, strides, capsule)
    return np.asarray(memory).view(bfloat16)
{{/bf16}}


def _function(name, arguments):
    function = getattr(_library, name)
    function.argtypes = arguments
    return function


_pointer, _count = ctypes.c_void_p, ctypes.c_int64
{{#dtypes}}
{{name}} = np.dtype({{value}})
{{/dtypes}}

{{table}}

def {{signature}}:
    """{{doc}}
    """
{{body}}
{{helpers}}

def _failure(status):
    kind = MemoryError if status & 255 == 21 else ValueError
    return kind("{{kernel}}: " + _library.{{kernel}}_explain(status).decode())
