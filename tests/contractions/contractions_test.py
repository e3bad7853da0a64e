"""Contractions of all forms are computed by tiles, and right: small ones, those with few rows, and those whose factors
are packed; by one thread and by several, bit for bit the same.

contractions_test.py KGEN [--count N] [--first SEED] [unittest arguments]
"""

import concurrent.futures
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import drawn
import numpy as np

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
MOST_REFUSED = 0.05


def option(name, default):
    if name not in sys.argv:
        return default
    at = sys.argv.index(name)
    value = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return value


FOUND = [116]  # batches by one thread, with panels that threads would share
FIRST, COUNT = option("--first", 1), option("--count", 16)
POINTER, SIZE = ctypes.c_void_p, ctypes.c_int64


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


class Built:
    def __init__(self, case, folder):
        self.case = case
        (folder / f"{case.name}.toml").write_text(case.spec)
        plan = subprocess.run([KGEN, "generate", f"{case.name}.toml", "--stop-after", "plan"], cwd=folder, check=True,
                              capture_output=True, text=True).stdout
        self.has_tiles = ": tiles of " in plan.split("plan for cuda")[0]
        subprocess.run([KGEN, f"{case.name}.toml", "--targets", "openmp"], cwd=folder, check=True, capture_output=True)
        library = folder / f"lib{case.name}.so"
        subprocess.run(["g++", "-std=c++17", "-O1", "-march=native", "-fopenmp", "-shared", "-fPIC",
                        f"{case.name}_openmp.cpp", "-o", library], cwd=folder, check=True)
        self.library = ctypes.CDLL(str(library))
        header = (folder / f"{case.name}.h").read_text()
        self.has_workspace = f"{case.name}_openmp_workspace" in header
        named = case.x + case.y + "".join(case.bias if "bias" in case.end else "") + case.z
        self.order = list(dict.fromkeys(named))

    def __call__(self, sizes, values):
        types = {"x": self.case.type, "y": self.case.type}
        arrays = [stored(types.get(name, "f32"), value) for name, value in values.items()]
        z = np.zeros([sizes[axis] for axis in self.case.z], np.int32 if self.case.type == "i8" else arrays[0].dtype)
        sizes_in_order = [sizes[axis] for axis in self.order]
        arguments = [POINTER(a.ctypes.data) for a in [*arrays, z]] + [SIZE(s) for s in sizes_in_order]
        if self.has_workspace:
            arguments += [POINTER(None), SIZE(0)]
        status = getattr(self.library, f"{self.case.name}_openmp")(*arguments)
        assert status == 0, status
        return loaded(self.case.type, z)


def setUpModule():
    global BUILT
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    folder = pathlib.Path(temporary.name)
    cases = [drawn.Drawn(seed) for seed in [*range(FIRST, FIRST + COUNT), *FOUND]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        BUILT = list(pool.map(lambda case: Built(case, folder), cases))


class Contractions(unittest.TestCase):
    def test_nearly_all_forms_are_computed_by_tiles(self):
        without = [built.case.spec for built in BUILT if not built.has_tiles]
        self.assertLessEqual(len(without), MOST_REFUSED * len(BUILT), "\n".join(without))

    def test_they_are_right_by_any_number_of_threads(self):
        gomp = ctypes.CDLL("libgomp.so.1")
        for built in BUILT:
            for number in range(3):
                sizes = built.case.sizes(number)
                values = built.case.arguments(sizes, to_type)
                expected, magnitude = built.case.expected(values, sizes)
                results = []
                for threads in 1, 3:
                    gomp.omp_set_num_threads(threads)
                    results.append(built(sizes, values))
                with self.subTest(built.case.spec, sizes=sizes):
                    error = abs(results[0] - expected)
                    within = error <= drawn.tolerance(built.case, expected, magnitude, sizes)
                    self.assertTrue(within.all(), f"{error.max()} from {expected.flat[error.argmax()]}")
                    self.assertEqual(results[0].tobytes(), results[1].tobytes())


if __name__ == "__main__":
    unittest.main()
