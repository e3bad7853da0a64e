"""Products stay inside the workspace that they ask for, whatever rows of a ragged axis and parts of rows have: behind it
stands a pattern, which must stay as it is. And the results are right.

memory_test.py KGEN [unittest arguments]
"""

import ctypes
import pathlib
import tempfile
import unittest

import numpy as np
from built import emitted, library

SETS = {"avx2": "-march=x86-64-v3 -DKGEN_NO_AVX512", "the best": "-march=native"}
BEHIND = 1 << 20
RAGGED = 'axes.{axis} = {{ ragged = "start", over = "E" }}\ntables.start = "i64[E + 1]"\n'
KERNELS = {
    "plain": ('inputs.x = "f32[M, K]"\ninputs.y = "f32[K, N]"\noutputs.z = "f32[M, N]"\n', "z = dot(x, y, K);"),
    "rows_down": (RAGGED.format(axis="M") + 'inputs.x = "f32[E, M, K]"\ninputs.y = "f32[E, N, K]"\noutputs.z = "f32[E, M, N]"\n',
                  "z = dot(x, y, K);"),
    "rows_across": (RAGGED.format(axis="M") + 'inputs.x = "f32[E, M, K]"\ninputs.y = "f32[E, K, N]"\noutputs.z = "f32[E, M, N]"\n',
                    "z = dot(x, y, K);"),
    "depth": (RAGGED.format(axis="M") + 'inputs.x = "f32[E, M, K]"\ninputs.y = "f32[E, M, N]"\noutputs.z = "f32[E, K, N]"\n',
              "z = dot(x, y, M);"),
    "inside": ('axes.D = 16\ninputs.x = "f32[S, D]"\ninputs.y = "f32[R, D]"\noutputs.z = "f32[S, D]"\n',
               "float s = dot(x, y, D);\nfloat p = exp(s - max(s, R));\nz = dot(p, y, R) / sum(p, R);\n"),
}
GROUPS = [(20, 20), (13, 0, 27), (256, 1), (257, 255), (5, 6, 1, 60), (33, 400)]


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.libraries = {}
        for name, (arrays, body) in KERNELS.items():
            (cls.folder / f"{name}.toml").write_text(f"kernel = \"{name}\"\n{arrays}body = '''\n{body}\n'''\n")
            emitted(cls.folder, name)
            for set_name, flags in SETS.items():
                cls.libraries[name, set_name] = library(cls.folder, name, flags.split(), set_name.replace(" ", "_"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def check(self, name, sizes, arrays, result, expected):
        gomp = ctypes.CDLL("libgomp.so.1")
        for set_name in SETS:
            built = self.libraries[name, set_name]
            numbers = [ctypes.c_int64(size) for size in sizes]
            pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, result)]
            room = getattr(built, f"{name}_openmp_workspace")
            room.restype = ctypes.c_int64
            all_of_it = room(*numbers)

            def call(count):
                workspace = np.full(count + BEHIND, 0xA5, np.uint8)
                status = getattr(built, f"{name}_openmp")(*pointers, *numbers, ctypes.c_void_p(workspace.ctypes.data),
                                                            ctypes.c_int64(count))
                return status, bool((workspace[count:] == 0xA5).all())

            def enough_for_one():
                refused, taken = -1, all_of_it
                while taken - refused > 1:
                    middle = (refused + taken) // 2
                    refused, taken = (refused, middle) if call(middle)[0] == 0 else (middle, taken)
                return taken

            for threads in 1, 3:
                gomp.omp_set_num_threads(threads)
                result[...] = 77
                with self.subTest(name, sizes=sizes, set=set_name, threads=threads):
                    self.assertEqual(call(enough_for_one() if threads == 1 else all_of_it), (0, True))
                    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-3)

    def test_plain(self):
        for m, k in (5, 512), (6, 300), (13, 512), (40, 300):
            for n in 6, 128, 136, 300:
                x, y = (np.random.default_rng(n).standard_normal(shape, np.float32) for shape in ((m, k), (k, n)))
                self.check("plain", (m, k, n), (x, y), np.zeros((m, n), np.float32), x.astype(float) @ y)

    def of_groups(self, name, expected_of, sides):
        for groups in GROUPS:
            start = np.cumsum([0, *groups]).astype(np.int64)
            total, count = int(start[-1]), len(groups)
            for a, b in sides:  # of the rows, and beside those
                rng = np.random.default_rng(total + b)
                x = rng.standard_normal((total, a), np.float32)
                y = rng.standard_normal({"depth": (total, b), "rows_down": (count, b, a)}.get(name, (count, a, b)), np.float32)
                expected = expected_of(x, y, [slice(*ends) for ends in zip(start, start[1:])])
                self.check(name, (count, total, a, b), (start, x, y), np.zeros(expected.shape, np.float32), expected)

    def test_rows_of_groups_down(self):
        self.of_groups("rows_down", lambda x, y, parts: np.concatenate([x[part] @ y[i].T for i, part in enumerate(parts)]),
                       [(64, 16), (300, 40), (17, 600)])

    def test_rows_of_groups_across(self):
        self.of_groups("rows_across", lambda x, y, parts: np.concatenate([x[part] @ y[i] for i, part in enumerate(parts)]),
                       [(64, 16), (300, 600), (600, 256)])

    def test_depths_of_groups(self):
        self.of_groups("depth", lambda x, y, parts: np.stack([x[part].T @ y[part] for part in parts]),
                       [(240, 16), (40, 300), (5, 600)])

    def test_inside_of_rows(self):
        for s, r in (32, 2048), (70, 3000), (5, 700):
            x, y = (np.random.default_rng(r).standard_normal((size, 16), np.float32) for size in (s, r))
            scores = x.astype(float) @ y.T
            p = np.exp(scores - scores.max(1, keepdims=True))
            self.check("inside", (s, r), (x, y), np.zeros((s, 16), np.float32), p @ y / p.sum(1, keepdims=True))


if __name__ == "__main__":
    unittest.main()
