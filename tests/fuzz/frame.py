"""A random spec in the making: names, axes, arrays and their element types, and what frames share."""
import itertools

from body import Axis, Body, variable_of
from expressions import TYPES
from tree import Node, Spec, Statement

ELEMENTS = {"f32": 8, "f64": 1, "bf16": 1, "f16": 1, "i32": 3, "i8": 1, "u8": 1, "i16": 0.6, "u16": 0.6, "i64": 1,
            "u32": 0.6, "u64": 0.6, "bool": 1.2}
OUTPUTS = {"f32": 8, "f64": 0.7, "bf16": 1, "f16": 1, "i32": 4, "i8": 0.7, "u8": 0.7, "i16": 0.5, "u16": 0.5, "i64": 1,
           "u32": 0.5, "u64": 0.5, "bool": 1.5}
LISTS = [["f32", "bf16"], ["f32", "f64"], ["f16"], ["f32", "f16"], ["i32", "u8"], ["i8", "i64"], ["u32", "i16"],
         ["bf16", "f64"], ["u16", "u64"]]
WIDE = ["i32", "i64", "u32", "u64"]
BLOCKS = [1, 2, 2, 3, 4, 4, 5, 7]
NAMES = ["x", "a", "c", "w", "u", "q", "z", "y", "o", "r", "g", "h", "load", "store", "keep", "row", "active", "lanes",
         "value", "result", "smaller", "data", "begin", "end", "status", "memory", "count_", "threads", "item",
         "carry"]
AXES = ["M", "N", "K", "H", "C", "R", "Lanes", "Index", "J"]


class Frame:
    """A spec in the making, with the body that reads it."""

    def __init__(self, rng, name, real):
        self.rng, self.spec, self.body = rng, Spec(name), Body(rng, real)
        self.names = NAMES[:]
        rng.shuffle(self.names)
        if rng.random() < 0.6:
            self.names.sort(key=len)
        self.names.reverse()
        self.lists = {}      # type parameter -> choices
        self.wide = {}       # axis name -> how an array writes it
        self.axis_names = AXES[:] if rng.random() < 0.2 else AXES[:6]
        self.batchable = True
        self.variants = 1

    def use(self, feature):
        self.body.use(feature)

    def name(self):
        return self.names.pop()

    def axis(self, plain=False, **more):
        """A new axis, perhaps with a declaration."""
        name = self.axis_names.pop(self.rng.randrange(len(self.axis_names)))
        r = self.rng
        kind = r.random()
        if plain or kind < 0.75:
            self.body.axes[name] = Axis(name, **more)
            return name
        if kind < 0.85:
            size = r.choice([1, 2, 3, 5, 8, 16, 17])
            self.spec.add(f"axes.{name}", size)
            self.use("axis of fixed size")
            more["big"] = size
        elif kind < 0.92 and self.variants == 1:
            self.spec.add(f"axes.{name}", [2, 5])
            self.variants = 2
            self.use("axis specialised")
            more["big"] = 5
        else:
            self.spec.add(f"axes.{name}", {"multiple_of": r.choice([2, 4])})
            self.use("axis multiple_of")
        self.body.axes[name] = Axis(name, **more)
        return name

    def elements(self, table):
        """The element type of an array as text, and the types that it can be."""
        r = self.rng
        if r.random() < 0.12 and (self.lists or self.variants == 1):
            lists = [choices for choices in LISTS if set(choices) <= set(table)]
            if lists and (not self.lists or (r.random() < 0.35 and len(self.lists) < 2)):
                choices = r.choice(lists)
                self.lists["TU"[len(self.lists)]] = choices
                self.variants *= len(choices)
            able = [name for name in sorted(self.lists) if set(self.lists[name]) <= set(table)]
            if able:
                name = r.choice(able)
                self.use("type parameter")
                return name, self.lists[name]
        name = self.body.pick(table)
        if name in ("f32", "f64") and r.random() < 0.1:
            self.use("real")
            return "real", self.choices("real")
        return name, [name]

    def choices(self, kind):
        """The types that an element type as text can be."""
        return ["f32", "f64"] if kind == "real" else self.lists.get(kind, [kind])

    def with_one(self, axes):
        """Sometimes one more dimension, of one element and without an axis."""
        known = self.body.axes
        if self.rng.random() > 0.04 or "..." in axes or any(known[a].over for a in axes if a in known):
            return axes
        self.use("dimension of one element")
        at = self.rng.randrange(len(axes) + 1)
        return [*axes[:at], "1", *axes[at:]]

    def brackets(self, axes):
        return "[" + ", ".join(self.wide.get(a, a) for a in axes) + "]"

    def perhaps_strided(self):
        if self.rng.random() > 0.12:
            return {}
        self.use("strided and ragged")
        return {"layout": "strided"}

    def input(self, axes, table=ELEMENTS, plain=False, **keys):
        """An input over the axes, in some order that keeps ragged axes behind their rows."""
        r, (text, choices) = self.rng, self.elements(table)
        name = self.name()
        value = {"type": text + self.brackets(axes if plain else self.with_one(axes))}
        optional = not plain and r.random() < 0.08
        if optional:
            value["optional"] = True
            self.use("optional input")
        if not plain and r.random() < 0.08 and axes:
            value["layout"] = "strided"
            self.use("strided")
        if not plain and r.random() < 0.15 and axes:
            value["outside"] = r.choice([0, 1]) if "bool" in choices else r.choice([1, 2, 3])
            self.use("outside")
        value.update(keys)
        self.spec.add("inputs." + name, value)
        v = variable_of(name, "input", choices, axes, optional)
        self.body.vars[name] = v
        if self.body.extremes and any(e in WIDE for e in choices):
            v.bound = None
        self.use("input " + text if text in TYPES else "input of a parameter")
        return v

    def output(self, axes, table=OUTPUTS, plain=False, name=None, **keys):
        text, choices = self.elements(table)
        name = name or self.name()
        value = {"type": text + self.brackets(axes if plain else self.with_one(axes))}
        if not plain and self.rng.random() < 0.06 and axes:
            value["layout"] = "strided"
        value.update(keys)
        self.spec.add("outputs." + name, value)
        v = variable_of(name, "output", choices, axes, exact=True)
        v.bound = 0 if v.cls == "f" else v.bound
        self.body.vars[name] = v
        self.use("output " + text if text in TYPES else "output of a parameter")
        return v

    def scratch(self, axes, kind, name=None):
        name = name or self.name()
        self.spec.add("scratch." + name, kind + self.brackets(axes))
        v = variable_of(name, "scratch", [kind], axes, exact=not self.body.real or kind[0] != "f")
        v.bound = 0 if v.cls == "f" else v.bound
        self.body.vars[name] = v
        self.use("scratch " + kind)
        return v

    def grid(self, name, **keys):
        self.spec.add("grid." + name, keys)

    def scalar(self):
        kind = self.rng.choice(["f32", "i32", "i32", "f64", "bool", "u8", "i64", "f16"])
        if kind == "f64":
            kind = "f32"
        name = self.name()
        self.spec.add("scalars." + name, kind)
        v = variable_of(name, "scalar", [kind], ())
        v.bound, v.readable = 5, True
        if self.body.extremes and v.cls == "i":
            v.bound = None
        self.body.vars[name] = v
        self.use("scalar " + kind)

    def extras(self):
        """Scalars, parameters and tables that any frame can have."""
        r = self.rng
        for _ in range(r.choice([0, 0, 1, 2])):
            self.scalar()
        if r.random() < 0.12:
            value = r.choice(["square", "relu", ["relu", "identity"]])
            if not isinstance(value, list) or self.variants == 1:
                self.spec.add("params.act", value)
                self.body.params["act"] = "name"
                self.variants *= 2 if isinstance(value, list) else 1
                self.use("parameter that names a function")
        if r.random() < 0.15:
            name, value = r.choice([("shift", 2), ("shift", -3), ("slope", 0.5), ("shift", [1, -2])])
            if not isinstance(value, list) or self.variants == 1:
                self.spec.add("params." + name, value)
                self.body.params[name] = "number"
                self.use("parameter" + (" with choices" if isinstance(value, list) else ""))
                self.variants *= 2 if isinstance(value, list) else 1
        sized = [a for a in sorted(self.body.axes) if not self.body.axes[a].over and self.body.axes[a].root == a and
                 self.wide.get(a, a) == a]
        if r.random() < 0.15 and sized:
            a = r.choice(sized)
            second = r.choice(sized) if r.random() < 0.3 else None
            name = r.choice(["tab", "entry"])
            value = {"type": f"{r.choice(['i32', 'i64'])}[{a}{', ' + second if second and second != a else ''}]"}
            if r.random() < 0.5:
                value["range"] = r.choice(sized)
            if r.random() < 0.3:
                value["where"] = "host"
            self.spec.add("tables." + name, value)
            self.body.tables.append((name, value["type"].count(",") + 1, 1024))
            self.use("table for the body")

    def subset(self, axes, least=(), most=3):
        """Some of the axes, in random order; rows stay before what is ragged over them."""
        r = self.rng
        axes = [a for a in axes if a not in least]
        count = min(len(axes), r.choice([0, 1, 1, 2, 2, most]))
        chosen = self.body.closure(set(r.sample(axes, count)) | set(least))
        return self.ordered(chosen)

    def ordered(self, chosen):
        chosen = list(chosen)
        self.rng.shuffle(chosen)
        for a in sorted(chosen):
            over = self.body.axes[a].over
            if over and over in chosen:  # rows and what is ragged over them stand together, first
                chosen.remove(a)
                chosen.insert(chosen.index(over) + 1, a)
        return chosen

    def rows_first(self, axes):
        """The rows, then what is ragged over them, then the rest: packed arrays must be laid out so."""
        seen = list(dict.fromkeys(axes))
        inner = [a for a in seen if self.body.axes[a].over]
        outer = [self.body.axes[a].over for a in inner] or [a for a in seen if a in self.rows()]
        first = list(dict.fromkeys(outer)) + inner
        return first + [a for a in seen if a not in first]

    def rows(self):
        return {info.over for info in self.body.axes.values()}

    def finish(self):
        """Type lists first, functions, the schedule; then it is a spec."""
        spec = self.spec
        spec.body = self.body.statements
        if len(self.lists) > 1 and self.rng.random() < 0.5:
            every = list(itertools.product(*(choices for _, choices in sorted(self.lists.items()))))
            some = self.rng.sample(every, self.rng.randint(1, len(every)))
            spec.items.insert(0, ["types.only", sorted(some, key=every.index)])
            self.use("types.only")
        for name, choices in reversed(sorted(self.lists.items())):
            spec.items.insert(0, ["types." + name, choices])
        spec.functions = list(self.body.functions.values())
        spec.functions_apart = self.rng.random() < 0.3
        if spec.functions and spec.functions_apart:
            self.use("functions in a file")
        if self.rng.random() < 0.15:
            spec.add("schedule.openmp.lanes", False)
            self.use("schedule without lanes")
        return spec


def steps_of(frame, names):
    """Grid names, and first and last of them, as values."""
    body = frame.body
    for name in names:
        body.uniform += [lambda n=name: Node(f"first({n})", (), "b", (), 1),
                         lambda n=name: Node(f"last({n})", (), "b", (), 1)]
    body.steps += names


def size_condition(frame, axes):
    """A question of sizes, as text; the numbers lie about where plans change."""
    r, known = frame.rng, frame.body.axes
    sized = [a for a in axes if a in known and known[a].index and not known[a].over]
    if not sized:
        return r.choice(["true", "false"])
    a, b = r.choice(sized), r.choice(sized)
    number = r.choice([0, 1, 2, 5, 7, 12, 15, 31, 64, 100, 256])
    frame.use("branch on sizes")
    if a != b and r.random() < 0.25:
        return r.choice([f"size({a}) <= size({b})", f"size({a}) * size({b}) < {number}",
                         f"size({a}) > {number} && size({b}) < {number}"])
    return f"size({a}) {r.choice(['<=', '<=', '>', '<', '>=', '=='])} {number}"


def some_body(frame, outputs, before=(0, 4), after=(0, 3)):
    """Locals, then the outputs; sometimes all of it twice, in two arms of a branch on sizes."""
    body, r = frame.body, frame.rng
    if r.random() > 0.09:
        return straight_body(frame, outputs, before, after)
    text = size_condition(frame, sorted(body.axes))
    kept, whole, start = body.statements, dict(body.vars), [(v, v.readable, v.bound, v.grain) for v in outputs]
    arms, ends = [], []
    for _ in range(2):
        for v, *state in start:
            v.readable, v.bound, v.grain = state
        body.statements, body.vars = [], dict(whole)
        straight_body(frame, outputs, before, (0, 1))
        arms.append(body.statements)
        ends.append([(v.bound, v.grain, v.exact) for v in outputs])
    body.statements, body.vars = kept, whole
    for v, *both in zip(outputs, *ends):
        join(v, both)
    frame.use("whole bodies in the arms of a branch")
    body.statements.append(Statement(f"if ({text}) @0 else @1", [], arms))


def join(v, ends):
    """What is known of a variable behind a branch, from its bound, grain and exactness at the end of each arm."""
    bounds = [bound for bound, _, _ in ends]
    v.bound = None if None in bounds else max(bounds)
    v.grain, v.exact = max(grain for _, grain, _ in ends), all(exact for _, _, exact in ends)


def straight_body(frame, outputs, before, after):
    body, r = frame.body, frame.rng
    gridded = any(key.startswith("grid.") for key, _ in frame.spec.items)
    for _ in range(r.randint(*before)):
        body.statements += body.state_local(2) if r.random() < 0.7 else body.random_statements(1)
    for v in outputs:
        if v.axes and r.random() < 0.12 and v.elements[0] in ("i32", "i64", "u32") and not gridded and \
                len(v.elements) == 1 and not any(body.axes[a].over or a == "..." for a in v.axes):
            body.statements += body.scatters(v)
        else:
            body.statements.append(body.write_output(v))
        if r.random() < 0.3:
            body.statements += body.random_statements(1)
    body.statements += body.random_statements(r.randint(*after))


def cover_axes(frame, axes):
    """An axis must be in some array (or be fixed) to have a size."""
    text = " ".join(str(v) for k, v in frame.spec.items if k.split(".")[0] in ("inputs", "outputs"))
    missing = [a for a in axes if a not in "".join(c if c.isalnum() or c == "_" else " " for c in text).split()]
    if missing:
        frame.input(frame.ordered(frame.body.closure(missing)), plain=True)


def spread_axes(frame, axes):
    """Other forms of a dimension: an extent of its own, a split one, a leading rest."""
    r, body = frame.rng, frame.body
    kind = r.random()
    if kind < 0.06:
        a = axes[0]
        if not frame.spec.has(f"axes.{a}"):
            frame.wide[a] = f"{a}={r.choice([3, 4, 6])}"
            body.axes[a].big = 6
            body.axes[a].usual = 6
            frame.use("extent of its own: number")
    elif kind < 0.15 and len(axes) > 1:
        a, b = axes[0], axes[1]
        if not frame.spec.has(f"axes.{a}") and not frame.spec.has(f"axes.{b}"):
            frame.wide[a] = f"{a}={b}"
            body.axes[a].root = b
            frame.use("extent of its own: another axis")
            frame.input([b], plain=True)


def block_axes(frame, names):
    for a in names:
        info = frame.body.axes[a]
        info.fold = info.scan = info.at = False


def block_of(frame):
    r = frame.rng
    if r.random() < 0.1:
        frame.use("block by expression")
        if not frame.spec.has("params.bm"):
            frame.spec.add("params.bm", r.choice([2, 3]))
        return r.choice(["bm", "2 * bm", "bm - 1"])
    if r.random() < 0.08:
        frame.use("block with choices")
        return [2, 4]
    return r.choice(BLOCKS)


def start_of(frame, states, first):
    r = frame.rng
    starts = []
    for v in states:
        value = r.choice({"f": ["0", "1", "-inf", "0"], "i": ["0", "1"], "b": ["false", "true"]}[v.cls])
        v.readable, v.bound = True, 2 if v.cls == "f" else v.bound
        starts.append(Statement(f"{v.name} = {value};"))
    return under(first, starts, "begins", frame)


def under(condition, statements, name, frame):
    """Statements under a condition, which sometimes has a name."""
    if frame.rng.random() > 0.15:
        return [Statement(f"if ({condition}) @0", [], [statements])]
    frame.use("named condition")
    return [Statement(f"{frame.rng.choice(['bool', 'const bool', 'auto'])} {name} = {condition};"),
            Statement(f"if ({name}) @0", [], [statements])]


def fold_into(frame, cls, v, gone, op):
    """A value for an update: folded along the carried axes if it has them."""
    body = frame.body
    inner = v.axes | frozenset(gone)
    for a in gone:
        body.axes[a].fold = True
    node = body.make(cls, inner, 2) if frame.rng.random() < 0.8 else body.leaf_of(cls, inner)
    for a in gone:
        if a not in node.axes and frame.rng.random() < 0.8:
            node = body.joined(cls, node, a) or node
    axes = [a for a in gone if a in node.axes]
    for a in gone:
        body.axes[a].fold = False
    if not axes:
        return node
    if cls == "f" and op == "sum":
        node = body.fit(node, 1 << 8)
    text, args = body.folded(op, node, axes)
    bound = None if node.bound is None else node.bound * (body.times(axes) if op == "sum" else 1)
    return Node(text, args, cls, node.axes - set(axes), bound, node.grain, node.unsigned, node.exact)


def update_of(frame, v, gone):
    body, r = frame.body, frame.rng
    op = r.choice({"f": ["sum", "sum", "max", "min"], "i": ["sum", "max", "min"], "b": ["any", "all"]}[v.cls])
    v.hidden = True  # what is folded must not depend on it: its bound grows with each step
    node = fold_into(frame, v.cls, v, gone, op)
    v.hidden = False
    body.use("update by " + op)
    if v.cls == "f":
        v.bound, v.grain = (node.bound or 0) * (64 if op == "sum" else 1) + 2, node.grain
        v.exact = v.exact and node.exact and not body.real
    elif v.cls == "i":
        v.bound = None
    text = {"sum": r.choice([f"{v.name} += %0;", f"{v.name} = {v.name} + %0;"]),
            "max": f"{v.name} = max({v.name}, %0);", "min": f"{v.name} = min(%0, {v.name});",
            "any": f"{v.name} = {v.name} || %0;",
            "all": f"{v.name} = {v.name} && %0;"}[op]
    if v.cls == "i" and op != "sum":
        text = text.replace("%0", "int(%0)" if v.elements == ("i32",) else "int64_t(%0)")
    return Statement(text, [node])
