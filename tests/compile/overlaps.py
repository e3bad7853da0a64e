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
    said = f'extern "C" const char* said(int status) {{ return {name}_error(status); }}'
    (folder / "said.cpp").write_text(f'#include "{name}.h"\n{said}\n')
    files = [folder / f"{name}_openmp.cpp", folder / f"{name}_cuda.cu", folder / "said.cpp"]
    subprocess.run(["g++", "-std=c++17", "-Wno-unknown-pragmas", "-isystem", MODEL / "include", "-shared", "-fPIC",
                    "-o", library, "-x", "c++", *files, "-x", "none", MODEL_LIBRARY], check=True)
    library = ctypes.CDLL(str(library))
    library.said.restype = ctypes.c_char_p
    return library, library.said


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
            self.assertEqual(call(*sizes), "the strides of z must each step past what the shorter ones reach", sizes)

    def strided(self):
        """A function of arrays with strides in one memory: y = 2 * x, called with where each begins, its sizes and strides."""
        library, error = compiled(self.folder, "doubled", """kernel = "doubled"
inputs.x = { type = "f32[M, N]", layout = "strided" }
inputs.d = "f32[M, N]"
outputs.y = { type = "f32[M, N]", layout = "strided" }
body = 'y = 2 * x + 0 * d;'
""")
        memory = numpy.zeros(4000, numpy.float32)

        def call(M, N, x, x_strides, y, y_strides, d=3000):
            pointers = [ctypes.c_void_p(memory.ctypes.data + 4 * place) for place in (x, d, y)]
            numbers = [ctypes.c_int64(number) for number in (M, N, *x_strides, *y_strides)]
            return said(library, error, "doubled", [*pointers, *numbers])

        return call

    def test_arrays_with_strides_share_no_element(self):
        call = self.strided()
        for x, x_strides, y, y_strides in (
            (0, (20, 1), 0, (20, 1)),       # exactly the input
            (0, (20, 1), 10, (20, 1)),      # the other half of each row
            (0, (20, 2), 1, (20, 2)),       # every second column
            (0, (40, 1), 20, (40, 1)),      # every second row
            (0, (1, 40), 20, (1, 40)),
            (999, (-20, -1), 1000, (20, 1)),
            (0, (0, 0), 1, (20, 1)),        # one number for all
        ):  # fmt: skip
            self.assertEqual(call(10, 10, x, x_strides, y, y_strides), "success", (x, x_strides, y, y_strides))
        for x, x_strides, y, y_strides in (
            (0, (10, 1), 0, (1, 10)),       # rows for columns
            (0, (10, 1), 1, (10, 1)),
            (0, (20, 1), 9, (20, 1)),       # the last column is the other's first
            (0, (20, 2), 2, (20, 2)),
            (99, (-10, -1), 0, (10, 1)),    # the same, backwards
            (0, (20, 1), 5, (40, 1)),
            (0, (0, 0), 0, (20, 1)),
        ):  # fmt: skip
            self.assertEqual(call(10, 10, x, x_strides, y, y_strides), "y must not overlap x", (x, x_strides, y, y_strides))
        self.assertEqual(call(10, 10, 0, (0, 0), 500, (10, 1), 500), "success")  # exactly the dense one
        self.assertEqual(call(10, 10, 0, (0, 0), 500, (20, 1), 500), "y must not overlap d")
        self.assertEqual(call(10, 10, 0, (0, 0), 500, (1, 10), 500), "y must not overlap d")
        self.assertEqual(call(1, 10, 0, (7, 1), 0, (9, 1)), "success")  # one row, however far the next one would be

    def test_strides_of_inputs_lead_to_places_that_can_be_counted(self):
        call = self.strided()
        for strides in ((1 << 62, 1), (-(1 << 63), 1), (1, (1 << 63) - 1)):
            self.assertEqual(call(10, 10, 0, strides, 500, (10, 1)), "the strides of x lead further than can be counted")
        self.assertEqual(call(1, 10, 0, (-(1 << 63), 1), 500, (10, 1)), "success")

    def test_outputs_lie_on_no_table(self):
        library, error = compiled(self.folder, "less", """kernel = "less"
axes.N = { ragged = "row_start", over = "B" }
tables.row_start = { type = "i64[B + 1]", where = "host" }
inputs.x = "f32[B, N]"
outputs.y = "f32[B, N]"
body = 'y = x - 1;'
""")
        B, N = 4, 40
        table, memory = numpy.arange(B + 1) * (N // B), numpy.zeros(300, numpy.float32)
        memory[:2 * B + 2] = table.astype(numpy.int64).view(numpy.float32)
        for y, answer in ((100, "success"), (0, "y must not overlap row_start"), (2 * B + 1, "y must not overlap row_start"),
                          (2 * B + 2, "success")):  # fmt: skip
            pointers = [ctypes.c_void_p(memory.ctypes.data + 4 * place) for place in (0, 200, y)]
            self.assertEqual(said(library, error, "less", [*pointers, ctypes.c_int64(B), ctypes.c_int64(N)]), answer, y)

    def test_the_workspace_lies_on_no_array(self):
        library, error = compiled(self.folder, "total", """kernel = "total"
axes.N = { ragged = "row_start", over = "B" }
tables.row_start = { type = "i64[B + 1]", where = "host" }
inputs.x = { type = "f32[M]", layout = "strided" }
inputs.r = "f32[B, N]"
outputs.y = "f32[]"
outputs.z = "f32[B]"
body = 'y = sum(x, M); z = sum(r, N) + sum(r, B, N);'
""")
        M, B, N = 1000, 3, 30
        memory = numpy.zeros(40000, numpy.float32)
        memory[:8] = numpy.array([0, 10, 20, 30], numpy.int64).view(numpy.float32)
        sizes = [ctypes.c_int64(size) for size in (B, M, N)]
        for target, queue in (("openmp", []), ("cuda", [ctypes.c_void_p()])):
            query, function = getattr(library, f"total_{target}_workspace"), getattr(library, f"total_{target}")
            query.restype = ctypes.c_int64
            bytes_needed = query(*sizes)
            self.assertGreater(bytes_needed, 0)
            self.assertLess(bytes_needed, 4 * 20000)
            places = {"row_start": 0, "x": 64, "r": 4000, "y": 4100, "z": 4200}
            pointers = [ctypes.c_void_p(memory.ctypes.data + 4 * place) for place in places.values()]
            refused = "the workspace must not overlap "
            for at, answer in (*((place, refused + name) for name, place in places.items()),
                               (64 + 3 * (M - 4), refused + "x"), (8000, "success")):  # fmt: skip
                workspace = [ctypes.c_void_p(memory.ctypes.data + 4 * at), ctypes.c_int64(bytes_needed)]
                status = function(*pointers, *sizes, ctypes.c_int64(3), *workspace, *queue)
                self.assertEqual(error(status).decode(), answer, (target, at))

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
                self.assertEqual(call([last, last, *apart]), refused)

    def test_what_reads_other_elements_may_not_write_over_its_input(self):
        self.check_not_the_input("y{i} = at(x, N = size(N) - 1 - index(N));")

    def test_what_others_read_may_not_be_written_over(self):
        self.check_not_the_input("y{i} = x;", "y{i} = x + 1;")
        self.check_not_the_input("real a{i} = x; y{i} = 2; y0 = a{i};")
        self.check_not_the_input("y{i} = 0; for (int k = 0; k < 2; ++k) y{i} += x;")
        self.check_not_the_input("y{i} = 0; if (x > 0) y{i} = 1;")


if __name__ == "__main__":
    unittest.main()
