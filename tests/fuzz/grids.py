"""Frames with whole arrays and with grids over axes: nothing depends on tables or windows of their own."""
import re

from body import Axis, variable_of
from expressions import TYPES
from frame import (BLOCKS, OUTPUTS, block_axes, block_of, cover_axes, fold_into, some_body, spread_axes, start_of,
                   steps_of, under, update_of)
from tree import Node, Statement


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


def known(frame):
    """What is known when compiling: sizes, and what the index alone decides, by a choice or over a clear."""
    r, body = frame.rng, frame.body
    frame.use("values of the index alone")
    sizes = {frame.axis(plain=True): r.choice([2, 4, 8, 16, 24, 32, 48, 64]) for _ in range(r.choice([1, 1, 2]))}
    axes = [*sizes, frame.axis(plain=True)]
    for name, size in sizes.items():
        frame.spec.add(f"axes.{name}", size)
        body.axes[name].big = body.axes[name].usual = size
    for _ in range(r.choice([1, 2, 3])):
        name = r.choice(list(sizes))
        out = frame.output([a for a in r.sample(axes, len(axes)) if a == name or r.random() < 0.4])
        condition = f"index({name}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} {r.randrange(sizes[name] + 1)}"
        first, second = r.sample(["false", "true"] if out.cls == "b" else ["0", "1", "2", "7"], 2)
        if r.random() < 0.5:
            body.statements.append(Statement(f"{out.name} = {condition} ? {first} : {second};"))
        else:
            body.statements.append(Statement(f"{out.name} = {first};"))
            body.statements += under(condition, [Statement(f"{out.name} = {second};")], "chosen", frame)


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
    words = re.findall(r"\w+", frame.spec.items[-1][1]["type"].split("[")[1])
    last.axes = frozenset(x for x in (a, b, c) if x in words)
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
    v = Node(f"at({x.name}, {h} = {stride} * P + I - {pad})", (), x.cls, {c, "P", "I"}, 8)
    outputs = [frame.output(frame.subset([c, "P"], ["P"])) for _ in range(r.choice([1, 2]))]
    name = body.fresh()
    body.statements.append(body.declare("auto", v, name))
    if r.random() < 0.5:
        node = Node(f"dot(%0, {w.name}, {c}, I)", [v], "f", {"P"}, 24 * 1024 * 3)
        body.statements.append(body.declare("real", node))
    some_body(frame, outputs)


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
    each = [frame.output(frame.ordered(set(dims) | set(frame.subset(kept))))
            for _ in range(r.choice([0, 1]) if alone else 1)]
    body.statements += start_of(frame, states, first)
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
        body.statements += under(last, finals, "ends", frame)
        for v in ends:
            v.readable = False
    if each:
        body.statements += body.random_statements(r.choice([0, 1]))


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
    start = next(s for s in body.statements if s.blocks)
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
    y = variable_of(name, "output", frame.choices(kind), axes)
    y.bound = 0 if y.cls == "f" else y.bound
    body.vars[name] = y
    for _ in range(r.choice([0, 1, 2])):
        body.statements += body.state_local(2)
    body.statements.append(body.write_output(y))
    x.readable = False  # its memory is written now
    body.statements += body.random_statements(r.choice([0, 1]))


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
    body.statements += start_of(frame, [z], "first(j)")
    body.statements += body.state_local(2)
    body.statements.append(update_of(frame, z, [k]))
