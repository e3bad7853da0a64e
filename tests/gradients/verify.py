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
    "no elements": ("2 * v", ["--size", "N=0"], 1, r"nothing was compared"),
}


def check(name, slope, options, code, said, folder):
    path = folder / "k.toml"
    path.write_text(SPEC.replace("SLOPE", slope))
    done = subprocess.run([KGEN, "verify", "--grad", str(path), "--seeds", "1", *options], capture_output=True, text=True)
    text = done.stdout + done.stderr
    return [] if done.returncode == code and re.search(said, text) else [f"{name}: exit {done.returncode}: {text}"]


wrong = []
for name, case in CASES.items():
    with tempfile.TemporaryDirectory() as folder:
        wrong += check(name, *case, Path(folder))
print("\n".join(wrong) or f"{len(CASES)} cases are right")
sys.exit(1 if wrong else 0)
