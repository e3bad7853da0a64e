"""Runs kgen's commands in a temporary folder: what they write, what they say on which stream, and their exit codes."""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import tomllib
import unittest

from sandbox import ADD, KGEN, Sandbox, violations

BAD = ADD.replace("x + y", "x + q")


class Commands(Sandbox):
    def test_generate_writes_and_leaves_what_is_right(self):
        self.write("add.toml", ADD)
        first = self.kgen("add.toml", "-o", "out")
        self.assertEqual(self.files(), ["add.h", "add_cuda.cu", "add_openmp.cpp", "kgen.lock", "kgen_cuda.h", "kgen_openmp.h"])
        self.assertEqual(sorted(first.stdout.split()), ["out/add.h", "out/add_cuda.cu", "out/add_openmp.cpp", "out/kgen_cuda.h", "out/kgen_openmp.h"])
        self.assertEqual(self.kgen("generate", "add.toml", "-o", "out").stdout, "")

    def test_folders_are_mirrored(self):
        self.write("specs/one/add.toml", ADD)
        self.write("specs/two/deep/mul.toml", ADD.replace('"add"', '"mul"').replace("+", "*"))
        self.write("specs/two/deep/mul.tune.toml", "not a spec")
        self.kgen("specs", "-o", "out")
        self.assertIn("one/add.h", self.files())
        self.assertIn("two/deep/mul_openmp.cpp", self.files())
        self.kgen("check", "specs", "-o", "out")

    def test_nothing_is_written_when_anything_is_wrong(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/bad.toml", BAD.replace('"add"', '"bad"'))
        done = self.kgen("specs", "-o", "out", code=2)
        self.assertIn("bad.toml:6", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "out").exists())

    def test_a_parameter_is_fixed_in_those_of_several_specs_that_have_it(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/plain.toml", ADD.replace('types.T = ["f32", "f64"]\n', "").replace("T[", "f32[").replace('"add"', '"plain"'))
        self.kgen("specs", "-D", "T=f64", "-o", "out")
        header = (self.folder / "out/add.h").read_text()
        self.assertIn("add_f64_openmp", header)
        self.assertNotIn("add_f32_openmp", header)
        self.assertTrue((self.folder / "out/plain.h").exists())
        self.assertIn("KG0124", self.kgen("specs", "-D", "Q=f64", "-o", "other", code=2).stderr)
        self.assertIn("KG0124", self.kgen("specs/plain.toml", "-D", "T=f64", code=2).stderr)

    def test_two_specs_for_one_file(self):
        self.write("a.toml", ADD)
        self.write("b.toml", ADD)
        self.assertIn("a.toml and by b.toml", self.kgen("a.toml", "b.toml", "-o", "out", code=4).stderr)

    def test_check_names_drift(self):
        self.write("specs/add.toml", ADD)
        self.kgen("specs", "-o", "out")
        self.kgen("check", "specs", "-o", "out")
        header = self.folder / "out/add.h"
        right = header.read_text()
        header.write_text(right.replace("add_f32_openmp", "add_f32_altered"))
        done = self.kgen("check", "specs", "-o", "out", "--diff", code=1)
        self.assertIn("edited:  out/add.h\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^-.*add_f32_altered")
        self.assertRegex(done.stdout, r"(?m)^\+.*add_f32_openmp")
        self.assertIn("to update, run: kgen specs -o out", done.stderr)
        header.unlink()
        self.assertIn("missing: out/add.h\n", self.kgen("check", "specs", "-o", "out", code=1).stdout)
        header.write_text(right)
        (self.folder / "out/old_openmp.cpp").write_text((self.folder / "out/add_openmp.cpp").read_text())
        (self.folder / "out/own.cpp").write_text("// written by hand\n")
        done = self.kgen("check", "specs", "-o", "out", code=1)
        self.assertEqual(done.stdout, "orphan:  out/old_openmp.cpp\n")

    def test_check_tells_what_became_of_a_file(self):
        self.write("specs/add.toml", ADD)
        self.kgen("specs", "-o", "out")
        self.write("specs/add.toml", ADD.replace("x + y", "x - y"))
        done = self.kgen("check", "specs", "-o", "out", code=1)
        self.assertEqual(done.stdout.splitlines(), [
            "stale:   out/add.h", "stale:   out/add_openmp.cpp", "stale:   out/add_cuda.cu"])
        self.write("specs/add.toml", ADD)
        (self.folder / "out/kgen.lock").unlink()
        self.kgen("check", "specs", "-o", "out")  # right files need no lock
        (self.folder / "out/add.h").write_text("//\n")
        self.assertIn("differs: out/add.h\n", self.kgen("check", "specs", "-o", "out", code=1).stdout)

    def test_prune_deletes_only_what_kgen_wrote(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/deep/mul.toml", ADD.replace('"add"', '"mul"').replace("+", "*"))
        self.kgen("specs", "-o", "out")
        self.write("out/own.cpp", "// written by hand\n")
        self.write("specs/add.toml", ADD.replace('"add"', '"sum"'))
        edited = self.folder / "out/add_cuda.cu"
        edited.write_text(edited.read_text() + "// changed\n")
        done = self.kgen("check", "specs", "-o", "out", code=1)
        self.assertEqual(sorted(line for line in done.stdout.split("\n") if line.startswith("orphan")),
                         ["orphan:  out/add.h", "orphan:  out/add_cuda.cu", "orphan:  out/add_openmp.cpp"])
        self.assertIn("--prune", done.stderr)
        self.assertIn("out/add.h is no longer made", self.kgen("specs", "-o", "out").stderr)
        done = self.kgen("specs", "-o", "out", "--prune")
        self.assertIn("removed out/add.h\n", done.stdout)
        self.assertIn("out/add_cuda.cu is left over, but was edited", done.stderr)
        self.assertEqual(self.files(), ["add_cuda.cu", "deep/mul.h", "deep/mul_cuda.cu", "deep/mul_openmp.cpp",
                                        "kgen.lock", "kgen_cuda.h", "kgen_openmp.h", "own.cpp", "sum.h", "sum_cuda.cu", "sum_openmp.cpp"])

    def test_one_lock_serves_the_folders_below_it(self):
        self.write("specs/one/add.toml", ADD)
        self.write("specs/two/mul.toml", ADD.replace('"add"', '"mul"'))
        self.kgen("specs", "-o", "out")
        self.write("specs/one/add.toml", ADD.replace("x + y", "y + x * 2"))
        self.kgen("specs/one/add.toml", "-o", "out/one")
        self.assertEqual([name for name in self.files() if "lock" in name], ["kgen.lock"])
        self.kgen("check", "specs", "-o", "out")
        self.kgen("specs/two/mul.toml", "-o", "elsewhere")
        self.assertIn("kgen.lock", self.files("elsewhere"))

    def test_the_lock_names_no_machine(self):
        self.write("specs/add.toml", ADD)
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            self.kgen("specs", "-o", folder)
            self.assertNotIn(str(self.folder), (pathlib.Path(folder) / "kgen.lock").read_text())

    def test_build_tools_get_a_depfile_and_a_stamp(self):
        self.write("my specs/add.toml", 'functions_from = "f.h"\n' + ADD.replace("x + y", "twice(x) + y"))
        self.write("my specs/f.h", "real twice(real v) { return 2 * v; }\n")
        self.kgen("my specs/add.toml", "-o", "out", "--depfile", "add.d", "--stamp", "add.stamp")
        self.assertEqual((self.folder / "add.d").read_text(),
                         "add.stamp: \\\n  my\\ specs/add.toml \\\n  my\\ specs/f.h\n")
        stamp = self.folder / "add.stamp"
        os.utime(stamp, (1, 1))
        header = (self.folder / "out/add.h").stat().st_mtime_ns
        self.kgen("my specs/add.toml", "-o", "out", "--depfile", "add.d", "--stamp", "add.stamp")
        self.assertGreater(stamp.stat().st_mtime, 1)
        self.assertEqual((self.folder / "out/add.h").stat().st_mtime_ns, header)
        self.kgen("my specs/add.toml", "--depfile", "add.d", code=3)

    def test_a_long_run_on_a_terminal_shows_how_far_it_is(self):
        names = [f"add{i}" for i in range(120)]
        for name in names:
            self.write(f"specs/{name}.toml", ADD.replace('"add"', f'"{name}"').replace('"f64"', '"f64", "bf16", "i32"'))
        ours, theirs = pty.openpty()
        running = subprocess.Popen([KGEN, "specs", "-o", "out", "--jobs", "1"], cwd=self.folder, stderr=theirs,
                                   stdout=subprocess.DEVNULL)
        os.close(theirs)
        shown = b""
        while running.poll() is None or select.select([ours], [], [], 0)[0]:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the terminal is closed
                break
        self.assertEqual(running.wait(), 0)
        self.assertRegex(shown, rb"\r\d+ of 120 specs")
        self.assertRegex(shown, rb"\r *\r$")
        self.assertNotIn("of 120 specs", self.kgen("specs", "-o", "out", "--jobs", "1").stderr)

    def test_outputs_names_what_would_be_written(self):
        self.write("specs/one/add.toml", ADD)
        done = self.kgen("outputs", "specs", "-o", "out", "--targets", "openmp")
        self.assertEqual(sorted(done.stdout.split()), ["out/kgen_openmp.h", "out/one/add.h", "out/one/add_openmp.cpp"])
        self.assertFalse((self.folder / "out").exists())

    def test_self_checks_are_files_like_others(self):
        self.write("specs/add.toml", ADD)
        self.kgen("specs", "-o", "out", "--selfcheck")
        self.assertIn("add_selfcheck.cpp", self.files())
        self.kgen("check", "specs", "-o", "out", "--selfcheck")
        self.assertIn("orphan:  out/add_selfcheck.cpp\n", self.kgen("check", "specs", "-o", "out", code=1).stdout)
        self.assertIn("out/add_selfcheck.cpp\n", self.kgen("outputs", "specs", "-o", "out", "--selfcheck").stdout)
        self.assertTrue((self.folder / "out/add_selfcheck.cpp").read_text().startswith("// Code generated by kgen"))

    def test_bindings_are_files_like_others(self):
        self.write("specs/add.toml", ADD)
        self.kgen("specs", "-o", "out", "--bind", "numpy")
        self.assertIn("add_numpy.py", self.files())
        self.assertTrue((self.folder / "out/add_numpy.py").read_text().startswith("# Code generated by kgen"))
        self.kgen("check", "specs", "-o", "out", "--bind", "numpy")
        self.assertIn("orphan:  out/add_numpy.py\n", self.kgen("check", "specs", "-o", "out", code=1).stdout)
        self.assertIn("out/add_numpy.py\n", self.kgen("outputs", "specs", "-o", "out", "--bind", "numpy").stdout)
        self.assertIn("removed out/add_numpy.py\n", self.kgen("specs", "-o", "out", "--prune").stdout)
        self.assertNotIn("add_numpy.py", self.files())

    def test_a_gradient_that_is_out_of_date_is_told_of(self):
        def told():
            said = self.kgen("w/mix.toml", "-o", "out", "--bind", "numpy", *fixed).stderr
            return re.findall(r"`(kgen grad [^`]*)` writes now", said) if "KG0613" in said else []

        def mix(body):
            self.write("w/mix.toml", 'kernel = "mix"\ntypes.T = ["f32", "f64"]\nparams.p = 3\ninputs.x = "T[B, N]"\n'
                       f'inputs.y = "T[N]"\noutputs.z = "T[B, N]"\nbody = \'real e = exp(x * y); {body}\'\n')

        for options, words in (((), ""), (("-D", "T=f32"), " -D T=f32"), (("--of", "x", "--save", "e"), " --of x --save e"),
                               (("-D", "p=2", "--with", "z", "--deterministic"), " -D p=2 --with z --deterministic")):
            fixed = options[:2] if options[:1] == ("-D",) else ()
            mix("z = e + p * x;")
            self.kgen("grad", "w/mix.toml", "-o", "w", *options)
            self.assertIn(f"# Written by kgen grad{words} from mix.toml.\n", (self.folder / "w/mix_backward.toml").read_text())
            self.assertEqual(told(), [])
            mix("z = e + p * x; // as before")
            self.assertEqual(told(), [])
            mix("z = e + (p + 1) * x;")
            self.assertEqual(told(), [f"kgen grad w/mix.toml{words} -o w"])
            self.kgen("fmt", "w/mix_backward.toml")
            self.assertEqual(len(told()), 1)
            by_hand = (self.folder / "w/mix_backward.toml").read_text().split("\n", 1)[1]
            self.write("w/mix_backward.toml", by_hand)
            self.assertEqual(told(), [])

    def test_a_kernel_that_saves_for_a_gradient_and_is_out_of_date_is_told_of(self):
        mix = ('kernel = "mix"\ninputs.x = "f32[B, N]"\noutputs.z = "f32[B, N]"\noutputs.s = "f32[B]"\n'
               "body = 'real e = exp(x * x); z = e + x; s = {};'\n")
        self.write("mix.toml", mix.format("1"))
        self.kgen("grad", "mix.toml", "-o", ".", "--save", "e", "--with", "z")
        self.assertNotIn("KG0613", self.kgen("mix.toml", "-o", "out", "--bind", "numpy").stderr)
        self.write("mix.toml", mix.format("1 /* as before */"))
        self.assertNotIn("KG0613", self.kgen("mix.toml", "-o", "out", "--bind", "numpy").stderr)
        self.write("mix.toml", mix.format("2"))  # of which the gradient of z knows nothing
        said = self.kgen("mix.toml", "-o", "out", "--bind", "numpy").stderr
        self.assertIn("mix_forward.toml is not what `kgen grad mix.toml --with z --save e", said)

    def test_a_gradient_for_one_number_is_not_taken_for_that_of_another(self):
        for declared, others in (("3", "4"), ("[3, 4]", "[4, 5]")):
            for given in (declared, others):
                power = ('kernel = "power"\nparams.p = {}\ninputs.x = "f32[N]"\noutputs.z = "f32[N]"\n'
                         "body = 'z = p * exp(x);'\n")
                self.write("power.toml", power.format(declared))
                self.kgen("grad", "power.toml", "-o", ".", "-D", "p=3")
                self.write("power.toml", power.format(given))
                self.kgen("power.toml", "-o", "out", "--bind", "numpy", "-D", "p=3")
                if given == "3":
                    continue
                said = self.kgen("power.toml", "-o", "out2", "--bind", "numpy", code=2).stderr
                self.assertIn("error[KG0614]: power_backward.toml is the gradient of `power` for p=3 alone", said)
                self.assertIn("give -D p=3 here, too, or write it again without: `kgen grad power.toml`", said)
                self.assertFalse((self.folder / "out2").exists())

    def test_the_backward_kernel_beside_a_spec_comes_along_with_its_binding(self):
        self.write("add.toml", ADD)
        backward = ADD.replace("outputs.z", "outputs.d_x").replace("'z =", "'d_x =").replace('"add"', '"add_backward"')
        self.write("add_backward.toml", backward)
        self.assertNotIn("add_backward.h", self.kgen("outputs", "add.toml", "--bind", "numpy").stdout)  # it says not
        self.write("add_backward.toml", 'backward_of = "add"\n' + backward)
        self.write("other.toml", ADD.replace('"add"', '"other"').replace('types.T = ["f32", "f64"]\n', "").replace("T[", "f32["))
        names = self.kgen("outputs", "add.toml", "--bind", "numpy", "-D", "T=f32").stdout.split()
        self.assertIn("add_backward_numpy.py", names)
        self.assertNotIn("add_backward_numpy.py", self.kgen("outputs", "other.toml", "--bind", "numpy").stdout)
        self.assertNotIn("add_backward.h", self.kgen("outputs", "add.toml").stdout)
        self.kgen("add.toml", "-o", "out", "--bind", "numpy", "--depfile", "d", "--stamp", "s")
        self.assertIn("add_backward.toml", (self.folder / "d").read_text())

    def test_a_spec_may_name_its_backward_kernel(self):
        self.write("k/add.toml", 'backward = "../other/mine.toml"\n' + ADD)
        backward = ADD.replace("outputs.z", "outputs.d_x").replace("'z =", "'d_x =").replace('"add"', '"mine"')
        self.write("other/mine.toml", 'backward_of = "add"\n' + backward)
        self.assertIn("mine_numpy.py", self.kgen("outputs", "k/add.toml", "--bind", "numpy").stdout.split())
        self.write("other/mine.toml", 'backward_of = "add"\n' + backward.replace("inputs.y", "inputs.w").replace("+ y", "+ w"))
        self.assertIn("`w` is neither an input or output of it",
                      self.kgen("outputs", "k/add.toml", "--bind", "numpy", code=4).stderr)
        forward = ADD.replace('"add"', '"add_forward"').replace("body = 'z", "outputs.w = \"T[N]\"\nbody = 'w = y; z")
        self.write("other/add_forward.toml", forward)  # it gives `w`
        names = self.kgen("outputs", "k/add.toml", "--bind", "numpy").stdout.split()
        self.assertIn("add_forward_numpy.py", names)
        self.write("other/mine.toml", "kernel = \n")  # is told, too
        self.assertIn("other/mine.toml:", self.kgen("k/add.toml", "-o", "out", "--bind", "numpy", code=2).stderr)

    def test_bindings_that_there_are_not_are_refused(self):
        self.write("add.toml", ADD)
        for wrong, said in ((["--bind", "numpy,pandas"], "--bind takes numpy"), (["--bind", "numpy,numpy"], "numpy twice"),
                            (["--bind", "numpy", "--targets", "cuda"], "name openmp in --targets too"),
                            (["--bind", "numpy", "--namespace", "a-b"], "--namespace takes a C identifier, not a-b")):
            self.assertIn(said, self.kgen("add.toml", *wrong, code=3).stderr)

    def test_many_specs_in_parallel_give_the_same_as_one_by_one(self):
        for i in range(12):
            self.write(f"specs/k{i}.toml", ADD.replace('"add"', f'"k{i}"').replace("x + y", f"x * {i} + y"))
        self.kgen("specs", "-o", "out", "-j", "1")
        self.kgen("specs", "-o", "other", "-j", "4")
        for name in self.files():
            self.assertEqual((self.folder / "out" / name).read_bytes(), (self.folder / "other" / name).read_bytes())
        self.write("specs/k3.toml", BAD)
        self.write("specs/k7.toml", BAD)
        done = self.kgen("specs", "-o", "out", "-j", "4", code=2)
        self.assertLess(done.stderr.index("specs/k3.toml:6"), done.stderr.index("specs/k7.toml:6"))

    def test_new_gives_specs_that_work(self):
        for kind in ("map", "reduce", "matmul", "softmax", "attention"):
            done = self.kgen("new", f"my_{kind}", "--like", kind, "-o", "specs")
            self.assertTrue(done.stdout.startswith(f"specs/my_{kind}.toml\n"))
        self.kgen("new", "k", "--like", "map", "-o", "specs")
        self.kgen("fmt", "specs", "--check")
        (self.folder / "specs/k.toml").unlink()
        self.kgen("specs", "-o", "out")
        self.kgen("verify", "specs/my_map.toml", "-D", "T=f32")
        self.assertIn("exists already", self.kgen("new", "my_map", "-o", "specs", code=4).stderr)
        self.assertIn("attention, map", self.kgen("new", "other", "--like", "conv", code=3).stderr)
        self.kgen("new", "../other", code=3)
        self.kgen("new", "while", code=2)
        self.assertEqual(self.files("specs"), [f"my_{k}.toml" for k in ("attention", "map", "matmul", "reduce", "softmax")])

    def test_the_reference_is_that_of_the_tables(self):
        docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
        for form, page in (("markdown", "commands.md"), ("diagnostics", "diagnostics.md"),
                           ("derivatives", "derivatives.md"), ("decisions", "decisions.md")):
            self.assertEqual(self.kgen("reference", form).stdout, (docs / page).read_text(),
                             f"to mend: ./kgen reference {form} > docs/{page}")
        manual = self.kgen("reference", "man").stdout
        for command in ("generate", "verify"):
            self.assertIn(f".SS {command}\n", manual)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=manual, capture_output=True, text=True)
            self.assertEqual(done.stderr, "")

    def test_bash_completes_commands_options_and_values(self):
        script = self.kgen("completion", "bash").stdout
        for words, expected in ((["ver"], "verify"), (["new", "x", "--like", "soft"], "softmax"),
                                (["add.toml", "--st"], "--standalone --stamp --stop-after"), (["completion", "z"], "zsh")):
            ask = f"COMP_WORDS=(kgen {' '.join(words)}); COMP_CWORD={len(words)}; _kgen; echo ${{COMPREPLY[@]}}"
            done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual((done.stdout.strip(), done.stderr), (expected, ""), words)
        for shell in ("zsh", "fish"):
            self.assertIn("--prune" if shell == "zsh" else "-l prune", self.kgen("completion", shell).stdout)

    def test_interrupted_it_leaves_all_or_nothing(self):
        for i in range(8):
            self.write(f"specs/k{i}.toml", ADD.replace('"add"', f'"k{i}"'))
        states = set()
        for wait_ms in (*range(0, 200, 10), 3000):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            process = subprocess.Popen([KGEN, "specs", "-o", "out"], cwd=self.folder, stdout=subprocess.DEVNULL)
            time.sleep(wait_ms / 1000)
            process.send_signal(signal.SIGINT)
            process.wait()
            names = [name for name in self.files() if name != "kgen.lock"] if (self.folder / "out").exists() else []
            self.assertIn(len(names), (0, 26), names)
            states.add(len(names))
        self.assertEqual(states, {0, 26})  # else the signal never came in time, or always

    def test_the_schema_takes_what_kgen_takes(self):
        schema = json.loads(self.kgen("schema").stdout)
        specs = sorted((pathlib.Path(__file__).resolve().parents[2] / "specs").rglob("*.toml"))
        self.assertGreater(len(specs), 30)
        for path in specs:
            self.assertEqual(violations(schema, tomllib.loads(path.read_text())), [], path)
        for text, wrong in ((ADD + "bodies = ''", "bodies"), (ADD + "grid.i = { sizes = 3 }", "sizes"),
                            (ADD + "grid.i = { size = true }", "size"), ("kernel = 'k'", "body"),
                            (ADD + "inputs.w = { type = 'f32[N]', layout = 'fast' }", "layout"),
                            (ADD.replace('"add"', '"1add"'), "kernel")):
            self.assertIn(wrong, " ".join(violations(schema, tomllib.loads(text))))

    def test_launchers_refuse_sizes_beyond_counting_without_overflow(self):
        self.write("rows.toml", """kernel = "rows"
axes.N = { ragged = "start", over = "B" }
tables.start = "i64[B + 1]"
inputs.x = "f32[B, N]"
outputs.y = "f32[B]"
body = 'y = sum(x, N);'
""")
        self.write("main.cpp", """#include <cstdio>
#include "out/rows.h"
int main() {
  const int64_t start[1] = {0};
  std::puts(rows_error(rows_openmp(start, nullptr, nullptr, INT64_MAX, 0, nullptr, 0)));
  std::puts(rows_error(rows_openmp(start, nullptr, nullptr, 0, INT64_MAX, nullptr, 0)));
}
""")
        self.kgen("rows.toml", "-o", "out", "--targets", "openmp")
        flags = ["-fsanitize=undefined", "-fno-sanitize-recover=all", "-O1", "-o", "main"]
        subprocess.run(["c++", *flags, "main.cpp", "out/rows_openmp.cpp"], cwd=self.folder, check=True)
        done = subprocess.run(["./main"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "B + 1 is more than can be counted\nx has more bytes than can be counted\n")

    def test_command_line_mistakes(self):
        self.write("add.toml", ADD)
        self.assertIn("Subcommands:", self.kgen(code=3).stderr)
        self.assertIn("`kgen lint --help`", self.kgen("lint", code=3).stderr)
        self.assertIn("kgen: ", self.kgen("add.toml", "--no-such-option", code=3).stderr)
        self.assertIn("no message KG9999", self.kgen("explain", "KG9999", code=3).stderr)
        self.assertIn("did you mean `explain`?", self.kgen("exlain", "add.toml", code=3).stderr)
        self.kgen("add.toml", "-D", "T", code=3)
        self.kgen("add.toml", "--stop-after", "lunch", code=3)
        self.kgen("add.toml", "--targets", "opencl", code=3)
        self.assertIn("is no decision", self.kgen("add.toml", "--decide", "chnk=64", code=3).stderr)
        self.assertIn("takes multiples of 64", self.kgen("add.toml", "--decide", "chunk=100", code=3).stderr)
        self.assertIn("KEY@NAME=VALUE or least", self.kgen("add.toml", "--decide", "chunk", code=3).stderr)
        self.kgen("run", "add.toml", "--target", "abacus", code=3)
        self.kgen("run", "add.toml", code=3)  # no size
        self.kgen("run", "add.toml", "--size", "N=3", "--size", "Q=3", code=3)
        self.kgen("run", "add.toml", "--size", "N=3", "--scalar", "a=3", code=3)
        self.kgen("verify", "add.toml", "--target", "interpret", code=3)

    def test_file_mistakes(self):
        self.kgen("missing.toml", code=4)
        (self.folder / "empty").mkdir()
        self.kgen("empty", code=4)
        self.write("add.toml", ADD)
        self.write("out", "a file")
        self.kgen("add.toml", "-o", "out", code=4)
        self.kgen("run", "add.toml", "--in", "x=missing.npy", code=4)

    def test_help_and_version(self):
        self.assertIn("verify", self.kgen("--help").stdout)
        self.assertIn("--stop-after", self.kgen("generate", "--help").stdout)
        self.assertRegex(self.kgen("--version").stdout, r"\d+\.\d+")

    def test_run_prints_whole_numbers_as_their_type_has_them(self):
        self.write("ends.toml", """kernel = "ends"
outputs.u = "u64[N]"
outputs.i = "i64[N]"
outputs.b = "u8[N]"
body = 'u = 0; u = u - 1; i = -1; b = 255;'
""")
        done = self.kgen("run", "ends.toml", "--size", "N=1")
        self.assertEqual(done.stdout, f"u: u64[1] = {2**64 - 1}\ni: i64[1] = -1\nb: u8[1] = 255\n")

    def test_every_stage_prints(self):
        self.write("add.toml", ADD.replace("body", 'grid.i = { axis = "N", block = 8 }\nbody'))
        seen = set()
        for stage in "spec body ir facts rewrite plan".split():
            text = self.kgen("add.toml", "--stop-after", stage).stdout
            self.assertIn("z", text)
            seen.add(text)
        self.assertEqual(len(seen), 6)
        self.assertFalse((self.folder / "add.h").exists())
        plan = self.kgen("add.toml", "--stop-after", "plan", "--targets", "cuda").stdout
        self.assertIn("plan for cuda", plan)
        self.assertNotIn("plan for openmp", plan)

    def test_messages_have_formats_and_colours(self):
        self.write("bad.toml", BAD)
        plain = self.kgen("bad.toml", code=2).stderr
        self.assertNotIn("\x1b", plain)
        self.assertIn("\x1b", self.kgen("bad.toml", "--color", "always", code=2).stderr)
        self.assertIn("\x1b", self.kgen("bad.toml", code=2, environment={"CLICOLOR_FORCE": "1", "NO_COLOR": ""}).stderr)
        self.assertNotIn(
            "\x1b", self.kgen("bad.toml", code=2, environment={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).stderr
        )
        self.assertEqual(self.kgen("bad.toml", "--message-format", "short", code=2).stderr.count("\n"), 1)

    def npy(self, name, values):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
        self.write(name, data + struct.pack(f"<{len(values)}f", *values))

    def test_run_reads_and_writes_arrays(self):
        self.write("add.toml", ADD)
        self.npy("x.npy", [1, 2, 3])
        self.npy("y.npy", [10, 20, 30])
        for target in ("interpret", "openmp"):
            arguments = ["run", "add.toml", "-D", "T=f32", "--in", "x=x.npy", "--in", "y=y.npy", "--target", target]
            self.assertEqual(self.kgen(*arguments).stdout, "z: f32[3] = 11 22 33\n")
            self.kgen(*arguments, "--out", "z=z.npy")
            self.assertEqual((self.folder / "z.npy").read_bytes()[-12:], struct.pack("<3f", 11, 22, 33))
        self.npy("y.npy", [10, 20])
        self.assertIn("`y` makes N 2", self.kgen("run", "add.toml", "--in", "x=x.npy", "--in", "y=y.npy", code=3).stderr)

    def test_run_says_which_variant(self):
        self.write("add.toml", ADD)
        one = self.kgen("run", "add.toml", "--size", "N=4")
        self.assertIn("f32 is run", one.stderr)
        self.assertEqual(one.stdout, self.kgen("run", "add.toml", "--size", "N=4", "--seed", "1").stdout)
        self.assertNotEqual(one.stdout, self.kgen("run", "add.toml", "--size", "N=4", "--seed", "2").stdout)
        self.assertEqual(self.kgen("run", "add.toml", "--size", "N=4", "-D", "T=f64").stderr, "")

    def test_run_reports_what_the_interpreter_refuses(self):
        spec = ADD.replace("inputs.y", 'tables.t = { type = "i32[N]", sorted = true }\ninputs.y')
        self.write("add.toml", spec)
        header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        self.write(
            "t.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<2i", 1, 0)
        )
        self.assertIn("declared sorted", self.kgen("run", "add.toml", "--in", "t=t.npy", code=1).stderr)

    def test_verify_says_that_there_is_no_such_compiler(self):
        self.write("add.toml", ADD)
        done = self.kgen("verify", "add.toml", "-D", "T=f32", "--cxx", "no-such-compiler", code=1)
        self.assertIn("there is no compiler `no-such-compiler`", done.stderr)

    def test_verify_tells_what_it_tried(self):
        self.write("add.toml", ADD)
        done = self.kgen("verify", "add.toml", "--seeds", "1", "-D", "T=f32")
        self.assertIn("N=0\n", done.stdout)
        self.assertRegex(done.stdout, r"\d+ elements compared")


unittest.main()
