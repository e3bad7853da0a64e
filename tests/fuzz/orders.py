"""The frame of orders: clears, scatters, folds, scans, conditional updates, compactions, reads elsewhere and second
passes over several outputs and axes, each of them wherever it is legal. What a plan moves past another shows here.

Values are kept short: statements that could share a loop do so only where they are alike.
"""
import contextlib

from body import Axis
from frame import cover_axes, size_condition
from tree import Node, Statement

PLACES = {"u8": 3, "i8": 1, "i32": 2, "u16": 1}
NUMBERS = {"i32": 4, "i64": 1, "i16": 1, "f32": 1.5, "bool": 0.5}
OUTPUTS = {"i64": 4, "i32": 3, "f32": 1.5, "u8": 0.5, "u32": 0.5}
SCATTERED = {"i64": 4, "i32": 3, "u32": 0.7}
ACTIONS = {"fold": 5, "scan": 3, "element": 2, "clear": 4, "scatter": 5, "permute": 1.5, "update": 3, "conditional": 3,
           "elsewhere": 2.5, "second_pass": 2.5, "compact": 0.7, "slice": 1, "loop": 0.8, "arms": 1.2, "named": 1.2,
           "any": 1.5}


def orders(frame):
    """Without a grid, or with a parallel one around."""
    r, body = frame.rng, frame.body
    frame.batchable = r.random() < 0.1
    axes = [frame.axis(plain=r.random() < 0.8) for _ in range(r.choice([1, 2, 2, 3]))]
    for _ in range(r.choice([1, 1, 2])):
        frame.input(frame.subset(axes, r.sample(axes, 1), most=2), PLACES, plain=True)
    for _ in range(r.choice([1, 2, 2])):
        frame.input(frame.subset(axes, r.sample(axes, 1)), NUMBERS, plain=True)
    cover_axes(frame, axes)
    around = []
    if len(axes) > 1 and r.random() < 0.2:
        around = [axes[0]]
        frame.grid("i", axis=axes[0], block=r.choice([1, 2, 4]), semantics="parallel")
        frame.use("orders in steps")
        body.axes[axes[0]].fold = body.axes[axes[0]].scan = body.axes[axes[0]].at = False
    Orders(frame, axes, around).run()


class Orders:
    def __init__(self, frame, axes, around):
        self.frame, self.rng, self.body = frame, frame.rng, frame.body
        self.axes, self.around = axes, around
        self.whole, self.slices = set(), {}
        self.make_outputs()

    def make_outputs(self):
        r, frame = self.rng, self.frame
        frame.wide["Bins"] = f"Bins={r.choice([3, 8, 8])}"
        self.body.axes["Bins"] = Axis("Bins", big=8)
        self.outputs = []
        for _ in range(r.choice([1, 2, 2, 3, 4])):
            kind = r.random()
            if kind < 0.5:
                v = frame.output(frame.ordered({"Bins"} | self.some(1) | set(self.around)), SCATTERED, plain=True)
            else:
                v = frame.output(frame.ordered(self.some(2) | set(self.around)), OUTPUTS, plain=True)
            self.outputs.append(v)
        for v in self.outputs:
            v.readable = False
        self.kept = None
        if not self.around and r.random() < 0.15:
            self.kept = frame.output([r.choice(self.axes)], OUTPUTS, plain=True, partial=True)
            self.kept.readable, self.kept.hidden = False, True
        if not any("Bins" in v.axes for v in self.outputs):
            self.body.axes.pop("Bins")
            frame.wide.pop("Bins")

    def some(self, most):
        return set(self.rng.sample(self.axes, min(len(self.axes), self.rng.randint(0, most))))

    # ---- the sequence
    def run(self):
        body = self.body
        for _ in range(self.rng.randint(4, 13)):
            body.statements += self.action(ACTIONS)
        for v in self.outputs:  # what is still open, and what hands out what was found
            if v.name not in self.whole:
                body.statements += self.slice(v) if v.name in self.slices else self.clear(v)
            if self.rng.random() < 0.4:
                body.statements += self.action(ACTIONS)
        for _ in range(self.rng.choice([1, 2])):
            self.hand_out()

    def action(self, table):
        for _ in range(4):
            name = self.body.pick(table)
            made = getattr(self, name)()
            if made:
                self.frame.use("order " + name)
                return made
        return []

    def hand_out(self):
        """An output of its own for what the last locals hold."""
        axes = self.some(2) | set(self.around)
        v = self.frame.output(self.frame.ordered(axes), {"i64": 3, "i32": 1, "f32": 1}, plain=True)
        v.readable = False
        node = self.value(v.axes)
        latest = [x for x in list(self.body.vars.values())[-9:]
                  if x.role == "local" and x.cls == "i" and x.axes <= v.axes]
        if latest:
            node = self.body.integer("(%0 + %1)", [node, self.body.read(self.rng.choice(latest))], lambda a, b: a + b)
        self.body.statements.append(self.body.assign(v, node))

    # ---- values
    def value(self, axes, depth=1):
        """A short whole number."""
        r, body = self.rng, self.body
        if r.random() < 0.3:
            return body.make("i", frozenset(axes), depth)
        a = body.leaf_of("i", frozenset(axes))
        if r.random() < 0.5:
            return a
        b = body.leaf_of("i", frozenset(axes))
        return body.integer(f"(%0 {r.choice('++-*')} %1)", [a, b], lambda x, y: None)

    def condition(self, axes):
        r, body = self.rng, self.body
        if r.random() < 0.4:
            return body.make("b", frozenset(axes), 1)
        text = f"(%0 {r.choice(['<', '>', '==', '>='])} {r.choice([0, 1, 3])})"
        a = body.leaf_of("i", frozenset(axes))
        return Node(text, [a], "b", a.axes, 1)

    def local(self, node):
        types = {"f": ["real"], "b": ["bool"], "i": ["int64_t", "int64_t", "int", "auto"]}
        made = self.rng.choice(types[node.cls])
        statement = self.body.declare(made, node)
        if made == "auto":
            list(self.body.vars.values())[-1].role = "constant"
        return [statement]

    def element(self):
        return self.local(self.value(self.some(2) | set(self.around)))

    def fold(self, read=None):
        r, body = self.rng, self.body
        cls = r.choice("iiiif")
        able = [a for a in self.axes if body.axes[a].fold and a not in body.closed]
        node = read or (self.value(self.some(2), 1) if cls == "i" else body.make("f", frozenset(self.some(2)), 1))
        if read is None and able and not any(a in node.axes for a in able):
            node = body.joined(node.cls, node, r.choice(able))
        axes = [a for a in sorted(node.axes) if body.axes[a].fold and a not in body.closed] if node else []
        if not axes:
            return []
        axes = r.sample(axes, r.choice([1, 1, len(axes)]))
        name = r.choice(["sum", "sum", "max", "min"])
        text, args = body.folded(name, node, axes)
        extra = frozenset().union(*(a.axes for a in args[1:]))
        if node.cls == "i":
            made = body.fold_i(name, node, axes, ", ".join(axes), args[1:])
        else:
            made = body.f(text, args, node.bound * (body.times(axes) if name == "sum" else 1), node.grain,
                          (node.axes | extra) - set(axes))
        return self.local(made)

    def scan(self, read=None):
        r, body = self.rng, self.body
        node = read or self.value(self.some(2) or {self.axes[-1]})
        axis = body.scan_axis(node)
        if axis is None:
            return []
        name = r.choice(["cumsum", "cumsum", "cummax"]) + r.choice(["", "", "_reverse", "_exclusive"])
        text = f"{name}(%0, {axis})"
        if node.cls == "i":
            return self.local(Node(text, [node], "i", node.axes, None, 0, node.unsigned))
        return self.local(body.f(text, [node], node.bound * body.times([axis]), node.grain))

    # ---- outputs
    def written(self):
        return [v for v in self.outputs if v.name in self.whole]

    def clear(self, v=None):
        """All of an output: the first time, or again. A loop or an arm clears what it reads."""
        r, body = self.rng, self.body
        v = v or r.choice(self.outputs)
        if v.name in self.slices and v.name not in self.whole:
            return []
        if v.cls == "i" and r.random() < 0.6:
            node = Node(r.choice(["0", "0", "1"]), (), "i", (), 1)
        elif v.cls == "i" and r.random() < 0.7:
            node = body.leaf_of("i", v.axes)
        else:
            node = self.value(v.axes) if v.cls == "i" else body.make(v.cls, v.axes, 1)
        self.whole.add(v.name)
        return [body.assign(v, node)]

    def scattered(self):
        able = [v for v in self.written() if v.cls == "i" and v.axes - set(self.around)]
        return self.rng.choice(able) if able else None

    def scatter(self):
        r, body, v = self.rng, self.body, self.scattered()
        if v is None:
            return []
        axis = "Bins" if "Bins" in v.axes else r.choice(sorted(v.axes - set(self.around)))
        rest = v.axes - {axis}
        lanes = frozenset(rest | self.some(2))
        with self.apart_from(v):
            condition = self.condition(lanes) if r.random() < 0.3 else None
            before, body.closed = body.closed, body.closed | (condition.axes if condition else frozenset())
            place, value = self.place(axis, lanes), self.added(lanes)
            body.closed = before
        under = place.axes | value.axes | (condition.axes if condition else frozenset())
        if not rest <= under:
            return []
        if v.cls == "i":
            v.bound = None
        made = Statement(f"at({v.name}, {axis} = %0) += %1;", [place, value])
        return [made] if condition is None else [Statement("if (%0) @0", [condition], [[made]])]

    @contextlib.contextmanager
    def apart_from(self, v):
        """The output itself is not read: a write elsewhere takes what it held before from a local only."""
        before, v.hidden = v.hidden, True
        yield
        v.hidden = before

    def names(self):
        return {x.name for x in self.outputs}

    def place(self, axis, lanes):
        r, body = self.rng, self.body
        node = body.leaf_of("i", lanes) if r.random() < 0.7 else self.value(lanes)
        if r.random() < 0.5:
            return node
        return Node(r.choice(["(%0 & 7)", "(%0 & 3)"]), [node], "i", node.axes, 7)

    def added(self, lanes):
        return self.value(lanes) if self.rng.random() < 0.6 else Node(self.rng.choice(["1", "1", "2"]), (), "i", (), 2)

    def permute(self):
        """Each element once, at another place; of what has been written some, that lie as far on as lanes say together."""
        r, body = self.rng, self.body
        able = [v for v in self.outputs if v.name not in self.slices and any(a in v.axes for a in self.inner())]
        if not able:
            return []
        v = r.choice(able)
        axis = r.choice([a for a in self.inner() if a in v.axes])
        with self.apart_from(v):
            node = self.value(v.axes) if v.cls == "i" else body.make(v.cls, v.axes, 1)
        made = body.assign(v, node)
        made.text = f"at({v.name}, {axis} = size({axis}) - 1 - {axis}) = %0;"
        if v.name in self.whole and not self.around and r.random() < 0.5:
            with self.apart_from(v):
                made.args.append(body.make("i", v.axes - {axis}, 1))
            body.use("scatter of what lies further on")
            made.text = f"at({v.name}, {axis} = {axis} {r.choice('+-')} int64_t(%{len(made.args) - 1})) = %0;"
        self.whole.add(v.name)
        return [made]

    def inner(self):
        return [a for a in self.axes if a not in self.around and a not in self.body.closed]

    def slice(self, v=None):
        """One place of an axis, the others at other times."""
        r, body = self.rng, self.body
        able = [v] if v else [x for x in self.outputs if x.name not in self.whole and "Bins" in x.axes and x.cls == "i"]
        if not able or "=3" not in self.frame.wide.get("Bins", ""):
            return []
        v = r.choice(able)
        left = self.slices.setdefault(v.name, [0, 1, 2])
        r.shuffle(left)
        out = []
        while left:
            place = left.pop()
            node = self.value(v.axes - {"Bins"})
            out.append(Statement(f"at({v.name}, Bins = {place}) = %0;", [node]))
            if r.random() < 0.7 and not self.body.in_loop:
                out += self.action({"fold": 2, "scan": 1, "element": 1, "elsewhere": 1, "scatter": 1})
        self.whole.add(v.name)
        v.readable, v.bound = True, None
        return out

    def targets(self):
        locals_ = [v for v in self.body.vars.values() if v.role == "local" and v.cls == "i" and not v.hidden]
        return self.written() + [v for v in locals_ if v.axes >= self.body.closed]

    def update(self):
        r, body = self.rng, self.body
        able = [v for v in self.targets() if v.cls == "i"]
        if not able:
            return []
        v = r.choice(able)
        node = self.value(v.axes)
        v.bound = None
        return [Statement(r.choice([f"{v.name} += %0;", f"{v.name} = {v.name} * 2;", f"{v.name} = {v.name} - %0;",
                                    f"{v.name} = %0 - {v.name};"]), [node])]

    def conditional(self):
        r, body = self.rng, self.body
        able = [v for v in self.targets() if v.cls == "i"]
        if not able:
            return []
        v = r.choice(able)
        condition = self.condition(v.axes)
        before, body.closed = body.closed, body.closed | condition.axes
        v.bound = None
        arms = [[Statement(f"{v.name} {r.choice(['=', '=', '+='])} %0;", [self.value(v.axes)])]]
        if r.random() < 0.3:
            arms.append([Statement(f"{v.name} = %0;", [self.value(v.axes)])])
        body.closed = before
        return [Statement("if (%0) @0" + (" else @1" if len(arms) > 1 else ""), [condition], arms)]

    def elsewhere(self):
        """What an output or a local has at another point now."""
        r, body = self.rng, self.body
        able = [v for v in self.targets() + self.given() if any(a in v.axes for a in self.inner()) or
                "Bins" in v.axes and v.role == "output"]
        if not able:
            return []
        v = r.choice(able)
        axis = r.choice([a for a in sorted(v.axes) if a in self.inner() or a == "Bins"])
        place = body.coordinate(axis, frozenset(self.some(2)) | {axis}, 1)
        axes = (v.axes - {axis}) | place.axes
        bound = None if v.bound is None else max(v.bound, 8)
        return self.local(Node(f"at({v.name}, {axis} = %0)", [place], v.cls, axes, bound, v.grain, v.unsigned, v.exact))

    def given(self):
        return [v for v in self.body.vars.values() if v.role == "input" and v.cls == "i" and not v.optional]

    def second_pass(self):
        """A fold or a scan of what an output holds."""
        able = [v for v in self.written() if v.axes - set(self.around)]
        if not able:
            return []
        v, body = self.rng.choice(able), self.body
        node = body.read(v)
        if v.cls == "i" and self.rng.random() < 0.5:
            other = body.leaf_of("i", v.axes)
            node = body.integer("(%0 * %1)", [node, other], lambda a, b: None)
        if v.cls == "b":
            return []
        return self.rng.choice([self.fold, self.fold, self.scan])(node)

    def compact(self):
        """What is kept, in order; how many there are."""
        r, body, v = self.rng, self.body, self.kept
        if v is None or body.closed or body.in_loop:
            return []
        axis = next(iter(v.axes))
        if not body.axes[axis].scan or not body.axes[axis].index:
            return []
        self.kept = None
        keep, place = body.fresh(), body.fresh()
        condition = self.condition({axis})
        if axis not in condition.axes:
            condition = body.joined("b", condition, axis)
        if condition is None:
            return []
        out = [body.declare("bool", condition, keep)]
        count = Node(f"cumsum_exclusive(int64_t({keep}), {axis})", (), "i", {axis}, 1024)
        out.append(body.declare("int64_t", count, place))
        body.vars[keep].role = body.vars[place].role = "constant"
        between = [] if r.random() < 0.5 else self.action({"fold": 1, "scan": 1, "clear": 1, "scatter": 1})
        node = body.stored(v, self.value({axis}) if v.cls == "i" else body.make(v.cls, v.axes, 1))
        store = Statement(f"at({v.name}, {axis} = {place}) = %0;", [node])
        return out + between + [Statement(f"if ({keep}) @0", [], [[store]])]

    # ---- blocks
    def block(self, count, table):
        """Statements in a scope of their own."""
        names = set(self.body.vars)
        out = [s for _ in range(count) for s in self.action(table)]
        for name in set(self.body.vars) - names:
            del self.body.vars[name]
        return out

    INSIDE = {"fold": 2, "clear": 1, "scatter": 3, "update": 3, "conditional": 2, "elsewhere": 1, "second_pass": 1,
              "permute": 0.5}

    def loop(self):
        r, body = self.rng, self.body
        if body.in_loop or body.closed:
            return []
        counter = body.counter(body.fresh("i"))
        body.enter_loop()
        whole = set(self.whole)
        inner = self.block(r.choice([1, 2, 3]), self.INSIDE)
        self.whole = whole  # a loop may have no round
        for v in self.outputs:
            v.readable = v.name in whole
        body.in_loop -= 1
        counter.hidden = True
        n = counter.name
        return [Statement(f"for (int {n} = 0; {n} < {r.choice([2, 3])}; ++{n}) @0", [], [inner])] if inner else []

    def arms(self):
        """A question of sizes, and a whole body for each answer."""
        r, body = self.rng, self.body
        if body.closed or body.in_loop:
            return []
        text = size_condition(self.frame, [a for a in self.axes if a not in self.around] or self.axes)
        before, blocks = set(self.whole), []
        fresh = [v for v in self.outputs if v.name not in self.whole and v.name not in self.slices and r.random() < 0.6]
        for _ in range(2):
            self.whole = set(before)
            for v in fresh:
                v.readable = False
            inner = [s for v in fresh for s in self.fold_or_clear(v)]
            inner += self.block(r.choice([0, 1, 2]), self.INSIDE)
            blocks.append(inner)
        self.whole = before | {v.name for v in fresh}
        for v in self.outputs:
            v.readable = v.name in self.whole
        if not blocks[0]:
            return []
        out = [] if blocks[1] else blocks[:1]
        return [Statement(f"if ({text}) @0" + ("" if out else " else @1"), [], out or blocks)]

    def fold_or_clear(self, v):
        """An output as a fold, which plans have most ways for."""
        r, body = self.rng, self.body
        gone = [a for a in self.axes if a not in v.axes and body.axes[a].fold]
        if v.cls != "i" or not gone or r.random() < 0.4:
            return self.clear(v)
        axis = r.choice(gone)
        node = body.joined("i", self.value(v.axes | {axis}), axis)
        if node is None:
            return self.clear(v)
        self.whole.add(v.name)
        return [body.assign(v, Node(f"{r.choice(['sum', 'sum', 'max', 'min'])}(%0, {axis})", [node], "i",
                                    node.axes - {axis}, None, 0, node.unsigned))]

    def named(self):
        """A condition without axes that has a name."""
        r, body = self.rng, self.body
        if body.closed or body.in_loop:
            return []
        name = body.fresh("c")
        condition = Node(size_condition(self.frame, self.axes), (), "b", (), 1) if r.random() < 0.5 else \
            body.make("b", frozenset(), 2)
        if condition.axes:
            return []
        out = [body.declare(r.choice(["bool", "const bool"]), condition, name)]
        body.vars[name].role = "constant"
        whole = set(self.whole)
        inner = self.block(r.choice([1, 2, 3]), self.INSIDE)
        self.whole = whole
        for v in self.outputs:
            v.readable = v.name in whole
        return out + [Statement(f"if ({name}) @0", [], [inner])] if inner else out

    def any(self):
        if self.body.closed:
            return []
        return self.body.random_statements(1)
