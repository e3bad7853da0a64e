"""A temporary folder in which a test runs kgen: the program is the first argument of the test."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]

ADD = """kernel = "add"
types.T = ["f32", "f64"]
inputs.x = "T[N]"
inputs.y = "T[N]"
outputs.z = "T[N]"
body = 'z = x + y;'
"""


class Sandbox(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="kgen_commands_")
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def kgen(self, *arguments, code=0, environment=None, stdin=""):
        variables = {**os.environ, **(environment or {})}
        done = subprocess.run(
            [KGEN, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60, env=variables,
            input=stdin
        )
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def files(self, folder="out"):
        root = self.folder / folder
        return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
