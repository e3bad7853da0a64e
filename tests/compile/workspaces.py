"""Workspaces of OpenMP functions, and who may call these: a workspace is asked for without regard to how many threads
there are, one that is smaller limits the team and keeps the bits, and threads of a caller's team may each have a call.

Their objects have symbols of their own alone.

Usage: workspaces.py KGEN SPECS
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

KGEN, SPECS = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
WORKSPACE_SMALL = 18
GUARD = 0xA5
CALLS_FROM_A_TEAM = """#include "softmax.h"
#include <cmath>
#include <cstddef>
#include <omp.h>
#include <vector>
// Rows of the short form, of one vector and of many; few of them, which start no threads, and many.
int main() {
  omp_set_num_threads(4);
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int64_t rows : {3, 700})
    for (int64_t N : {5, 40, 700}) {
      std::vector<float> x(std::size_t(rows * N)), y(x.size(), -1);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 7) + float(omp_get_thread_num());
      wrong += softmax_f32_openmp(x.data(), y.data(), rows, N, nullptr, 0) != 0;
      for (int64_t row = 0; row < rows; ++row) {
        float sum = 0;
        for (int64_t n = 0; n < N; ++n) sum += y[std::size_t(row * N + n)];
        wrong += !(std::fabs(sum - 1) < 1e-4f);
      }
    }
  return wrong == 0 ? 0 : 1;
}
"""

# A call's loops are its own, whatever loop its caller is in.
CALLS_FROM_A_LOOP = """#include "giou_loss_ragged.h"
#include <cstdio>
#include <omp.h>
int main() {
  const float box[4] = {0, 0, 1, 1};
  const int64_t start[2] = {0, 1};
  for (int threads = 1; threads <= 2; ++threads) {
    omp_set_num_threads(threads);
    int done = 0, wrong = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : done, wrong)
    for (int call = 0; call < 100; ++call) {
      float giou = -2, picture = -2, loss = -2;
      wrong += giou_loss_ragged_f32_openmp(start, box, box, &giou, &picture, &loss, 1, 1, nullptr, 0) != 0 || giou != 1 || picture != 0 || loss != 0;
      ++done;
    }
    if (done != 100 || wrong != 0) {
      std::printf("%d threads: %d calls, %d wrong\\n", threads, done, wrong);
      return 1;
    }
  }
  return 0;
}
"""


def generate(folder, spec):
    subprocess.run([KGEN, SPECS / spec, "-o", folder], check=True, stdout=subprocess.DEVNULL)


class Workspaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="kgen_workspaces_")
        cls.folder = pathlib.Path(cls.temporary.name)
        generate(cls.folder, "norm/softmax.toml")
        generate(cls.folder, "giou/loss_ragged.toml")
        for name in ("softmax", "giou_loss_ragged"):
            subprocess.run(["g++", "-std=c++17", "-O1", "-fopenmp", "-fPIC", "-march=native", "-c",
                            cls.folder / f"{name}_openmp.cpp", "-o", cls.folder / f"{name}.o"], check=True)  # fmt: skip
        objects = [cls.folder / f"{name}.o" for name in ("softmax", "giou_loss_ragged")]
        subprocess.run(["g++", "-shared", "-fopenmp", *objects, "-o", cls.folder / "both.so"], check=True)
        cls.library = ctypes.CDLL(str(cls.folder / "both.so"))
        cls.openmp = ctypes.CDLL("libgomp.so.1")
        for function in (cls.library.softmax_f32_openmp_workspace, cls.library.giou_loss_ragged_f32_openmp_workspace):
            function.restype = ctypes.c_int64
            function.argtypes = [ctypes.c_int64, ctypes.c_int64]

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def tearDown(self):
        self.openmp.omp_set_num_threads(4)

    def softmax(self, x, given=None):
        """The status and the result, with a workspace of so many bytes, or none. Nothing behind them is written."""
        rows, size = x.shape
        y = numpy.zeros_like(x)
        memory = numpy.full((given or 0) + 4096, GUARD, numpy.uint8)
        status = self.library.softmax_f32_openmp(
            x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(rows),
            ctypes.c_int64(size), None if given is None else memory.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int64(given or 0))  # fmt: skip
        self.assertTrue((memory[given or 0 :] == GUARD).all(), "written behind the workspace")
        return status, y

    def least(self, x, most):
        """The fewest bytes that are taken: found by halving."""
        low, high = 0, most
        while low < high:
            middle = (low + high) // 2
            if self.softmax(x, middle)[0] == 0:
                high = middle
            else:
                low = middle + 1
        return low

    def test_the_bytes_are_the_same_for_any_number_of_threads(self):
        asked = set()
        for threads in (1, 3, 200):
            self.openmp.omp_set_num_threads(threads)
            asked.add(self.library.softmax_f32_openmp_workspace(100, 500))
        self.assertEqual(len(asked), 1, asked)

    def test_each_piece_has_a_slot_up_to_64(self):
        """Behind what all share lies a slot for each row, as each worker keeps the exponentials of one."""
        size = 500
        slot = (size * 4 + 63) // 64 * 64
        for rows in (1, 2, 63, 64, 65, 300):
            x = numpy.ones((rows, size), numpy.float32)
            asked = self.library.softmax_f32_openmp_workspace(rows, size)
            self.assertEqual(asked - self.least(x, asked), (min(rows, 64) - 1) * slot, f"{rows} rows")

    def test_less_memory_limits_the_team_and_keeps_the_bits(self):
        x = numpy.random.default_rng(1).standard_normal((200, 500)).astype(numpy.float32)
        asked = self.library.softmax_f32_openmp_workspace(*x.shape)
        least = self.least(x, asked)
        self.openmp.omp_set_num_threads(1)
        expected = self.softmax(x)[1]
        for threads in (1, 4, 70):
            self.openmp.omp_set_num_threads(threads)
            for given in (None, least, least + 1, least + 2500, least + 5000, asked - 1, asked, asked + 9999):
                status, y = self.softmax(x, given)
                self.assertEqual(status, 0, f"{given} bytes for {threads} threads")
                self.assertTrue((y == expected).all(), f"{given} bytes for {threads} threads")
            self.assertEqual(self.softmax(x, least - 1)[0] & 255, WORKSPACE_SMALL)

    def test_partial_results_of_all_pieces_have_their_place(self):
        """A fold of the whole array has at most 256 pieces, whose results must be there for any number of threads."""
        self.assertGreaterEqual(self.library.giou_loss_ragged_f32_openmp_workspace(7, 1000), 256 * 4)

    def test_sizes_are_refused_and_never_overflow(self):
        for rows, size in ((-1, 5), (5, -1), (1 << 62, 1 << 62), (1 << 40, 1 << 40), ((1 << 63) - 1, 20)):
            asked = self.library.softmax_f32_openmp_workspace(rows, size)
            if rows < 0 or size < 0:
                self.assertLess(asked, 0)
            else:  # more than any machine has, and no sum that has wrapped around
                self.assertTrue(asked < 0 or asked >= 1 << 40, f"{rows} {size} {asked}")

    def test_objects_share_no_function_with_others(self):
        """Else a program might take that of an object that was compiled for another machine."""
        for name in ("softmax", "giou_loss_ragged"):
            symbols = subprocess.run(["nm", "--defined-only", self.folder / f"{name}.o"], capture_output=True, text=True,
                                     check=True).stdout.splitlines()  # fmt: skip
            weak = [line for line in symbols if line.split()[-2] in "VWuvw" and "personality" not in line]
            self.assertEqual(weak, [])
            public = [line.split()[-1] for line in symbols if line.split()[-2].isupper()]
            public = [symbol for symbol in public if "personality" not in symbol]
            self.assertTrue(all(symbol.startswith(f"{name}_") for symbol in public), public)
            self.assertIn(f"{name}_f32_openmp", public)

    def run_calls(self, text, name):
        (self.folder / "calls.cpp").write_text(text)
        program = self.folder / "calls"
        subprocess.run(["g++", "-std=c++17", "-O1", "-fopenmp", self.folder / "calls.cpp", self.folder / f"{name}.o",
                        "-o", program], check=True)  # fmt: skip
        done = subprocess.run([program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_threads_of_a_team_may_each_have_a_call(self):
        self.run_calls(CALLS_FROM_A_TEAM, "softmax")

    def test_rounds_of_a_loop_that_threads_share_may_each_have_a_call(self):
        self.run_calls(CALLS_FROM_A_LOOP, "giou_loss_ragged")


if __name__ == "__main__":
    unittest.main()
