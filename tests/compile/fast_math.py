"""Emitted files count on NaN, infinities, -0 and the order of sums. Compilers that are told to forget these are refused
where a macro says so, with the reason; clang++ tells of few of the flags, and the files take the others back.

    fast_math.py [GENERATED]
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATED = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "generated"
OPENMP, CUDA = GENERATED / "norm/softmax_openmp.cpp", GENERATED / "norm/softmax_cuda.cu"
CLANG = shutil.which("clang++-19") or shutil.which("clang++")
REASON = "compile without -ffast-math"
MODEL = ["-Wno-unknown-pragmas", "-isystem", str(ROOT / "tests/cuda_model/include"), "-x", "c++"]
WHOLE = [["-ffast-math"], ["-Ofast"], ["-ffinite-math-only"]]
PARTS = [["-funsafe-math-optimizations"], ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
         ["-freciprocal-math"], ["-fno-signed-zeros"]]  # fmt: skip
HARMLESS = ["-O2", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-frounding-math"]


def said(compiler, flags, file):
    """None where the file is taken, else the errors."""
    language = MODEL if file.suffix == ".cu" else []
    done = subprocess.run([compiler, "-std=c++17", *flags, "-fsyntax-only", *language, file], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr


class FastMath(unittest.TestCase):
    def test_what_macros_tell_of_is_refused_with_the_reason(self):
        cases = [("g++", flags) for flags in WHOLE + PARTS] + [(CLANG, flags) for flags in WHOLE if CLANG]
        for compiler, flags in cases:
            for file in (OPENMP, CUDA):
                self.assertIn(REASON, said(compiler, flags, file) or "taken", (compiler, flags, file.name))

    def test_what_changes_no_result_is_taken(self):
        for compiler in filter(None, ("g++", CLANG)):
            self.assertIsNone(said(compiler, HARMLESS, OPENMP), compiler)

    @unittest.skipUnless(CLANG, "clang++ is not installed")
    def test_clang_is_taken_back_what_no_macro_tells_of(self):
        for flags in PARTS:
            done = subprocess.run([CLANG, "-std=c++17", "-O0", *flags, "-S", "-emit-llvm", "-o", "-", OPENMP],
                                  capture_output=True, text=True, check=True)  # fmt: skip
            self.assertRegex(done.stdout, r"= f(add|div)")
            loose = re.findall(r"= f\w+ [a-z ]*\b(?:reassoc|nsz|arcp|afn|ninf|nnan|fast)\b.*", done.stdout)
            self.assertEqual(loose, [], flags)


if __name__ == "__main__":
    unittest.main()
