"""Specs drawn at random, as functions that Python calls. Options of the tests that use it: KGEN [--count N] [--first SEED]"""

import concurrent.futures
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import this_machine  # noqa: E402

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
POINTER, SIZE = ctypes.c_void_p, ctypes.c_int64


def option(name, default):
    if name not in sys.argv:
        return default
    at = sys.argv.index(name)
    value = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return value


FIRST, COUNT = option("--first", 1), option("--count", 16)


def to_type(kind, values):
    """Numbers that the type can hold, as it stores them."""
    if kind == "f64":
        return values
    if kind == "i8":
        return np.clip(values * 64, -128, 127).astype(np.int8)
    single = values.astype(np.float32)
    return single if kind == "f32" else (single.view(np.uint32) & 0xFFFF0000).view(np.float32)


def stored(kind, values):
    return (values.view(np.uint32) >> 16).astype(np.uint16) if kind == "bf16" else np.ascontiguousarray(values)


def loaded(kind, values):
    return (values.astype(np.uint32) << 16).view(np.float32) if kind == "bf16" else values


def emitted(folder, name):
    subprocess.run([KGEN, f"{name}.toml", "--targets", "openmp"], cwd=folder, check=True, capture_output=True)


def library(folder, name, flags, apart=""):
    """What was emitted, compiled with these flags; libraries of one name have something that tells them apart."""
    file = folder / f"lib{name}{apart}.so"
    subprocess.run(["g++", "-std=c++17", "-O1", *flags, "-fopenmp", "-shared", "-fPIC", f"{name}_openmp.cpp", "-o", file],
                   cwd=folder, check=True)
    return ctypes.CDLL(str(file))


class Built:
    def __init__(self, case, folder):
        self.case = case
        (folder / f"{case.name}.toml").write_text(case.spec)
        plan = subprocess.run([KGEN, "generate", f"{case.name}.toml", "--stop-after", "plan"], cwd=folder, check=True,
                              capture_output=True, text=True).stdout
        self.tiles = plan.split("plan for cuda")[0].count("tiles of ")  # how many folds are computed by them
        emitted(folder, case.name)
        self.library = library(folder, case.name, this_machine.FLAGS)
        self.has_workspace = f"{case.name}_openmp_workspace" in (folder / f"{case.name}.h").read_text()

    def __call__(self, sizes, arrays):
        arguments = [POINTER(a.ctypes.data) for a in arrays] + [SIZE(sizes[axis]) for axis in self.case.order]
        if self.has_workspace:
            arguments += [POINTER(None), SIZE(0)]
        status = getattr(self.library, f"{self.case.name}_openmp")(*arguments)
        assert status == 0, status


def build_all(cases):
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    folder = pathlib.Path(temporary.name)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda case: Built(case, folder), cases))
