"""Debugging a kernel: asserts that fail, prints, traces of values, and what the caller must keep."""

import re
import unittest

from sandbox import Sandbox

ROWS = """kernel = "rows"
doc = "each row over its maximum"
scalars.limit = "f32"
inputs.x = "f32[M, N]"
outputs.y = "f32[M, N]"
grid.i = { axis = "M", block = 2 }
body = '''
real most = max(x, N);
y = x / most;
'''
"""


PICKED = """kernel = "picked"
doc = "rows that a table picks"
tables.t = { type = "i32[T]", where = "host" }
inputs.x = { type = "f32[R=M, N]", block = [1, "whole"], index = ["t[s]", 0] }
outputs.y = { type = "f32[R=T, N]", block = [1, "whole"], index = ["s", 0] }
grid.s = { size = "T" }
body = '''
print("first");
y = x;
'''
"""


def with_body(*lines):
    head = ROWS.split("body")[0]
    return head + "body = '''\n" + "\n".join(lines) + "\n'''\n"


class Debugging(Sandbox):
    def run_rows(self, text, *options, code=0):
        import numpy
        self.write("rows.toml", text)
        numpy.save(self.folder / "x.npy", numpy.array([[1, 2, 4], [8, -2, 4], [3, 3, -6]], numpy.float32))
        return self.kgen("run", "rows.toml", "--in", "x=x.npy", "--scalar", "limit=3", *options, code=code)

    def emitted(self, text, folder):
        self.write("rows.toml", text)
        self.kgen("rows.toml", "-o", folder)
        return [(self.folder / folder / name).read_text() for name in ("rows_openmp.cpp", "rows_cuda.cu", "rows.h")]

    def test_a_failed_assert_names_place_element_and_values(self):
        done = self.run_rows(with_body("real most = max(x, N);", "y = x / most;", "assert(x < limit && most > 0);"),
                             code=1)
        self.assertEqual(done.stderr.splitlines(), [
            "kgen: rows.toml:10:1: this assert fails at i = 1, M = 2, N = 0: limit is 3, most is 3, x is 3 "
            "(and for 4 elements more)"])
        self.assertIn("y: f32[3, 3] =", done.stdout)

    def test_an_assert_under_a_condition_and_in_a_function(self):
        text = with_body("if (x < 0) assert(positive(x) > 7);", "y = x;")
        text += "functions = '''\nreal positive(real v) {\n  assert(v > -5);\n  return -v;\n}\n'''\n"
        done = self.run_rows(text, code=1)
        self.assertEqual(done.stderr.splitlines(), [
            "kgen: rows.toml:13:3: this assert fails at i = 1, M = 2, N = 2: x is -6",
            "kgen: rows.toml:8:12: this assert fails at i = 1, M = 2, N = 2: x is -6 (and for 1 element more)"])

    def test_verify_fails_where_an_assert_fails(self):
        self.write("rows.toml", with_body("assert(size(N) < 64);", "y = x + limit;"))
        done = self.kgen("verify", "rows.toml", "--seeds", "1", code=1)
        self.assertRegex(done.stderr, r"kgen: M=\d+ N=\d+, seed 1: .*rows.toml:8:1: this assert fails at .*size\(N\) is ")
        self.write("rows.toml", with_body("assert(size(N) < 100000);", "y = x + limit;"))
        self.kgen("verify", "rows.toml", "--seeds", "1", "--size", "M=3,N=5")

    def test_prints_show_texts_and_values_with_their_place(self):
        done = self.run_rows(with_body("real most = max(x, N);", 'print("most of a row:", most, most > limit);',
                                       'if (x < 0) print("below 0", x);', "y = x / most;"))
        self.assertEqual(done.stdout.splitlines()[:5], [
            "i = 1, M = 2: most of a row: 3 false", "i = 1, M = 2, N = 2: below 0 -6",
            "i = 0, M = 0: most of a row: 4 true", "i = 0, M = 1: most of a row: 8 true",
            "i = 0, M = 1, N = 1: below 0 -2"])

    def test_prints_are_limited_and_filtered(self):
        text = with_body('print("x", x);', "y = x;")
        self.assertEqual(self.run_rows(text, "--limit", "2", "--at", "i=0").stdout.splitlines()[:3], [
            "i = 0, M = 0, N = 0: x 1", "i = 0, M = 0, N = 1: x 2",
            "... and 4 more lines of the print in line 8, column 1"])
        self.assertEqual(self.run_rows(text, "--at", "M=1,N=2").stdout.splitlines()[0], "i = 0, M = 1, N = 2: x 4")
        self.assertIn("no such axis", self.run_rows(text, "--at", "K=1", code=3).stderr)

    def test_prints_and_asserts_change_no_code_that_is_emitted(self):
        """The header quotes the body in a comment, with what is left out of the code."""
        def code(texts):
            return [re.sub(r"^//.*\n", "", text, flags=re.M) for text in texts]

        with_reports = with_body(
            "real most = max(x, N);", "real shown = exp(most) * 2;", 'if (shown > 1) print("it is", shown);',
            "for (int i2 = 0; i2 < 3; ++i2) { if (x > i2) break; print(i2); }", "assert(most > sum(x, N));",
            "y = x / most;")
        self.assertEqual(code(self.emitted(with_reports, "with")), code(self.emitted(ROWS, "without")))

    def test_lint_says_that_prints_are_left_out(self):
        self.write("rows.toml", with_body('print("x", x);', "y = x + limit;").replace("grid", "# grid"))
        self.assertIn("warning[KG0507]: this `print` is left out of emitted code\n --> rows.toml:8:1",
                      self.kgen("lint", "rows.toml", code=1).stderr)

    def test_a_trace_shows_named_locals_at_each_step(self):
        text = with_body("real most = max(x, N);", "real part = x / most;", "y = part;")
        done = self.run_rows(text, "--trace", "values", "--at", "M=1").stdout.splitlines()
        self.assertEqual(done[:4], [
            "i = 0, M = 1: most = 8", "i = 0, M = 1, N = 0: part = 1", "i = 0, M = 1, N = 1: part = -0.25",
            "i = 0, M = 1, N = 2: part = 0.5"])
        done = self.run_rows(text, "--trace", "most,y", "--at", "i=1,N=0").stdout.splitlines()
        self.assertEqual(done[:2], ["i = 1, M = 2, N = 0: y = 1", "i = 1, M = 2: most = 3"])
        self.assertIn("there is no mist", self.run_rows(text, "--trace", "mist", code=3).stderr)
        self.assertIn("2:4", self.run_rows(text, "--trace", "steps").stdout.splitlines()[0])

    def test_a_trace_says_which_locals_are_empty(self):
        for grid in ("grid", "# grid"):
            self.write("rows.toml", with_body("bool some = x > 0;", "real most = max(x, N);", "y = x;").replace("grid", grid))
            done = self.kgen("run", "rows.toml", "--size", "M=2", "--size", "N=0", "--trace", "values").stdout.splitlines()
            self.assertIn("some is empty: bool[M = 2, N = 0]", done)
            self.assertEqual(sum("most" in line for line in done), 2)

    def test_what_was_printed_before_an_error_is_shown(self):
        import numpy
        self.write("picked.toml", PICKED)
        numpy.save(self.folder / "x.npy", numpy.ones((3, 2), numpy.float32))
        numpy.save(self.folder / "t.npy", numpy.array([7, 1], numpy.int32))
        done = self.kgen("run", "picked.toml", "--in", "x=x.npy", "--in", "t=t.npy", code=1)
        self.assertEqual(done.stdout.splitlines(), ["s = 1: first"])
        self.assertIn("the window of `x` along R lies outside: it starts at 7 of 3", done.stderr)

    def test_requirements_are_checked_by_the_interpreter(self):
        text = with_body('require(size(N) < 3, "a row has at most 2 elements");', "y = x + limit;")
        self.assertIn("rows.toml:8:1: a row has at most 2 elements", self.run_rows(text, code=1).stderr)
        text = with_body('require(limit > 3 || size(M) == 4, "the limit is above 3");', "y = x + limit;")
        self.assertIn("rows.toml:8:1: the limit is above 3", self.run_rows(text, code=1).stderr)
        self.run_rows(text.replace("limit > 3", "limit >= 3"))

    def test_requirements_are_checked_by_launchers(self):
        text = with_body('require(size(N) % 4 == 0 && limit > 0, "N is a multiple of 4, the limit positive");', "y = x;")
        self.write("rows.toml", text)
        done = self.kgen("run", "rows.toml", "--target", "openmp", "--size", "M=3,N=5", "--scalar", "limit=1", code=1)
        self.assertIn("N is a multiple of 4, the limit positive", done.stderr)
        self.kgen("run", "rows.toml", "--target", "openmp", "--size", "M=3,N=8", "--scalar", "limit=1")
        for text in self.emitted(text, "out")[:2]:
            self.assertIn("if (!(N % 4 == 0 && limit > 0.0f)) return", text)

    def test_requirements_of_rows_hold_for_every_row(self):
        self.write("packed.toml", """kernel = "packed"
axes.N = { ragged = "start", over = "B" }
tables.start = "i64[B + 1]"
inputs.target = "f32[B, N]"
inputs.pred = "f32[B, P]"
outputs.loss = "f32[B]"
body = '''
require(size(N) <= size(P), "a row is no longer than P");
loss = sum(target * at(pred, P = index(N)), N);
'''
""")
        import numpy
        numpy.save(self.folder / "start.npy", numpy.array([0, 2, 3, 7], numpy.int64))
        for target in ("interpret", "openmp"):
            options = ["packed.toml", "--target", target, "--in", "start=start.npy", "--size", "N=7", "--size"]
            self.assertIn("a row is no longer than P", self.kgen("run", *options, "P=3", code=1).stderr)
            self.kgen("run", *options, "P=4")
        self.kgen("verify", "packed.toml", "--seeds", "2")


if __name__ == "__main__":
    unittest.main()
