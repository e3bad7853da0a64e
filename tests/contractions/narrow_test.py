"""Products with few rows, or few columns, which meet the other factor as it is read: right for all counts of them, for
each type and storage order, in each set of instructions; by one thread and by several, bit for bit the same.

narrow_test.py KGEN [unittest arguments]
"""

import ctypes
import pathlib
import tempfile
import unittest

import numpy as np
from built import emitted, library


SETS = {"baseline": "-DKGEN_NO_AVX2 -DKGEN_NO_AVX512", "avx2": "-march=x86-64-v3 -DKGEN_NO_AVX512", "the best": "-march=native"}
# name: (types of x, y, z and sums; brackets of y; bands of columns)
KERNELS = {"across_f32": ("f32", "f32", "K, N"), "down_f32": ("f32", "f32", "N, K"), "across_f64": ("f64", "f64", "K, N"),
           "down_f64": ("f64", "f64", "N, K"), "across_bf16": ("bf16", "f32", "K, N"), "down_bf16": ("bf16", "f32", "N, K"),
           "across_i8": ("i8", "i32", "K, N"),
           "down_i8": ("i8", "i32", "N, K"), "bands_f32": ("f32", "f32", "H, K, N"),
           "bands_down_f32": ("f32", "f32", "H, N, K"), "greatest_f32": ("f32", "f32", "N, K")}
H = 3
# Rows and columns up to those that are few and beyond, alone and with so much beside them that panels are packed.
SHAPES = [(m, k, n) for m in (1, 3, 4, 7, 12, 13) for k, n in ((1, 1030), (17, 515), (300, 1030))]
SHAPES += [(m, k, n) for m in (1, 6, 29, 33, 100) for k, n in ((0, 5), (1, 3), (65, 1), (333, 2), (333, 6), (333, 13), (130, 40))]
SHAPES += [(m, 300, 14100) for m in (1, 5)]  # a right factor beyond the caches
STORED = {"f32": np.float32, "f64": np.float64, "bf16": np.uint16, "i8": np.int8, "i32": np.int32}


def spec(name, kind, total, brackets):
    out = "H, M, N" if "H" in brackets else "M, N"
    body = "max(float(x) + y, K)" if name.startswith("greatest") else "sum(int(x) * y, K)" if kind == "i8" else "dot(x, y, K)"
    return (f'kernel = "{name}"\ninputs.x = "{kind}[M, K]"\ninputs.y = "{kind}[{brackets}]"\noutputs.z = "{total}[{out}]"\n'
            f"body = 'z = {body};'\n")


def numbers(rng, kind, *shape):
    if kind == "i8":
        return rng.integers(-128, 128, shape, np.int8)
    values = rng.standard_normal(shape).astype(np.float64 if kind == "f64" else np.float32)
    return (values.view(np.uint32) >> 16).astype(np.uint16) if kind == "bf16" else values


def as_doubles(kind, values):
    wide = (values.astype(np.uint32) << 16).view(np.float32) if kind == "bf16" else values
    return wide.astype(np.float64)


class Narrow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        for name, (kind, total, brackets) in KERNELS.items():
            (cls.folder / f"{name}.toml").write_text(spec(name, kind, total, brackets))
            emitted(cls.folder, name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def call(self, function, name, m, k, n):
        kind, total, brackets = KERNELS[name]
        rng = np.random.default_rng(m * 7919 + k * 31 + n)
        sizes = {"M": m, "K": k, "N": n, "H": H}
        x, y = numbers(rng, kind, m, k), numbers(rng, kind, *(sizes[axis] for axis in brackets.split(", ")))
        z = np.full([H, m, n] if "H" in brackets else [m, n], 77, STORED[total])
        order = ["M", "K", "H", "N"] if brackets[0] == "H" else ["M", "K", "N"]
        arrays = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, z)]
        status = function(*arrays, *(ctypes.c_int64(sizes[axis]) for axis in order), None, ctypes.c_int64(0))
        self.assertEqual(status, 0)
        a, b = as_doubles(kind, x), as_doubles(kind, y)
        b = b if brackets.endswith("K, N") else np.swapaxes(b, -1, -2)
        if name.startswith("greatest"):
            expected = (a[:, :, None] + b[None]).max(1) if k else np.full((m, n), -np.inf)
            return z, expected, 2.0**-22 * (1 + abs(expected))
        return z, a @ b, (0 if total == "i32" else 2.0**-50 if total == "f64" else 1e-6 * (1 + k**0.5)) * (abs(a) @ abs(b)) + 0

    def test_they_are_right_by_any_number_of_threads(self):
        gomp = ctypes.CDLL("libgomp.so.1")
        for name in KERNELS:
            for set_name, flags in SETS.items():
                built = library(self.folder, name, flags.split(), set_name.replace(" ", "_"))
                function = getattr(built, f"{name}_openmp")
                for shape in SHAPES:
                    with self.subTest(name, set=set_name, shape=shape):
                        results = []
                        for threads in 1, 3:
                            gomp.omp_set_num_threads(threads)
                            z, expected, bound = self.call(function, name, *shape)
                            results.append(z.tobytes())
                        with np.errstate(invalid="ignore"):
                            wrong = ~((abs(z - expected) <= bound) | (z == expected))
                        self.assertFalse(wrong.any(), f"{wrong.sum()} of {wrong.size}")
                        self.assertEqual(results[0], results[1])


if __name__ == "__main__":
    unittest.main()
