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


if __name__ == "__main__":
    unittest.main()
