"""What messages say of the command line, and to those who know another language of kernels."""

import json
import unittest

from sandbox import ADD, Sandbox

COPY = 'kernel = "k"\ninputs.x = "f32[N]"\noutputs.y = "f32[N]"\n'


class Messages(Sandbox):
    def said(self, spec, *arguments, code=2):
        self.write("k.toml", spec)
        return self.kgen("k.toml", "-o", "out", *arguments, code=code).stderr

    # --- the command line ---

    def test_mistakes_of_definitions_are_shown_where_they_are(self):
        spec = COPY + "params.act = 'relu'\nparams.n = 3\ntypes.T = ['f32']\nbody = 'y = act(x) + n;'\n"
        for words, column in ((["-D", "act=swish"], 8), (["-D", "n=x"], 6), (["-D", "T=f23"], 6), (["-D", "q=1"], 4)):
            with self.subTest(words):
                said = self.said(spec, "-D", "n=2" if words[1] != "n=x" else "act=tanh", *words)
                self.assertIn(f"--> command line:2:{column}\n", said)
                self.assertIn(f"2 | -D {words[1]}\n", said)
                self.assertNotIn("k.toml", said)
        self.assertIn("silu", self.said(spec, "-D", "act=swish"))
        github = self.said(spec, "-D", "act=swish", "--message-format", "github")
        self.assertRegex(github, r"^::error title=KG")
        self.said(spec, "-D", "act=swish", "--sarif", "k.sarif")
        self.assertNotIn("locations", json.loads((self.folder / "k.sarif").read_text())["runs"][0]["results"][0])

    def test_what_is_given_twice_is_refused(self):
        self.write("add.toml", ADD)
        self.assertIn("-D T is given twice", self.kgen("add.toml", "-D", "T=f32", "-D", "T=f64", code=3).stderr)
        for sizes in (["--size", "N=3,N=4"], ["--size", "N=3", "--size", "N=3"]):
            self.assertIn("--size N is given twice", self.kgen("run", "add.toml", *sizes, code=3).stderr)
        self.kgen("run", "add.toml", "-D", "T=f32", "--size", "N=3", "--out", "z=z.npy")
        twice = ["--in", "x=z.npy", "--in", "x=z.npy"]
        self.assertIn("--in x is given twice", self.kgen("run", "add.toml", "-D", "T=f32", *twice, code=3).stderr)

    def test_numbers_out_of_range_are_refused(self):
        self.write("add.toml", ADD)
        for option in (["--seed", "99999999999999999999"], ["--seed", "-1"], ["--threads", "-1"], ["--threads", "1e3"]):
            self.assertIn("takes a whole number", self.kgen("run", "add.toml", "--size", "N=3", *option, code=3).stderr)
        self.assertIn("takes a whole number", self.kgen("add.toml", "-j", "0", code=3).stderr)

    def test_more_choices_than_documented_are_refused(self):
        spec = COPY + "params.p = [" + ", ".join(map(str, range(257))) + "]\nbody = 'y = x + p;'\n"
        self.assertIn("KG0140", self.said(spec))

    def test_with_json_each_line_of_the_messages_is_json(self):
        self.write("specs/add.toml", ADD)
        self.kgen("specs", "-o", "out")
        self.write("specs/add.toml", ADD.replace('"add"', '"sum"'))
        runs = [self.kgen("specs", "-o", "out", "--message-format", "json")]
        (self.folder / "out/add.h").write_text("by hand")
        runs.append(self.kgen("specs", "-o", "out", "--prune", "--message-format", "json"))
        runs.append(self.kgen("check", "specs", "-o", "out", "--message-format", "json", code=1))
        self.write("specs/add.toml", ADD.replace("body =", "body   ="))
        runs.append(self.kgen("fmt", "specs", "--check", "--message-format", "json", code=1))
        codes = []
        for run in runs:
            codes += [json.loads(line)["code"] for line in run.stderr.splitlines()]
        self.assertIn("KG0006", codes)
        self.assertIn("KG0007", codes)

    def test_templates_of_ones_own_are_checked_as_specs_are(self):
        self.write("add.toml", ADD)
        self.assertIn("--templates takes a folder", self.kgen("add.toml", "--templates", "/no/such", code=3).stderr)
        ours = self.kgen("add.toml", "-o", "out") and "{{{banner}}}"
        for text, reason in (("{{{banner}}}\n{{{bannner}}}\n", "bannner"), ("nothing\n", "is missing"), ("{{#x}}", "{{x}}")):
            self.write("mine/common/header.h", text)
            said = self.kgen("add.toml", "-o", "other", "--templates", "mine", code=4).stderr
            self.assertIn("KG0009", said)
            self.assertIn("mine/common/header.h", said)
            self.assertIn(reason, said)
        self.assertFalse((self.folder / "other").exists())
        self.assertTrue(ours)

    # --- words of others ---

    def test_words_of_pallas_and_triton_lead_to_their_page(self):
        grid = 'grid.i = { axis = "N", block = 4 }\n'
        for text in ("body = 'y[...] = x[...];'", "body = 'y = pl.program_id(0);'", "body = 'y = x * program_id(0);'",
                     "body = 'y = x + num_programs(0);'", "dimension_semantics = ['parallel']\nbody = 'y = x;'",
                     "body = 'y = tl.load(x);'", "in_specs = []\nbody = 'y = x;'"):
            with self.subTest(text):
                self.assertIn("docs/coming_from.md", self.said(COPY + grid + text + "\n"))
        self.assertIn("docs/coming_from.md", self.said(COPY + 'grid.i = { axis = "N", block = 4, dimension_semantics = "parallel" }\nbody = "y = x;"\n'))

    def test_arrays_in_the_order_of_columns_get_a_help_that_helps(self):
        self.write("m.toml", COPY.replace("[N]", "[M, N]") + "body = 'y = x;'\n")
        header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(24))
        said = self.kgen("run", "m.toml", "--in", "x=x.npy", code=4).stderr
        self.assertIn("Fortran", said)
        self.assertIn("ascontiguousarray", said)

    # --- what is easily meant otherwise ---

    def test_a_number_here_and_an_argument_there_is_a_warning(self):
        spec = 'kernel = "k"\ninputs.p = "f32[B, P, C=4]"\ninputs.t = "f32[B, N, C]"\noutputs.y = "f32[B, P, N]"\n' \
               "body = 'y = sum(at(p, C = index(C)) * t, C);'\n"
        said = self.said(spec, code=0)
        self.assertIn("warning[KG0184]", said)
        self.assertIn("axes.C = 4", said)
        self.assertEqual(self.said(spec.replace("C=4", "C").replace("inputs.p", "axes.C = 4\ninputs.p"), code=0), "")

    def test_blocks_of_a_number_beside_windows_are_no_such_thing(self):
        spec = """kernel = "k"
tables.col = { type = "i32[S]", range = "K / 64" }
inputs.a = { type = "f32[S, K=64]", block = ["squeeze", "whole"], index = ["s", 0] }
inputs.x = { type = "f32[K]", block = [64], index = ["col[s]"] }
outputs.z = { type = "f32[S]", block = ["squeeze"], index = ["s"] }
grid.s = { size = "S" }
body = 'z = dot(a, x, K);'
"""
        self.assertNotIn("KG0184", self.said(spec, code=None))


unittest.main()
