"""kgen lint: each rule finds what it claims, and nothing where there is nothing to find."""

import json
import re
import unittest

from sandbox import ADD, ROOT, Sandbox

DOC = 'doc = "adds"\n'


class Lint(Sandbox):
    def findings(self, text, *options):
        """The lines `LINE:COLUMN CODE text` of what lint says of a spec."""
        self.write("spec.toml", text)
        found = []
        for line in self.kgen("lint", "spec.toml", "--message-format", "json", *options, code=None).stderr.splitlines():
            said = json.loads(line)
            found.append(f"{said['line']}:{said['column']} {said['code']} {said['message']}")
        self.assertEqual(self.kgen("lint", "spec.toml", *options, code=None).returncode, 1 if found else 0)
        return found

    def finds(self, text, *wanted):
        self.assertEqual([re.match(r"\S+ \S+ ", f)[0].strip() for f in self.findings(text)], list(wanted))

    def test_nothing_to_find(self):
        self.assertEqual(self.findings(DOC + ADD), [])

    def test_doc_is_missing(self):
        self.finds(ADD, "1:11 KG0506")
        self.finds(ADD + 'doc = " "\n', "1:11 KG0506")

    def test_names_that_nothing_uses(self):
        declared = ('inputs.w = "T[N]"\nscratch.s = "f32[N]"\nscalars.a = "f32"\ntables.t = "i32[N]"\n'
                    'types.U = ["i32", "i64"]\nparams.p = 3\naxes.K = 4\n')
        self.assertEqual(self.findings(DOC + declared + ADD + "# w s a t U p K\n"), [
            "2:8 KG0501 input `w` is never used", "3:9 KG0501 scratch `s` is never used",
            "4:9 KG0501 scalar `a` is never used", "5:8 KG0501 table `t` is never used",
            "6:7 KG0501 type parameter `U` is never used", "7:8 KG0501 parameter `p` is never used",
            "8:6 KG0501 axis `K` is never used"])
        used = declared.replace('scratch.s = "f32[N]"\n', "").replace('types.U = ["i32", "i64"]', 'types.U = ["f32"]')
        self.finds(DOC + used + 'inputs.v = "U[N, K]"\n' + ADD.replace("x + y", "x + y + w + a + t[0] + p + sum(v, K)"))

    def test_locals_and_scratch_that_nothing_reads(self):
        self.finds(DOC + 'scratch.s = "f32[N]"\n' + ADD.replace("'z =", "'int i = 3; s = y; z ="),
                   "2:9 KG0501", "8:13 KG0501")
        self.finds(DOC + ADD.replace("'z =", "'int i = 3; i += 1; z ="))  # it reads itself: not claimed

    def test_a_name_for_what_is_present_is_read_where_it_asks(self):
        optional = DOC + 'inputs.w = { type = "T[N]", optional = true }\n'
        asked = optional + ADD.replace("'z = x + y", "'bool has = present(w); z = (has ? w : 0) + x + y")
        self.finds(asked)
        self.finds(asked.replace("has ?", "present(w) ?"), "8:14 KG0501")

    def test_functions_that_nothing_calls(self):
        functions = ("functions = '''\nreal f(real v) { return v; }\n  real g(real v) { return f(v); }\n"
                     "real h(real v) {\n return v; }\n'''\n")
        self.assertEqual(self.findings(DOC + functions + ADD.replace("x + y", "x + h(y)")),
                         ["4:8 KG0501 function `g` is never called"])
        self.finds(DOC + functions + 'params.f2 = "g"\n' + ADD.replace("x + y", "x + h(f2(y))"))
        self.assertEqual(self.findings(DOC + "functions = 'real f(real v) { return v; }'\n" + ADD),
                         ["2:19 KG0501 function `f` is never called"])
        derived = ("functions = '''\nreal f(real v) { return round(v); }\n"
                   "real f_derivative(real v) { return 1; }\n'''\n")
        self.finds(DOC + derived + ADD.replace("x + y", "x + f(y)"))  # `kgen grad` takes it
        self.write("f.h", "real f(real v) { return v; }\nreal g(real v) { return v; }\n")
        self.finds(DOC + 'functions_from = "f.h"\n' + ADD.replace("x + y", "x + f(y)"))

    def test_a_dimension_that_could_be_parallel(self):
        grid = 'grid.i = { axis = "N", block = 8, semantics = "arbitrary" }\n'
        self.finds(DOC + grid + ADD, "2:47 KG0502")
        scan = DOC + 'kernel = "scan"\ninputs.x = "f32[N]"\nscratch.s = "f32[1]"\noutputs.z = "f32[N]"\n'
        scan += grid + "body = 'if (first(i)) s = 0; z = s + cumsum(x, N); s += sum(x, N);'\n"
        self.finds(scan)
        stepped = grid.replace('axis = "N", block = 8', 'size = "cdiv(N, 8)"')
        shape = '{ type = "f32[N]", block = [8], index = ["i"] }'
        copy = DOC + 'kernel = "copy"\ninputs.x = ' + shape + "\noutputs.z = " + shape + "\n" + stepped
        self.finds(copy + "body = 'z = x + i;'\n", "5:45 KG0502")

    def test_a_grid_that_only_tiles(self):
        grid = 'grid.i = { axis = "N", block = 8 }\n'
        self.finds(DOC + grid + ADD, "2:6 KG0503")
        self.write("with.toml", DOC + grid + ADD)
        self.write("without.toml", DOC + ADD)
        for name in ("with", "without"):
            self.kgen(f"{name}.toml", "-o", name)
        for name in ("add_openmp.cpp", "add_cuda.cu"):
            texts = [(self.folder / f / name).read_text().split("\n", 1)[1] for f in ("with", "without")]
            self.assertEqual(texts[0], texts[1])
        self.finds(DOC + grid + ADD.replace("x + y", "x + y + i"))  # the body sees the blocks
        folded = 'kernel = "s"\ninputs.x = "f32[N]"\noutputs.z = "f32[]"\nscratch.a = "f32[]"\n'
        folded += DOC + grid + "body = 'if (first(i)) a = 0; a += sum(x, N); if (last(i)) z = a;'\n"
        self.finds(folded, "6:6 KG0503")
        self.assertIn("over the whole of `N`", self.kgen("lint", "spec.toml", code=1).stderr)

    def test_permissions_that_nothing_needs(self):
        for key in ("partial", "overwrite", "atomic"):
            permitted = ADD.replace('outputs.z = "T[N]"', f'outputs.z = {{ type = "T[N]", {key} = true }}')
            self.finds(DOC + permitted, "6:9 KG0504")
        self.finds(DOC + permitted.replace("atomic", "partial").replace("z = x + y;", "if (x > 0) z = y;"))
        self.finds(DOC + permitted.replace("z = x + y;", "z = x; at(z, N = index(N) / 2) += y;"))
        last = 'kernel = "last"\nscalars.s = "f32"\noutputs.z = { type = "f32[]", overwrite = true }\n'
        self.finds(DOC + last + "grid.i = { size = 4, semantics = \"arbitrary\" }\nbody = 'z = s + i;'\n")

    def test_outside_that_nothing_reads(self):
        outside = ADD.replace('inputs.x = "T[N]"', 'inputs.x = { type = "T[N]", outside = 1 }')
        self.finds(DOC + outside, "4:39 KG0504")
        self.finds(DOC + outside.replace("x + y", "at(x, N = index(N) + 1) + y"))

    def test_a_multiple_would_prove_it(self):
        pairs = 'kernel = "p"\ninputs.x = "f32[N]"\noutputs.z = "f32[N]"\n'
        pairs += "body = 'z = at(x, N = index(N) - index(N) % 2 + 1);'\n"
        self.finds(DOC + pairs, "5:13 KG0505")
        self.assertIn("axes.N = { multiple_of = 2 }", self.kgen("lint", "spec.toml", code=1).stderr)
        self.finds(DOC + "axes.N = { multiple_of = 2 }\n" + pairs)
        self.finds(DOC + pairs.replace("% 2 + 1", "% 2 + 2"))

    def test_warnings_and_notes_of_the_pipeline_count(self):
        single = ADD.replace(', "f64"', "")
        self.finds(DOC + single.replace("x + y", "x + y * double(2)"), "7:21 KG0227")
        self.kgen("spec.toml", "-o", "out")

    def test_findings_can_be_allowed(self):
        self.assertEqual(self.findings(ADD, "--allow", "KG0506"), [])
        self.assertEqual(self.findings("# kgen: allow KG0229 KG0506\n" + ADD), [])
        self.assertEqual(len(self.findings(ADD, "--allow", "KG0503")), 1)
        self.write("other.toml", ADD)
        self.write("spec.toml", "# kgen: allow KG0506\n" + ADD)
        self.assertNotIn("spec.toml", self.kgen("lint", "spec.toml", "other.toml", code=1).stderr)

    def test_wrong_specs_stay_wrong(self):
        self.write("bad.toml", "# kgen: allow KG0210\n" + ADD.replace("x + y", "x + q"))
        self.assertIn("KG0210", self.kgen("lint", "bad.toml", "--allow", "KG0210", code=2).stderr)
        self.kgen("lint", "gone.toml", code=4)

    def test_shipped_specs(self):
        self.kgen("lint", str(ROOT / "specs"), "--allow", "KG0503")
        said = self.kgen("lint", str(ROOT / "specs"), "--message-format", "short", code=1).stderr
        tiling = {re.search(r"(\w+)\.toml", line)[1] for line in said.splitlines()}
        self.assertEqual(tiling, {"planes", "planes_unclamped", "matmul_bf16", "matmul_blocked", "matmul_int8", "iota"})


unittest.main()
