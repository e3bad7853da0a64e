"""Productions of whole numbers and of conditions; what expressions.py says of them holds here."""
from tree import Node

BIG = 1024               # no axis is longer, but derived ones
TYPES = {                # class, bits
    "f64": ("f", 64), "f32": ("f", 32), "f16": ("f", 16), "bf16": ("f", 16), "i64": ("i", 64), "i32": ("i", 32),
    "i16": ("i", 16), "i8": ("i", 8), "u64": ("i", 64), "u32": ("i", 32), "u16": ("i", 16), "u8": ("i", 8),
    "bool": ("b", 1)}
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
INT_SCANS = ["cumsum", "cumprod", "cummax"]
SCAN_FORMS = ["", "_reverse", "_exclusive", "_reverse_exclusive"]


class WholeNumbers:
    """Mixed into Expressions, whose helpers it uses."""

    def integer(self, text, args, rule, unsigned=None, axes=None):
        """`rule` makes a bound of bounds; unknown ones stay so, and what may wrap becomes unknown."""
        if axes is None:
            axes = frozenset().union(*(a.axes for a in args))
        if unsigned is None:
            unsigned = any(a.unsigned for a in args)
        bounds = [a.bound for a in args if a.cls == "i"]
        bound = None if any(b is None for b in bounds) else rule(*bounds)
        return Node(text, args, "i", axes, bound if bound is not None and bound < 1 << 30 else None, 0, unsigned)

    def make_leaf_i(self, allowed, depth):
        node = self.variable("i", allowed)
        if node is not None:
            return node
        return self.reduced("i", allowed) if self.rng.random() < 0.3 else self.make_position(allowed, depth)

    def make_position(self, allowed, depth):
        names = [a for a in sorted(allowed) if self.axes[a].index]
        sizes = [a for a in sorted(self.axes)
                 if self.axes[a].index and (not self.axes[a].over or self.axes[a].over in allowed)]
        kind = self.rng.random()
        if names and kind < 0.6:
            name = self.rng.choice(names)
            self.use("index")
            return Node(f"index({name})", (), "i", self.with_over({name}), self.axes[name].big)
        if self.steps and kind < 0.75:
            self.use("step of the grid")
            return Node(f"(0 + {self.rng.choice(self.steps)})", (), "i", (), BIG)
        if sizes:
            name = self.rng.choice(sizes)
            self.use("size")
            over = self.axes[name].over
            return Node(f"size({name})", (), "i", {over} if over else (), self.axes[name].big)
        return None

    def make_binary_i(self, allowed, depth):
        a, b = self.pair("i", allowed, depth)
        op = self.rng.choice("++--**/%")
        if op == "-" and (a.unsigned or b.unsigned):
            return self.integer("(%0 - %1)", [a, b], lambda x, y: None)
        rule = {"+": lambda x, y: x + y, "-": lambda x, y: x + y, "*": lambda x, y: x * y,
                "/": lambda x, y: x, "%": lambda x, y: x}[op]
        return self.integer(f"(%0 {op} %1)", [a, b], rule)

    def make_bits(self, allowed, depth):
        a, b = self.pair("i", allowed, depth)
        return self.integer(f"(%0 {self.rng.choice('&|^')} %1)", [a, b], lambda x, y: 2 * max(x, y) + 2)

    def make_shift(self, allowed, depth):
        a = self.make("i", allowed, depth)
        n = self.rng.choice([Node("1", (), "i"), Node("3", (), "i"), self.make("i", allowed, 0)])
        return self.integer(f"(%0 {self.rng.choice(['<<', '>>'])} %1)", [a, n], lambda x, y: None)

    def make_unary_i(self, allowed, depth):
        a = self.make("i", allowed, depth)
        text = self.rng.choice(["(-%0)", "(~%0)", "abs(%0)", "sign(%0)", "popcount(%0)"])
        return self.integer(text, [a], lambda x: None if a.unsigned and text in ("(-%0)", "(~%0)") else max(x + 1, 64))

    def make_select_i(self, allowed, depth):
        c, (a, b) = self.make("b", allowed, depth), self.pair("i", allowed, depth)
        return self.integer("(%0 ? %1 : %2)", [c, a, b], max)

    def make_extreme_i(self, allowed, depth):
        a, b = self.pair("i", allowed, depth)
        if a.unsigned != b.unsigned:
            return None
        return self.integer(f"{self.rng.choice(['min', 'max'])}(%0, %1)", [a, b], max)

    def fold_i(self, name, node, axes, names, extra=()):
        factor = self.times(axes) if name == "sum" else 1
        # Of an empty axis, max and min are the type's own.
        bound = node.bound * factor if name == "sum" and node.bound is not None else None
        return Node(f"{name}(%0, {names}" + (", where(%1))" if extra else ")"), [node, *extra], "i",
                    node.axes - set(axes), bound if bound is not None and bound < 1 << 30 else None, 0, node.unsigned)

    def make_fold_i(self, allowed, depth):
        axes = self.fold_axes(allowed)
        node = self.argument("i", allowed, axes, depth) if axes else None
        if node is None:
            return None
        name = self.rng.choice(["sum", "sum", "max", "min", "prod"])
        text, args = self.folded(name, node, axes)
        return self.fold_i(name, node, axes, ", ".join(axes), args[1:])

    def make_dot_i(self, allowed, depth):
        axes = self.fold_axes(allowed)
        first = self.argument("i", allowed, axes, depth) if axes else None
        if first is None:
            return None
        second = self.make(self.rng.choice("iib"), first.axes | frozenset(allowed), 0)
        factor = self.times(axes)
        return self.integer(f"dot(%0, %1, {', '.join(axes)})", [first, second], lambda *b: factor * b[0] * b[-1],
                            axes=(first.axes | second.axes) - set(axes))

    def make_scan_i(self, allowed, depth):
        node = self.make(self.rng.choice("iiib"), allowed, depth)
        axis = self.scan_axis(node)
        if axis is None:
            return None
        name, form = self.rng.choice(INT_SCANS), self.rng.choice(SCAN_FORMS)
        self.use("scan " + name + form)
        factor = self.times([axis])
        bound = node.bound * factor if name == "cumsum" and node.bound is not None else None
        bound = bound if bound is None or bound < 1 << 30 else None
        return Node(f"{name}{form}(%0, {axis})", [node], "i", node.axes, bound, 0, node.unsigned)

    def make_count(self, allowed, depth):
        axes = self.fold_axes(allowed)
        node = self.argument("b", allowed, axes, depth) if axes else None
        if node is None:
            return None
        text, args = self.folded("sum", node, axes)
        return Node(text, args, "i", node.axes - set(axes), self.times(axes))

    def make_arg(self, allowed, depth):
        axes = [a for a in self.fold_axes(allowed) if self.axes[a].scan][:1]
        node = self.argument(self.rng.choice("ffi"), allowed, axes, depth) if axes else None
        if node is None or not node.exact:
            return None
        text, args = self.folded(self.rng.choice(["argmax", "argmin"]), node, axes)
        return Node(text, args, "i", node.axes - set(axes), self.axes[axes[0]].big)

    def make_of_float(self, allowed, depth):
        a = self.make("f", allowed, depth)
        if not a.exact:
            return None
        return Node(self.rng.choice(["int(%0)", "int64_t(%0)", "int(floor(%0))"]), [a], "i", a.axes, None)

    def make_cast_i(self, allowed, depth):
        a = self.make("i", allowed, depth)
        name, bound = self.rng.choice([("int8_t", 128), ("uint8_t", 256), ("int16_t", 32768), ("uint16_t", 65536),
                                       ("int", None), ("int64_t", None), ("uint32_t", None), ("uint64_t", None)])
        return Node(f"{name}(%0)", [a], "i", a.axes, bound, 0, name in ("uint32_t", "uint64_t"))

    def make_table(self, allowed, depth):
        if not self.tables:
            return None
        name, rank, bound = self.rng.choice(self.tables)
        places = [self.make("i", allowed, min(depth, 1)) for _ in range(rank)]
        self.use("table in the body")
        return Node(name + "".join(f"[%{i}]" for i in range(rank)), places, "i",
                    frozenset().union(*(p.axes for p in places)), bound)

    def make_at_i(self, allowed, depth):
        found = self.at("i", allowed, depth)
        if found is None:
            return None
        v, places, axes, where = found
        return Node(f"at({v.name}, {where})", places, "i", axes, v.bound, 0, v.unsigned)

    def make_random_bits(self, allowed, depth):
        i = self.make("i", allowed, depth)
        return Node(f"random_bits({self.rng.randrange(9)}, %0)", [i], "i", i.axes, None, 0, True)

    def make_bitcast(self, allowed, depth):
        like = [v for v in self.readable("f") if v.elements == ("f32",) and v.role == "input" and v.axes <= allowed]
        if not like:
            return None
        v = self.rng.choice(like)
        return Node("bitcast<int>(%0)", [self.read(v)], "i", v.axes, None)

    def make_function_i(self, allowed, depth):
        if not self.allow_functions:
            return None
        name, text, bound = self.rng.choice(FUNCTIONS_OF_INTEGERS)
        a = self.small(self.make("i", allowed, depth), 64)
        self.functions.setdefault(name, text)
        self.use("call of a function")
        return Node(f"{name}(%0)", [a], "i", a.axes, bound)

    # ---- conditions
    def make_compare(self, allowed, depth):
        a, b = self.pair("f", allowed, depth)
        if not a.exact or not b.exact:
            return None
        return Node(f"(%0 {self.rng.choice(COMPARISONS)} %1)", [a, b], "b", a.axes | b.axes, 1)

    def make_compare_i(self, allowed, depth):
        a, b = self.pair("i", allowed, depth)
        return Node(f"(%0 {self.rng.choice(COMPARISONS)} %1)", [a, b], "b", a.axes | b.axes, 1)

    def make_positions(self, allowed, depth):
        names = [a for a in sorted(allowed) if self.axes[a].index]
        if not names:
            return None
        a = self.rng.choice(names)
        other = self.rng.choice(names + ["1", "3"])
        text = other if other.isdigit() else f"index({other})"
        axes = self.with_over({a} | ({other} - {"1", "3"}))
        return Node(f"(index({a}) {self.rng.choice(COMPARISONS)} {text})", (), "b", axes, 1)

    def make_logic(self, allowed, depth):
        a, b = self.pair("b", allowed, depth)
        text = self.rng.choice(["(%0 && %1)", "(%0 || %1)", "(%0 != %1)", "(!%0)", "(%0 == %1)"])
        args = [a] if text == "(!%0)" else [a, b]
        return Node(text, args, "b", frozenset().union(*(n.axes for n in args)), 1)

    def make_leaf_b(self, allowed, depth):
        node = self.variable("b", allowed)
        if node is not None or self.rng.random() < 0.3:
            return node
        v = self.variable("f", allowed)
        if v is not None and v.exact:
            return Node(f"(%0 {self.rng.choice(COMPARISONS)} {self.rng.choice([0, 1, -1])})", [v], "b", v.axes, 1)
        return self.make_positions(allowed, depth)

    def make_fold_b(self, allowed, depth):
        axes = self.fold_axes(allowed)
        node = self.argument("b", allowed, axes, depth) if axes else None
        if node is None:
            return None
        text, args = self.folded(self.rng.choice(["any", "all", "max", "min"]), node, axes)
        return Node(text, args, "b", node.axes - set(axes), 1)

    def make_inside(self, allowed, depth):
        found = self.at("f", allowed, depth)
        if found is None or found[0].role != "input":
            return None
        v, places, axes, where = found
        return Node(f"inside({v.name}, {where})", places, "b", frozenset().union(*(p.axes for p in places)), 1)

    def make_at_b(self, allowed, depth):
        found = self.at("b", allowed, depth)
        if found is None:
            return None
        v, places, axes, where = found
        return Node(f"at({v.name}, {where})", places, "b", axes, 1)

    def make_isnan(self, allowed, depth):
        a = self.make("f", allowed, depth)
        return Node(f"{self.rng.choice(['isnan', 'isinf'])}(%0)", [a], "b", a.axes, 1)

    def make_of_number(self, allowed, depth):
        return Node("bool(%0)", [a := self.make("i", allowed, depth)], "b", a.axes, 1)

    def make_parity(self, allowed, depth):
        a = self.make("i", allowed, depth)
        return Node(f"(%0 % {self.rng.choice([2, 3])} == {self.rng.choice([0, 1])})", [a], "b", a.axes, 1)


# name, text, bound
FUNCTIONS_OF_INTEGERS = [
    ("bits", "int bits(int v) { int n = 0; while (v > 0) { n += v & 1; v >>= 1; } return n; }", 32),
    ("odd", "bool odd(int v) { if (v < 0) v = -v; return v % 2 == 1; }", 1),
    ("steps", "int steps(int v) { int n = 0; for (int i = 0; i < 6; ++i) { if (v == i) return n; "
              "if (i % 2 == 1) continue; n += i; } return -1; }", 12),
    ("either", "template <class V> V either(V v) { return v > 3 ? V(3) : v; }", 64),
]
