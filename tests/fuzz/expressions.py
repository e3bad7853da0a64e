"""Random expressions: a table of productions with weights for each class of value (f, i, b).

What is made is legal by construction: values have no axis that the place cannot take, folds go along axes that the
value has and that no condition around them has, and numbers stay small enough to be exact in f32. In the mode of real
numbers only exact values (inputs, whole numbers) are compared or rounded, so that few elements are undecided.
"""
from tree import Node
from whole_numbers import BIG, COMPARISONS, INT_SCANS, SCAN_FORMS, TYPES, WholeNumbers

LIMIT = 1 << 21          # bound << grain of floats: all sums of that size are exact in f32
EXACT_BELOW = {"f64": 1 << 22, "f32": 1 << 22, "f16": 1 << 11, "bf16": 1 << 8}
MATHS = ["exp", "tanh", "sin", "cos", "sigmoid", "erf", "expm1", "exp2", "sinh", "cosh", "cbrt", "tan"]
POSITIVE_MATHS = ["log", "sqrt", "rsqrt", "log2", "log1p"]
ROUNDINGS = ["floor", "ceil", "round", "trunc", "sign"]
LIBRARY = ["relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "gelu_tanh", "silu", "mish", "softplus",
           "softsign", "log_sigmoid", "hardtanh", "hardsigmoid", "hardswish", "tanhshrink", "square", "atan"]
AXIS_LIBRARY = ["softmax", "log_softmax", "logsumexp", "variance", "layernorm", "rmsnorm", "norm", "normalize"]

FLOATS = {"leaf": 5, "binary": 6, "negate": 1, "select": 3, "extreme": 3, "clamp": 1, "fold": 5, "dot": 3, "scan": 2,
          "linrec": 1, "at": 3, "of_integer": 2, "of_bool": 1, "divide": 1, "round": 1, "function": 2, "random": 0.5,
          "round_like": 0.5, "fma": 0.5, "choice": 1, "bitcast_f": 0.5, "maths": 4, "mean": 1.5, "library": 2,
          "axis_library": 1}
ONLY_REAL = {"maths", "mean", "library", "axis_library"}
INTEGERS = {"leaf_i": 5, "binary_i": 6, "bits": 3, "shift": 1, "unary_i": 2, "select_i": 2, "extreme_i": 2, "fold_i": 4,
            "dot_i": 2, "scan_i": 2, "count": 2, "arg": 2, "position": 3, "of_float": 2, "table": 2, "at_i": 2,
            "random_bits": 0.5, "bitcast": 0.5, "cast_i": 1, "function_i": 1}
BOOLS = {"compare": 6, "compare_i": 4, "logic": 4, "leaf_b": 3, "positions": 2, "fold_b": 2, "inside": 1, "at_b": 1,
         "isnan": 0.5, "of_number": 0.5, "parity": 1, "interval": 1}


class Expressions(WholeNumbers):
    """Mixed into Body: needs rng, real, axes, vars, tables, functions, closed (axes of conditions around), use()."""

    def pick(self, table):
        return self.rng.choices(list(table), list(table.values()))[0]

    def make(self, cls, allowed, depth):
        """A value of the class whose axes are among `allowed`."""
        table = {"f": FLOATS, "i": INTEGERS, "b": BOOLS}[cls]
        if depth <= 0:
            return self.leaf_of(cls, allowed)
        for _ in range(6):
            name = self.pick(table)
            if name in ONLY_REAL and not self.real:
                continue
            node = getattr(self, "make_" + name)(allowed, depth - 1)
            if node is not None:
                self.use("expression " + name)
                return node
        return self.leaf_of(cls, allowed)

    def leaf_of(self, cls, allowed):
        made = {"f": self.make_leaf, "i": self.make_leaf_i, "b": self.make_leaf_b}[cls](allowed, 0)
        return made if made is not None else self.literal(cls)

    def literal(self, cls):
        r = self.rng
        if cls == "b":  # kgen folds what is known, and axes may go with it
            sized = [a for a in sorted(self.axes) if self.axes[a].index and not self.axes[a].over]
            if sized and r.random() < 0.9:
                return Node(f"(size({r.choice(sized)}) {r.choice(COMPARISONS)} {r.randrange(9)})", cls="b", bound=1)
            return Node(r.choice(["true", "false"]), cls="b", bound=1)
        n = r.choice([0, 1, 1, 2, 2, 3, -1, -2])
        if cls == "i":
            return Node(str(n) if n >= 0 else f"({n})", cls="i", bound=abs(n))
        if r.random() < 0.3:
            return Node(r.choice(["0.5", "0.25f", "1.5"]), bound=2, grain=2, exact=True)
        text = str(n) + r.choice(["", ".0f", ""])
        return Node(text if n >= 0 else f"({text})", bound=abs(n))

    # ---- bounds
    def f(self, text, args, bound, grain, axes=None, exact=False):
        """A float made of others, clamped where it could grow beyond what is exact."""
        if axes is None:
            axes = frozenset().union(*(a.axes for a in args))
        node = Node(text, args, "f", axes, bound, grain, exact=exact or not self.real)
        return self.fit(node)

    def fit(self, node, most=LIMIT):
        if node.cls != "f":
            return self.small(node)
        if node.grain > 4:
            node = Node("floor(%0)", [node], "f", node.axes, node.bound + 1, 0, exact=node.exact)
        if node.bound << node.grain > most:
            k = self.rng.choice([2, 4, 8]) if most > 64 else 2
            node = Node(f"clamp(%0, {-k}, {k})", [node], "f", node.axes, k, node.grain, exact=node.exact)
        return node

    def small(self, node, most=LIMIT):
        """A whole number that converts to f32 exactly."""
        if node.bound is not None and node.bound <= most:
            return node
        k = self.rng.choice([7, 16, 31])
        if node.unsigned:
            return Node(f"(%0 % {k})", [node], "i", node.axes, k, unsigned=True)
        return self.rng.choice([Node(f"(%0 % {k})", [node], "i", node.axes, k),
                                Node("(%0 & 15)", [node], "i", node.axes, 15),
                                Node("clamp(%0, -5, 9)", [node], "i", node.axes, 9)])

    def times(self, axes):
        """How many elements a fold along the axes can have: one axis is long, unless they share a size."""
        long, rest = 1, 1
        roots = {}
        for a in axes:
            roots[self.axes[a].root] = roots.get(self.axes[a].root, 1) * self.axes[a].big
            rest *= self.axes[a].usual
        for big in roots.values():
            long = max(long, big)
        return long * rest

    # ---- axes
    def with_over(self, axes):
        return frozenset(axes) | {self.axes[a].over for a in axes if self.axes[a].over}

    def fold_axes(self, allowed, most=2):
        """Axes to fold along: not in `allowed`, none of a condition around. Rows go with what is ragged over them."""
        able = [a for a, info in self.axes.items() if info.fold and a not in allowed and a not in self.closed]
        if not able:
            return ()
        count = min(len(able), self.rng.choice([1, 1, 1, 2, most]))
        return tuple(self.rng.sample(able, count))

    def argument(self, cls, allowed, folded, depth):
        """A value that has all the folded axes, and besides only those of `allowed`."""
        inner = frozenset(allowed) | self.with_over(folded)
        ragged = {a for a in self.axes if self.axes[a].over}
        if any(self.axes[a].over not in allowed and self.axes[a].over not in folded for a in folded if a in ragged):
            return None  # what is left would have the rows
        # A row folded away takes along what is ragged over it.
        if any(self.axes[a].over in folded and a not in folded for a in inner if a in ragged):
            return None
        node = self.make(cls, inner, depth)
        for a in folded:
            if a not in node.axes:
                node = self.joined(cls, node, a)
                if node is None:
                    return None
        return node

    def joined(self, cls, node, axis):
        """The value with one more axis, by way of a variable that has it, or of its index."""
        inner = node.axes | {axis}
        having = [v for v in self.readable(cls) if axis in v.axes and v.axes <= self.with_over(inner)]
        position = Node(f"index({axis})", (), "i", self.with_over({axis}), self.axes[axis].big)
        if having and self.rng.random() < 0.8:
            other = self.read(self.rng.choice(having))
        elif not self.axes[axis].index:
            return None
        elif cls == "b":
            other = Node(f"(%0 % 2 == 0)", [position], "b", position.axes, 1)
        elif cls == "f":
            other = Node("real(%0 % 3)", [position], "f", position.axes, 2)
        else:
            other = position
        axes = node.axes | other.axes
        if cls == "b":
            return Node("(%0 != %1)", [node, other], "b", axes, 1)
        if cls == "i":
            return self.integer("(%0 + %1)", [node, other], lambda a, b: a + b)
        return self.f("(%0 + %1)", [node, other], node.bound + other.bound, max(node.grain, other.grain))

    # ---- variables
    def readable(self, cls):
        return [v for v in self.vars.values() if v.cls == cls and v.readable and not v.optional and not v.hidden]

    def read(self, v):
        return Node(v.name, (), v.cls, v.axes, v.bound, v.grain, v.unsigned, v.exact)

    def variable(self, cls, allowed):
        fitting = [v for v in self.readable(cls) if v.axes <= allowed]
        if fitting and self.rng.random() < 0.9:
            v = self.rng.choice(fitting)
            self.use("read " + v.role)
            return self.read(v)
        return None

    def make_leaf(self, allowed, depth):
        given = [v for v in self.vars.values() if v.optional and v.cls == "f" and v.axes <= allowed]
        if given and self.rng.random() < 0.3:
            v, other = self.rng.choice(given), self.variable("f", allowed) or self.literal("f")
            self.use("present")
            return Node(f"(present({v.name}) ? {v.name} : %0)", [other], "f", v.axes | other.axes,
                        max(v.bound, other.bound), other.grain, exact=other.exact)
        node = self.variable("f", allowed)
        if node is None and self.rng.random() < 0.6:
            return self.reduced("f", allowed)
        return node

    def reduced(self, cls, allowed):
        """A variable that has too many axes, folded."""
        able = [v for v in self.readable(cls) if v.axes - allowed and
                all(self.axes[a].fold and a not in self.closed for a in v.axes - allowed)]
        able = [v for v in able if not any(self.axes[a].over in v.axes - allowed for a in v.axes & allowed)]
        if not able:
            return None
        v = self.rng.choice(able)
        extra = sorted(v.axes - allowed)
        names = ", ".join(extra)
        if cls == "b":
            return Node(f"{self.rng.choice(['any', 'all'])}(%0, {names})", [self.read(v)], "b", v.axes & allowed, 1)
        name = self.rng.choice(["sum", "max", "min"])
        self.use("fold " + name)
        if cls == "i":
            return self.fold_i(name, self.read(v), extra, names)
        factor = self.times(extra) if name == "sum" else 1
        return self.f(f"{name}(%0, {names})", [self.read(v)], v.bound * factor, v.grain, v.axes & allowed)

    # ---- floats
    def pair(self, cls, allowed, depth):
        a = self.make(cls, allowed, depth)
        for _ in range(3):  # rarely twice the same
            b = self.make(cls, allowed, self.rng.choice([0, depth]))
            if str(a) != str(b):
                break
        return a, b

    def make_binary(self, allowed, depth):
        a, b = self.pair("f", allowed, depth)
        if self.rng.random() < 0.2:
            b = self.small(self.make("i", allowed, depth - 1))
        op = self.rng.choice("+-*")
        if op == "*":
            return self.f("(%0 * %1)", [a, b], a.bound * b.bound, a.grain + b.grain)
        return self.f(f"(%0 {op} %1)", [a, b], a.bound + b.bound, max(a.grain, b.grain))

    def make_negate(self, allowed, depth):
        a = self.make("f", allowed, depth)
        return Node(self.rng.choice(["(-%0)", "abs(%0)"]), [a], "f", a.axes, a.bound, a.grain, exact=a.exact)

    def make_select(self, allowed, depth):
        c, (a, b) = self.make("b", allowed, depth), self.pair("f", allowed, depth)
        return self.f("(%0 ? %1 : %2)", [c, a, b], max(a.bound, b.bound), max(a.grain, b.grain),
                      exact=a.exact and b.exact)

    def make_extreme(self, allowed, depth):
        a, b = self.pair("f", allowed, depth)
        return self.f(f"{self.rng.choice(['min', 'max'])}(%0, %1)", [a, b], max(a.bound, b.bound),
                      max(a.grain, b.grain), exact=a.exact and b.exact)

    def make_clamp(self, allowed, depth):
        a = self.make("f", allowed, depth)
        return Node("clamp(%0, -2, 3)", [a], "f", a.axes, 3, a.grain, exact=a.exact)

    def make_divide(self, allowed, depth):
        a = self.make("f", allowed, depth)
        if self.real and self.rng.random() < 0.6:
            b = self.make("f", allowed, depth - 1)
            return self.f("(%0 / (abs(%1) + 0.5f))", [a, b], a.bound * 2, 0)
        return self.f(f"(%0 {self.rng.choice(['/ 2', '* 0.5f', '/ 4.0f'])})", [a], a.bound, a.grain + 2)

    def make_round(self, allowed, depth):
        a = self.make("f", allowed, depth)
        if not a.exact:
            return None
        return Node(f"{self.rng.choice(ROUNDINGS)}(%0)", [a], "f", a.axes, a.bound + 1, 0)

    def make_fma(self, allowed, depth):
        a, b = self.pair("f", allowed, depth)
        c = self.leaf_of("f", allowed)
        return self.f("fma(%0, %1, %2)", [a, b, c], a.bound * b.bound + c.bound, max(a.grain + b.grain, c.grain))

    def make_of_integer(self, allowed, depth):
        i = self.small(self.make("i", allowed, depth))
        return Node(self.rng.choice(["real(%0)", "float(%0)", "(1.0f * %0)"]), [i], "f", i.axes, i.bound)

    def make_of_bool(self, allowed, depth):
        b = self.make("b", allowed, depth)
        return Node(self.rng.choice(["real(%0)", "(%0 ? 2.0f : 0)", "(%0 ? -1.0f : 1)"]), [b], "f", b.axes, 2)

    def make_random(self, allowed, depth):
        i = self.make("i", allowed, depth)
        node = Node(f"random({self.rng.randrange(9)}, %0)", [i], "f", i.axes, 1, 5)
        return node if self.real else Node("floor(8 * %0)", [node], "f", i.axes, 8)

    def make_round_like(self, allowed, depth):
        like = [v for v in self.vars.values() if v.role == "input" and v.cls == "f" and v.elements]
        if not like:
            return None
        a, v = self.make("f", allowed, depth), self.rng.choice(like)
        if a.bound << a.grain > 128:
            return None
        return Node(f"round_like(%0, {v.name})", [a], "f", a.axes, a.bound, a.grain, exact=a.exact and not self.real)

    def make_bitcast_f(self, allowed, depth):
        """A float from its bits: powers of two, of either sign; or the bits of another, without its sign."""
        plain = [v for v in self.readable("f") if v.elements == ("f32",) and v.role == "input" and v.axes <= allowed]
        if plain and self.rng.random() < 0.4:
            v = self.rng.choice(plain)
            return Node("bitcast<float>(bitcast<int>(%0) & 2147483647)", [self.read(v)], "f", v.axes, v.bound, v.grain)
        i = self.make("i", allowed, depth)
        text, bound = self.rng.choice([("bitcast<float>(1065353216 + int(%0 & 7) * 8388608)", 128),
                                       ("bitcast<float>(int(%0 & 1) << 31 | 1073741824)", 2)])
        return Node(text, [i], "f", i.axes, bound)

    def make_choice(self, allowed, depth):
        names = [p for p, kind in self.params.items() if kind != "name"]
        if not names:
            return None
        name = self.rng.choice(names)
        return Node(f"real({name})", (), "f", (), 4, 1)

    def where(self, axes):
        """Perhaps a condition on the lanes: the text and the arguments."""
        if self.rng.random() < 0.65:
            return None
        self.use("where")
        return self.make_interval(axes, 1) or self.make("b", axes, 1)

    def make_interval(self, allowed, depth):
        """A stretch of positions along an axis, up to a number, or from one on."""
        names = [a for a in sorted(allowed) if self.axes[a].index]
        if not names or self.rng.random() < 0.5:
            return None
        a = self.rng.choice(names)
        end = self.end_of_interval(allowed, a)
        text = self.rng.choice(["(index(%s) < %%0)", "(index(%s) <= %%0)", "(%%0 <= index(%s))", "(index(%s) >= %%0)",
                                "(index(%s) > %%0)"]) % a
        axes = end.axes | self.with_over({a})
        self.use("interval")
        if self.rng.random() < 0.25:
            other = self.end_of_interval(allowed, a)
            return Node(f"({text} && index({a}) < %1)", [end, other], "b", axes | other.axes, 1)
        return Node(text, [end], "b", axes, 1)

    def end_of_interval(self, allowed, axis):
        r = self.rng
        numbers = [v for v in self.readable("i") if v.role == "scalar" or v.axes <= allowed - {axis}]
        names = [a for a in sorted(allowed - {axis}) if self.axes[a].index]
        if not numbers or r.random() < 0.2:
            return Node(r.choice([f"size({axis}) / 2", "3", f"(size({axis}) - 2)"]), (), "i",
                        self.with_over({axis}) - {axis})
        scalars = [v for v in numbers if v.role == "scalar"]
        node = self.read(r.choice(scalars if scalars and r.random() < 0.7 else numbers))
        if names and r.random() < 0.4:
            name = r.choice(names)
            text = r.choice(["(index(%s) * %%0)", "(%%0 + index(%s))", "(index(%s) - %%0)"]) % name
            return Node(text, [node], "i", node.axes | self.with_over({name}), None, 0, node.unsigned)
        return node

    def folded(self, name, node, folded):
        condition = self.where(node.axes)
        names = ", ".join(folded)
        self.use(f"fold {name}" + (" of several axes" if len(folded) > 1 else ""))
        if condition is None:
            return f"{name}(%0, {names})", [node]
        return f"{name}(%0, {names}, where(%1))", [node, condition]

    def make_fold(self, allowed, depth):
        axes = self.fold_axes(allowed)
        node = self.argument("f", allowed, axes, depth) if axes else None
        if node is None:
            return None
        name = self.rng.choice(["sum", "sum", "max", "min", "prod"])
        if name == "prod":
            node = Node("(%0 > 0 ? 1.0f : -1)", [node], "f", node.axes, 1) if node.exact else \
                Node("clamp(%0, -1, 1)", [node], "f", node.axes, 1, node.grain)
            if node.grain:
                return None
        bound = node.bound * (self.times(axes) if name == "sum" else 1)
        text, args = self.folded(name, node, axes)
        return self.f(text, args, bound, node.grain, node.axes - set(axes), exact=node.exact and name in ("min", "max"))

    def make_mean(self, allowed, depth):
        axes = [a for a in self.fold_axes(allowed) if self.axes[a].scan]
        node = self.argument("f", allowed, axes, depth) if axes else None
        if node is None:
            return None
        text, args = self.folded("mean", node, axes)
        return self.f(text, args, node.bound, 0, node.axes - set(axes))

    def make_dot(self, allowed, depth):
        axes = self.fold_axes(allowed)
        first = self.argument("f", allowed, axes, depth) if axes else None
        if first is None:
            return None
        inner = first.axes | frozenset(allowed)
        factors = [first]
        for _ in range(self.rng.choice([1, 1, 2])):
            factors.append(self.make("f", inner, self.rng.choice([0, 0, depth])))
        if self.rng.random() < 0.2:
            factors[-1] = self.make("b", inner, 0)
        bound, grain = self.times(axes), 0
        for n in factors:
            bound, grain = bound * max(n.bound, 1), grain + n.grain
        holes = ", ".join(f"%{i}" for i in range(len(factors)))
        result = frozenset().union(*(n.axes for n in factors)) - set(axes)
        if bound << grain > 1 << 23:  # sums themselves must stay exact
            factors = [self.fit(n, 8) if n.cls == "f" else n for n in factors]
            bound = self.times(axes) * 2 ** len(factors)
            if bound << grain > 1 << 23:
                return None
        condition = self.where(inner | set(axes))
        tail, args = ("", []) if condition is None else (f", where(%{len(factors)})", [condition])
        if condition is not None:
            result |= condition.axes - set(axes)
        return self.f(f"dot({holes}, {', '.join(axes)}{tail})", factors + args, bound, grain, result)

    def scan_axis(self, node):
        able = [a for a in sorted(node.axes) if self.axes[a].scan and a not in self.closed and
                not any(self.axes[b].over == a for b in node.axes)]
        return self.rng.choice(able) if able else None

    def make_scan(self, allowed, depth):
        node = self.make("f", allowed, depth)
        axis = self.scan_axis(node)
        if axis is None:
            return None
        name = self.rng.choice(INT_SCANS)
        form = self.rng.choice(SCAN_FORMS)
        self.use("scan " + name + form)
        if name == "cumprod":
            node = Node("(%0 > 0 ? 1.0f : -1)", [node], "f", node.axes, 1) if node.exact else \
                Node("clamp(%0, -1, 1)", [node], "f", node.axes, 1, node.grain)
            if node.grain:
                return None
        bound = node.bound * (self.times([axis]) if name == "cumsum" else 1)
        return self.f(f"{name}{form}(%0, {axis})", [node], bound, node.grain)

    def make_linrec(self, allowed, depth):
        b = self.make("f", allowed, depth)
        axis = self.scan_axis(b)
        if axis is None:
            return None
        a = self.make("b", b.axes, depth)
        factor = Node("(%0 ? 1.0f : 0)", [a], "f", a.axes, 1) if not self.real else \
            Node("(%0 ? 0.5f : -0.25f)", [a], "f", a.axes, 1)
        return self.f(f"linrec{self.rng.choice(['', '_reverse'])}(%0, %1, {axis})", [factor, b],
                      b.bound * self.times([axis]), b.grain)

    def make_maths(self, allowed, depth):
        a = self.fit(self.make("f", allowed, depth), 8)
        kind = self.rng.random()
        if kind < 0.25:
            return self.f(f"{self.rng.choice(POSITIVE_MATHS)}(abs(%0) + 0.5f)", [a], 4, 0)
        if kind < 0.35:
            b = self.fit(self.make("f", allowed, depth - 1), 8)
            return self.f(self.rng.choice(["pow(abs(%0) + 0.5f, %1)", "atan2(%0, abs(%1) + 0.25f)"]), [a, b], 16, 0)
        name = self.rng.choice(MATHS)
        if name == "tan":
            a = Node("clamp(%0, -1, 1)", [a], "f", a.axes, 1, exact=a.exact)
        return self.f(f"{name}(%0)", [a], 8, 0)

    def make_library(self, allowed, depth):
        a = self.fit(self.make("f", allowed, depth), 8)
        if a.bound == 0 and not a.exact:
            return None  # all of it lies where they have a corner
        return self.f(f"{self.rng.choice(LIBRARY)}(%0)", [a], 16, 0)

    def make_axis_library(self, allowed, depth):
        node = self.fit(self.make("f", allowed, depth), 8)
        able = [a for a in sorted(node.axes) if self.axes[a].fold and self.axes[a].scan and a not in self.closed]
        if not able or any(self.axes[b].over in able for b in node.axes):
            return None
        name = self.rng.choice(AXIS_LIBRARY)
        axis = self.rng.choice(able)
        axes = node.axes - {axis} if name in ("logsumexp", "variance", "norm") else node.axes
        return self.f(f"{name}(%0, {axis})", [node], 64, 0, axes)

    def make_function(self, allowed, depth):
        if not self.allow_functions and "act" not in self.params:
            return None
        if "act" in self.params and self.rng.random() < 0.6:
            a = self.fit(self.make("f", allowed, depth), 256)
            return self.f("act(%0)", [a], max(a.bound * a.bound, 1), 2 * a.grain)
        row = self.rng.choice(FUNCTIONS_OF_FLOATS)
        node = self.fit(self.make("f", allowed, depth), 1 << 12)
        name, text, grows, grain, axis_argument = row
        axes = node.axes
        if not node.exact and (not axis_argument or name == "ranked"):
            return None  # it compares
        arguments = "%0"
        if axis_argument:
            able = [a for a in sorted(node.axes) if self.axes[a].fold and a not in self.closed and
                    not any(self.axes[b].over == a for b in node.axes)]
            if not able:
                return None
            axis = self.rng.choice(able)
            arguments += ", " + axis
            axes = axes - {axis} if name == "ranked" else axes
        self.functions.setdefault(name, text)
        self.use("call of a function")
        return self.f(f"{name}({arguments})", [node], grows(node.bound), node.grain + grain, axes)

    # ---- places
    def coordinate(self, axis, allowed, depth):
        """A place along an axis, as an expression in which a bare axis is its index."""
        r = self.rng
        names = [a for a in sorted(allowed) if self.axes[a].index]
        kind = r.random()
        if names and r.random() < 0.2:
            return self.chosen_coordinate(axis, axis if axis in names else r.choice(names), allowed, depth)
        if kind < 0.45 and axis in names:
            return r.choice([Node(f"{axis} + 1", (), "i", self.with_over({axis})),
                             Node(f"{axis} - 2", (), "i", self.with_over({axis})),
                             Node(f"size({axis}) - 1 - {axis}", (), "i", self.with_over({axis})),
                             Node(f"({axis} * 3 + 1) % size({axis})", (), "i", self.with_over({axis})),
                             Node(f"{axis} < 1 ? 0 : {axis} - 1", (), "i", self.with_over({axis}))])
        if kind < 0.6 and names:
            name = r.choice(names)
            return r.choice([Node(f"{name}", (), "i", self.with_over({name})),
                             Node(f"2 * {name} + 1", (), "i", self.with_over({name})),
                             Node(f"{name} / 2", (), "i", self.with_over({name}))])
        if kind < 0.75:
            return r.choice([Node("0", (), "i"), Node("1", (), "i"), Node("2", (), "i")])
        return self.make("i", allowed, min(depth, 1))

    def chosen_coordinate(self, axis, name, allowed, depth):
        """A place that is held to the array, mirrored at its ends, or one of two by a condition."""
        self.use("coordinate that a condition chooses")
        moved = f"{name} {self.rng.choice(['+ 1', '- 1', '+ 3', '- 3', '* 2'])}"
        text = self.rng.choice(["%m < 0 ? -(%m) : %m", f"%m >= size({axis}) ? 2 * size({axis}) - 2 - (%m) : %m",
                                f"clamp(%m, 0, size({axis}) - 1)", f"min(max(%m, 0), size({axis}) - 1)", "%0 ? %m : 0",
                                f"%0 ? %m : {name}"]).replace("%m", moved)
        condition = self.make("b", allowed, min(depth, 1)) if "%0" in text else None
        return Node(text, [condition] if condition else [], "i",
                    self.with_over({name}) | (condition.axes if condition else frozenset()))

    def at(self, cls, allowed, depth):
        def elsewhere(v, a):
            return a != "..." and (v.role == "input" or (self.axes[a].at and a not in self.closed))

        able = [v for v in self.readable(cls) if v.elements and v.axes and
                any(elsewhere(v, a) and not self.axes[a].over for a in v.axes)]
        if not able:
            return None
        v = self.rng.choice(able)
        moved = [a for a in sorted(v.axes) if elsewhere(v, a) and not self.axes[a].over and
                 not any(self.axes[b].over == a for b in v.axes)]
        must = [a for a in v.axes if a not in allowed]
        if not moved or any(a not in moved for a in must):
            return None
        chosen = sorted(set(must) | set(self.rng.sample(moved, self.rng.choice([1, 1, min(2, len(moved))]))))
        places = [self.coordinate(a, allowed, depth) for a in chosen]
        axes = (v.axes - set(chosen)).union(*(p.axes for p in places))
        if not axes <= allowed:
            return None
        where = ", ".join(f"{a} = %{i}" for i, a in enumerate(chosen))
        self.use("at of " + v.role)
        return v, places, axes, where

    def make_at(self, allowed, depth):
        found = self.at("f", allowed, depth)
        if found is None:
            return None
        v, places, axes, where = found
        node = Node(f"at({v.name}, {where})", places, "f", axes, max(v.bound, 8), v.grain, exact=v.exact)
        if v.role == "input" and self.rng.random() < 0.2:
            self.use("inside")
            return Node(f"(inside({v.name}, {where}) ? %{len(places)} : 1.0f)", places + [node], "f", axes, node.bound,
                        node.grain, exact=v.exact)
        return node


# name, text, bound of the result by that of the argument, bits below the point that are added, takes an axis
FUNCTIONS_OF_FLOATS = [
    ("leaky", "template <class V> V leaky(V v) { if (v > 0) return v; if (v < -2) { return v * 2; } return v * 0.5f; }",
     lambda b: 2 * b, 1, False),
    ("folds", "real folds(real v, axis A) { real m = max(v, A); return m - v; }", lambda b: 2 * b, 0, True),
    ("stairs", "template <class V> V stairs(V v) { V r = 0; for (int i = 0; i < 5; ++i) { if (v < i) break; "
               "if (i == 2) continue; r += 1; } return r; }", lambda b: 5, 0, False),
    ("smooth", "real smooth(real v, axis A) { return v + at(v, A = A < 1 ? 0 : A - 1); }", lambda b: 2 * b, 0, True),
    ("ranked", "real ranked(real v, axis A) { real r = 9; for (int i = 0; i < 2; ++i) { "
               "r = max(v, A, where(v < r)); } return isinf(r) ? 0 : r; }", lambda b: b, 0, True),
]
