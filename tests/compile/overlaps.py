"""Launchers refuse outputs that share memory with another array, and take those that do not or that are exactly an
input: few arrays, which have a check for each pair, and many, which are listed. CUDA code runs on the model of a GPU.

Usage: overlaps.py KGEN MODEL MODEL_LIBRARY
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

KGEN, MODEL, MODEL_LIBRARY = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
N = 5


def compiled(folder, name, text):
    """The library of a spec, for both targets, and what says the meaning of a status."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))  # a path is loaded once, whatever lies there later
    spec = folder / f"{name}.toml"
    spec.write_text(text)
    subprocess.run([KGEN, spec, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    library = folder / f"{name}.so"
    files = [folder / f"{name}_openmp.cpp", folder / f"{name}_cuda.cu"]
    subprocess.run(["g++", "-std=c++17", "-Wno-unknown-pragmas", "-isystem", MODEL / "include", "-shared", "-fPIC",
                    "-o", library, "-x", "c++", *files, "-x", "none", MODEL_LIBRARY], check=True)
    library = ctypes.CDLL(str(library))
    error = getattr(library, f"{name}_error")
    error.restype = ctypes.c_char_p
    return library, error


def said(library, error, name, arguments):
    openmp = error(getattr(library, f"{name}_openmp")(*arguments)).decode()
    cuda = error(getattr(library, f"{name}_cuda")(*arguments, ctypes.c_void_p())).decode()
    return openmp if openmp == cuda else (openmp, cuda)


def built(folder, outputs, last, others="y{i} = 1;", inputs="x"):
    """A function of the inputs and so many outputs, given the place of each array in one memory; `last` writes the last
    output. It returns what the launchers of both targets say."""
    name = f"k{outputs}"
    names = [f"inputs.{x}" for x in inputs] + [f"outputs.y{i}" for i in range(outputs)]
    arrays = "".join(f'{name} = "f32[N]"\n' for name in names)
    text = "".join((last if i == outputs - 1 else others).format(i=i) + "\n" for i in range(outputs))
    library, error = compiled(folder, name, f"kernel = \"{name}\"\n{arrays}body = '''\n{text}'''\n")

    def call(places):
        memory = numpy.zeros(N * (len(names) + 1), numpy.float32)
        pointers = [ctypes.c_void_p(memory.ctypes.data + 4 * place) for place in places]
        return said(library, error, name, [*pointers, ctypes.c_int64(N)])

    return call


class Overlaps(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="kgen_overlaps_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_elements_of_an_output_lie_apart(self):
        library, error = compiled(self.folder, "strided", """kernel = "strided"
inputs.x = { type = "f32[M, N]", layout = "strided" }
outputs.z = { type = "f32[M, N]", layout = "strided" }
body = 'z = x;'
""")
        x, z = numpy.ones(1, numpy.float32), numpy.zeros(1000, numpy.float32)

        def call(*sizes):
            pointers = [ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(z.ctypes.data + 2000)]
            numbers = [ctypes.c_int64(number) for number in (*sizes[:2], 0, 0, *sizes[2:])]
            return said(library, error, "strided", [*pointers, *numbers])

        for sizes in ((5, 7, 7, 1), (5, 7, 1, 5), (5, 7, -7, 1), (5, 7, 2, -10), (1, 7, 0, 1), (5, 1, 1, 0), (0, 7, 0, 0)):
            self.assertEqual(call(*sizes), "success", sizes)
        for sizes in ((5, 7, 6, 1), (5, 7, 0, 1), (5, 7, 1, 1), (5, 7, 1, -4), (2, 3, 3, 2), (5, 7, 1 << 62, 1),
                      (2, 2, -1 << 63, 1)):
            self.assertEqual(call(*sizes), "the strides of z must keep its elements apart, in memory", sizes)

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

    def test_what_is_the_input_may_not_overlap_another(self):
        for outputs, other in ((2, "w"), (30, "another array")):
            with self.subTest(outputs=outputs):
                call = built(self.folder, outputs, "y{i} = x + at(w, N = size(N) - 1 - index(N));", inputs="xw")
                x, w, *apart = [N * i for i in range(outputs + 2)]
                last = apart[-1]
                self.assertEqual(call([last, w, *apart]), "success")
                refused = f"y{outputs - 1} must not overlap {other}"
                self.assertEqual(call([last, last + 1, *apart]), refused)
                self.assertEqual(call([x, last, *apart]), refused)

    def test_what_reads_other_elements_may_not_write_over_its_input(self):
        self.check_not_the_input("y{i} = at(x, N = size(N) - 1 - index(N));")

    def test_what_others_read_may_not_be_written_over(self):
        self.check_not_the_input("y{i} = x;", "y{i} = x + 1;")
        self.check_not_the_input("real a{i} = x; y{i} = 2; y0 = a{i};")
        self.check_not_the_input("y{i} = 0; for (int k = 0; k < 2; ++k) y{i} += x;")
        self.check_not_the_input("y{i} = 0; if (x > 0) y{i} = 1;")


if __name__ == "__main__":
    unittest.main()
