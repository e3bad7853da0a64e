"""The frame of places: arrays read where conditions, ends, mirrors and rests say, by rounds, folds and under conditions."""
from frame import cover_axes
from tree import Statement

FLOATS = {"f32": 6, "f64": 1, "bf16": 1, "f16": 1}
WHOLE = {"i32": 3, "u8": 2, "i16": 1, "i64": 1}
OUTPUTS = {True: {"f32": 4, "f64": 1}, False: {"i64": 1, "i32": 1}}
SIZES = [1, 3, 8, 16, 17, 33]
# {p} is a place before, {a} the axis that is read along; a rest by {a}'s size asks that it has elements.
CHOSEN = ["({p} < 0 ? 0 : {p})", "({p} < 0 ? -({p}) : {p})", "({p} >= size({a}) ? 2 * size({a}) - 2 - ({p}) : {p})",
          "({p} >= size({a}) ? size({a}) - 1 : {p})", "min(max({p}, 0), size({a}) - 1)", "clamp({p}, 0, size({a}) - 1)",
          "max({p}, 1)", "min({p}, size({a}) - 2)", "abs({p})", "({p}) % max(size({a}), 1)",
          "(({p}) % max(size({a}), 1) + size({a})) % max(size({a}), 1)", "({p} % 2 == 0 ? {p} : {p} + 1)",
          "({c} ? {p} : {q})", "({c} ? {p} : 0)", "({c} ? {p} : {p} + 1)",
          "({p} < 0 ? 0 : {p} >= size({a}) ? size({a}) - 1 : {p})"]
DIGITS = ["{i} / {d}", "{i} % {d}", "({i} + {n}) / {d}"]
PLAIN = ["{i}", "{i} + {n}", "{i} - {n}", "2 * {i}", "{i} / 2", "size({a}) - 1 - {i}", "2 * {i} - {n}", "{n} - {i}"]


class Places:
    def __init__(self, frame):
        self.frame, self.r = frame, frame.rng
        self.axes = [self.axis() for _ in range(self.r.choice([1, 2, 2, 3]))]
        self.digits = {}  # axes that have so many times the positions of another
        free = [a for a in self.axes if not frame.spec.has(f"axes.{a}")]
        if free and self.r.random() < 0.4:
            self.enlarge(self.r.choice(free))
        self.tap = self.axis(self.r.choice([2, 3, 5])) if self.r.random() < 0.5 else None
        table = FLOATS if frame.body.real else WHOLE
        self.inputs = [frame.input(self.some(), table, plain=True) for _ in range(self.r.choice([1, 1, 2]))]
        self.arrays = {v.name: v.axes for v in self.inputs}
        self.rounds = None  # the counter of the loop around
        self.closed = False  # under a condition only arrays are read elsewhere, and nothing runs along an axis
        frame.scalar()
        self.numbers = [v.name for v in frame.body.vars.values() if v.role == "scalar" and v.cls == "i"]

    def axis(self, size=None):
        name = self.frame.axis(plain=True)
        if size is None and self.r.random() < 0.4:
            size = self.r.choice(SIZES)
        if size is not None:
            self.frame.spec.add(f"axes.{name}", size)
        return name

    def enlarge(self, axis):
        name, by = self.frame.axis(plain=True), self.r.choice([2, 2, 3, 4, 5, 8, 16])
        self.digits[name] = by
        self.frame.spec.add(f"axes.{name}", {"equals": f"{by} * {axis}"})
        self.frame.use("axis read by its digits")

    def out_axes(self):
        """As an array has them, perhaps with the axis that is read by its digits, mostly last."""
        axes = self.some()
        axes = axes[1:] if self.digits and len(axes) > 2 else axes
        for name in self.digits:
            axes.insert(len(axes) if self.r.random() < 0.7 else 0, name)
        return axes

    def some(self):
        """All axes or all but one, in any order."""
        axes = self.axes[:]
        self.r.shuffle(axes)
        return axes[1:] if len(axes) > 1 and self.r.random() < 0.15 else axes

    def number(self):
        names = self.numbers + ([self.rounds] * 3 if self.rounds else [])
        return self.r.choice(names) if names and self.r.random() < 0.5 else str(self.r.choice([1, 2, 3, 9]))

    def plain(self, axis, over):
        name = axis if axis in over and self.r.random() < 0.8 else self.r.choice(over)
        enlarged = [a for a in over if a in self.digits]
        if enlarged and self.r.random() < 0.6:
            name = self.r.choice(enlarged)
            by = self.digits[name] if self.r.random() < 0.9 else 2
            return self.r.choice(DIGITS).format(i=f"index({name})", d=by, n=self.number())
        place = self.r.choice(PLAIN).format(i=f"index({name})", a=axis, n=self.number())
        return f"{place} + index({self.tap})" if self.tap in over and self.r.random() < 0.7 else place

    def place(self, axis, over, depth=1):
        p = self.plain(axis, over)
        if self.r.random() < 0.15:
            return p
        p = p if p.isidentifier() else f"({p})"
        if depth and self.r.random() < 0.2:
            p = self.place(axis, over, 0)
        return self.r.choice(CHOSEN).format(p=p, q=self.plain(axis, over), a=axis, c=self.condition(over))

    def condition(self, over):
        r, name = self.r, self.r.choice(over)
        return r.choice([f"index({name}) {r.choice(['<', '>='])} {self.number()}", f"index({name}) % 3 == 1",
                         f"{self.number()} > 2", f"size({name}) > {r.choice([1, 5, 20])}"])

    def asked(self, over):
        """A condition on what an input has elsewhere."""
        v = self.r.choice(self.inputs)
        return f"{self.read(over, v.name)} {self.r.choice(['>', '<', '!='])} {self.r.choice([0, 1, 2])}"

    def read(self, over, name=None):
        """An element elsewhere, of an array or of what has been kept."""
        name = name or self.r.choice([v.name for v in self.inputs] if self.closed else list(self.arrays))
        axes = sorted(self.arrays[name])
        moved = [a for a in axes if a not in over or self.r.random() < 0.7] or [self.r.choice(axes)]
        self.r.shuffle(moved)
        where = ", ".join(f"{a} = {self.place(a, over)}" for a in moved)
        read = f"at({name}, {where})"
        return f"(inside({name}, {where}) ? {read} : 5)" if self.r.random() < 0.15 else read

    def value(self, over):
        """One to three elements."""
        text = " + ".join(self.read(over) for _ in range(self.r.choice([1, 1, 2, 3])))
        return f"({text})" if self.r.random() < 0.8 else f"max({text}, 2)"

    def some_value(self, over):
        r = self.r
        if self.tap and r.random() < 0.5:
            return f"{r.choice(['sum', 'sum', 'max'])}(index({self.tap}) + {self.value([*over, self.tap])}, {self.tap})"
        if r.random() < 0.2 and not self.closed:
            return self.kept_value(over)
        if r.random() < 0.15 and not set(self.arrays) - {v.name for v in self.inputs}:
            return f"({self.condition(over)} ? {self.value(over)} : {r.choice(['3', self.value(over)])})"
        return self.value(over)

    def kept_value(self, over):
        name = self.r.choice(["cumsum", "cummax", "softmax" if self.frame.body.real else "cumsum"])
        return f"{name}({self.value(over)} + {' + '.join(f'index({a})' for a in over)}, {self.r.choice(over)})"

    def keep(self):
        name = self.frame.name()
        made = Statement(f"auto {name} = {self.kept_value(self.axes)};")
        self.arrays[name] = frozenset(self.axes)
        return made

    def statements(self, out, over):
        """How the output gets its values: at once, under a condition, by rounds that each read elsewhere."""
        r, kind = self.r, self.r.random()
        if kind < 0.4:
            return [Statement(f"{out} = {self.some_value(over)};")]
        start = Statement(f"{out} = {r.choice(['1', self.value(over)])};")
        if kind < 0.6:
            return [start, self.under(r.choice([self.condition, self.asked])(over), lambda: [
                Statement(f"{out} = {self.some_value(over)};")])]
        return [start, *self.by_rounds(out, over, known=kind < 0.85)]

    def by_rounds(self, out, over, known):
        r = self.r
        n = self.rounds = self.frame.body.fresh("n")
        if known:
            more = Statement(f"{out} += {self.value(over)};")
            made = [Statement(f"for (int {n} = 0; {n} < {r.choice([2, 3, 5])}; ++{n}) @0", [], [[more]])]
        else:
            condition = r.choice([self.condition, self.asked, self.asked])(over)
            made = [Statement(f"int {n} = 0;"), self.under(f"{n} < 4 && {condition}", lambda: [
                Statement(f"{out} += {self.value(over)};"), Statement(f"++{n};")], "while")]
        self.rounds = None
        return made

    def under(self, condition, statements, word="if"):
        self.closed = True
        inner = statements()
        self.closed = False
        return Statement(f"{word} ({condition}) @0", [], [inner])


def places(frame):
    """One to three outputs of such values, perhaps with one that is kept in memory between."""
    r, body = frame.rng, frame.body
    frame.use("places that conditions choose")
    frame.batchable = r.random() < 0.2
    made = Places(frame)
    if r.random() < 0.25:
        body.statements.append(made.keep())
    for _ in range(r.choice([1, 1, 2])):
        over = made.out_axes()
        out = frame.output(over, OUTPUTS[body.real], plain=True)
        body.statements += made.statements(out.name, over)
    cover_axes(frame, made.axes)
