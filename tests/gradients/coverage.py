"""How many floating specs `kgen grad` differentiates: those shipped, those of tests/conformance, and the floating ones of
500 random ones. docs/gradients.md has the numbers, with the reasons of those refused; no fewer than 90 of 100 are.

coverage.py KGEN [--list] [--update]: names the refused; writes the numbers into the docs
"""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

if os.environ.get("PYTHONHASHSEED") != "0":  # a seed must mean the same specs each time
    os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, PYTHONHASHSEED="0"))

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs/gradients.md"
sys.path[:0] = [str(ROOT / "tests/fuzz"), str(ROOT / "tests/gradients")]
import frames  # noqa: E402
from differences import is_floating  # noqa: E402

SEEDS = 500
# What the message and its help say, and the reason in the docs.
REASONS = [
    (r"this loop|a loop", "a loop of unknown length whose values the gradient needs"),
    (r"which `\w+` has overwritten", "an input that its `alias` has overwritten, and that the gradient needs"),
    (r"is another than that of|a list of axis functions",
     "choices of types or axis functions that have no common text: `-D` fixes them"),
    (r"carries from step to step", "values that steps change as no scan does"),
    (r"bitcast", "numbers through `bitcast`"),
    (r"rows of different lengths|ragged", "rows of different lengths, read at other places or cut into blocks"),
    (r"steps|KG0605|at other places that later", "steps of a grid whose number nothing bounds"),
]
OTHERS = "others"


def reason_of(message):
    return next((reason for pattern, reason in REASONS if re.search(pattern, message)), OTHERS)


def specs(folder):
    shipped = sorted((ROOT / "specs").rglob("*.toml")) + sorted((ROOT / "tests/conformance/specs").glob("*.toml"))
    for index in range(SEEDS):
        rng = random.Random(f"1 {index}")
        spec, _ = frames.random_spec(rng, f"fuzz{index}", rng.random() < 0.35, None)
        path = Path(folder) / f"{spec.name}.toml"
        spec.write(path)
        shipped.append(path)
    return [path for path in shipped if is_floating(path)]


def refusal(kgen, path):
    """None, or the first message of why there is no gradient; "" where the spec itself is refused."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([kgen, "grad", str(path), "-o", folder], capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return None
    found = re.search(r"error\[KG06\d\d\]: .*(?:\n(?!\n).*)*", done.stderr)
    return found[0] if found else ""


def table(differentiated, reasons):
    total = differentiated + sum(reasons.values())
    text = f"Of {total} floating specs (those shipped, those of\n`tests/conformance`, and the floating ones of {SEEDS} " \
           f"random ones) {differentiated} are differentiated. The others are refused because of:\n\n| reason | specs |\n|---|---|\n"
    rows = sorted(reasons.items(), key=lambda row: (row[0] == OTHERS, -row[1], row[0]))
    return text + "".join(f"| {reason} | {count} |\n" for reason, count in rows)


def main():
    differentiated, reasons = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in specs(folder):
            message = refusal(sys.argv[1], path)
            if message is None:
                differentiated += 1
            elif message:
                reasons[reason_of(message)] += 1
                if "--list" in sys.argv:
                    print(f"{path.name}: {reason_of(message)}: {message}")
    text = table(differentiated, reasons)
    print(text)
    page = DOCS.read_text()
    written = re.search(r"Of \d+ floating specs .*?\n(?=\n## )", page, re.S)[0]
    if "--update" in sys.argv:
        DOCS.write_text(page.replace(written, text))
    elif written != text:
        print("docs/gradients.md has other numbers: coverage.py KGEN --update writes these")
        return 1
    return 1 if differentiated * 100 < 90 * (differentiated + sum(reasons.values())) else 0


if __name__ == "__main__":
    sys.exit(main())
