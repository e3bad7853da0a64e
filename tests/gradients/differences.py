"""The gradient of every floating spec that ships or is in tests/conformance/specs is that of central differences, or is
refused for a reason that docs/gradients.md lists. At least nine of ten are differentiated.

differences.py KGEN [--part i/n] [--list]
"""
import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLOATING = {"f64", "f32", "f16", "bf16", "real"}
SIZES = {"frames_energy": "W=720", "block_scatter": "M=16,T=2,N=2", "dynamic_slice": "M=12,N=2", "prefix_sum": "M=130,N=3",
         "attention": "S=3,R=4,B=1,H=1", "attention_online": "S=3,R=4,B=1,H=1", "attention_causal": "S=3,R=4,B=1,H=1"}

# Rows whose length the spec fixes, so long that the interpreter takes half a minute for each.
LONG = {"norms_of_groups", "norms_of_long_rows",
        "scans_of_long_rows", "softmax_of_long_rows"}
# What it gives is infinite.
NO_NUMBERS = {"folded_constant"}


def types_of(spec, role):
    for value in spec.get(role, {}).values():
        name = re.match(r"\w+", value if isinstance(value, str) else value["type"])[0]
        yield from spec.get("types", {}).get(name, [name])


def is_floating(path):
    spec = tomllib.loads(path.read_text())
    return "backward_of" not in spec and all(set(types_of(spec, r)) & FLOATING for r in ("inputs", "outputs"))


def specs():
    shipped = sorted((ROOT / "specs").rglob("*.toml")) + sorted((ROOT / "tests/conformance/specs").glob("*.toml"))
    return [path for path in shipped if is_floating(path) and path.stem not in LONG | NO_NUMBERS]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kgen")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    at, parts = map(int, options.part.split("/"))
    every = specs()
    wrong, refused, compared = [], [], 0
    for path in every[at - 1 :: parts]:
        command = [options.kgen, "verify", "--grad", str(path), "--seeds", "1", "--work", "4000000"]
        if path.stem in SIZES:
            command += ["--size", SIZES[path.stem]]
        done = subprocess.run(command, capture_output=True, text=True)
        name = path.relative_to(ROOT)
        if done.returncode == 2:
            reason = re.search(r"error\[(KG06\d\d)\]: (.*)", done.stderr)
            if reason is None:
                wrong.append(f"{name}: {done.stderr}")
            else:
                refused.append((name, reason[2]))
                print(f"{name}: refused: {reason[2]}")
        elif done.returncode != 0:
            wrong.append(f"{name}: {done.stderr.strip() or done.returncode}")
        else:
            compared += 1
            print(done.stdout.strip())
    for line in wrong:
        print("WRONG", line)
    print(f"{compared} of {compared + len(refused) + len(wrong)} are differentiated, {len(refused)} are refused")
    if compared * 100 < (90 if parts == 1 else 80) * (compared + len(refused) + len(wrong)):
        print("fewer than nine of ten are differentiated")
        return 1
    return 1 if wrong or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
