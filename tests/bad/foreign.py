"""What is said of names from other systems: each has its help, and an expression that a help gives is one.

foreign.py KGEN
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INPUTS = "".join(f'inputs.{name} = "f32[M, N]"\n' for name in ("x", "y", "a", "b", "low", "high"))
SPEC = f'kernel = "k"\naxes.K = {{ equals = "N" }}\nparams.k = 2\nparams.i = 1\nparams.seed = 7\n{INPUTS}' + \
    "outputs.out = \"f32[M, N]\"\nbody = 'out = {};'\n"
# A word of the body language, too.
CALLS = {"where": "sum(where(x > 0, x, 0), N)"}
# Whole numbers, or another shape: not for this spec.
OTHERS = {"`a % b`", "`dot(x, y, K)`", "`sum(x * y, K)`"}


def main():
    kgen, text = sys.argv[1], (ROOT / "generator/body/foreign_names.cpp").read_text()
    names = re.findall(r'^    \{"(\w+)",', text, re.M)
    wrong = [] if len(names) > 80 else [f"only {len(names)} names are found"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.toml"

        def said(expression):
            path.write_text(SPEC.replace("{}", expression))
            return subprocess.run([kgen, str(path), "-o", folder, "--targets", "openmp"], capture_output=True, text=True)

        for name in names:
            done = said(CALLS.get(name, f"{name}(x)"))
            help_ = re.search(r"^ *= help: (.*)$", done.stderr, re.M)
            if not help_ or (name not in CALLS and f"`{name}` is not declared" not in done.stderr):
                wrong.append(f"{name}: {done.stderr}")
                continue
            for part in re.findall(r"it is (`[^`]+`)", help_[1]):
                if part not in OTHERS and (now := said(part.strip("`").replace("pi", "3.14"))).returncode != 0:
                    wrong.append(f"{name}: {part} is refused:\n{now.stderr}")
    print("\n".join(wrong) or f"{len(names)} names are known")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
