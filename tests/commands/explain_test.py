"""kgen explain: what it says of specs, to people and to programs."""

import json
import re
import unittest

from sandbox import ADD, ROOT, Sandbox

SPECS = ROOT / "specs"


class Explain(Sandbox):
    def explained(self, path, *options):
        """The JSON objects, one a variant."""
        done = self.kgen("explain", str(path), "--message-format", "json", *options)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def spec(self, text):
        self.write("spec.toml", text)
        return self.explained("spec.toml")[0]

    def test_a_message_by_its_code(self):
        self.assertIn("KG0001: cannot read ...: ...\nhelp: ", self.kgen("explain", "KG0001").stdout)
        self.kgen("explain", "KG9999", code=3)  # no message has it

    def test_every_shipped_spec_is_explained_to_both(self):
        for path in sorted(SPECS.rglob("*.toml")):
            found = self.explained(path)
            text = self.kgen("explain", str(path)).stdout
            self.assertEqual(len(re.findall("^== ", text, re.MULTILINE)), len(found), path)
            for function in found:
                self.assertIn(f"== {function['function']}", text)
                self.assertIn("\nchecked at the call, which else is refused with\n", text)
                for section in ("operands", "claims", "checked at the call", "cost", "bound", "openmp", "cuda"):
                    self.assertIsInstance(function[section], list, (path, section))
                self.assertEqual([row["target"] for row in function["bound"]], ["openmp", "cuda"], path)
                self.assertTrue(function["openmp"] and function["cuda"], path)

    def test_operands_axes_and_grid(self):
        (f,) = self.explained(SPECS / "matmul/matmul_blocked.toml", "-D", "T=bf16")
        self.assertEqual(f["function"], "matmul_blocked_bf16")
        self.assertEqual(f["operands"][0], {"role": "input", "name": "x", "shape": "bf16[M, K]", "bytes": "2 * (M * K)",
                                            "window": "128 x 64, moves with i, k"})
        self.assertEqual([row["shape"] for row in f["operands"]][-1], "f32[M=128, N=128]")
        self.assertEqual({row["axis"]: row["is"].split(":")[0] for row in f["axes"]},
                         {"M": "independent", "K": "not independent", "N": "independent"})
        self.assertEqual([row["semantics"] for row in f["grid"]],
                         ["parallel, stated", "parallel, stated", "arbitrary, stated"])
        self.assertEqual(f["grid"][2]["becomes"], "folds acc over the whole of K")
        self.assertIn("a contraction", f["openmp"][0]["family"])
        self.assertEqual(f["openmp loops"], [{"phase": 1, "loop": "N", "runs": "vectors",
                                              "because": "side by side: y, z; the same for all: x"}])
        self.assertIn("for M: parallel", f["openmp plan"])

    def test_what_is_required_is_checked_at_the_call(self):
        f = self.spec(ADD.replace("body = '", "body = 'require(size(N) >= 4, \"four at least\"); "))
        self.assertIn({"else": "four at least"}, f["checked at the call"])

    def test_what_is_found_is_told_from_what_is_stated(self):
        f = self.spec(ADD + 'grid.i = { axis = "N", block = 8 }\n')
        self.assertEqual(f["grid"][0]["semantics"], "parallel, found")
        self.assertIn("only tiles", f["grid"][0]["becomes"])

    def test_who_computes_an_item_is_as_emitted(self):
        def work(body, shape):
            text = f'kernel = "k"\ninputs.x = "f32[M, N]"\noutputs.z = "f32[{shape}]"\n' + f"body = '{body}'\n"
            return self.spec(text)["cuda"][0]["does"]

        shared = "; several blocks share one where they are few and long"
        self.assertEqual(work("z = 2 * x;", "M, N")[:21], "a thread for each of ")
        self.assertEqual(work("z = sum(x, M);", "N"),
                         "some threads of a block for each of N, neighbouring threads along N" + shared)
        row = "part of a block, or several, by length, for each of M, neighbouring threads along N"
        self.assertEqual(work("z = sum(x, N);", "M"), row)
        self.assertEqual(work("z = x / sum(x, N);", "M, N"),
                         row + "; what fits of x is read once and stays in registers, 4 packs a thread, or in shared memory")

    def test_the_bound_hangs_on_the_sizes(self):
        def bound(*sizes):
            found = self.explained(SPECS / "matmul/matmul.toml", "-D", "T=f32", *sizes)[0]["bound"]
            return [(row["bound by"], row["operations a byte"]) for row in found]

        self.assertEqual(bound("--size", "M=4096,K=4096", "--size", "N=4096"), [("arithmetic", "683")] * 2)
        self.assertEqual(bound("--size", "M=1", "--size", "K=4096", "--size", "N=4096"), [("memory", "0.5")] * 2)
        self.assertEqual(bound("--size", "M=32,K=32,N=32")[0][0], "memory")
        text = self.kgen("explain", str(SPECS / "matmul/matmul.toml"), "-D", "T=f32", "--size", "M=7").stdout
        self.assertIn("bound at K=1024, M=7, N=1024\n", text)
        for wrong in ("M", "M=", "M=x", "=3", "M=-1", "Q=3"):
            done = self.kgen("explain", str(SPECS / "matmul/matmul.toml"), "--size", wrong, code=3)
            self.assertIn("--size", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_loops_that_are_no_vectors_say_why(self):
        def why(body, *declared):
            text = 'kernel = "k"\ninputs.x = "f32[N]"\noutputs.z = "f32[N]"\n'
            text += "\n".join(declared) + f"\nbody = '''{body}'''\n"
            return {row["because"] for row in self.spec(text)["openmp loops"] if row["runs"] == "one by one"}

        self.assertEqual(why("z = cummax(x > 0, N);"), {"each turn needs the one before: a scan"})
        self.assertEqual(why("z = x; c = 0; at(c, N = int(x)) += 1;", 'outputs.c = "i32[N]"'),
                         {"c is written at computed coordinates", "c_copy is written at computed coordinates"})
        self.assertEqual(why("z = x;", "schedule.openmp.lanes = false"), {"the schedule says so"})
        self.assertEqual(why("float t[2]; t[x > 0] = x; z = t[0];"),
                         {"t is set at places of each element's own"})
        self.assertEqual(why("float t[2]; t[1] = x; z = t[1];"), set())
        self.assertEqual(why("z = x;"), set())

    def test_one_target_is_explained_alone(self):
        matmul = str(SPECS / "matmul/matmul.toml")
        text = self.kgen("explain", matmul, "-D", "T=f32", "--targets", "cuda").stdout
        self.assertIn("plan for cuda", text)
        self.assertNotIn("openmp", text)
        self.kgen("explain", matmul, "--targets", "opencl", code=3)

    def test_where_intermediates_live(self):
        (f,) = self.explained(SPECS / "norm/softmax.toml", "-D", "T=f32")
        first, *others = f["openmp places"]
        self.assertEqual(first, {"value": "e", "lies in": "a buffer of each worker, in the workspace", "along": "N",
                                 "because": "it is needed after the loop over N that computes it"})
        self.assertEqual({(o["value"], o["lies in"], o["because"]) for o in others},
                         {(value, "a buffer in the workspace", "it goes from one phase to the next")
                          for value in ("greatest_x", "sum_e", "greatest_x_part", "sum_e_part")})

    def test_variants_and_wrong_specs(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/b.toml", 'axes.D = [2, 4]\n' + ADD.replace("T[N]", "T[N, D]").replace('"add"', '"b"'))
        names = [f["function"] for f in self.explained("specs")]
        self.assertEqual(names, ["add_f32", "add_f64", "b_f32, D=2", "b_f32, D=4", "b_f64, D=2", "b_f64, D=4"])
        self.write("specs/bad.toml", ADD.replace("x + y", "x + q"))
        done = self.kgen("explain", "specs", code=2)
        self.assertIn("== add_f32", done.stdout)
        self.assertIn("KG0210", done.stderr)


unittest.main()
