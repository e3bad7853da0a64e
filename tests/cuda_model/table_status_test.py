"""What a GPU finds wrong in a table is an error of `kgen run` and is compared by `kgen verify`, as what a launcher returns is."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = ROOT / "tests/cuda_model/specs/entries_up_to_three.toml"


class TableStatus(unittest.TestCase):
    def run_with(self, entries):
        with tempfile.TemporaryDirectory(prefix="kgen_status_") as folder:
            arrays = {"t": numpy.array(entries, numpy.int32), "x": numpy.ones(len(entries), numpy.float32)}
            given = []
            for name, array in arrays.items():
                numpy.save(f"{folder}/{name}.npy", array)
                given += ["--in", f"{name}={folder}/{name}.npy"]
            return subprocess.run([OPTIONS.kgen, "run", SPEC, *given, *MODEL], capture_output=True, text=True)

    def test_a_table_that_is_as_required_runs(self):
        done = self.run_with([1, 2, 3])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_table_that_is_not_ends_the_run(self):
        done = self.run_with([1, 2, 7])
        self.assertEqual(done.returncode, 1)
        self.assertIn("table_status", done.stderr)
        self.assertIn("entries up to 3", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_verify_compares_it(self):
        done = subprocess.run([OPTIONS.kgen, "verify", SPEC, *MODEL], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    parser.add_argument("--model-library", required=True)
    OPTIONS, rest = parser.parse_known_args()
    MODEL = ["--target", "cuda_model", "--model", ROOT / "tests/cuda_model", "--model-library", OPTIONS.model_library]
    unittest.main(argv=[sys.argv[0], *rest])
