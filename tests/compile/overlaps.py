"""Launchers refuse outputs that share memory with another array, and take those that do not or that are exactly an
input: few arrays, which have a check for each pair, and many, which are listed.

Usage: overlaps.py KGEN
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

KGEN = pathlib.Path(sys.argv.pop(1)).resolve()
N = 5


def built(folder, outputs, last, others="y{i} = 1;"):
    """A function of x and so many outputs, given the place of each array in one memory; `last` writes the last one."""
    name = f"k{outputs}"
    spec = folder / f"{name}.toml"
    arrays = "".join(f'outputs.y{i} = "f32[N]"\n' for i in range(outputs))
    text = "".join((last if i == outputs - 1 else others).format(i=i) + "\n" for i in range(outputs))
    spec.write_text(f"kernel = \"{name}\"\ninputs.x = \"f32[N]\"\n{arrays}body = '''\n{text}'''\n")
    subprocess.run([KGEN, spec, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    library = folder / f"{name}.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", library, folder / f"{name}_openmp.cpp"], check=True)
    library = ctypes.CDLL(str(library))
    launcher, error = getattr(library, f"{name}_openmp"), getattr(library, f"{name}_error")
    error.restype = ctypes.c_char_p

    def call(places):
        memory = numpy.zeros(N * (outputs + 2), numpy.float32)
        pointers = [ctypes.c_void_p(memory.ctypes.data + 4 * place) for place in places]
        return error(launcher(*pointers, ctypes.c_int64(N))).decode()

    return call


class Overlaps(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="kgen_overlaps_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def check_any(self, outputs, other):
        call = built(self.folder, outputs, "y{i} = x;")
        apart = [N * i for i in range(outputs + 1)]
        last = apart[-1]
        self.assertEqual(call(apart), "success")
        self.assertEqual(call([last, *apart[1:]]), "success")  # exactly the input
        refused = f"y{outputs - 1} must not overlap " + other("x")
        self.assertEqual(call([last + 1, *apart[1:]]), refused)
        self.assertEqual(call([last + N - 1, *apart[1:]]), refused)
        refused = "y0 must not overlap " + other(f"y{outputs - 1}")
        self.assertEqual(call([*apart[:-1], apart[1] + N - 1]), refused)
        self.assertEqual(call([*apart[:-1], apart[1]]), refused)

    def check_not_the_input(self, last, others="y{i} = 1;"):
        for outputs, other in ((2, "x"), (30, "another array")):
            with self.subTest(last, outputs=outputs):
                call = built(self.folder, outputs, last, others)
                places = [N * i for i in range(outputs + 1)]
                self.assertEqual(call(places), "success")
                for i in range(outputs):
                    self.assertEqual(call([places[i + 1], *places[1:]]), f"y{i} must not overlap {other}")

    def test_few(self):
        self.check_any(2, lambda other: other)

    def test_many(self):
        self.check_any(30, lambda other: "another array")

    def test_what_reads_other_elements_may_not_write_over_its_input(self):
        self.check_not_the_input("y{i} = at(x, N = size(N) - 1 - index(N));")

    def test_what_others_read_may_not_be_written_over(self):
        self.check_not_the_input("y{i} = x;", "y{i} = x + 1;")
        self.check_not_the_input("real a{i} = x; y{i} = 2; y0 = a{i};")
        self.check_not_the_input("y{i} = 0; for (int k = 0; k < 2; ++k) y{i} += x;")
        self.check_not_the_input("y{i} = 0; if (x > 0) y{i} = 1;")


if __name__ == "__main__":
    unittest.main()
