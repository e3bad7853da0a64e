"""Statuses are the same for all kernels: a kind in bits 0 to 7, the argument that it is about in bits 8 to 17, a second one
in bits 18 to 27. The header explains them, in C too. CUDA code runs on the model of a GPU.

Usage: statuses.py KGEN MODEL MODEL_LIBRARY
"""

import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

KGEN, MODEL, MODEL_LIBRARY = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
TARGETS = ("openmp", "cuda")
# A caller may have these numbers in a log, or in a table of its own: no other number ever takes their meaning.
NEGATIVE_SIZE, SIZE_NOT_ALLOWED, TOO_LARGE, NULL, MISALIGNED, OVERLAP = 1, 2, 3, 4, 5, 6
TABLE_SORTED, TABLE_RANGE, REQUIRE = 11, 13, 17
WORKSPACE_SMALL, WORKSPACE_MISALIGNED, WORKSPACE_OVERLAP, CUDA_ERROR = 18, 19, 20, 22
WIDTHS = """kernel = "widths"
types.T = ["f32", "f64"]
axes.D = [3, 5]
axes.M.multiple_of = 2
tables.order = { type = "i32[M]", where = "host", sorted = true, range = "M" }
inputs.x = "T[M, D]"
inputs.bias = { type = "T[D]", optional = true }
outputs.y = "T[M, D]"
outputs.total = "T[M]"
scalars.most = "i32"
body = '''
require(most > 0, "most is positive");
require(order[index(M)] < most, "entries are less than most");
y = present(bias) ? x + bias : x;
total = sum(x, D);
'''
"""
TOTAL = """kernel = "total"
inputs.x = "f32[N]"
outputs.y = "f32[]"
body = 'y = sum(x, N) / size(N);'
"""


NO_WORKSPACE_NO_STREAM = [ctypes.c_void_p(), ctypes.c_int64(0), ctypes.c_void_p()]


def place(first, second=0):
    return first << 8 | second << 18


def compiled(folder, name, text):
    """The library of a spec for both targets, with `said`, which is what the header of C makes of a status."""
    spec = folder / f"{name}.toml"
    spec.write_text(text)
    subprocess.run([KGEN, spec, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    said = f"const char* said(int status) {{ return {name}_error(status); }}"
    (folder / "said.c").write_text(f'#include "{name}.h"\nconst char* said(int status);\n{said}\n')
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-fPIC"]
    subprocess.run(["gcc", *strict, "-c", "-o", folder / "said.o", folder / "said.c"], check=True)
    library = folder / f"{name}.so"
    subprocess.run(["g++", "-std=c++17", "-Wno-unknown-pragmas", "-isystem", MODEL / "include", "-shared", "-fPIC", "-o",
                    library, "-x", "c++", folder / f"{name}_openmp.cpp", folder / f"{name}_cuda.cu", "-x", "none",
                    folder / "said.o", MODEL_LIBRARY], check=True)  # fmt: skip
    library = ctypes.CDLL(str(library))
    library.said.restype = ctypes.c_char_p
    return library


class Statuses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="kgen_statuses_")
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.widths = compiled(cls.folder, "widths", WIDTHS)
        cls.total = compiled(cls.folder, "total", TOTAL)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def call(self, form="f32", order=(0, 0, 1, 3), most=4, M=4, D=3, **moved):
        """The status of both targets, which is the same. `moved`: the byte at which an array starts, or None for null."""
        memory = numpy.zeros(4096, numpy.uint8)
        start = {"order": 0, "x": 512, "bias": 1024, "y": 1536, "total": 2048} | moved
        base = memory.ctypes.data + -memory.ctypes.data % 64
        offset = base - memory.ctypes.data
        memory[offset : offset + 16] = numpy.array(order, numpy.int32).view(numpy.uint8)
        pointers = {name: None if at is None else base + at for name, at in start.items()}
        arguments = [ctypes.c_void_p(pointers[name]) for name in ("order", "x", "bias", "y", "total")]
        arguments += [ctypes.c_int32(most), ctypes.c_int64(M), ctypes.c_int64(D)]
        statuses = {
            getattr(self.widths, f"widths_{form}_{target}")(*arguments, *NO_WORKSPACE_NO_STREAM * (target == "cuda"))
            for target in TARGETS
        }
        self.assertEqual(len(statuses), 1, statuses)
        return statuses.pop()

    def check(self, number, text, **arguments):
        for form in ("f32", "f64"):
            status = self.call(form, **arguments)
            self.assertEqual((status, self.widths.said(status).decode()), (number, text))

    def test_a_status_is_a_kind_and_arguments(self):
        self.check(0, "success")
        self.check(0, "success", bias=None)
        self.check(NEGATIVE_SIZE | place(7), "M must not be negative", M=-2)
        self.check(SIZE_NOT_ALLOWED | place(7), "M must be a multiple of 2", M=3)
        self.check(SIZE_NOT_ALLOWED | place(8), "D must be one of the sizes that this was made for", D=4)
        self.check(NEGATIVE_SIZE | place(8), "D must not be negative", D=-3)
        self.check(TOO_LARGE | place(1), "order has more bytes than can be counted", M=1 << 62)
        self.check(NULL | place(4), "y must not be null", y=None)

    def test_an_array_lies_at_a_multiple_of_its_elements_size(self):
        for number, name in ((2, "x"), (3, "bias"), (4, "y"), (5, "total")):
            self.check(MISALIGNED | place(number), f"{name} must lie at a multiple of its element's size",
                       **{name: 512 * number + 2})  # fmt: skip
        self.assertEqual(self.call("f32", x=516), 0)
        self.assertEqual(self.call("f64", x=516), MISALIGNED | place(2))

    def test_overlaps_name_both_arrays(self):
        self.check(OVERLAP | place(4, 5), "y must not overlap total", total=1544)
        self.check(OVERLAP | place(4, 1), "y must not overlap order", y=8)
        self.check(OVERLAP | place(5, 3), "total must not overlap bias", total=1032)

    def test_facts_of_tables_and_requirements(self):
        self.check(TABLE_SORTED | place(1), "entries of order must not fall", order=(0, 1, 0, 2))
        self.check(TABLE_RANGE | place(1), "entries of order must be at least 0 and less than M", order=(0, 1, 2, 4), most=9)
        self.check(REQUIRE | place(1), "most is positive", most=0)
        self.check(REQUIRE | place(2), "entries are less than most", most=3)

    def test_workspaces(self):
        N = 100_000
        x, y, spare = numpy.ones(N, numpy.float32), numpy.zeros(1, numpy.float32), numpy.zeros(1 << 16, numpy.uint8)
        for target in TARGETS:
            query, function = (getattr(self.total, f"total_{target}{end}") for end in ("_workspace", ""))
            query.restype = ctypes.c_int64
            needed = query(ctypes.c_int64(N))
            self.assertTrue(0 < needed < spare.nbytes - 64, needed)
            aligned = spare.ctypes.data + -spare.ctypes.data % 64

            def call(memory, given=needed):
                arrays = [ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)]
                workspace = [ctypes.c_void_p(memory), ctypes.c_int64(given)]
                status = function(*arrays, ctypes.c_int64(N), *workspace, *[ctypes.c_void_p()] * (target == "cuda"))
                return status, self.total.said(status).decode()

            self.assertEqual(call(None, 0), (0, "success"))
            self.assertEqual(call(aligned), (0, "success"))
            self.assertEqual(y[0], 1)
            self.assertEqual(call(aligned, needed - 1), (WORKSPACE_SMALL, "the workspace is too small"))
            self.assertEqual(call(aligned, -1), (WORKSPACE_SMALL, "the workspace is too small"))
            refused = (WORKSPACE_MISALIGNED, "the workspace must lie at a multiple of 16 bytes")
            self.assertEqual(call(aligned + 4), refused if target == "cuda" else (0, "success"))
            at_x = x.ctypes.data + -x.ctypes.data % 64
            self.assertEqual(call(at_x), (WORKSPACE_OVERLAP | place(1), "the workspace must not overlap x"))

    def test_the_bytes_of_a_workspace_for_wrong_sizes_are_a_status(self):
        for target in TARGETS:
            query = getattr(self.total, f"total_{target}_workspace")
            query.restype = ctypes.c_int64
            for size in (-1, -(1 << 63)):
                self.assertEqual(query(ctypes.c_int64(size)), -(NEGATIVE_SIZE | place(3)))

    def test_errors_of_cuda_are_in_the_status(self):
        text = (self.folder / "total.h").read_text()
        self.assertIn(f"#define KGEN_CUDA_ERROR {CUDA_ERROR}", text)
        self.assertIn("a CUDA call failed", self.total.said(CUDA_ERROR | 719 << 8).decode())
        (self.folder / "failed.cpp").write_text("""#include "total.h"
#include "kgen_cuda.h"
int main() { return kgen_cuda::cuda_status(cudaErrorInvalidValue) >> 8; }
""")
        program = self.folder / "failed"
        subprocess.run(["g++", "-std=c++17", "-Wno-unknown-pragmas", "-isystem", MODEL / "include", "-o", program,
                        self.folder / "failed.cpp", MODEL_LIBRARY], check=True)  # fmt: skip
        self.assertEqual(subprocess.run([program]).returncode, 1)  # cudaErrorInvalidValue

    def test_kinds_keep_their_numbers(self):
        kinds = dict(re.findall(r"#define KGEN_(\w+) (\d+)", (self.folder / "total.h").read_text()))
        names = """NEGATIVE_SIZE SIZE_NOT_ALLOWED TOO_LARGE NULL MISALIGNED OVERLAP STRIDES STEPS WINDOW TABLE_OUTSIDE
            TABLE_SORTED TABLE_UNIQUE TABLE_RANGE TABLE_OFFSETS TABLE_RETURN TABLE_CONFLICT REQUIRE WORKSPACE_SMALL
            WORKSPACE_MISALIGNED WORKSPACE_OVERLAP NO_MEMORY CUDA_ERROR""".split()
        for number, name in enumerate(names, 1):
            self.assertEqual(kinds[name], str(number))

    def test_cpp_callers_name_their_arguments(self):
        (self.folder / "named.cpp").write_text("""#include "total.h"
#include "widths.h"
#include <cstddef>
#include <vector>
int main() {
  std::vector<float> x(6, 2), y(6), total(2);
  const int32_t order[] = {0, 1};
  widths_f32_arguments arguments;
  arguments.x = x.data();
  arguments.y = y.data();
  arguments.total = total.data();
  arguments.order = order;
  arguments.most = 4;
  arguments.D = 3;
  arguments.M = 2;
  if (widths_openmp(arguments) != 0 || total[1] != 6 || widths_cuda(arguments, nullptr) != 0) return 1;
  std::vector<unsigned char> workspace(static_cast<std::size_t>(total_openmp_workspace(6)));
  total_arguments sum;
  sum.x = x.data();
  sum.y = y.data();
  sum.N = 6;
  sum.workspace = workspace.data();
  sum.workspace_bytes = static_cast<int64_t>(workspace.size()) - 1;
  if (total_openmp(sum) != KGEN_WORKSPACE_SMALL) return 2;
  ++sum.workspace_bytes;
  if (total_openmp(sum) != 0 || y[0] != 2) return 3;
  sum.workspace = nullptr;
  return total_openmp(sum) == 0 && total_cuda(sum, nullptr) == 0 ? 0 : 4;
}
""")
        program = self.folder / "named"
        sources = [self.folder / f"{name}_{target}" for name in ("total", "widths") for target in ("openmp.cpp", "cuda.cu")]
        subprocess.run(["g++", "-std=c++17", "-Wno-unknown-pragmas", "-isystem", MODEL / "include", "-o", program,
                        self.folder / "named.cpp", "-x", "c++", *sources, "-x", "none", MODEL_LIBRARY], check=True)  # fmt: skip
        self.assertEqual(subprocess.run([program]).returncode, 0)

    def test_functions_that_take_structs_hide_no_c_function(self):
        """Structs of bf16 and f16 are made of the same members, yet call functions of their own; a program that calls the
        functions of one target links without those of the other; and `&name` is the C function, whatever else has its name.
        """
        (self.folder / "halves.toml").write_text("""kernel = "halves"
types.T = ["bf16", "f16"]
inputs.x = "T[N]"
outputs.y = "T[N]"
body = 'y = x;'
""")
        subprocess.run([KGEN, self.folder / "halves.toml", "-o", self.folder], check=True, stdout=subprocess.DEVNULL)
        (self.folder / "halves_main.cpp").write_text("""#include "halves.h"
#include "total.h"
extern "C" int halves_bf16_openmp(const uint16_t*, uint16_t*, int64_t N) { return int(N) + 1; }
extern "C" int halves_f16_openmp(const uint16_t*, uint16_t*, int64_t N) { return int(N) + 2; }
extern "C" int total_openmp(const float*, float*, int64_t N, void*, int64_t) { return int(N) + 3; }
int main() {
  const halves_bf16_arguments bf16 = {nullptr, nullptr, 10};
  const halves_f16_arguments f16 = {nullptr, nullptr, 20};
  auto* const by_type = &halves_f16_openmp;
  auto* const alone = &total_openmp;
  total_arguments sum;
  sum.N = 30;
  return halves_openmp(bf16) == 11 && halves_openmp(f16) == 22 && by_type(nullptr, nullptr, 40) == 42 &&
                 alone(nullptr, nullptr, 50, nullptr, 0) == 53 && total_openmp(sum) == 33 ? 0 : 1;
}
""")
        strict = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
        for compiler, standard in (("g++", "17"), ("clang++-19", "20")):
            with self.subTest(compiler=compiler):
                program = self.folder / "halves_main"
                subprocess.run([compiler, f"-std=c++{standard}", *strict, "-o", program, self.folder / "halves_main.cpp"],
                               check=True)  # fmt: skip
                self.assertEqual(subprocess.run([program]).returncode, 0)

    def test_headers_of_two_kernels_go_together(self):
        (self.folder / "both.c").write_text('#include "total.h"\n#include "widths.h"\n#include "total.h"\n')
        subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                        self.folder / "both.c"], check=True)  # fmt: skip


if __name__ == "__main__":
    unittest.main()
