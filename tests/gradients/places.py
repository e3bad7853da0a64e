"""Gradients of reads at places that are drawn at random - multiples, sums, quotients, remainders, bits, borders,
parameters, ints - are those of central differences, at odd sizes.

places.py KGEN [--count N] [--seed N] [--only N]
"""
import argparse
import concurrent.futures
import random
import subprocess
import sys
import tempfile
from pathlib import Path

NUMBERS = [1, 2, 3, 4, 5, 6, 8]
SIZES = {"A": [1, 2, 3, 5, 7, 9, 11], "B": [1, 3, 6, 8, 13], "M": [1, 2, 3, 5, 7, 9, 11], "N": [1, 3, 6, 8, 13]}
# What may be made of a place {p} with another index {q} and a number {n}.
MADE = ["{n} * ({p})", "({p}) + {n}", "({p}) - {n}", "({p}) / {n}", "({p}) % {n}", "({p}) + {q}", "({p}) - {q}",
        "(({p}) & -{power})", "(({p}) & {bits})", "(({p}) >> {shift})", "(({p}) ^ 1)", "stride * ({p})", "({p}) / stride",
        "({p}) + {q} / {n}", "max({p}, {n})", "({p}) - ({p}) % {n}", "({p}) / ({ratio})", "({p}) % size(A)",
        "({ratio}) * ({p})"]
TOO_SMALL = "must be greater than 0"  # a quotient of sizes, as the backward kernel says


class Drawn:
    """A spec, and sizes to try it at."""

    def __init__(self, seed, index):
        self.random = random.Random(f"{seed}/{index}")
        lanes = self.random.choice([("M", "N"), ("A", "B"), ("A", "N"), ("M", "B")])
        self.ratio = f"size({self.random.choice(lanes)}) / size({self.random.choice('AB')})"
        ints = self.random.random() < 0.3
        self.indices = ["i", "j"] if ints else [f"index({axis})" for axis in lanes]
        names = f"int i = index({lanes[0]});\nint j = index({lanes[1]});\n" if ints else ""
        reduced, statement = self.statement()
        arrays = f'inputs.w = "f64[{", ".join(lanes)}]"\n' if reduced or "w" in statement else ""
        results = lanes[:1] if reduced else lanes
        stride = f"params.stride = {self.random.choice([1, 2, 3, 5])}\n" if "stride" in statement else ""
        self.text = (f'kernel = "k"\n{stride}inputs.x = "f64[A, B]"\n{arrays}outputs.y = "f64[{", ".join(results)}]"\n'
                     f"body = '''\n{names}{statement}\n'''\n".replace("lanes[1]", lanes[1]))
        axes = sorted({"A", "B", *results, *(lanes if arrays else ())})
        self.sizes = [",".join(f"{axis}={self.random.choice(SIZES[axis])}" for axis in axes) for _ in range(3)]

    def place(self, depth, indices):
        place = self.random.choice(indices)
        for _ in range(depth):
            power = self.random.choice([2, 4, 8])
            place = self.random.choice(MADE).format(p=place, q=self.random.choice(indices), n=self.random.choice(NUMBERS),
                                                    ratio=self.ratio, power=power, bits=power - 1, shift=self.random.choice([1, 2]))
        return place

    def statement(self):
        """Whether it sums along the second axis, and the text."""
        i, j = self.indices
        second = self.place(self.random.choice([0, 1, 2, 3]), [j, j, i])
        read = f"at(x, A = {self.place(self.random.choice([0, 1, 2]), [i, i, j])}, B = {second})"
        return self.random.choice([
            (False, f"y = w * {read};"),
            (False, f"real v = {read};\ny = v * v * w;"),
            (False, f"y = ({second}) % 2 == 0 ? {read} : w;"),
            (False, f"y = {read} * at(x, A = {self.place(1, [i])}, B = {j});"),
            (True, f"y = sum(w * {read}, lanes[1]);"),
            (True, f"real v = max({read}, 0.1 * w);\ny = sum(v * v, lanes[1]);")])


def problem(kgen, seed, index, folder):
    drawn = Drawn(seed, index)
    path = Path(folder) / f"{index}.toml"
    path.write_text(drawn.text)
    for sizes in drawn.sizes:
        done = subprocess.run([kgen, "verify", "--grad", path, "--size", sizes], capture_output=True, text=True, timeout=300)
        if done.returncode and TOO_SMALL not in done.stderr:
            return f"{index} at {sizes}:\n{drawn.text}{done.stdout}{done.stderr}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kgen")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    indices = range(options.count) if options.only is None else [options.only]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [*filter(None, pool.map(lambda index: problem(options.kgen, options.seed, index, folder), indices))]
    print("\n".join(problems) if problems else f"{len(indices)} kernels are right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
