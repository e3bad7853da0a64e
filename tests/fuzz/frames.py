"""Frames of random specs: axes, arrays, grid, tables. A frame declares them and asks a Body for what happens inside.

Each frame is a function that fills a Spec; the table FRAMES at the end gives their weights.
"""
from body import Axis, Body, variable_of
from expressions import TYPES
from tree import Node, Spec, Statement

ELEMENTS = {"f32": 8, "f64": 1, "bf16": 1, "f16": 1, "i32": 3, "i8": 1, "u8": 1, "i16": 0.6, "u16": 0.6, "i64": 1,
            "u32": 0.6, "u64": 0.6, "bool": 1.2}
OUTPUTS = {"f32": 8, "f64": 0.7, "bf16": 1, "f16": 1, "i32": 4, "i8": 0.7, "u8": 0.7, "i16": 0.5, "u16": 0.5, "i64": 1,
           "u32": 0.5, "u64": 0.5, "bool": 1.5}
LISTS = [["f32", "bf16"], ["f32", "f64"], ["f16"], ["f32", "f16"], ["i32", "u8"], ["i8", "i64"], ["u32", "i16"],
         ["bf16", "f64"], ["u16", "u64"]]
BLOCKS = [1, 2, 2, 3, 4, 4, 5, 7]
NAMES = ["x", "a", "c", "w", "u", "q", "z", "y", "o", "r", "g", "h", "load", "store", "keep", "row", "active", "lanes",
         "value", "result", "smaller", "data", "begin", "end", "status", "memory", "count_", "threads", "item", "carry"]
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
            if not self.lists or (r.random() < 0.2 and len(self.lists) < 2):
                choices = r.choice(LISTS)
                self.lists["TU"[len(self.lists)]] = choices
                self.variants *= len(choices)
            name = r.choice(sorted(self.lists))
            self.use("type parameter")
            return name, self.lists[name]
        name = self.body.pick(table)
        return name, [name]

    def with_one(self, axes):
        """Sometimes one more dimension, of one element and without an axis."""
        if self.rng.random() > 0.04 or "..." in axes or any(self.body.axes[a].over for a in axes if a in self.body.axes):
            return axes
        self.use("dimension of one element")
        at = self.rng.randrange(len(axes) + 1)
        return [*axes[:at], "1", *axes[at:]]

    def brackets(self, axes):
        return "[" + ", ".join(self.wide.get(a, a) for a in axes) + "]"

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
        for name, choices in reversed(sorted(self.lists.items())):
            spec.items.insert(0, ["types." + name, choices])
        spec.functions = list(self.body.functions.values())
        if self.rng.random() < 0.15:
            spec.add("schedule.openmp.lanes", False)
            self.use("schedule without lanes")
        return spec


def steps_of(frame, names):
    """Grid names, and first and last of them, as values."""
    body = frame.body
    for name in names:
        body.uniform += [lambda n=name: Node(f"first({n})", (), "b", (), 1), lambda n=name: Node(f"last({n})", (), "b", (), 1)]
    body.steps += names


def some_body(frame, outputs, before=(0, 4), after=(0, 3)):
    body, r = frame.body, frame.rng
    for _ in range(r.randint(*before)):
        body.statements += body.state_local(2) if r.random() < 0.7 else body.random_statements(1)
    for v in outputs:
        if v.axes and r.random() < 0.12 and v.elements[0] in ("i32", "i64", "u32") and not body.steps and \
                len(v.elements) == 1 and not any(body.axes[a].over or a == "..." for a in v.axes):
            body.statements += body.scatters(v)
        else:
            body.statements.append(body.write_output(v))
        if r.random() < 0.3:
            body.statements += body.random_statements(1)
    body.statements += body.random_statements(r.randint(*after))


# ---- without a grid
def plain(frame):
    r = frame.rng
    axes = [frame.axis() for _ in range(r.choice([1, 2, 2, 3, 3, 4]))]
    spread_axes(frame, axes)
    frame.extras()
    for _ in range(r.choice([1, 2, 2, 3])):
        frame.input(frame.subset(axes, most=4))
    cover_axes(frame, axes)
    outputs = [frame.output(frame.subset(axes)) for _ in range(r.choice([1, 1, 2, 3]))]
    some_body(frame, outputs)


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
    elif kind < 0.12 and len(axes) > 1:
        a, b = axes[0], axes[1]
        if not frame.spec.has(f"axes.{a}") and not frame.spec.has(f"axes.{b}"):
            frame.wide[a] = f"{a}={b}"
            body.axes[a].root = b
            frame.use("extent of its own: another axis")
            frame.input([b], plain=True)


def rest(frame):
    """A leading `...`: any dimensions before, one axis that has no name."""
    r, body = frame.rng, frame.body
    axes = [frame.axis() for _ in range(r.choice([1, 2]))]
    body.axes["..."] = Axis("...", fold=False, scan=False, at=False, index=False)
    frame.use("leading ...")
    frame.batchable = False
    first = frame.input(["..."] + frame.subset(axes, axes[:1]))
    for _ in range(r.choice([0, 1])):
        frame.input(frame.subset(axes))
    cover_axes(frame, axes)
    outputs = [frame.output(["..."] + frame.subset(axes)) for _ in range(r.choice([1, 2]))]
    some_body(frame, outputs)


def split(frame):
    """A dimension of an array that is two axes of the body."""
    r, body = frame.rng, frame.body
    a, b, c = frame.axis(plain=True), frame.axis(plain=True), frame.axis()
    frame.use("split dimension")

    def dims(chosen):
        text = [x for x in chosen if x not in (a, b)]
        if a in chosen and b in chosen:
            text.insert(r.randrange(len(text) + 1), f"({a} {b})")
        elif a in chosen or b in chosen:
            text.append(a if a in chosen else b)
        return text

    frame.input(dims([a, b] + frame.subset([c])), plain=True).axes = frozenset()
    last = list(body.vars.values())[-1]
    last.axes = frozenset(x for x in (a, b, c) if x in str(frame.spec.items[-1][1]["type"]).split("[")[1].replace("(", " ")
                          .replace(")", " ").replace(",", " ").replace("]", " ").split())
    for x in (a, b):
        if r.random() < 0.4:
            frame.input([x])
    cover_axes(frame, [a, b, c])
    outputs = []
    for _ in range(r.choice([1, 2])):
        chosen = frame.subset([a, b, c])
        v = frame.output(dims(chosen), plain=True)
        v.axes = frozenset(chosen)
        outputs.append(v)
    if r.random() < 0.3:
        frame.use("grid over half of a split dimension")
        frame.grid("i", axis=a, block=r.choice([1, 2]), semantics="parallel")
        block_axes(frame, [a])
        outputs_of = [v for v in outputs if a in v.axes]
        if len(outputs_of) != len(outputs):
            frame.spec.items = [i for i in frame.spec.items if i[0] != "grid.i"]
            body.axes[a].fold = body.axes[a].scan = body.axes[a].at = True
    some_body(frame, outputs)


def derived(frame):
    """An axis whose size follows from others; an axis of the body alone."""
    r, body = frame.rng, frame.body
    h = frame.axis(plain=True)
    c = frame.axis(plain=True)
    window, stride, pad = r.choice([1, 2, 3]), r.choice([1, 2]), r.choice([0, 1])
    frame.spec.add("axes.P", {"equals": f"max(({h} + {2 * pad} - {window}) / {stride} + 1, 0)"})
    frame.spec.add("axes.I", window)
    body.axes["P"] = Axis("P", root=h)
    body.axes["I"] = Axis("I", big=window, index=True)
    frame.use("derived axis")
    x = frame.input([c, h], {"f32": 3, "i32": 1, "bf16": 1}, plain=True, outside=r.choice([0, 1]))
    w = frame.input([c, "I"], {"f32": 1}, plain=True)
    v = Node(f"at({x.name}, {h} = {stride} * P + I - {pad})", (), x.cls, {c, "P", "I"}, 8, reads={x.name})
    outputs = [frame.output(frame.subset([c, "P"], ["P"])) for _ in range(r.choice([1, 2]))]
    name = body.fresh()
    body.statements.append(body.declare("auto", v, name))
    if r.random() < 0.5:
        node = Node(f"dot(%0, {w.name}, {c}, I)", [v], "f", {"P"}, 24 * 1024 * 3)
        body.statements.append(body.declare("real", node))
    some_body(frame, outputs)


# ---- grids over axes
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


def blocked(frame):
    """Parallel dimensions: folds along their axes are not allowed, all else is."""
    r, body = frame.rng, frame.body
    axes = [frame.axis() for _ in range(r.choice([1, 2, 3, 3]))]
    frame.extras()
    over = frame.rng.sample(axes, min(len(axes), r.choice([1, 1, 2])))
    names = ["i", "j", "k"]
    lists = False
    for name, a in zip(names, over):
        keys = {"axis": a, "block": block_of(frame)}
        lists = lists or isinstance(keys["block"], list)
        if r.random() < 0.6:
            keys["semantics"] = "parallel"
        frame.grid(name, **keys)
    block_axes(frame, over)
    frame.use("grid of parallel dimensions")
    for _ in range(r.choice([1, 2, 3])):
        frame.input(frame.subset(axes, most=3))
    cover_axes(frame, axes)
    outputs = [frame.output(frame.ordered(set(over) | set(frame.subset(axes)))) for _ in range(r.choice([1, 2]))]
    if not lists and r.random() < 0.5:
        steps_of(frame, names[:len(over)])
    some_body(frame, outputs)


def carried(frame):
    """Arbitrary dimensions with scratch: first, update, last."""
    r, body = frame.rng, frame.body
    axes = [frame.axis() for _ in range(r.choice([1, 2, 3, 3]))]
    dims = frame.rng.sample(axes, min(len(axes), r.choice([1, 1, 2, 3])))
    kinds = [r.choice(["parallel", "arbitrary"]) for _ in dims]
    kinds[-1] = "arbitrary" if "arbitrary" not in kinds or r.random() < 0.7 else kinds[-1]
    if r.random() < 0.75:  # the usual order: parallel ones outside
        kinds.sort(reverse=True)
    names = ["i", "j", "k"][:len(dims)]
    frame.use("grid of " + " ".join(kinds))
    for name, a, kind in zip(names, dims, kinds):
        keys = {"axis": a, "block": block_of(frame)}
        if isinstance(keys["block"], list):
            keys["block"] = 2
        if r.random() < 0.8:
            keys["semantics"] = kind if kind == "parallel" or r.random() < 0.9 else "sequential"
        frame.grid(name, **keys)
    frame.extras()
    for _ in range(r.choice([1, 2, 3])):
        frame.input(frame.subset(axes, r.sample(dims, 1)))
    cover_axes(frame, axes)
    block_axes(frame, dims)
    arbitrary = [i for i, kind in enumerate(kinds) if kind == "arbitrary"]
    carry_over = arbitrary[-r.choice(range(1, len(arbitrary) + 1)):]   # a suffix of the arbitrary dimensions
    gone = [dims[i] for i in carry_over]
    kept = [a for a in axes if a not in gone]
    must = [a for a in dims if a not in gone]
    states = [frame.scratch(frame.subset(kept, must), r.choice(["f32", "f32", "i32", "i64", "bool"]))
              for _ in range(r.choice([1, 1, 2]))]
    first = " && ".join(f"first({names[i]})" for i in carry_over)
    last = " && ".join(f"last({names[i]})" for i in carry_over)
    steps_of(frame, names)
    # Outputs without the carried axes need that nothing moves inside; the others are written in each step.
    alone = all(dims[i] in gone for i in range(carry_over[0], len(dims)))
    ends = [frame.output(frame.subset(kept, must)) for _ in range(r.choice([1, 2]))] if alone else []
    each = [frame.output(frame.ordered(set(dims) | set(frame.subset(kept)))) for _ in range(r.choice([0, 1]) if alone else 1)]
    body.statements.append(start_of(states, first, r))
    for _ in range(r.choice([0, 0, 1, 2])):
        body.statements += body.state_local(2)
    for v in states:
        body.statements.append(update_of(frame, v, gone))
    if each and r.random() < 0.3:
        running_scan(frame, states, gone, each)
    for v in each:
        body.statements.append(body.write_output(v))
    if ends:
        finals = []
        for v in ends:
            node = body.make(v.cls, v.axes, 2)
            finals.append(body.assign(v, node))
        body.statements.append(Statement(f"if ({last}) @0", [], [finals]))
        for v in ends:
            v.readable = False
    if each:
        body.statements += body.random_statements(r.choice([0, 1]))


def start_of(states, first, r):
    starts = []
    for v in states:
        value = {"f": r.choice(["0", "1", "-inf", "0"]), "i": r.choice(["0", "1"]), "b": r.choice(["false", "true"])}[v.cls]
        v.readable, v.bound = True, 2 if v.cls == "f" else v.bound
        starts.append(Statement(f"{v.name} = {value};"))
    return Statement(f"if ({first}) @0", [], [starts])


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
    op = {"f": r.choice(["sum", "sum", "max", "min"]), "i": r.choice(["sum", "max", "min"]), "b": r.choice(["any", "all"])}[v.cls]
    v.hidden = True  # what is folded must not hang on it: its bound grows with each step
    node = fold_into(frame, v.cls, v, gone, op)
    v.hidden = False
    body.use("update by " + op)
    if v.cls == "f":
        v.bound, v.grain = (node.bound or 0) * (64 if op == "sum" else 1) + 2, node.grain
        v.exact = v.exact and node.exact and not body.real
    elif v.cls == "i":
        v.bound = None
    text = {"sum": r.choice([f"{v.name} += %0;", f"{v.name} = {v.name} + %0;"]), "max": f"{v.name} = max({v.name}, %0);",
            "min": f"{v.name} = min(%0, {v.name});", "any": f"{v.name} = {v.name} || %0;",
            "all": f"{v.name} = {v.name} && %0;"}[op]
    if v.cls == "i" and op != "sum":
        text = text.replace("%0", "int(%0)" if v.elements == ("i32",) else "int64_t(%0)")
    return Statement(text, [node])


def running_scan(frame, states, gone, each):
    """A scan along a carried axis, joined to what the steps before have left."""
    body, r = frame.body, frame.rng
    if len(gone) != 1:
        return
    axis = gone[0]
    floats = [v for v in states if v.elements == ("f32",)]
    if not floats:
        return
    s = frame.scratch(sorted(floats[0].axes), "f32")
    s.readable = True
    start = body.statements[0]
    start.blocks[0].append(Statement(f"{s.name} = 0;"))
    s.hidden = True
    node = body.fit(body.make("f", s.axes | {axis}, 2), 1 << 8)
    if axis not in node.axes:
        node = body.joined("f", node, axis) or node
    s.hidden = False
    if axis not in node.axes:
        return
    body.use("scan carried over steps")
    name, total = body.fresh(), body.fresh()
    body.statements.append(body.declare("real", node, name))
    carried = Node(f"cumsum({name}, {axis}) + {s.name}", (), "f", node.axes | s.axes, node.bound * 1024, node.grain,
                   exact=not body.real)
    body.statements.append(body.declare("real", carried, total))
    body.statements.append(Statement(f"{s.name} += sum({name}, {axis});"))
    s.bound, s.grain, s.exact = node.bound * 1024, node.grain, not body.real
    # The running value is only right while every element of the block is there.
    body.vars[name].role = body.vars[total].role = "constant"


# ---- explicit windows
def windows(frame):
    """Blocks by index, squeezed and whole dimensions, sizes of the grid by expression."""
    r, body = frame.rng, frame.body
    n, m, d = frame.axis(plain=True), frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice(BLOCKS)
    frame.use("explicit windows")
    squeeze = r.random() < 0.6
    frame.extras()

    def window(axes):
        keys = {"block": [], "index": []}
        for a in axes:
            if a == n:
                keys["block"].append(size)
                keys["index"].append("i")
            elif a == m and squeeze:
                keys["block"].append("squeeze")
                keys["index"].append("j")
            else:
                keys["block"].append("whole")
                keys["index"].append(0)
        return keys

    def operand(make, chosen, **more):
        v = make(chosen, plain=True, **window(chosen), **more)
        v.axes = frozenset(a for a in chosen if not (a == m and squeeze))
        v.elements = v.elements
        return v

    for _ in range(r.choice([1, 2])):
        operand(frame.input, frame.subset([n, m, d], [n]))
    if r.random() < 0.5:
        frame.input([d], plain=True)
    cover_axes(frame, [n, m, d])
    for v in body.vars.values():
        if v.role == "input" and m in v.axes and squeeze and not str(dict(map(tuple, frame.spec.items))
                                                                     .get("inputs." + v.name)).count("block"):
            v.readable = False
    least = [n, m] if squeeze else [n]
    outputs = [operand(frame.output, frame.ordered(set(least) | set(frame.subset([d])))) for _ in range(r.choice([1, 2]))]
    frame.grid("i", size=f"cdiv({n}, {size})", **({"semantics": "parallel"} if r.random() < 0.5 else {}))
    if squeeze:
        frame.use("squeeze")
        frame.grid("j", size=m, semantics="parallel")
        body.axes[m].index = body.axes[m].fold = False
        body.axes.pop(m)
    block_axes(frame, [n])
    steps_of(frame, ["i", "j"] if squeeze else ["i"])
    some_body(frame, outputs)


def overlapping(frame):
    """Windows by offset that overlap, and read `outside` at the ends."""
    r, body = frame.rng, frame.body
    w, b = frame.axis(plain=True), frame.axis(plain=True)
    length, hop, shift = r.choice([2, 3, 5]), r.choice([1, 2, 3]), r.choice([0, 0, 1])
    frame.spec.add("axes.F", {"equals": f"max(0, ({w} - {length}) / {hop} + 1)"})
    frame.use("overlapping windows")
    kinds = {"f32": 3, "i32": 1, "bf16": 1, "u8": 1}
    batched = r.random() < 0.6
    if batched:
        x = frame.input([b, w], kinds, plain=True, block=[1, length], offset=["b", f"{hop} * f - {shift}"], outside=1)
    else:
        x = frame.input([w], kinds, plain=True, block=[length], offset=[f"{hop} * f - {shift}"], outside=1)
    body.axes["F"] = Axis("F", fold=False, scan=False, at=False, index=False)
    body.axes[w].big = body.axes[w].usual = length
    body.axes[w].index = body.axes[w].scan = False
    x.elements = ()
    if batched:
        frame.grid("b", axis=b, block=1)
        block_axes(frame, [b])
    else:
        body.axes.pop(b)
    frame.grid("f", axis="F", block=1)
    outputs = [frame.output([b, "F"] if batched else ["F"], plain=True) for _ in range(r.choice([1, 2]))]
    steps_of(frame, ["f"])
    body.statements.append(body.declare("auto", body.leaf_of(x.cls, frozenset(x.axes))))
    some_body(frame, outputs)


def segments(frame):
    """Windows by a sorted table: steps of equal window follow each other."""
    r, body = frame.rng, frame.body
    s, g, d = frame.axis(plain=True), frame.axis(plain=True), frame.axis(plain=True)
    table = {"type": f"i32[{s}]", "sorted": True, "range": g}
    if r.random() < 0.4:
        table["where"] = "host"
        frame.use("host table")
    frame.spec.add("tables.seg", table)
    frame.use("segments by table")
    x = frame.input([s, d], plain=True, block=["squeeze", "whole"], index=["s", 0])
    x.axes = frozenset({d})
    out = frame.output([g, d], plain=True, block=["squeeze", "whole"], index=["seg[s]", 0], partial=True)
    out.axes = frozenset({d})
    for a in (s, g):
        body.axes.pop(a)
    state = frame.scratch([d] if r.random() < 0.7 else [], r.choice(["f32", "i32"]))
    frame.grid("s", size=s, semantics="arbitrary")
    body.tables.append(("seg", 1, 1024))
    body.steps.append("s")
    body.statements.append(start_of([state], f"first({out.name})", r))
    body.statements += body.state_local(2)
    gone = []
    body.statements.append(update_of(frame, state, gone))
    body.statements.append(Statement(f"if (last({out.name})) @0", [], [[body.assign(out, body.make(out.cls, out.axes, 2))]]))


def pages(frame):
    """Pages of memory through a table; how many hangs on another table."""
    r, body = frame.rng, frame.body
    b, p, n = frame.axis(plain=True), frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice([2, 3, 4])
    frame.use("pages by table")
    frame.spec.add("tables.pt", {"type": f"i32[{b}, {p}]", "range": f"cdiv({n}, {size})"})
    frame.spec.add("tables.len", {"type": f"i32[{b}]", "range": f"{p} + 1"})
    x = frame.input([n], plain=True, block=[size], index=["pt[b][p]"])
    body.axes[n].index = r.random() < 0.7
    y = frame.output([b], plain=True, block=["squeeze"], index=["b"])
    y.axes = frozenset()
    for a in (b, p):
        body.axes.pop(a)
    state = frame.scratch([], r.choice(["f32", "i64"]))
    frame.grid("b", size=b, semantics="parallel")
    frame.grid("p", size="max(1, len[b])", semantics="arbitrary")
    block_axes(frame, [n])
    body.statements.append(start_of([state], "first(p)", r))
    body.statements.append(update_of(frame, state, [n]))
    body.statements.append(Statement("if (last(p)) @0", [], [[body.assign(y, body.make(y.cls, y.axes, 2))]]))


def copies(frame):
    """Blocks that go where a table of unique entries says; at most as many as there are."""
    r, body = frame.rng, frame.body
    l, n, d, p = (frame.axis(plain=True) for _ in range(4))
    size = r.choice([1, 2, 3])
    where = {"where": "host"} if r.random() < 0.7 else {}
    frame.use("copies by table")
    frame.spec.add("tables.src", {"type": f"i32[{p}]", "range": f"cdiv({n}, {size})", **where})
    frame.spec.add("tables.dst", {"type": f"i32[{p}]", "range": f"cdiv({n}, {size})", "unique": True, **where})
    x = frame.input([l, n, d], plain=True, block=["squeeze", size, "whole"], index=["l", "src[p]", 0])
    y = frame.output([l, n, d], plain=True, block=["squeeze", size, "whole"], index=["l", "dst[p]", 0], partial=True)
    x.axes = y.axes = frozenset({n, d})
    for a in (l, p):
        body.axes.pop(a)
    body.axes[n].index = False
    frame.grid("l", size=l, semantics="parallel")
    frame.grid("p", size=p, semantics="parallel")
    block_axes(frame, [n])
    steps_of(frame, ["p"])
    some_body(frame, [y], (0, 2), (0, 1))


def at_most(frame):
    """A parallel dimension whose size a table says."""
    r, body = frame.rng, frame.body
    b, n = frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice([2, 4])
    frame.use("at_most")
    frame.spec.add("tables.len", {"type": f"i32[{b}]", "where": "host"})
    keys = {"block": ["squeeze", size], "index": ["b", "j"]}
    x = frame.input([b, n], plain=True, **keys)
    y = frame.output([b, n], plain=True, partial=True, **keys)
    x.axes = y.axes = frozenset({n})
    body.axes.pop(b)
    frame.grid("b", size=b, semantics="parallel")
    frame.grid("j", size="len[b]", at_most=f"cdiv({n}, {size})", semantics="parallel")
    block_axes(frame, [n])
    steps_of(frame, ["j"])
    some_body(frame, [y], (0, 2), (0, 1))


def shifted(frame):
    """An output of which a part is written, by windows with an offset."""
    r, body = frame.rng, frame.body
    n, p = frame.axis(plain=True), frame.axis(plain=True)
    size, shift = r.choice([2, 3, 4]), r.choice([0, 1, 2])
    frame.use("partial output by offset")
    frame.input([n], plain=True)
    x = frame.input([p], plain=True, block=[size], index=["i"])
    y = frame.output([p], plain=True, block=[size], offset=[f"{size} * i + {shift}"], partial=True)
    frame.grid("i", size=f"{p} / {size}", semantics="parallel")
    block_axes(frame, [p])
    body.axes[p].index = False
    steps_of(frame, ["i"])
    some_body(frame, [y], (0, 2), (0, 1))


def overwrites(frame):
    """Steps write one window again and again; the last one stays."""
    r, body = frame.rng, frame.body
    k, n = frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice(BLOCKS)
    frame.use("overwrite")
    x = frame.input([k, n], plain=True, block=["squeeze", size], index=["k", "i"])
    x.axes = frozenset({n})
    outputs = [frame.output([n], plain=True, block=[size], index=["i"], overwrite=True) for _ in range(r.choice([1, 2]))]
    frame.grid("i", size=f"cdiv({n}, {size})", semantics="parallel")
    frame.grid("k", size=k, semantics="arbitrary")
    body.axes.pop(k)
    block_axes(frame, [n])
    steps_of(frame, ["i", "k"])
    some_body(frame, outputs, (0, 2), (0, 0))


def in_place(frame):
    """An output in the memory of an input."""
    r, body = frame.rng, frame.body
    axes = [frame.axis() for _ in range(r.choice([1, 2]))]
    frame.use("alias")
    text, choices = frame.elements(OUTPUTS)
    x = frame.input(axes, {text if text in TYPES else "f32": 1}, plain=True)
    kind = frame.spec.items[-1][1]["type"].split("[")[0]
    if r.random() < 0.5:
        frame.input(frame.subset(axes))
    if r.random() < 0.5:
        over = r.choice(axes)
        frame.grid("i", axis=over, block=block_of(frame), semantics="parallel")
        block_axes(frame, [over])
        x.elements = ()  # steps must not look at what others write
        if isinstance(frame.spec.items[-1][1]["block"], list):
            frame.spec.items[-1][1]["block"] = 3
    name = frame.name()
    frame.spec.add("outputs." + name, {"type": kind + frame.brackets(axes), "alias": x.name})
    y = variable_of(name, "output", frame.lists.get(kind, [kind]), axes)
    y.bound = 0 if y.cls == "f" else y.bound
    body.vars[name] = y
    for _ in range(r.choice([0, 1, 2])):
        body.statements += body.state_local(2)
    body.statements.append(body.write_output(y))
    x.readable = False  # its memory is written now
    body.statements += body.random_statements(r.choice([0, 1]))


def ragged(frame):
    """Rows of different lengths, perhaps two of them, perhaps blocked by the grid."""
    r, body = frame.rng, frame.body
    b, n, d = frame.axis(plain=True), frame.axis(plain=True), frame.axis()
    frame.use("ragged axis")
    frame.batchable = False
    names = [n]
    starts = r.choice(["rs", "offsets"])
    frame.spec.add(f"axes.{n}", {"ragged": starts, "over": b})
    body.axes[n].over = b
    if r.random() < 0.25:
        m = frame.axis(plain=True)
        frame.spec.add(f"axes.{m}", {"ragged": "cs", "over": b})
        body.axes[m].over = b
        names.append(m)
        frame.use("two ragged axes")
    frame.spec.add(f"tables.{starts}", f"i64[{b} + 1]")
    if len(names) > 1:
        frame.spec.add("tables.cs", f"i64[{b} + 1]")
    for name in names:
        frame.input(frame.rows_first([b, name] + frame.subset([d])), plain=True)
    if r.random() < 0.5:
        frame.input(frame.subset([b, d]))
    cover_axes(frame, [d])
    if r.random() < 0.35 and len(names) == 1:
        frame.use("grid over a ragged axis")
        frame.grid("b", axis=b, block=1)
        frame.grid("n", axis=n, block=r.choice([2, 4]), semantics="arbitrary")
        block_axes(frame, [b, n])
        state = frame.scratch(frame.rows_first([b] + frame.subset([d])), r.choice(["f32", "i32"]))
        y = frame.output(frame.rows_first([b] + frame.subset([d])))
        body.statements.append(start_of([state], "first(n)", r))
        body.statements.append(update_of(frame, state, [n]))
        body.statements.append(Statement("if (last(n)) @0", [], [[body.assign(y, body.make(y.cls, y.axes, 2))]]))
        return
    outputs = []
    for _ in range(r.choice([1, 2])):
        outputs.append(frame.output(frame.rows_first(r.choice([[b, n], [b], [b, n]]) + frame.subset([d])), plain=True))
    some_body(frame, outputs)


def partials(frame):
    """Each parallel step folds its block of an axis into a row of its own."""
    r, body = frame.rng, frame.body
    k, m = frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice([2, 3, 4, 7])
    frame.use("partial sums of blocks")
    frame.spec.add("axes.S", {"equals": f"cdiv({k}, {size})"})
    for _ in range(r.choice([1, 2])):
        frame.input(frame.subset([k, m], [k]))
    frame.grid("k", axis=k, block=size, **({"semantics": "parallel"} if r.random() < 0.5 else {}))
    axes = r.choice([["S"], ["S", m]])
    keys = {"block": ["squeeze", "whole"][:len(axes)], "index": ["k", 0][:len(axes)]}
    body.axes["S"] = Axis("S", index=False)
    outputs = [frame.output(axes, plain=True, **keys) for _ in range(r.choice([1, 2]))]
    cover_axes(frame, [m])
    body.axes.pop("S")
    block_axes(frame, [k])
    body.axes[k].fold = True
    steps_of(frame, ["k"])
    for v in outputs:
        v.axes = frozenset(axes) - {"S"}
    some_body(frame, outputs, (0, 3), (0, 1))


def blocks_by_table(frame):
    """A sparse matrix as a list of blocks: rows are sorted, columns are anywhere."""
    r, body = frame.rng, frame.body
    s, m, k, n = (frame.axis(plain=True) for _ in range(4))
    bm, bk = r.choice([2, 3]), r.choice([2, 4])
    frame.use("blocks by table")
    frame.spec.add("tables.rows", {"type": f"i32[{s}]", "sorted": True, "range": f"cdiv({m}, {bm})"})
    frame.spec.add("tables.cols", {"type": f"i32[{s}]", "range": f"cdiv({k}, {bk})"})
    frame.wide = {m: f"{m}={bm}", k: f"{k}={bk}"}
    a = frame.input([s, m, k], {"f32": 2, "i32": 1}, plain=True, block=["squeeze", "whole", "whole"], index=["s", 0, 0])
    frame.wide = {}
    x = frame.input([k, n], {"f32": 2, "i32": 1}, plain=True, block=[bk, 3], index=["cols[s]", "j"])
    z = frame.output([m, n], {"f32": 2, "i32": 1}, plain=True, block=[bm, 3], index=["rows[s]", "j"], partial=True)
    a.axes = frozenset({m, k})
    body.axes.pop(s)
    frame.grid("j", size=f"cdiv({n}, 3)", semantics="parallel")
    frame.grid("s", size=s, semantics="arbitrary")
    block_axes(frame, [m, k, n])
    for axis, size in ((m, bm), (k, bk), (n, 3)):
        body.axes[axis].big = body.axes[axis].usual = size
        body.axes[axis].index = False
    body.axes[k].fold = True
    steps_of(frame, ["s", "j"])
    body.statements.append(Statement(f"if (first({z.name})) {z.name} = 0;"))
    z.readable, z.hidden = True, True
    node = Node(f"dot({a.name}, {x.name}, {k})", (), "f", {m, n}, 9 * bk) if r.random() < 0.5 else \
        fold_into(frame, "f", z, [k], "sum")
    z.hidden = False
    body.axes[k].fold = True
    body.statements += body.state_local(2)
    body.statements.append(Statement(f"{z.name} += %0;", [body.fit(node, 512)]))
    z.bound = 1 << 20


def gather(frame):
    """Rows by a table, anywhere."""
    r, body = frame.rng, frame.body
    v, n, d = (frame.axis(plain=True) for _ in range(3))
    frame.use("rows by table")
    frame.spec.add("tables.ids", {"type": f"i32[{n}]", **({"range": v} if r.random() < 0.7 else {"where": "host"})})
    x = frame.input([v, d], plain=True, block=["squeeze", "whole"], index=["ids[i]", 0])
    y = frame.output([n, d], plain=True, block=["squeeze", "whole"], index=["i", 0])
    x.axes = y.axes = frozenset({d})
    if r.random() < 0.4:
        frame.input([d], plain=True)
    for a in (v, n):
        body.axes.pop(a)
    frame.grid("i", size=n, semantics="parallel")
    steps_of(frame, ["i"])
    some_body(frame, [y], (0, 3), (0, 2))


def triangular(frame):
    """An inner dimension whose number of steps hangs on the outer one."""
    r, body = frame.rng, frame.body
    n, d = frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice([2, 3, 4])
    frame.use("triangular grid")
    x = frame.input([n, d], plain=True, block=[size, "whole"], index=["j", 0])
    body.axes["Rows"] = Axis("Rows", fold=False, scan=False, at=False, index=False)
    y = frame.output(["Rows", d], plain=True, block=["squeeze", "whole"], index=["i", 0])
    y.axes = frozenset({d})
    body.axes.pop("Rows")
    frame.spec.add("axes.Rows", {"equals": f"cdiv({n}, {size})"})
    state = frame.scratch(r.choice([[], [d]]), r.choice(["f32", "i32"]))
    frame.grid("i", size="Rows", semantics="parallel")
    frame.grid("j", size="i + 1", semantics="arbitrary")
    block_axes(frame, [n])
    body.axes[n].index = False
    steps_of(frame, ["i", "j"])
    body.statements.append(start_of([state], "first(j)", r))
    body.statements += body.state_local(2)
    body.statements.append(update_of(frame, state, [n]))
    body.statements.append(Statement("if (last(j)) @0", [], [[body.assign(y, body.make(y.cls, y.axes, 2))]]))


def in_output(frame):
    """Sums over the steps, kept in the output itself."""
    r, body = frame.rng, frame.body
    m, k = frame.axis(), frame.axis()
    frame.use("accumulates in the output")
    kinds = {"f32": 3, "i32": 2, "i64": 1, "bool": 1}
    frame.input(frame.subset([m, k], [k]))
    frame.extras()
    cover_axes(frame, [m, k])
    z = frame.output(r.choice([[m], [m], []]), kinds)
    z.elements = tuple(z.elements)
    if m in z.axes and r.random() < 0.7:
        frame.grid("i", axis=m, block=r.choice(BLOCKS), semantics="parallel")
        block_axes(frame, [m])
    frame.grid("j", axis=k, block=r.choice(BLOCKS), **({"semantics": "arbitrary"} if r.random() < 0.6 else {}))
    block_axes(frame, [k])
    steps_of(frame, ["j"])
    body.statements.append(start_of([z], "first(j)", r))
    body.statements += body.state_local(2)
    body.statements.append(update_of(frame, z, [k]))


def atomic(frame):
    """Floats added at computed places."""
    r, body = frame.rng, frame.body
    n, m = frame.axis(plain=True), frame.axis(plain=True)
    frame.use("atomic output")
    i = frame.input([n], {"i32": 1, "u8": 1}, plain=True)
    frame.input(frame.subset([n, m], [n]), {"f32": 1}, plain=True)
    frame.wide["Bins"] = "Bins=8"
    body.axes["Bins"] = Axis("Bins", big=8)
    axes = r.choice([["Bins"], [m, "Bins"]])
    z = frame.output(axes, {"f32": 3, "i32": 1}, plain=True, **({"atomic": True}))
    if z.cls == "i":
        frame.spec.items[-1][1].pop("atomic")
    cover_axes(frame, [m])
    for _ in range(r.choice([0, 1])):
        body.statements += body.state_local(2)
    body.statements.append(Statement(f"{z.name} = {r.choice([0, 1])};"))
    node = body.small(body.make("i", frozenset({n} | (z.axes - {"Bins"})), 1), 64)
    value = Node("(%0 + index(" + m + ") % 2)", [node], "i", node.axes | {m}) if m in z.axes else node
    body.statements.append(Statement(f"at({z.name}, Bins = {i.name}) += %0;", [value]))
    z.readable, z.bound = True, 1 << 18 if z.cls == "f" else None
    w = frame.output(["Bins"], plain=True)
    body.statements.append(body.write_output(w))


FRAMES = {plain: 30, partials: 3, blocks_by_table: 3, gather: 3, triangular: 3, in_output: 4, atomic: 2, rest: 4, split: 4, derived: 4, blocked: 12, carried: 16, windows: 7, overlapping: 4, segments: 4,
          pages: 2, copies: 2, at_most: 2, shifted: 2, overwrites: 3, in_place: 5, ragged: 8}


def random_spec(rng, name, real):
    """A spec and what of the language it uses."""
    frame = Frame(rng, name, real)
    made = rng.choices(list(FRAMES), list(FRAMES.values()))[0]
    frame.use("frame " + made.__name__)
    made(frame)
    spec = frame.finish()
    if frame.batchable and rng.random() < 0.08:
        batch(frame, spec)
    return spec, frame.body.used


def batch(frame, spec):
    """A leading dimension for all outputs and some inputs."""
    arrays = [k.split(".")[1] for k, v in spec.items if k.startswith("outputs.")]
    aliased = [v["alias"] for k, v in spec.items if k.startswith("outputs.") and isinstance(v, dict) and "alias" in v]
    inputs = [k.split(".")[1] for k, v in spec.items if k.startswith("inputs.")]
    arrays += aliased + [x for x in inputs if x not in aliased and frame.rng.random() < 0.6]
    spec.items.insert(0, ["batch.Batch", arrays])
    frame.use("batch")
