"""`kgen verify --grad` of a user's own spec: exits 0 where the gradient is right; 1 where it is wrong, and names the worst
element, or where nothing was compared.

verify.py KGEN
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KGEN = sys.argv[1]
SPEC = """kernel = "k"
params.act = ["relu", "own"]
inputs.x = "f64[M, N]"
outputs.y = "f64[M]"
functions = '''
real own(real v) { return v * v; }
real own_derivative(real v) { return SLOPE; }
'''
body = 'y = sum(act(x), N);'
"""
# name: the derivative that the user wrote, options, the exit code, what is said.
CASES = {
    "a derivative of the user's own that is right": ("2 * v", [], 0, r"differences compared, .* the largest error is"),
    "one that is wrong everywhere": ("3 * v", [], 1, r"the gradient is wrong at d_x\[\d+, \d+\]"),
    "one that is wrong for some": ("v > 0 ? 2 * v : 0", [], 1, r"the gradient is wrong at d_x\[\d+, \d+\]"),
    "one that is no number": ("0.0 / 0.0", [], 1, r"the gradient is wrong at d_x\[\d+, \d+\]"),
    "no elements": ("2 * v", ["--size", "N=0"], 1, r"nothing was compared"),
}


# Of what is a number only for some inputs, those are drawn.
DOMAINS = {
    "logarithms": ("y = sum(x * log(x), N);", 0, r", 0 elements are not finite; the largest error is \S+e-"),
    "what is never a number": ("y = sum(log(-1 - x * x), N);", 1, r"nothing was compared: no output is a number .*--seeds 20"),
}


# What is drawn for a scalar may be refused: the command line says which it is.
ASKED = """kernel = "k"
inputs.x = "f64[N]"
scalars.w = "f64"
outputs.y = "f64[N]"
body = 'require(w >= 200000, "w is large"); y = x * x * w;'
"""
SCALARS = {
    "scalars that are refused": ([], 1, r"nothing was compared: w is large; --scalar a=2 says what a scalar is"),
    "one that the command line gives": (["--scalar", "w=200001"], 0, r"differences compared, .* the largest error is \S+e-"),
    "one given twice": (["--scalar", "w=200001", "--scalar", "w=3"], 3, r"--scalar w is given twice"),
    "one that there is not": (["--scalar", "v=3"], 3, r"--scalar v: the kernel has no such scalar"),
}


# Windows, which few elements do not fill: the body's numbers are those of `--size`, or of sizes that fit them.
WINDOWS = {
    "of frames": """axes.F = { equals = "max((W - 32) / 16 + 1, 0)" }
inputs.x = { type = "f64[W]", block = [32], offset = ["16 * f"] }
outputs.y = "f64[F]"
grid.f = { axis = "F", block = 1 }
body = 'y = sum(x * x * x, W);'
""",
    "of seven by seven, to one number": """axes.P = { equals = "max(H - 6, 0)" }
axes.Q = { equals = "max(W - 6, 0)" }
axes.I = 7
axes.J = 7
inputs.x = "f64[H, W]"
outputs.y = "f64[]"
body = 'real m = mean(at(x, H = P + I, W = Q + J), I, J); y = sum(m * m, P, Q);'
"""}


# Kernels whose differences are all 0, at the sizes that are tried first or at any.
ZEROS = {
    "a dilated window that few elements fill": ("""params.stride = 2
params.apart = 2
axes.P = { equals = "max((W + 1 - apart * (I - 1)) / stride + 1, 0)" }
inputs.x = "f64[C, W]"
inputs.w = "f64[C, I]"
outputs.y = "f64[C, P]"
body = 'y = sum(at(x, W = index(P) * stride - 1 + index(I) * apart) * w, I);'
""", r"largest error is \S+ of d_.*: -?\d*\.?\d*[1-9]"),
    "sizes that are required": ("""inputs.x = "f64[H, D]"
inputs.w = "f64[E]"
outputs.y = "f64[H, D]"
body = '''
require(size(D) == 2 * size(E), "halves");
y = x * x * at(w, E = index(D) % size(E));
'''
""", r"largest error is \S+ of d_.*: -?\d*\.?\d*[1-9]"),
    "a branch that no element takes": ("""inputs.x = "f64[N]"
outputs.y = "f64[N]"
body = 'y = x > 1e30 ? x : 0;'
""", r"differences compared, .*\n  all of them are 0; --size M=256,N=128 tries other sizes\n$"),
}


def verify(name, spec, options, code, said, folder):
    path = folder / "k.toml"
    path.write_text(spec)
    done = subprocess.run([KGEN, "verify", "--grad", str(path), "--seeds", "1", *options], capture_output=True, text=True)
    text = done.stdout + done.stderr
    return [] if done.returncode == code and re.search(said, text) else [f"{name}: exit {done.returncode}: {text}"]


wrong = []
for name, case in CASES.items():
    with tempfile.TemporaryDirectory() as folder:
        slope, *rest = case
        wrong += verify(name, SPEC.replace("SLOPE", slope), *rest, Path(folder))
for name, (body, code, said) in DOMAINS.items():
    with tempfile.TemporaryDirectory() as folder:
        arrays = 'inputs.x = "f64[M, N]"\noutputs.y = "f64[M]"\n'
        wrong += verify(name, f"kernel = \"k\"\n{arrays}body = '{body}'\n", [], code, said, Path(folder))
for name, case in SCALARS.items():
    with tempfile.TemporaryDirectory() as folder:
        wrong += verify(name, ASKED, *case, Path(folder))
for name, spec in WINDOWS.items():
    axis = "H" if "inputs.x = \"f64[H" in spec else "W"
    for options, code, said in [([], 0, r"largest error is \S+ of d_x.*: -?\d*\.?\d*[1-9]"),
                                (["--size", axis + "=6"], 1, "no verdict: nothing was compared")]:
        with tempfile.TemporaryDirectory() as folder:
            wrong += verify(f"windows {name} {options}", 'kernel = "k"\n' + spec, options, code, said, Path(folder))
for name, (spec, said) in ZEROS.items():
    with tempfile.TemporaryDirectory() as folder:
        wrong += verify(name, 'kernel = "k"\n' + spec, [], 0, said, Path(folder))
print("\n".join(wrong) or f"{len(CASES) + len(DOMAINS) + len(SCALARS) + len(ZEROS) + 2 * len(WINDOWS)} cases are right")
sys.exit(1 if wrong else 0)
