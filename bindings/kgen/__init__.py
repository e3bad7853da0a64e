"""Kernels from declarations: `kgen.load` turns a spec into a function for arrays of NumPy.

    import kgen
    softmax = kgen.load("softmax.toml")
    y = softmax(x)
"""
from kgen.errors import CacheError, CompileError, SpecError
from kgen.kernel import Kernel, load

__all__ = ["CacheError", "CompileError", "Kernel", "SpecError", "load"]
