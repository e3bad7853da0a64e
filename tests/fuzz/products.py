"""The frame of products: rows and columns over a depth, in any storage order, in groups, one after the other."""
from frame import cover_axes, some_body
from tree import Node, Statement

FLOATS = {"f32": 8, "f64": 1, "bf16": 2, "f16": 1}
WHOLE = {"i8": 2, "u8": 2, "i16": 1, "i32": 1}
SUMS = {"f32": 4, "f64": 1, "bf16": 1}
# Steps that are no product, and a bound of each; the last one has no vectors on one side.
DISTANCES = [("popcount(int(%0) ^ int(%1))", lambda a, b: 32), ("int(%0) / max(int(%1), 1)", lambda a, b: a),
             ("int(%0) % max(abs(int(%1)), 1)", lambda a, b: a), ("abs(int(%0) - int(%1))", lambda a, b: a + b),
             ("max(int(%0), int(%1))", lambda a, b: a + b),
             ("int(%0) + int(random_bits(5, int(%1)) % 1000)", lambda a, b: a + 1000)]
DEPTHS, SIDES = [1, 17, 40, 96, 96, 130, 260], [1, 3, 5, 6, 9, 16, 16, 24, 33]


def products(frame):
    """One to three products of arrays, plain, in groups, or in groups of different lengths."""
    frame.use("product")
    frame.batchable = False
    g = frame.axis(plain=True) if frame.rng.random() < 0.75 else None
    ragged = frame.rng.choice("mnk") if g and frame.rng.random() < 0.8 else None  # no array has two such axes
    sides = {name: side(frame, g if name == ragged else None, DEPTHS if name == "k" else SIDES) for name in "mnk"}
    left = factor(frame, g, [sides["m"], sides["k"]])
    for _ in range(frame.rng.choice([1, 1, 2])):
        right = factor(frame, g, [sides["n"], sides["k"]], left.cls)
        written(frame, product(frame, left, right, sides["k"]))
    if frame.rng.random() < 0.3:
        cover_axes(frame, [g] if g else [])
        rows = in_any_order(frame, frame.body.closure([sides["m"]]))
        some_body(frame, [frame.output(rows, plain=True)], (0, 1), (0, 1))


def side(frame, groups, sizes):
    """An axis of any length, of a fixed one, or of one that each group has for itself."""
    r = frame.rng
    name = frame.axis(plain=True)
    if groups:
        starts = f"{name.lower()}_starts"
        frame.spec.add(f"axes.{name}", {"ragged": starts, "over": groups})
        frame.spec.add(f"tables.{starts}", f"i64[{groups} + 1]")
        frame.body.axes[name].over = groups
        frame.use("product in ragged groups")
    elif r.random() < 0.8:
        size = r.choice(sizes)
        frame.spec.add(f"axes.{name}", size)
        frame.body.axes[name].big = size
        frame.body.axes[name].usual = min(16, size)
    return name


def in_any_order(frame, axes):
    """But for groups, which stand before what they divide."""
    axes = sorted(axes)
    frame.rng.shuffle(axes)
    return frame.rows_first(axes) if any(frame.body.axes[a].over for a in axes) else axes


def factor(frame, groups, axes, cls=None):
    """An array over the axes, which each group may have for itself."""
    whole = cls == "i" if cls else frame.rng.random() < 0.25
    own = [groups] if groups and frame.rng.random() < 0.5 else []
    return frame.input(in_any_order(frame, frame.body.closure(own + axes)), WHOLE if whole else FLOATS, plain=True)


def product(frame, left, right, depth):
    """Of the arrays themselves, or of one that is changed before."""
    body, r = frame.body, frame.rng
    nodes = [Node(v.name, (), v.cls, v.axes, v.bound, v.grain, v.unsigned) for v in (left, right)]
    if r.random() < 0.25 and left.cls == "f":
        nodes[0] = Node("max(%0, 0)", [nodes[0]], "f", left.axes, left.bound)
    axes = (left.axes | right.axes) - {depth}
    text = r.choice([f"dot(%0, %1, {depth})", f"sum(%0 * %1, {depth})"]) if left.cls == "f" else f"dot(%0, %1, {depth})"
    times = body.times([depth])
    if left.cls == "i" and r.random() < 0.6:
        frame.use("distance of whole numbers")
        text, most = r.choice(DISTANCES)
        return body.integer(f"sum({text}, {depth})", nodes, lambda a, b: times * most(a, b), axes=axes)
    if left.cls == "i":
        return body.integer(text, nodes, lambda a, b: times * a * b, axes=axes)
    return Node(text, nodes, "f", axes, times * left.bound * right.bound)


def written(frame, value):
    """Stored, perhaps with something added to it before."""
    body, r = frame.body, frame.rng
    y = frame.output(in_any_order(frame, value.axes), SUMS if value.cls == "f" else {"i32": 1, "i64": 1}, plain=True)
    if r.random() < 0.5:
        body.statements.append(body.declare("real" if value.cls == "f" else "int", value))
        kept = list(body.vars.values())[-1]
        value = Node(kept.name, (), kept.cls, kept.axes, kept.bound, kept.grain, kept.unsigned)
    if value.cls == "f" and r.random() < 0.5:
        bias = frame.input(in_any_order(frame, body.closure([r.choice(sorted(value.axes))])), FLOATS, plain=True)
        value = Node(f"max(%0 + {bias.name}, 0)", [value], "f", value.axes, value.bound + bias.bound)
    body.statements.append(body.assign(y, value))
