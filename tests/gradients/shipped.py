"""The backward specs that ship are what `kgen grad` writes, and the forward kernels that save for them.

shipped.py KGEN [--update]: writes them anew
"""
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAVED = {"attention_training": "lse"}  # locals, by kernel


def is_made(path):
    saves = any(path.stem == name + "_forward" for name in SAVED)
    return saves or "backward_of" in tomllib.loads(path.read_text())


def forward_of(path):
    kernel = tomllib.loads(path.read_text()).get("backward_of", path.stem.removesuffix("_forward"))
    return next(p for p in path.parent.glob("*.toml") if tomllib.loads(p.read_text())["kernel"] == kernel)


def made(kgen, path):
    forward = forward_of(path)
    saved = ["--save", SAVED[forward.stem]] if forward.stem in SAVED else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([kgen, "grad", str(forward), *saved, "-o", folder], capture_output=True, text=True)
        written = Path(folder) / path.name
        return written.read_text() if written.exists() else done.stderr


def main():
    shipped = [p for p in sorted((ROOT / "specs").rglob("*.toml")) if is_made(p)]
    wrong = 0
    for path in shipped:
        name = str(path.relative_to(ROOT / "specs"))
        text = made(sys.argv[1], path)
        if "--update" in sys.argv[2:]:
            path.write_text(text)
        elif text != path.read_text():
            wrong += 1
            print(f"specs/{name} is not what kgen grad writes:\n{text}")
    print(f"{len(shipped) - wrong} of {len(shipped)} are as made")
    return 1 if wrong or not shipped else 0


if __name__ == "__main__":
    sys.exit(main())
