"""Gradients of doubles are computed in doubles: numbers and whole values do not make a part of them a float. Each backward
kernel gives the same as with `--reference`, which computes all in double.

widths.py KGEN [WORD]: only those with the word in their name
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import bodies
import numpy as np

KGEN = sys.argv[1] if len(sys.argv) > 1 else ""
WORD = sys.argv[2] if len(sys.argv) > 2 else ""

ROW = bodies.ROW
SUM = 'inputs.x = "f64[N]"\noutputs.y = "f64[]"\n'
WHOLE = 'inputs.x = "f64[N]"\ninputs.k = "i32[N]"\noutputs.y = "f64[N]"\n'
MIXED = 'inputs.x = "f64[N]"\ninputs.f = "f32[N]"\noutputs.y = "f64[N]"\nscalars.s = "f32"\n'
GRID = 'inputs.x = { type = "f64[N]", block = [1], index = ["n"] }\nscratch.m = "f64[]"\noutputs.y = "f64[]"\n' \
    'grid.n = { size = "N", semantics = "arbitrary" }\n'
OWN = {
    "one by a size": (SUM, "real k = real(1) / size(N); y = sum(x, N) * k;"),
    "a number times an index": (ROW, "real w = index(N); w = w * 0.3 + 0.1; y = x * w;"),
    "one by a whole number": (WHOLE, "real p = k % 7 + 8; y = x / p;"),
    "a power of a whole number": (WHOLE, "y = x * pow(real(k % 7 + 8), -1);"),
    "a parameter times a size": ("params.p = 0.1\n" + ROW, "real n = size(N); y = n * p * x;"),
    "a parameter times an index": ("params.p = 0.1\n" + ROW, "y = x * index(N) * real(p);"),
    "one minus one by a size": (ROW, "real n = size(N); real t = 1 - 1 / n; y = x * t;"),
    "a function of an index": (ROW, "real v = index(N); y = x * sin(v);"),
    "a sum of numbers times indices": (ROW, "real v = index(N); y = x * sum(v * 0.1, N);"),
    "an array of floats": (MIXED, "real v = f; y = x * (v * v + 0.1);"),
    "a scalar of floats": (MIXED, "real v = s; y = x * (v * v * 0.3);"),
    "a sum of floats": (MIXED, "real v = f; y = x * sum(v, N);"),
    "a product of floats, summed": (MIXED, "real v = f; y = x * dot(v, v, N);"),
    "a running sum of floats": (MIXED, "real v = f; y = x * cumsum(v, N);"),
    "a carried value": (GRID, "if (first(n)) m = 0; m = m * 0.9 + sum(x, N); if (last(n)) y = m * m;"),
    "in a function": ("functions = 'real scaled(real v, int64_t i) { real w = i; return v * v * (w * 0.3); }'\n" + ROW,
                      "y = scaled(x, index(N));"),
}
CASES = [(name, before, body) for name, (before, body) in OWN.items()]
CASES += [(name, before, body) for name, (befores, body) in bodies.CASES.items() for before in befores
          if before.startswith(("params", "functions"))]


def run(*arguments):
    done = subprocess.run([KGEN, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)


def check(before, body, folder):
    path = folder / "k.toml"
    fixed = before.replace("[2, 5]", "5").replace("[3, 4]", "3").replace("[5, 2]", "5")
    path.write_text(f'kernel = "k"\n{fixed}' + ("" if "outputs." in before else ROW) + f"body = '''\n{body}\n'''\n")
    run("grad", str(path), "-o", str(folder))
    found = []
    for form in [], ["--reference"]:
        out = folder / "out.npy"
        run("run", str(folder / "k_backward.toml"), "--size", "N=37", "--seed", "5", "--out", f"d_x={out}", *form)
        found.append(np.load(out))
    error = np.max(np.abs(found[0] - found[1]) / (np.abs(found[1]) + 1e-3))
    return "" if error < 1e-12 else f"{error:.1e} off\n" + (folder / "k_backward.toml").read_text()


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name, before, body in CASES:
            if WORD not in name:
                continue
            try:
                if problem := check(before, body, Path(folder)):
                    wrong.append(f"{name}: {before}{body}\n{problem}")
            except AssertionError as error:
                wrong.append(f"{name}: {before}{body}\n{error}")
    print("\n".join(wrong) or f"{len(CASES)} kernels are right")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
