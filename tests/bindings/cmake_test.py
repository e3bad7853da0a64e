"""kgen_add_kernels(... BINDINGS numpy torch): one library for the modules of all kernels, beside them.

cmake_test.py KGEN [unittest arguments]
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = f"""cmake_minimum_required(VERSION 3.21)
project(product CXX)
include({ROOT}/cmake/kgenFunctions.cmake)
kgen_add_kernels(kernels SPECS add.toml twice.toml TARGETS openmp BINDINGS numpy NAMESPACE product ${{more}})
"""
ADD = 'kernel = "add"\ninputs.x = "f32[N]"\ninputs.y = "f32[N]"\noutputs.z = "f32[N]"\nbody = \'z = x + y;\'\n'
CODE = """import numpy as np
from add_numpy import add
from twice_numpy import twice
print(twice(add(np.ones(2, "f4"), np.ones(2, "f4"))))
try:
    add(np.ones(2, "f4")[:0], np.ones(0, "f4"), out=np.ones(1, "f4"))
except ValueError as error:
    print(error)
"""
TORCH_CODE = """import torch
from add_torch import add
from twice_torch import twice
print(twice(add(torch.ones(2), torch.ones(2))).tolist())
print(torch.ops.product.twice(torch.ops.product.add(torch.ones(2), torch.ones(2))).tolist())
"""


def run(*command, cwd=None):
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)


class Cmake(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        (self.folder / "add.toml").write_text(ADD)
        (self.folder / "twice.toml").write_text(
            'kernel = "twice"\ninputs.x = "f32[N]"\noutputs.z = "f32[N]"\nbody = \'z = 2 * x;\'\n')

    def configure(self, *options):
        return run("cmake", "-S", self.folder, "-B", self.folder / "build", "-G", "Ninja", f"-DKGEN_EXECUTABLE={KGEN}",
                   *options)

    def test_modules_find_the_library_of_their_target(self):
        for folder, options in (("build/kernels_kgen", []), ("committed", ["-Dmore=COMMITTED_DIR;committed"])):
            with self.subTest(folder=folder):
                run(KGEN, "add.toml", "twice.toml", "-o", "committed", "--bind", "numpy", cwd=self.folder)
                configured = self.configure(*options)
                self.assertEqual(configured.returncode, 0, configured.stderr)
                made = run("cmake", "--build", self.folder / "build")
                self.assertEqual(made.returncode, 0, made.stdout)
                done = run(sys.executable, "-c", CODE, cwd=self.folder / folder)
                self.assertEqual(done.stdout, "[4. 4.]\nz has the shape (1,), not (0,)\n", done.stderr)

    def test_operators_of_torch_are_in_one_library(self):
        (self.folder / "CMakeLists.txt").write_text(PROJECT.replace("BINDINGS numpy", "BINDINGS torch"))
        configured = self.configure(f"-DPython3_EXECUTABLE={sys.executable}")
        self.assertEqual(configured.returncode, 0, configured.stderr)
        made = run("cmake", "--build", self.folder / "build")
        self.assertEqual(made.returncode, 0, made.stdout)
        done = run(sys.executable, "-c", TORCH_CODE, cwd=self.folder / "build/kernels_kgen")
        self.assertEqual(done.stdout, "[4.0, 4.0]\n[4.0, 4.0]\n", done.stderr)

    def test_modules_for_jax_find_theirs(self):
        (self.folder / "CMakeLists.txt").write_text(PROJECT.replace("BINDINGS numpy", "BINDINGS jax"))
        configured = self.configure(f"-DPython3_EXECUTABLE={sys.executable}")
        self.assertEqual(configured.returncode, 0, configured.stderr)
        made = run("cmake", "--build", self.folder / "build", "--target", "kernels_jax")
        self.assertEqual(made.returncode, 0, made.stdout)
        code = "from add_jax import add, np\nfrom twice_jax import twice\nprint(twice(add(*[np.ones(2, 'f4')] * 2)))"
        done = run(sys.executable, "-c", code, cwd=self.folder / "build/kernels_kgen")
        self.assertEqual(done.stdout, "[4. 4.]\n", done.stderr)

    def test_what_there_is_not_is_refused(self):
        (self.folder / "CMakeLists.txt").write_text(PROJECT.replace("BINDINGS numpy", "BINDINGS pandas"))
        self.assertIn("BINDINGS takes numpy, torch and jax, not pandas", self.configure().stderr.replace("\n", " "))


if __name__ == "__main__":
    unittest.main()
