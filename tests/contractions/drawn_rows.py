"""Products inside of rows, as those of attention, drawn at random: a row's products with keys, something that looks at all
of them, and their product with values. Each is a spec, and a reference in NumPy."""

import random

import numpy as np

BETWEEN = {  # of the scores `s` of a row; and the same in NumPy, where `kept` says which count
    "softmax": ("real p = exp(s - max(s, R{kept}));", "dot(p, v, R{kept}) / sum(p, R{kept})"),
    "mean": ("real p = s - mean(s, R{kept});", "dot(p, v, R{kept})"),
    "shares": ("real p = max(s, 0);", "dot(p, v, R{kept}) / (1 + sum(p, R{kept}))"),
    "scores": ("real p = s * bias;", "dot(p, v, R{kept})"),
    "of_two": ("real p = s; real t = sum(s * s, R{kept});", "dot(p, v, R{kept}) / (1 + t)"),
}
KEPT = {"": "", "causal": ", where(index(R) <= index(S))", "near": ", where(abs(index(R) - index(S)) <= 20)"}


def weights(name, s, kept, bias):
    s = np.where(kept, s, 0)
    if name == "softmax":
        top = np.where(kept, s, -np.inf).max(-1, keepdims=True)
        p = np.where(kept, np.exp(np.where(kept, s - np.where(np.isfinite(top), top, 0), 0)), 0)
        return p / p.sum(-1, keepdims=True)
    if name == "mean":
        return np.where(kept, s - s.sum(-1, keepdims=True) / kept.sum(-1, keepdims=True), 0)
    if name == "shares":
        p = np.maximum(s, 0)
        return p / (1 + p.sum(-1, keepdims=True))
    if name == "scores":
        return s * bias
    return s / (1 + (s * s).sum(-1, keepdims=True))


class DrawnRows:
    def __init__(self, seed):
        draw = random.Random(f"rows {seed}")
        self.name = f"rows_{seed}"
        self.between = draw.choice(list(BETWEEN))
        self.kept = draw.choice(list(KEPT))
        self.type = draw.choice(["f32", "f32", "f64", "bf16"])
        self.heads = draw.choice(["", "B", "BH"])
        self.blocked = draw.random() < 0.3
        shuffled = lambda names: "".join(draw.sample(names, len(names)))
        self.arrays = {"q": shuffled(self.heads + "SD"), "k": shuffled(self.heads + "RD"), "v": shuffled(self.heads + "R") + "E"}
        self.out = shuffled(self.heads + "S") + "E"
        self.of_keys = draw.choice(["", self.heads]) + "R"  # the axes of `bias`
        first, last = (text.format(kept=KEPT[self.kept]) for text in BETWEEN[self.between])
        lines = [f'kernel = "{self.name}"']
        lines += [f'inputs.{name} = "{self.type}[{", ".join(axes)}]"' for name, axes in self.arrays.items()]
        lines += [f'inputs.bias = "f32[{", ".join(self.of_keys)}]"'] if self.between == "scores" else []
        lines += [f'outputs.o = "{self.type}[{", ".join(self.out)}]"']
        lines += ['grid.i = { axis = "S", block = 48 }'] if self.blocked else []
        self.order = list(dict.fromkeys("".join([*self.arrays.values(), self.of_keys if self.between == "scores" else "", self.out])))
        self.spec = "\n".join([*lines, f"body = 'real s = 0.3 * dot(q, k, D); {first} o = {last};'", ""])

    def sizes(self, number):
        draw = random.Random(f"{self.name} {number}")
        rows = [draw.randint(1, 31), draw.randint(32, 90), draw.randint(400, 500)][min(number, 2)]
        keys = draw.randint(1, 50) if number < 2 else draw.randint(150, 300)
        sizes = {"B": draw.randint(1, 3), "H": draw.randint(1, 2), "S": rows, "R": keys, "D": draw.randint(9, 40), "E": draw.randint(8, 40)}
        if number == 3:  # few columns of the products
            sizes |= {"R": draw.randint(1, 6), "D": draw.randint(65, 90)}
        if number == 4:
            sizes |= {"E": draw.randint(1, 6)}
        return sizes

    def values(self, sizes):
        draw = np.random.default_rng(sizes["S"])
        made = {name: draw.standard_normal([sizes[a] for a in axes]) for name, axes in self.arrays.items()}
        if self.between == "scores":
            made["bias"] = draw.standard_normal([sizes[a] for a in self.of_keys])
        return made

    def expected(self, values, sizes):
        """In double; and the magnitude of what is summed."""
        doubles = {name: np.asarray(value, np.float64) for name, value in values.items()}
        heads = self.heads
        s = 0.3 * np.einsum(f"{self.arrays['q']},{self.arrays['k']}->{heads}SR", doubles["q"], doubles["k"])
        row, key = np.arange(sizes["S"])[:, None], np.arange(sizes["R"])
        kept = {"": key >= 0, "causal": key <= row, "near": abs(key - row) <= 20}[self.kept]
        kept = np.broadcast_to(kept, s.shape)
        bias = 1
        if "bias" in doubles:
            bias = np.einsum(f"{self.of_keys}->{self.of_keys}", doubles["bias"])
            bias = bias[..., None, :] if len(self.of_keys) > 1 else bias
        with np.errstate(invalid="ignore", divide="ignore"):
            p = weights(self.between, s, kept, bias)
        o = np.einsum(f"{heads}SR,{self.arrays['v']}->{self.out}", p, doubles["v"])
        # An error of a score is one of what it sums; weights of softmax are changed by a part of themselves.
        summed = 0.3 * np.einsum(f"{self.arrays['q']},{self.arrays['k']}->{heads}SR", abs(doubles["q"]), abs(doubles["k"]))
        error = abs(p) * (1 + summed) + (0 if self.between == "softmax" else summed)
        return o, np.einsum(f"{heads}SR,{self.arrays['v']}->{self.out}", error, abs(doubles["v"]))
