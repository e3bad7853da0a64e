"""Kernels from declarations: `kgen.load` turns a spec into a function for arrays of NumPy.

    import kgen
    softmax = kgen.load("softmax.toml")
    y = softmax(x)
"""
from kgen import tool
from kgen.errors import CacheError, CompileError, SpecError
from kgen.kernel import Kernel, load

__all__ = ["CacheError", "CompileError", "Kernel", "SpecError", "load"]


def __getattr__(name):
    if name == "__version__":  # which only the program knows
        return tool.run("--version").strip()
    raise AttributeError(f"module 'kgen' has no attribute {name!r}")
