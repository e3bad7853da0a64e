"""Contractions drawn at random: products and distances of two or three factors whose axes play random roles, in random
orders of storage, with what may stand around them. Each is a spec, and a reference in NumPy."""

import math
import random

import numpy as np

ROLES = {"batch": "AB", "row": "MP", "column": "NQ", "depth": "KL"}
ELEMENTS = {  # of the body, and of the reference
    "dot({x}, {y}, {depth})": lambda x, y: x * y,
    "sum({x} * {y}, {depth})": lambda x, y: x * y,
    "sum(({x} - {y}) * ({x} - {y}), {depth})": lambda x, y: (x - y) ** 2,
    "sum(abs({x} - {y}), {depth})": lambda x, y: abs(x - y),
    "max({x} + {y}, {depth})": lambda x, y: x + y,
}
ENDS = {
    "z = v;": lambda v, bias: v,
    "z = v + bias;": lambda v, bias: v + bias,
    "z = max(v * 0.5 + bias, 0);": lambda v, bias: np.maximum(v * 0.5 + bias, 0),
}
KEPT = {  # which steps a row takes, of the body and of the reference
    "index({k}) <= index({m})": lambda k, m, kept: k <= m,
    "abs(index({k}) - index({m})) <= 3": lambda k, m, kept: abs(k - m) <= 3,
    "index({k}) % 3 != 1": lambda k, m, kept: (k % 3 != 1) & (m >= 0),
    "kept != 0": lambda k, m, kept: kept != 0,
}
SIZES = {"batch": (1, 3), "row": (1, 40), "column": (1, 70), "depth": (1, 90)}
MOST_STEPS = 2**26  # that the reference does
KINDS = ["f32", "f32", "f64", "bf16", "i8"]


class Drawn:
    def __init__(self, seed):
        draw = random.Random(seed)
        self.name = f"drawn_{seed}"
        self.axes = {role: names[: draw.choice(counts)] for (role, names), counts in
                     zip(ROLES.items(), ([0, 0, 1], [1, 1, 2], [1, 1, 2], [1, 1, 1, 2]))}
        self.type = draw.choice(KINDS)
        self.element, self.value = draw.choice(list(ELEMENTS.items()))
        self.end, self.finish = draw.choice(list(ENDS.items()))
        if self.type == "i8":  # sums of products, whole numbers
            self.element, self.value = draw.choice(list(ELEMENTS.items())[:2])
            self.end, self.finish = "z = v;", ENDS["z = v;"]
        self.result = "i32" if self.type == "i8" else self.type
        self.scaled = self.type != "i8" and "max" not in self.element and "abs" not in self.element and "-" not in self.element and draw.random() < 0.3
        batch, row, column, depth = (self.axes[role] for role in ROLES)
        shuffled = lambda names: "".join(draw.sample(names, len(names)))
        self.x, self.y = shuffled(batch + row + depth), shuffled(batch + column + depth)
        last = draw.choice(row + column)  # neighbours in the result differ in one factor
        self.z = shuffled((batch + row + column).replace(last, "")) + last
        self.bias = draw.choice([row, column])
        self.kept = draw.choice(list(KEPT)) if "max" not in self.element and draw.random() < 0.4 else ""
        if self.kept:  # else rows are neighbours, who must take the same steps
            last = draw.choice(column)
            self.z = self.z.replace(last, "") + last
        self.spec = self.text(depth)
        self.order = list(dict.fromkeys(self.x + self.y + "".join(self.bias if "bias" in self.end else "") + self.z))

    def text(self, depth):
        array = lambda names: ", ".join(names)
        x = "x * scale" if self.scaled else "x"
        kept = ", where(" + self.kept.format(k=depth[0], m=self.axes["row"][0]) + ")" if self.kept else ""
        body = ("int32_t" if self.type == "i8" else "real") + " v = " + self.element.format(x=x, y="y", depth=array(depth) + kept) + "; " + self.end
        lines = [f'kernel = "{self.name}"', f'inputs.x = "{self.type}[{array(self.x)}]"', f'inputs.y = "{self.type}[{array(self.y)}]"']
        lines += [f'inputs.scale = "f32[{array(depth)}]"'] if self.scaled else []
        lines += [f'inputs.bias = "f32[{array(self.bias)}]"'] if "bias" in self.end else []
        lines += [f'inputs.kept = "u8[{self.kept_axes()}]"'] if self.kept == "kept != 0" else []
        return "\n".join([*lines, f'outputs.z = "{self.result}[{array(self.z)}]"', f"body = '{body}'", ""])

    def kept_axes(self):
        return f"{self.axes['row'][0]}, {self.axes['depth'][0]}"

    def sizes(self, number):
        """Of a small call, of one of any size, of one so large that both factors are packed, and of one of few columns."""
        draw = random.Random(f"{self.name} {number}")
        most = {role: high for role, (_, high) in SIZES.items()}
        if number == 0:
            most = {role: 3 for role in most}
        sizes = {axis: draw.randint(SIZES[role][0], most[role]) for role, names in self.axes.items() for axis in names}
        if number == 2:
            for role, least in (("row", 27), ("column", 90), ("depth", 150)):
                sizes[self.axes[role][0]] = least + draw.randint(0, 9)
                for axis in self.axes[role][1:]:
                    sizes[axis] = draw.randint(1, 3)
        if number == 3:
            for axis in self.axes["column"]:
                sizes[axis] = 1
            sizes[self.axes["column"][0]] = draw.randint(1, 6)
            sizes[self.axes["depth"][0]] = draw.randint(65, 200)
        while math.prod(sizes.values()) > MOST_STEPS:
            sizes[max(sizes, key=sizes.get)] //= 2
        return sizes

    def arguments(self, sizes, convert):
        numbers = np.random.default_rng(7)
        shape = lambda names: tuple(sizes[axis] for axis in names)
        values = {"x": convert(self.type, numbers.standard_normal(shape(self.x))),
                  "y": convert(self.type, numbers.standard_normal(shape(self.y)))}
        if self.scaled:
            values["scale"] = convert("f32", numbers.standard_normal(shape(self.axes["depth"])))
        if "bias" in self.end:
            values["bias"] = convert("f32", numbers.standard_normal(shape(self.bias)))
        if self.kept == "kept != 0":
            values["kept"] = (numbers.random(shape(self.axes["row"][0] + self.axes["depth"][0])) < 0.6).astype(np.uint8)
        return values

    def steps(self, values, sizes):
        """Which are taken, for the first row axis and the first depth axis."""
        m, k = (np.arange(sizes[self.axes[role][0]]) for role in ("row", "depth"))
        return np.broadcast_to(KEPT[self.kept](k, m[:, None], values.get("kept")), (len(m), len(k)))

    def expected(self, values, sizes):
        """In f64: the result, and the sum of the magnitudes that went into each number."""
        batch, row, column, depth = (self.axes[role] for role in ROLES)
        order = batch + row + column + depth
        spread = lambda value, names: value.astype(np.float64).transpose(
            [names.index(axis) for axis in order if axis in names]).reshape(
            [sizes[axis] if axis in names else 1 for axis in order])
        x = spread(values["x"], self.x)
        if self.scaled:
            x = x * spread(values["scale"], depth)
        each = np.broadcast_to(self.value(x, spread(values["y"], self.y)), [sizes[axis] for axis in order])
        if self.kept:
            each = each * spread(self.steps(values, sizes), row[0] + depth[0])
        folded = tuple(range(len(order) - len(depth), len(order)))
        total = each.max(axis=folded) if "max" in self.element else each.sum(axis=folded)
        bias = spread(values["bias"], self.bias)[(...,) + (0,) * len(depth)] if "bias" in self.end else 0.0
        z = [(batch + row + column).index(axis) for axis in self.z]
        result = np.broadcast_to(self.finish(total, bias), total.shape)
        return result.transpose(z), (abs(each).sum(axis=folded) + abs(bias)).transpose(z)


def tolerance(drawn, expected, magnitude, sizes):
    depth = math.prod(sizes[axis] for axis in drawn.axes["depth"])
    if drawn.type == "i8":
        return 0 * magnitude
    stored = {"f32": 2.0**-24, "f64": 2.0**-53, "bf16": 2.0**-9}[drawn.type]
    summed = 2.0**-53 if drawn.type == "f64" and not drawn.scaled else 2.0**-24
    return 4 * stored * abs(expected) + 8 * summed * (1 + math.log2(depth)) * magnitude + 1e-30
