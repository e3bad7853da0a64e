"""The helper headers that kernels of a folder share: where they lie, who includes them, when they come and go; and
kernels that stand alone, which give the same."""
import os
import re
import shutil
import subprocess
import unittest

from sandbox import ADD, ROOT, Sandbox

MUL = ADD.replace('"add"', '"mul"').replace("x + y", "x * y")
BOTH = ["kgen_cuda.h", "kgen_openmp.h"]
# Kernels of which both forms are run, with their specs and sizes.
FORMS = {"softmax": ("norm/softmax.toml", "rows=3,N=1000"), "giou_planes": ("giou/planes.toml", "M=3,N=1001"),
         "cumsum": ("scan/cumsum.toml", "M=3,N=1000")}


class HelperHeaders(Sandbox):
    def headers(self, folder="out"):
        return [name for name in self.files(folder) if "kgen_" in name]

    def another_kgen(self):
        """Options of a kgen whose helper headers have other texts."""
        shutil.copytree(ROOT / "templates", self.folder / "templates")
        for name in "openmp/kgen_openmp.h", "cuda/kgen_cuda.h":
            path = self.folder / "templates" / name
            path.write_text(path.read_text().replace("what its", "what all its"))
        return ["--templates", "templates"]

    def test_they_lie_once_beside_the_lock_and_files_include_them_by_their_place(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/deep/er/mul.toml", MUL)
        self.kgen("specs", "-o", "out")
        self.assertEqual(self.headers(), BOTH)
        self.assertIn('#include "kgen_openmp.h"\n', (self.folder / "out/add_openmp.cpp").read_text())
        self.assertIn('#include "../../kgen_cuda.h"\n', (self.folder / "out/deep/er/mul_cuda.cu").read_text())
        lock = (self.folder / "out/kgen.lock").read_text()
        self.assertRegex(lock, r'\n"kgen_openmp.h" = \{ hash = "\w+" \}\n')
        names = self.kgen("outputs", "specs", "-o", "out").stdout.split()
        self.assertEqual([name for name in names if "kgen_" in name], ["out/kgen_openmp.h", "out/kgen_cuda.h"])
        self.kgen("check", "specs", "-o", "out")

    def test_one_spec_and_its_whole_folder_give_the_same_bytes(self):
        self.write("specs/one/add.toml", ADD)
        self.write("specs/two/mul.toml", MUL)
        self.kgen("specs", "-o", "out")
        before = {name: (self.folder / "out" / name).read_bytes() for name in self.files()}
        (self.folder / "out/one/add_openmp.cpp").unlink()
        (self.folder / "out/kgen_openmp.h").unlink()
        written = self.kgen("specs/one/add.toml", "-o", "out/one").stdout
        self.assertEqual(written.split(), ["out/kgen_openmp.h", "out/one/add_openmp.cpp"])
        self.assertEqual({name: (self.folder / "out" / name).read_bytes() for name in self.files()}, before)
        self.kgen("specs/two/mul.toml", "-o", "other/two", "--root", "other")
        self.assertEqual(self.files("other"), ["kgen.lock", *BOTH, "two/mul.h", "two/mul_cuda.cu", "two/mul_openmp.cpp"])
        self.assertEqual((self.folder / "other/two/mul_cuda.cu").read_bytes(), before["two/mul_cuda.cu"])

    def test_a_new_folder_of_a_working_tree_belongs_to_the_lock_above(self):
        (self.folder / ".git").mkdir()
        self.write("specs/one/add.toml", ADD)
        self.write("specs/two/mul.toml", MUL)
        self.kgen("specs/one", "-o", "out")
        self.kgen("specs/two/mul.toml", "-o", "out/two")
        self.assertEqual(self.headers(), BOTH)
        self.assertNotIn("two/kgen.lock", self.files())

    def test_root_must_hold_the_output(self):
        self.write("add.toml", ADD)
        done = self.kgen("add.toml", "-o", "out", "--root", "elsewhere", code=3)
        self.assertIn("the output folder out is not below it", done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_check_of_one_spec_checks_them_too(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/mul.toml", MUL)
        self.kgen("specs", "-o", "out")
        path = self.folder / "out/kgen_openmp.h"
        right = path.read_text()
        path.write_text(right + "// edited\n")
        self.assertEqual(self.kgen("check", "specs/add.toml", "-o", "out", code=1).stdout, "edited:  out/kgen_openmp.h\n")
        self.kgen("specs/add.toml", "-o", "out")  # brings back the one that mul was made with
        self.assertEqual(path.read_text(), right)

    def test_the_folder_at_hand_has_no_name_but_is_told_of(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/mul.toml", MUL)
        self.kgen("specs", "-o", ".", "--targets", "openmp")
        done = self.kgen("specs/add.toml", "-o", ".", "--targets", "openmp", *self.another_kgen(), code=4)
        self.assertIn("one run makes all kernels of this folder; delete", done.stderr)

    def test_another_text_must_not_strand_kernels_of_other_specs(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/mul.toml", MUL)
        self.kgen("specs", "-o", "out", "--targets", "openmp")
        before = (self.folder / "out/kgen_openmp.h").read_bytes()
        other = self.another_kgen()
        done = self.kgen("specs/add.toml", "-o", "out", "--targets", "openmp", *other, code=4)
        self.assertIn("cannot write out/kgen_openmp.h: out/mul_openmp.cpp needs the present one", done.stderr)
        self.assertEqual((self.folder / "out/kgen_openmp.h").read_bytes(), before)
        self.kgen("specs", "-o", "out", "--targets", "openmp", *other)
        self.assertNotEqual((self.folder / "out/kgen_openmp.h").read_bytes(), before)
        (self.folder / "specs/mul.toml").unlink()
        self.kgen("specs", "-o", "out", "--targets", "openmp", code=4)
        self.kgen("specs", "-o", "out", "--targets", "openmp", "--prune")  # nothing of mul is left
        self.assertEqual(self.files(), ["add.h", "add_openmp.cpp", "kgen.lock", "kgen_openmp.h"])

    def test_prune_takes_them_with_the_last_kernel_of_their_target(self):
        self.write("specs/add.toml", ADD)
        self.write("specs/mul.toml", MUL)
        self.kgen("specs", "-o", "out")
        self.kgen("specs/add.toml", "-o", "out", "--targets", "openmp", "--prune")
        self.assertEqual(self.headers(), BOTH)  # for mul
        done = self.kgen("specs", "-o", "out", "--targets", "openmp", "--prune")
        self.assertIn("removed out/kgen_cuda.h\n", done.stdout)
        self.assertEqual(self.headers(), ["kgen_openmp.h"])
        self.kgen("specs", "-o", "out", "--targets", "openmp", "--standalone", "--prune")
        self.assertEqual(self.headers(), [])

    def test_a_kernel_of_another_revision_does_not_compile(self):
        self.write("add.toml", ADD)
        self.kgen("add.toml", "-o", "out")
        path = self.folder / "out/kgen_openmp.h"
        path.write_text(re.sub(r"(_REVISION) \d+", r"\1 1000000", path.read_text(), count=1))
        done = subprocess.run(["g++", "-fsyntax-only", self.folder / "out/add_openmp.cpp"], capture_output=True, text=True)
        self.assertIn("write all kernels of its folder anew", done.stderr)

    def test_a_kernel_named_like_one_is_refused(self):
        self.write("specs/a.toml", ADD.replace('"add"', '"kgen_openmp"'))
        self.assertIn("out/kgen_openmp.h is written by", self.kgen("specs", "-o", "out", code=4).stderr)

    def test_kernels_that_stand_alone_have_the_same_text_and_give_the_same_bits(self):
        for kernel, (name, sizes) in FORMS.items():
            spec = ROOT / "specs" / name
            for form, options in ("shared", []), ("alone", ["--standalone"]):
                self.kgen(spec, "-o", form, *options)
                out = [f"--out={name}={form}_{name}.npy" for name in self.outputs(form, kernel)]
                self.kgen("run", spec, "--target", "openmp", "-D", "T=f32", "--size", sizes, *out, *options)
            self.assertNotIn("kgen_openmp.h\"", (self.folder / f"alone/{kernel}_openmp.cpp").read_text())
            for end in "_openmp.cpp", "_cuda.cu":
                texts = [(self.folder / form / (kernel + end)).read_text() for form in ("shared", "alone")]
                own = [re.split(r"using namespace kgen_(?:openmp::KGEN_SET|cuda);", text)[1] for text in texts]
                self.assertEqual(*own)
            for name in self.outputs("shared", kernel):
                same = [(self.folder / f"{form}_{name}.npy").read_bytes() for form in ("shared", "alone")]
                self.assertEqual(*same)
        self.assertEqual([name for name in self.files("alone") if "kgen_" in name], [])

    def outputs(self, folder, kernel):
        line = re.search(r"/\* @function .*", (self.folder / folder / f"{kernel}.h").read_text()).group()
        self.assertTrue(line.endswith(" */"), line)  # whole, however long it is
        return re.findall(r"\bout (\w+)", line)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    unittest.main()
