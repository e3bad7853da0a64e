"""A gradient names the file of the forward kernel's functions where that file lies there, too, and no derivative is
written; else it has the functions in itself.

functions_from.py KGEN
"""
import subprocess
import sys
import tempfile
from pathlib import Path

KGEN = sys.argv[1]
FUNCTIONS = "real half_of(real a) { return a * 0.5; }\nreal wave(real a) { return sin(a) * half_of(a); }\n"
SPEC = """kernel = "k"
params.act = ["wave", "tanh"]
functions_from = "functions.txt"
inputs.x = "f32[M, N]"
inputs.w = "f32[N]"
outputs.y = "f32[M, N]"
body = 'y = act(x) * w;'
"""
NAMED, WRITTEN, DERIVATIVE = 'functions_from = "functions.txt"\n', "real wave(real a)", "real wave_derivative(real a)"
# The folder that is written to, the inputs, what the gradient says and what not.
CASES = [
    ("specs", "w", [NAMED], [WRITTEN]),
    ("specs", "x,w", [WRITTEN, DERIVATIVE], [NAMED]),
    ("same", "w", [NAMED], [WRITTEN]),
    ("others", "w", [WRITTEN], [NAMED, DERIVATIVE]),  # a file of this name with other functions
    ("empty", "w", [WRITTEN], [NAMED, DERIVATIVE]),
]


def run(*arguments):
    done = subprocess.run([KGEN, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(folder, of, said, unsaid, root):
    code, text = run("grad", root / "specs/k.toml", "-o", root / folder, "--of", of)
    if code:
        return [f"{folder}, {of}: {text}"]
    written = root / folder / "k_backward.toml"
    made = written.read_text()
    out = [f"{folder}, {of}: no {part!r} in\n{made}" for part in said if part not in made]
    out += [f"{folder}, {of}: {part!r} in\n{made}" for part in unsaid if part in made]
    code, text = run(written, "--stop-after", "facts")
    return out + ([f"{folder}, {of}: {text}"] if code else [])


with tempfile.TemporaryDirectory() as name:
    root = Path(name)
    for folder, functions in {"specs": FUNCTIONS, "same": FUNCTIONS, "others": "real wave(real a) { return a; }\n",
                              "empty": None}.items():
        (root / folder).mkdir()
        if functions is not None:
            (root / folder / "functions.txt").write_text(functions)
    (root / "specs/k.toml").write_text(SPEC)
    wrong = [line for case in CASES for line in check(*case, root)]
print("\n".join(wrong) or f"{len(CASES)} cases are right")
sys.exit(1 if wrong else 0)
