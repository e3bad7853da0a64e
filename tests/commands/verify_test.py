"""kgen verify says what it knows: nothing that was not compared passes, sizes come from the spec, and what depends on the
order of adding counts as undecided."""

import re
import unittest

from sandbox import Sandbox

# Blocks by index maps and grid sizes that round down: sizes that are no multiples of the blocks are refused.
BLOCKS = """kernel = "mm"
params.bm = 32
inputs.x = { type = "i8[M, K]", block = ["bm", "bm"], index = ["i", "k"] }
inputs.y = { type = "i8[K, N]", block = ["bm", "bm"], index = ["k", "j"] }
outputs.z = { type = "i32[M, N]", block = ["bm", "bm"], index = ["i", "j"] }
scratch.acc = "i32[M, N]"
grid.i = { size = "M / bm", semantics = "parallel" }
grid.j = { size = "N / bm", semantics = "parallel" }
grid.k = { size = "K / bm", semantics = "arbitrary" }
body = '''
if (first(k)) acc = 0;
acc += dot(x, y, K);
if (last(k)) z = acc;
'''
"""


class Verify(Sandbox):
    def verify(self, spec, *options, code=0):
        self.write("k.toml", spec)
        return self.kgen("verify", "k.toml", "--seeds", "1", *options, code=code)

    @staticmethod
    def compared(done):
        return int(re.search(r"(\d+) elements compared", done.stdout).group(1))

    def test_sizes_that_fit_the_blocks_of_a_spec_are_tried(self):
        self.assertGreater(self.compared(self.verify(BLOCKS)), 1000)

    def test_sizes_that_a_spec_requires_are_tried(self):
        spec = ('kernel = "k"\ninputs.x = "f32[H, D]"\ninputs.w = "f32[G, D2]"\noutputs.y = "f32[H, D]"\n'
                "body = 'require(size(D) == 2 * size(D2) && size(H) % size(G) == 0, \"halves in groups\"); "
                "y = x * at(w, G = index(H) % size(G), D2 = index(D) % size(D2));'\n")
        done = self.verify(spec)
        self.assertGreater(self.compared(done), 5000)
        self.assertIn(" 1 case refused by both", done.stdout.replace("1 cases", "1 case"))
        tried = re.findall(r"D=(\d+) D2=(\d+)", done.stdout)
        self.assertEqual(1, sum(int(size) != 2 * int(half) for size, half in tried), "one that both refuse")

    def test_where_all_that_fits_is_over_the_work_limit_the_least_of_it_runs(self):
        done = self.verify(BLOCKS.replace("bm = 32", "bm = 128"))
        self.assertGreaterEqual(self.compared(done), 128 * 128)

    def test_what_compared_nothing_has_no_verdict(self):
        done = self.verify(BLOCKS.replace("bm = 32", "bm = 128"), "--work", "1000", code=1)
        self.assertIn("no verdict: no element was compared", done.stderr)
        done = self.verify(BLOCKS, "--size", "M=0,N=0,K=32", code=1)
        self.assertIn("no element was compared", done.stderr)

    def test_sums_that_overflow_in_some_orders_only_are_undecided(self):
        for kind in ("y = sum(x * 3e38f, N);", "y = dot(x, x * 3e38f - 1e38f, N);"):
            with self.subTest(kind):
                spec = f'kernel = "k"\ninputs.x = "f32[M, N]"\noutputs.y = "f32[M]"\nbody = \'{kind}\'\n'
                done = self.verify(spec, "--data", "real", code=None)
                self.assertNotIn("they differ", done.stderr)
                self.assertGreater(int(re.search(r"(\d+) undecided", done.stdout).group(1)), 20)
                self.assertGreater(self.compared(done), 100)

    def test_so_are_sums_of_products_that_overflow_where_they_are_rounded(self):
        spec = ('kernel = "k"\ninputs.x = "f32[M, N]"\ninputs.w = "f32[M, N]"\noutputs.y = "f32[M]"\n'
                "body = 'y = dot(1.5e19f * x, 1.5e19f * w, N);'\n")
        self.write("k.toml", spec)
        done = self.kgen("verify", "k.toml", "--seeds", "3", code=None)
        self.assertNotIn("they differ", done.stderr)
        self.assertGreater(int(re.search(r"(\d+) undecided", done.stdout).group(1)), 20)

    def test_counts_are_bounded(self):
        for option in (["--seeds", "3000000000"], ["--seeds", "0"], ["--work", "-1"]):
            self.assertIn("takes a whole number", self.verify(BLOCKS, *option, code=3).stderr)


unittest.main()
