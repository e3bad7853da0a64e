"""`pip install .` in a clone builds the program, and its wheel has that and the package, nothing else; a built program
that is named goes into the wheel instead.

wheel_test.py SOURCE_FOLDER KGEN
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
SPEC = """kernel = "twice"
inputs.x = "f32[N]"
outputs.y = "f32[N]"
body = 'y = 2 * x;'
"""
CODE = f"import kgen, numpy; print(kgen.load({SPEC!r})(numpy.ones(2, 'f4')))"


def run(*command, **environment):
    # The same compiler, by the same name, as that of the tree: then ccache knows what is compiled.
    own = {"CXX": "/usr/bin/c++", "CC": "/usr/bin/cc", "CCACHE_BASEDIR": str(SOURCE), "CCACHE_NOHASHDIR": "1"}
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env={**os.environ, **own, **environment})


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def wheel(self, **environment):
        made = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", self.folder, SOURCE, **environment)
        if "No matching distribution found for scikit-build-core" in made.stderr:
            self.skipTest("scikit-build-core cannot be had")
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        wheel, = self.folder.glob("*.whl")
        self.assertRegex(wheel.name, r"kgen-[\d.]+-py3-none-linux")
        return wheel

    def check(self, wheel):
        own = {f"kgen/{file.name}" for file in (SOURCE / "bindings/kgen").glob("*.py")} | {"kgen/bin/kgen"}
        with zipfile.ZipFile(wheel) as files:
            self.assertEqual({name for name in files.namelist() if ".dist-info/" not in name}, own)
        installed = self.folder / "installed"
        done = run(sys.executable, "-m", "pip", "install", "--no-deps", "--target", installed, wheel)
        self.assertEqual(done.returncode, 0, done.stderr)
        linked = run("ldd", installed / "kgen/bin/kgen").stdout
        for library in ("LLVM", "clang", "isl", "gmp", "stdc++"):
            self.assertNotIn(library, linked)
        done = run(sys.executable, "-c", CODE, PYTHONPATH=str(installed), KGEN_CACHE_DIR=str(self.folder / "cache"),
                   KGEN_EXECUTABLE="")
        self.assertEqual(done.stdout, "[2. 2.]\n", done.stderr)

    def test_a_clone_builds_the_program(self):
        self.check(self.wheel(KGEN_EXECUTABLE=""))

    def test_a_built_program_is_taken(self):
        self.check(self.wheel(KGEN_EXECUTABLE=KGEN))


unittest.main()
