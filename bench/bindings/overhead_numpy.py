"""Calls with tiny arrays of NumPy: the binding, `kgen.load`, and ctypes by hand with the same checks: overhead_numpy.py KGEN"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import turns

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings"))
import kgen  # noqa: E402

SPEC = """kernel = "muladd"
types.T = ["f32", "f64"]
scalars.c = "f32"
inputs.a = "T[N]"
inputs.b = "T[N]"
outputs.y = "T[N]"
body = 'y = a * b + c;'
"""


def by_hand(library):
    functions = {}
    for name, dtype in (("f32", "f4"), ("f64", "f8")):
        function = functions[np.dtype(dtype)] = getattr(library, f"muladd_{name}_openmp")
        function.argtypes = [ctypes.c_float, *[ctypes.c_void_p] * 3, ctypes.c_int64]

    def muladd(a, b, c):
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            raise TypeError("a and b must be arrays")
        if a.dtype not in functions or b.dtype != a.dtype:
            raise TypeError("a and b must be f32 or f64")
        if a.ndim != 1 or b.ndim != 1 or a.shape != b.shape:
            raise ValueError("a and b must have one dimension")
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        y = np.empty(a.shape, a.dtype)
        if functions[a.dtype](c, a.ctypes.data, b.ctypes.data, y.ctypes.data, a.shape[0]):
            raise ValueError("muladd")
        return y
    return muladd


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(KGEN_EXECUTABLE=program, KGEN_CACHE_DIR=folder + "/cache")
        pathlib.Path(folder, "muladd.toml").write_text(SPEC)
        subprocess.run([program, "muladd.toml", "--bind", "numpy"], cwd=folder, check=True, capture_output=True)
        subprocess.run([sys.executable, "muladd_numpy.py"], cwd=folder, check=True)
        sys.path.insert(0, folder)
        import muladd_numpy
        a = np.ones(8, "f4")
        functions = {"ours": muladd_numpy.muladd, "kgen.load": kgen.load(SPEC), "by hand": by_hand(muladd_numpy._library)}
        sides = {name: lambda f=f: f(a, a, 1.0) for name, f in functions.items()}
        turns.tell(turns.best(turns.measure(sides, rounds=400, calls=100)))


main()
