#!/usr/bin/env python3
"""Gradients of random specs: each that has one is compared with central differences by `kgen verify --grad`. Fails where
one is wrong, where what `kgen grad` writes is not accepted, and where fewer are differentiated than --least percent.

gradients.py KGEN [--seed 1] [--count 40] [--least 85]
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

if os.environ.get("PYTHONHASHSEED") != "0":  # a seed must mean the same specs each time
    os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, PYTHONHASHSEED="0"))

import frames  # noqa: E402

FLOATING = {"f64", "f32", "f16", "bf16", "real"}
# Rounding has slope 0, but numbers so large that they have no fraction grow with their argument; bits jump.
ROUNDS = re.compile(r"\b(floor|ceil|round|trunc|round_even)\(|bitcast<u?int")


def is_floating(text, role):
    types = dict(re.findall(r"^types\.(\w+) = (.*)$", text, re.M))
    found = re.findall(rf'^{role}\.\w+ = .*?"(\w+)\[', text, re.M)
    return any(name in FLOATING or any(f'"{kind}"' in types.get(name, "") for kind in FLOATING) for name in found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kgen")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="of floating specs")
    parser.add_argument("--least", type=int, default=85)
    options = parser.parse_args()
    compared, refused, wrong, index = 0, [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        while compared + len(refused) + len(wrong) < options.count:
            rng = random.Random(f"{options.seed} {index}")
            spec, _ = frames.random_spec(rng, f"fuzz{index}", rng.random() < 0.35, None)
            index += 1
            if not all(is_floating(spec.text(), role) for role in ("inputs", "outputs")) or ROUNDS.search(spec.text()):
                continue
            path = pathlib.Path(folder) / f"{spec.name}.toml"
            spec.write(path)
            command = [options.kgen, "verify", "--grad", str(path), "--seeds", "1", "--work", "1000000"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=100)
            reason = re.search(r"error\[KG06\d\d\]: .*", done.stderr)
            nothing = "nothing was compared" in done.stderr
            if done.returncode == 0 or nothing:
                compared += 1
            elif reason and "would be refused" not in done.stderr:
                refused.append(f"{spec.name}: {reason[0]}")
            elif "error[KG06" in done.stderr or done.returncode != 2:  # else the spec itself is refused
                wrong.append(f"{spec.name}: {done.stdout}{done.stderr}\n{spec.text()}")
    print("\n".join(refused + ["WRONG " + text for text in wrong]))
    print(f"{compared} differentiated, {len(refused)} refused, {len(wrong)} wrong (seed {options.seed})")
    return 1 if wrong or compared * 100 < options.least * options.count else 0


if __name__ == "__main__":
    sys.exit(main())
