"""Random bodies: locals, assignments, conditions, loops, scatters, over what a frame (frames.py) has declared."""
from collections import Counter

from expressions import BIG, EXACT_BELOW, LIMIT, TYPES, Expressions
from tree import Node, Statement

LOCALS = {"f": {"real": 6, "auto": 3, "float": 1}, "b": {"bool": 4, "auto": 1},
          "i": {"int": 4, "auto": 4, "int64_t": 2, "uint8_t": 0.5, "int16_t": 0.5, "uint32_t": 0.5}}
NARROW = {"uint8_t": 256, "int16_t": 1 << 15, "uint32_t": None, "int": None}
STATEMENTS = {"local": 8, "update": 5, "branch": 3, "uniform": 2, "loop": 2, "loop_of_lanes": 1.5, "while_loop": 1,
              "accumulate": 1.5, "local_array": 1, "widened": 0.7, "assertion": 0.3}
LOOP_BOUND = 16  # what a float that changes in a loop is held to


class Axis:
    def __init__(self, name, big=BIG, usual=16, fold=True, scan=True, at=True, over=None, root=None, index=True):
        self.name, self.big, self.usual, self.over = name, big, min(usual, big), over
        self.fold, self.scan, self.at, self.index = fold, scan, at, index
        self.root = root or name


class Variable:
    def __init__(self, name, role, cls, axes, bound, grain=0, unsigned=False, elements=(), optional=False, exact=True,
                 readable=True):
        self.name, self.role, self.cls, self.axes = name, role, cls, frozenset(axes)
        self.bound, self.grain = bound, grain
        self.unsigned, self.elements, self.optional, self.exact = unsigned, tuple(elements), optional, exact
        self.readable, self.hidden = readable, False

    def most(self):
        """What a float may be so that storing it does not round."""
        return min((EXACT_BELOW[e] for e in self.elements if e in EXACT_BELOW), default=LIMIT)


def variable_of(name, role, elements, axes, optional=False, exact=True):
    """An array of one of the element types, with the values that kgen's random inputs have."""
    cls, bits = TYPES[elements[0]]
    unsigned = any(e in ("u32", "u64") for e in elements)
    if cls == "f":
        return Variable(name, role, "f", axes, 3, 0, False, elements, optional, exact, role == "input")
    least = min(TYPES[e][1] for e in elements)
    bound = 1 if cls == "b" else min(BIG, 1 << least) if role == "input" else \
        1 << least if least <= 16 else None
    return Variable(name, role, cls, axes, bound, 0, unsigned, elements, optional, True, role == "input")


class Body(Expressions):
    def __init__(self, rng, real):
        self.rng, self.real = rng, real
        self.extremes = False        # are whole numbers of 32 and 64 bits ends of their types?
        self.axes, self.vars, self.tables, self.params = {}, {}, [], {}
        self.steps, self.functions, self.allow_functions = [], {}, rng.random() < 0.25
        self.closed = frozenset()    # axes of the conditions around
        self.in_loop = 0
        self.count = 0
        self.used = Counter()
        self.statements = []
        self.uniform = []            # conditions of the grid: first(k), ...

    def use(self, feature):
        self.used[feature] += 1

    def fresh(self, stem="v"):
        self.count += 1
        return f"{stem}{self.count}"

    # ---- the whole
    def random_statements(self, count, depth=2):
        """A few statements; those under conditions and loops only change what is written already."""
        out = []
        for _ in range(count):
            table = STATEMENTS if depth > 0 else {"update": 1}
            name = self.pick(table)
            made = getattr(self, "state_" + name)(depth)
            if made:
                self.use("statement " + name)
                out += made
        return out

    def closure(self, axes):
        return self.with_over(axes)

    def some_axes(self):
        names = sorted(self.axes)
        count = min(len(names), self.rng.choice([0, 1, 1, 2, 2, 3]))
        return self.closure(self.rng.sample(names, count))

    def declare(self, type_name, node, name=None):
        """A local, from its first value."""
        name = name or self.fresh()
        v = Variable(name, "local", node.cls, node.axes, node.bound, node.grain, node.unsigned, (), exact=node.exact)
        v.elements = ("local",) if node.axes else ()
        if type_name in NARROW and node.cls == "i":
            most = NARROW[type_name]
            v.bound = None if v.bound is None and most is None else min(b for b in (v.bound, most) if b is not None)
            v.unsigned = type_name == "uint32_t"
        self.vars[name] = v
        return Statement(f"{type_name} {name} = %0;", [node])

    def state_local(self, depth):
        if self.in_loop or self.closed:
            return self.state_update(depth)
        cls = self.rng.choice("fffiib")
        node = self.make(cls, self.some_axes(), 3)
        if not node.axes and self.rng.random() < 0.7:
            return []
        const = "const " if self.rng.random() < 0.1 else ""
        type_name = self.pick(LOCALS[cls])
        statement = self.declare(type_name, node)
        v = list(self.vars.values())[-1]
        if const or type_name == "auto":
            v.role = "constant"
            statement.text = const + statement.text
        return [statement]

    def state_widened(self, depth):
        """A local that gets its axes from a later assignment."""
        if self.in_loop or self.closed:
            return []
        node = self.make("f", self.some_axes(), 2)
        if not node.axes:
            return []
        name = self.fresh()
        first = Statement(f"real {name} = 0;")
        self.declare("real", node, name)
        return [first, Statement(f"{name} = %0;", [node])]

    def targets(self, least=frozenset()):
        return [v for v in self.vars.values() if v.role in ("output", "local", "scratch") and v.readable and
                not v.hidden and v.axes >= least and v.axes >= self.closed]

    def stored(self, v, node):
        """The value as the target can hold it without rounding, where the mode asks for it."""
        if v.cls == "f" and node.cls == "i":
            node = self.small(node)
        if v.cls == "f" and not (self.real and self.rng.random() < 0.7) and node.cls == "f":
            node = self.fit(node, v.most())
            if node.grain and v.most() < LIMIT:
                node = Node("floor(%0)", [node], "f", node.axes, node.bound + 1) if node.exact else node
        return node

    def assign(self, v, node, op="="):
        """Assigns, and keeps what is known of the target."""
        node = self.stored(v, node)
        if v.cls == "f":
            bound, grain = (node.bound or 0), node.grain if node.cls == "f" else 0
            v.bound, v.grain = max(v.bound, bound), max(v.grain, grain)
            rounded = self.real and v.role != "local" or any(e in ("f16", "bf16") for e in v.elements)
            v.exact = v.exact and node.exact and not (rounded and self.real)
        elif v.cls == "i" and v.role == "local":
            v.bound = None
        v.readable = True
        return Statement(f"{v.name} {op} %0;", [node])

    def state_update(self, depth):
        able = self.targets()
        if not able:
            return []
        v = self.rng.choice(able)
        cls = v.cls
        node = self.make(cls, v.axes, 2)
        if self.in_loop:
            if cls == "f":
                node = self.fit(node, min(LOOP_BOUND, v.most()))
                if node.grain > v.grain:
                    node = Node("clamp(floor(%0), -8, 8)", [node], "f", node.axes, 8) if node.exact else \
                        Node("clamp(%0, -8, 8)", [node], "f", node.axes, 8, exact=False)
                if self.real and not node.exact and v.exact:
                    return []
            return [Statement(f"{v.name} = %0;", [node])]
        kind = self.rng.random()
        if cls == "f" and kind < 0.4 and self.mixes(v):
            op = self.rng.choice(["+=", "-="])
            node = self.fit(node, min(1 << 12, v.most()) // 2)
            total = self.fit(Node("", (), "f", (), v.bound + node.bound, max(v.grain, node.grain)))
            if total.text or (v.bound + node.bound) << max(v.grain, node.grain) > v.most():
                return []
            v.bound, v.grain, v.exact = v.bound + node.bound, max(v.grain, node.grain), v.exact and not self.real
            self.use("compound assignment")
            return [Statement(f"{v.name} {op} %0;", [node])]
        if cls == "i" and kind < 0.5:
            op = self.rng.choice(["+=", "-=", "*=", "&=", "|=", "^=", "<<=", "/=", "%="])
            if v.role == "local":
                v.bound = None
            self.use("compound assignment")
            return [Statement(f"{v.name} {op} %0;", [node])]
        return [self.assign(v, node)]

    def mixes(self, v):
        return v.cls == "f" and not (self.real and v.exact)

    def state_branch(self, depth):
        """Per element: what stands under it is computed for some lanes only."""
        able = [v for v in self.targets() if v.axes]
        if not able:
            return []
        v = self.rng.choice(able)
        condition = self.make("b", v.axes, 2)
        if not condition.axes:
            return []
        before = self.closed
        self.closed = before | condition.axes
        inner = [s for _ in range(self.rng.choice([1, 1, 2])) for s in self.state_update(0)]
        if depth > 1 and self.rng.random() < 0.3:
            inner += self.state_branch(depth - 1)
        blocks, text = [inner], "if (%0) @0"
        if inner and self.rng.random() < 0.4:
            other = self.state_update(0)
            if other:
                blocks.append(other)
                text += " else @1"
        self.closed = before
        return [Statement(text, [condition], blocks)] if inner else []

    def state_uniform(self, depth):
        condition = self.rng.choice(self.uniform)() if self.uniform and self.rng.random() < 0.5 else \
            self.make("b", frozenset(), 2)
        inner = [s for _ in range(self.rng.choice([1, 2])) for s in self.state_update(0)]
        return [Statement("if (%0) @0", [condition], [inner])] if inner else []

    def enter_loop(self):
        """Before a loop: bounds that hold however often it runs."""
        for v in self.targets():
            if v.cls == "f":
                v.bound, v.grain = max(v.bound, LOOP_BOUND), max(v.grain, 0)
            elif v.cls == "i" and v.role == "local":
                v.bound = None
            if self.real and v.cls == "f":
                v.exact = False
        self.in_loop += 1

    def counter(self, name):
        v = Variable(name, "constant", "i", (), 8)
        self.vars[name] = v
        return v

    def state_loop(self, depth):
        """A loop without axes: its statements are barriers, so folds may stand in it."""
        able = self.targets()
        if not able or self.in_loop > 1:
            return []
        counter = self.counter(self.fresh("i"))
        trips = self.rng.choice(["2", "3", "4", self.pick_scalar() or "3"])
        self.enter_loop()
        inner = [s for _ in range(self.rng.choice([1, 2, 3])) for s in self.state_update(0)]
        if depth > 1 and self.rng.random() < 0.3:
            inner += self.state_branch(depth - 1)
        if depth > 1 and self.rng.random() < 0.25:
            inner += self.state_loop(depth - 1)
        if inner and self.rng.random() < 0.4:
            leave = self.rng.choice(["break", "continue"])
            inner.insert(self.rng.randrange(len(inner)),
                         Statement(f"if (%0) {leave};", [self.make("b", frozenset(), 1)]))
            self.use(leave)
        self.in_loop -= 1
        counter.hidden = True
        n = counter.name
        return [Statement(f"for (int {n} = 0; {n} < {trips}; ++{n}) @0", [], [inner])] if inner else []

    def pick_scalar(self):
        able = [v.name for v in self.vars.values() if v.role == "scalar" and v.cls == "i" and v.elements[0] == "i32" and
                v.bound is not None]
        return self.rng.choice(able) if able else None

    def state_loop_of_lanes(self, depth):
        """A loop whose bound has axes: each element has its own number of trips."""
        able = [v for v in self.targets() if v.axes]
        if not able or self.in_loop > 1:
            return []
        v = self.rng.choice(able)
        before = self.closed
        self.closed = v.axes  # each trip asks again, under the condition itself
        trips = self.make("i", v.axes, 1)
        self.closed = before
        if not trips.axes:
            return []
        counter = self.counter(self.fresh("i"))
        self.enter_loop()
        self.closed = before | trips.axes
        inner = [s for _ in range(self.rng.choice([1, 2])) for s in self.state_update(0)]
        if inner and self.rng.random() < 0.5:
            leave = self.rng.choice(["break", "continue"])
            # The condition must not widen the loop beyond its targets.
            inner.insert(self.rng.randrange(len(inner)),
                         Statement(f"if (%0) {leave};", [self.make("b", self.closed, 1)]))
            self.use(leave + " of lanes")
        self.closed = before
        self.in_loop -= 1
        counter.hidden = True
        n = counter.name
        head = f"for (int {n} = 0; {n} < clamp(int(%0), 0, 4); ++{n}) @0"
        return [Statement(head, [trips], [inner])] if inner else []

    def state_while_loop(self, depth):
        able = self.targets()
        if not able or self.in_loop > 1 or self.closed:
            return []
        v = self.rng.choice(able)
        counter = self.fresh("n")
        self.enter_loop()
        before = self.closed
        able = self.rng.choice([frozenset(), v.axes])
        self.closed = before | able
        condition = self.make("b", able, 2)
        self.closed = before | condition.axes
        inner = [s for _ in range(self.rng.choice([1, 2])) for s in self.state_update(0)]
        self.closed = before
        self.in_loop -= 1
        if not inner:
            return []
        self.use("while of lanes" if condition.axes else "while")
        inner.append(Statement(f"++{counter};"))
        return [Statement(f"int {counter} = 0;"), Statement(f"while ({counter} < 3 && %0) @0", [condition], [inner])]

    def state_accumulate(self, depth):
        """A sum over the trips of a loop, in a local that nothing reads inside."""
        if self.in_loop or self.closed:
            return []
        node = self.fit(self.make("f", self.some_axes(), 2), 1 << 12)
        name, counter = self.fresh("s"), self.fresh("i")
        self.counter(counter)
        inner = self.fit(self.make("f", node.axes, 2), 1 << 12)
        self.vars[counter].hidden = True
        trips = self.pick_scalar() or "5"
        first = Node("%0", [node], "f", node.axes, node.bound + 8 * inner.bound, max(node.grain, inner.grain),
                     exact=not self.real)
        if first.bound << first.grain > LIMIT:
            return []
        out = [self.declare("real", first, name)]
        return out + [Statement(f"for (int {counter} = 0; {counter} < {trips}; ++{counter}) @0", [],
                                [[Statement(f"{name} += %0;", [inner])]])]

    def state_local_array(self, depth):
        if self.in_loop or self.closed:
            return []
        cls = self.rng.choice("fi")
        node = self.make(cls, self.some_axes(), 2)
        name, counter, n = self.fresh("t"), self.fresh("i"), self.rng.choice([2, 3, 4])
        type_name = {"f": "float", "i": "int"}[cls]
        if cls == "f" and any("f64" in v.elements for v in self.vars.values()):
            return []
        fill = [Statement(f"{name}[{counter}] = %0;", [node])]
        self.counter(counter)
        if cls == "f":
            fill = [Statement(f"{name}[{counter}] = {counter} == 1 ? 1.0f : %0;", [node])]
        self.vars[counter].hidden = True
        index = self.small(self.make("i", node.axes, 1))
        within = n + self.rng.choice([0, 0, 0, 1])  # outside there is 0 to read
        value = Node(f"{name}[abs(%0) % {within}]", [index], cls, node.axes | index.axes, max(node.bound or 0, 1)
                     if node.bound is not None else None, node.grain, exact=node.exact)
        out = [Statement(f"{type_name} {name}[{n}];"),
               Statement(f"for (int {counter} = 0; {counter} < {n}; ++{counter}) @0", [], [fill])]
        return out + [self.declare({"f": "real", "i": "int"}[cls], value)]

    def state_assertion(self, depth):
        return [Statement("assert(%0 || true);", [self.make("b", self.some_axes(), 1)])]

    # ---- outputs
    def write_output(self, v, depth=3):
        """The first assignment of an output: all of it."""
        node = self.make(v.cls, v.axes, depth)
        statement = self.assign(v, node)
        if v.cls == "f":
            stored = statement.args[0]
            v.bound, v.grain = (stored.bound or 0), stored.grain if stored.cls == "f" else 0
        return statement

    def scatters(self, v):
        """An output written by places: a permutation of its axis, or added to."""
        r = self.rng
        axis = r.choice([a for a in sorted(v.axes) if self.axes[a].index])
        if r.random() < 0.6 or v.cls == "b":
            node = self.make(v.cls, v.axes, 2)
            self.use("scatter of a permutation")
            statement = self.assign(v, node)
            place = r.choice([f"size({axis}) - 1 - {axis}", axis])
            statement.text = f"at({v.name}, {axis} = {place}) = %0;"
            return [statement]
        start = Statement(f"{v.name} = {r.choice([0, 1])};")
        v.readable = True
        place = self.make("i", self.some_axes() | (v.axes - {axis}), 1)
        v.readable = False
        node = self.make("i", self.some_axes() | (v.axes - {axis}), 1)
        v.readable = True
        missing = v.axes - {axis} - place.axes - node.axes
        if missing:
            v.readable = False
            return [self.write_output(v)]
        self.use("scatter that adds")
        v.bound = 1 << 14 if v.cls == "f" else None
        return [start, Statement(f"at({v.name}, {axis} = %0) += %1;", [place, node])]
