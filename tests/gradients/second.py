"""Second derivatives: the gradients of the backward kernels that ship, for all choices of their parameters, are those of
central differences.

second.py KGEN
"""
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Sizes where the usual ones take long, or where the kernel refuses those that are drawn.
SIZES = {"attention_backward": "S=3,R=4,B=1,H=1", "conv2d_backward": "B=1,C=2,O=2"}


def backwards():
    every = sorted((ROOT / "specs").rglob("*_backward.toml"))
    return [path for path in every if "backward_of" in tomllib.loads(path.read_text())]


def refusal(kgen, path):
    command = [kgen, "verify", "--grad", str(path), "--seeds", "1", "--work", "1000000"]
    if path.stem in SIZES:
        command += ["--size", SIZES[path.stem]]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip() or f"exit {done.returncode}" if done.returncode else ""


def main():
    wrong = 0
    for path in backwards():
        problem = refusal(sys.argv[1], path)
        wrong += bool(problem)
        print(f"{path.stem}: {problem or 'right'}", flush=True)
    print(f"{len(backwards()) - wrong} of {len(backwards())} are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
