"""Contractions of all forms are computed by tiles, and right: small ones, those with few rows or few columns, and those
whose factors are packed; by one thread and by several, bit for bit the same.

contractions_test.py KGEN [--count N] [--first SEED] [unittest arguments]
"""

import ctypes
import unittest

import drawn
import numpy as np
from built import COUNT, FIRST, build_all, loaded, stored, to_type

FOUND = [116]  # batches by one thread, with panels that threads would share
MOST_REFUSED = 0.05
CALLS = 4  # of a case, each of other sizes


class Bounded:
    """Rows take steps up to a number of the caller's, whatever it is."""

    name, order = "bounded", ["M", "K", "N"]
    spec = """kernel = "bounded"
inputs.x = "f32[M, K]"
inputs.y = "f32[K, N]"
inputs.bound = "i64[M]"
outputs.z = "f32[M, N]"
body = 'z = sum(x * y, K, where(index(K) < bound));'
"""


def setUpModule():
    global BUILT
    cases = [drawn.Drawn(seed) for seed in [*range(FIRST, FIRST + COUNT), *FOUND]]
    BUILT = build_all(cases)


def result_of(built, sizes, values):
    types = {"x": built.case.type, "y": built.case.type}
    arrays = [stored(types.get(name, "f32"), value) for name, value in values.items()]
    z = np.zeros([sizes[axis] for axis in built.case.z], np.int32 if built.case.type == "i8" else arrays[0].dtype)
    built(sizes, [*arrays, z])
    return loaded(built.case.type, z)


class Contractions(unittest.TestCase):
    def test_nearly_all_forms_are_computed_by_tiles(self):
        without = [built.case.spec for built in BUILT if built.tiles == 0]
        self.assertLessEqual(len(without), MOST_REFUSED * len(BUILT), "\n".join(without))

    def test_they_are_right_by_any_number_of_threads(self):
        gomp = ctypes.CDLL("libgomp.so.1")
        for built in BUILT:
            for number in range(CALLS):
                sizes = built.case.sizes(number)
                values = built.case.arguments(sizes, to_type)
                expected, magnitude = built.case.expected(values, sizes)
                results = []
                for threads in 1, 3:
                    gomp.omp_set_num_threads(threads)
                    results.append(result_of(built, sizes, values))
                with self.subTest(built.case.spec, sizes=sizes):
                    error = abs(results[0] - expected)
                    within = error <= drawn.tolerance(built.case, expected, magnitude, sizes)
                    self.assertTrue(within.all(), f"{error.max()} from {expected.flat[error.argmax()]}")
                    self.assertEqual(results[0].tobytes(), results[1].tobytes())

    def test_bounds_of_steps_may_be_any_numbers(self):
        (built,) = build_all([Bounded])
        self.assertEqual(built.tiles, 1)
        rng = np.random.default_rng(3)
        bounds = np.array([-2**63, -2**63 + 1, -1, 0, 1, 7, 299, 300, 301, 2**63 - 1])
        for sizes in {"M": 90, "K": 300, "N": 50}, {"M": 5, "K": 20, "N": 3}, {"M": 40, "K": 300, "N": 2}:
            x = rng.standard_normal((sizes["M"], sizes["K"]), np.float32)
            y = rng.standard_normal((sizes["K"], sizes["N"]), np.float32)
            for bound in [*(np.full(sizes["M"], b) for b in bounds), rng.choice(bounds, sizes["M"])]:
                z = np.full((sizes["M"], sizes["N"]), np.nan, np.float32)
                built(sizes, [x, y, bound, z])
                expected = np.where(np.arange(sizes["K"]) < bound[:, None], x, 0).astype(np.float64) @ y
                with self.subTest(sizes=sizes, bound=bound[:3]):
                    self.assertLess(abs(z - expected).max(), 1e-3)
            y[10] = np.inf  # which no row may take that takes no steps
            bound = rng.choice([-2**63, sizes["K"]], sizes["M"])
            built(sizes, [x, y, bound, z])
            self.assertTrue((z[bound < 0] == 0).all())


if __name__ == "__main__":
    unittest.main()
