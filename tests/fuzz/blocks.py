"""Frames whose arrays share an axis by blocks of one size, though they are of different lengths: blocks that a table
picks, repeats; and an axis without elements whose one step has no such block."""
from body import Axis
from frame import block_axes, fold_into, join, some_body, steps_of, under
from tree import Node, Statement

SIMPLE = {"f32": 3, "i32": 2, "bf16": 1, "u8": 1}


def shared_position(body, size):
    """The axis that counts within a block: it begins elsewhere in each array."""
    body.axes["Pos"] = Axis("Pos", big=size, fold=False, scan=False, at=False, index=False)


def operand(frame, make, extent, n, place, size, **keys):
    frame.wide["Pos"] = f"Pos={extent}"
    v = make(["Pos", n], SIMPLE, plain=True, block=[size, "whole"], index=[place, 0], **keys)
    frame.wide.pop("Pos")
    return v


def gathered_blocks(frame):
    """Blocks from where a table says, to where it says, or each several times."""
    r, body = frame.rng, frame.body
    m, t, n = frame.axis(plain=True), frame.axis(plain=True), frame.axis(plain=True)
    size, kind = r.choice([1, 2, 3, 4]), r.choice(["gather", "gather", "scatter", "repeat"])
    frame.use("blocks of other lengths: " + kind)
    shared_position(body, size)
    if kind == "repeat":
        times = r.choice([2, 3])
        operand(frame, frame.input, f"{size} * {m}", n, f"i / {times}", size)
        outputs = [operand(frame, frame.output, f"{size * times} * {m}", n, "i", size)]
        frame.grid("i", size=f"{times} * {m}", **({"semantics": "parallel"} if r.random() < 0.5 else {}))
    else:
        table = {"type": f"i32[{t}]", "range": f"{m} / {size}"}
        if kind == "scatter":
            table["unique"] = True
        if kind == "scatter" or r.random() < 0.3:
            table["where"] = "host"
        frame.spec.add("tables.pick", table)
        picked, plain = (m, "pick[i]"), (f"{size} * {t}", "i")
        source, target = (plain, picked) if kind == "scatter" else (picked, plain)
        operand(frame, frame.input, source[0], n, source[1], size)
        keys = {"partial": True} if kind == "scatter" else {}
        outputs = [operand(frame, frame.output, target[0], n, target[1], size, **keys)]
        frame.grid("i", size=t)
    if r.random() < 0.4:
        frame.input([n], plain=True)
    for a in (m, t):
        body.axes.pop(a)
    steps_of(frame, ["i"])
    some_body(frame, outputs, (0, 2), (0, 1))


def blocks_that_end(frame):
    """Blocks that a table picks, of which the last may end with its array where the output's block goes on. Some of these
    specs leave elements unwritten, or read such: they are refused with reason."""
    r, body = frame.rng, frame.body
    m, t, n = frame.axis(plain=True), frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice([2, 3, 4])
    frame.use("blocks that end with their array")
    shared_position(body, size)
    frame.spec.add("tables.pick", {"type": f"i32[{t}]", "range": f"cdiv({m}, {size})"})
    operand(frame, frame.input, m, n, "pick[i]", size)
    if r.random() < 0.3:
        operand(frame, frame.input, f"{size} * {t}", n, "i", size)
    keys = {"partial": True} if r.random() < 0.4 else {}
    outputs = [operand(frame, frame.output, f"{size} * {t}", n, "i", size, **keys)]
    frame.grid("i", size=t)
    for a in (m, t):
        body.axes.pop(a)
    steps_of(frame, ["i"])
    first = outputs[0]
    if not keys and r.random() < 0.6:
        body.statements.append(Statement(f"{first.name} = {r.choice([0, 1])};"))
    if r.random() < 0.3:
        kept = frame.scratch(["Pos", n], r.choice(["f32", "i64"]))
        body.statements.append(body.write_output(kept))
        kept.readable = True
    if r.random() < 0.6:
        first_in_arms(frame, first)
        body.statements += body.random_statements(r.randint(0, 2))
    else:
        some_body(frame, outputs, (0, 2), (0, 2))


def first_in_arms(frame, v):
    """An output that two arms write, each under its condition."""
    body, arms, ends = frame.body, [], []
    asked, before = body.make("b", v.axes, 1), body.closed
    body.closed = before | asked.axes
    for _ in range(2):
        v.readable = False
        arms.append([body.write_output(v, 1)])
        ends.append((v.bound, v.grain, v.exact))
    body.closed = before
    join(v, ends)
    body.statements.append(Statement("if (%0) @0 else @1", [asked], arms))
    frame.use("first writes in two arms")


def blocks_of_no_rows(frame):
    """A fold over blocks of which a table says one operand's; K may be empty, and the table then has no entry."""
    r, body = frame.rng, frame.body
    k, l, m, n = (frame.axis(plain=True) for _ in range(4))
    size = r.choice([2, 3, 4])
    frame.use("empty arbitrary axis with blocks by table")
    frame.spec.add("tables.col", {"type": f"i32[cdiv({k}, {size})]", "range": f"cdiv({l}, {size})"})
    a = frame.input([m, k], {"f32": 2, "i32": 1}, plain=True)
    frame.wide[k] = f"{k}={l}"
    x = frame.input([k, n], {"f32": 2, "i32": 1}, plain=True, block=[size, "whole"], index=["col[k]", 0])
    frame.wide.pop(k)
    z = frame.output([m, n], {"f32": 2, "i64": 1}, plain=True)
    frame.grid("k", axis=k, block=size, semantics="arbitrary")
    body.axes.pop(l)
    block_axes(frame, [k])
    body.axes[k].index = False
    body.axes[k].big = body.axes[k].usual = size
    z.hidden = True
    body.statements += under("first(k)", [Statement(f"{z.name} = {r.choice([0, 1])};")], "begins", frame)
    if z.cls == "i":
        node = fold_into(frame, "i", z, [k], "sum")
    else:
        node = body.fit(Node(f"dot({a.name}, {x.name}, {k})", (), "f", {m, n}, 9 * size), 512)
    body.statements.append(Statement(f"{z.name} += %0;", [node]))
    if r.random() < 0.4:
        z.hidden, z.readable, z.bound = False, True, None if z.cls == "i" else 1 << 18
        w = frame.output([m, n], {"f32": 2, "i32": 1}, plain=True)
        body.statements += under("last(k)", [body.assign(w, body.make(w.cls, w.axes, 1))], "ends", frame)
