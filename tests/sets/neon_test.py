"""Emitted OpenMP code for aarch64, run by an emulator: the programs of --selfcheck, each of which goes through some dozens
of sizes, compare it with the kernels as they are written. Skipped where there is no compiler or no emulator for it."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "commands"))
from sandbox import ROOT, Sandbox  # noqa: E402

COMPILER = shutil.which("aarch64-linux-gnu-g++")
EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
# Maths, folds along rows, columns and of places, scans, products, each in two types.
KERNELS = {"elementwise/activation": ("f32", "bf16"), "norm/softmax": ("f32", "f16"), "reduce/column_sum": ("f32", "f64"),
           "reduce/argmax": ("f32", "f64"), "scan/cumsum": ("f32", "i32"), "matmul/matmul": ("f32", "bf16")}
LEAST_SIZES = 8


@unittest.skipUnless(COMPILER and EMULATOR, "aarch64-linux-gnu-g++ and qemu-aarch64-static run what is emitted for NEON")
class Neon(Sandbox):
    def check(self, kernel, element):
        folder, name = self.folder / f"{element}_{pathlib.Path(kernel).name}", pathlib.Path(kernel).name
        self.kgen(ROOT / f"specs/{kernel}.toml", "-D", f"T={element}", "-o", folder, "--selfcheck", "--targets", "openmp")
        program = folder / "program"
        subprocess.run([ROOT / "tests/tools/cached_cxx", COMPILER, "-std=c++17", "-O2", "-static", folder / f"{name}_selfcheck.cpp",
                        folder / f"{name}_openmp.cpp", "-o", program], check=True)
        return kernel, element, subprocess.run([EMULATOR, program, "--no-timing"], capture_output=True, text=True)

    def test_kernels_agree_with_their_specs(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            every = [(kernel, element) for kernel, elements in KERNELS.items() for element in elements]
            for kernel, element, done in workers.map(lambda job: self.check(*job), every):
                with self.subTest(kernel, element=element):
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    for line in done.stdout.splitlines()[:-1]:
                        self.assertGreaterEqual(int(line.split(": ")[1].split()[0]), LEAST_SIZES, line)


if __name__ == "__main__":
    unittest.main()
