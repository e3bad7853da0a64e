"""Products inside of rows are computed by tiles for parts of the rows, and right: few rows, some, and so many that there
are several parts; by one thread and by several, bit for bit the same.

rows_test.py KGEN [--count N] [--first SEED] [unittest arguments]
"""

import ctypes
import unittest

import numpy as np
from built import COUNT, FIRST, build_all, loaded, stored, to_type
from drawn_rows import DrawnRows

MOST_REFUSED = 0.1
CALLS = 5  # of a case, each of other sizes
TOLERANCES = {"f32": (2.0**-22, 2e-5), "f64": (2.0**-51, 1e-12), "bf16": (2.0**-8, 2e-5)}  # of the result, of what is summed


def setUpModule():
    global BUILT
    BUILT = build_all([DrawnRows(seed) for seed in range(FIRST, FIRST + COUNT)])


def result_of(built, sizes, values):
    o = np.zeros([sizes[axis] for axis in built.case.out], stored(built.case.type, to_type(built.case.type, np.zeros(1))).dtype)
    kinds = {name: "f32" if name == "bias" else built.case.type for name in values}
    built(sizes, [*(stored(kinds[name], value) for name, value in values.items()), o])
    return loaded(built.case.type, o)


class ProductsInRows(unittest.TestCase):
    def test_nearly_all_forms_are_computed_by_tiles(self):
        without = [built.case.spec for built in BUILT if built.tiles < 2]
        self.assertLessEqual(len(without), MOST_REFUSED * len(BUILT), "\n".join(without))

    def test_they_are_right_by_any_number_of_threads(self):
        gomp = ctypes.CDLL("libgomp.so.1")
        for built in BUILT:
            for number in range(CALLS):
                sizes = built.case.sizes(number)
                values = {name: to_type("f32" if name == "bias" else built.case.type, value)
                          for name, value in built.case.values(sizes).items()}
                expected, magnitude = built.case.expected(values, sizes)
                results = []
                for threads in 1, 3:
                    gomp.omp_set_num_threads(threads)
                    results.append(result_of(built, sizes, values))
                with self.subTest(built.case.spec, sizes=sizes):
                    of_result, of_sum = TOLERANCES[built.case.type]
                    error = abs(results[0] - expected)
                    within = (error <= of_result * abs(expected) + of_sum * magnitude) | (
                        np.isnan(expected) & np.isnan(results[0]))
                    self.assertTrue(within.all(), f"{np.nanmax(error)}, {(~within).sum()} of {within.size}")
                    self.assertEqual(results[0].tobytes(), results[1].tobytes())


if __name__ == "__main__":
    unittest.main()
