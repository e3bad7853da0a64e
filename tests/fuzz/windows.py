"""Frames with windows of their own: blocks by index and offset, tables, ragged rows, scattered sums."""
from body import Axis
from frame import BLOCKS, block_axes, cover_axes, fold_into, some_body, start_of, steps_of, under, update_of
from tree import Node, Statement


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
    outputs = [operand(frame.output, frame.ordered(set(least) | set(frame.subset([d]))))
               for _ in range(r.choice([1, 2]))]
    frame.grid("i", size=f"cdiv({n}, {size})", **({"semantics": "parallel"} if r.random() < 0.5 else {}))
    if squeeze:
        frame.use("squeeze")
        frame.grid("j", size=m, semantics="parallel")
        body.axes[m].index = body.axes[m].fold = False
        body.axes.pop(m)
    block_axes(frame, [n])
    steps_of(frame, ["i", "j"] if squeeze else ["i"])
    some_body(frame, outputs)


def beside_windows(frame):
    """Whole arrays, read where the windows of the outputs are, or near; the first window may begin outside."""
    r, body = frame.rng, frame.body
    n, c = frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice([2, 3, 4, 6])
    before = r.choice([0, 0, 1, size - 1])
    frame.use("whole arrays beside windows")
    whole = [frame.input(frame.ordered({n} | set(frame.subset([c]))), plain=True) for _ in range(r.choice([1, 1, 2]))]
    cover_axes(frame, [c])
    outputs = []
    for _ in range(r.choice([1, 2])):
        axes = frame.ordered({n} | set(frame.subset([c])))
        outputs.append(frame.output(axes, plain=True, block=[size if a == n else "whole" for a in axes],
                                    offset=[f"{size} * i - {before}" if a == n else 0 for a in axes]))
    frame.grid("i", size=f"({n} + {before + size - 1}) / {size}")
    block_axes(frame, [n])
    steps_of(frame, ["i"])
    for v in whole:
        v.readable = False  # as long as the axis, and windows are not
        place = r.choice([f"index({n})", f"index({n})", n, f"size({n}) - 1 - index({n})", f"index({n}) - 1",
                          f"(index({n}) * 3 + 1) % size({n})"])
        node = Node(f"at({v.name}, {n} = {place})", [], v.cls, v.axes, v.bound, v.grain, v.unsigned, v.exact)
        v.elements = ()
        body.statements.append(body.declare("auto", node))
    some_body(frame, outputs, (0, 3), (0, 2))


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
    body.statements += start_of(frame, [state], f"first({out.name})")
    body.statements += body.state_local(2)
    gone = []
    body.statements.append(update_of(frame, state, gone))
    final = body.assign(out, body.make(out.cls, out.axes, 2))
    body.statements += under(f"last({out.name})", [final], "ends", frame)


def pages(frame):
    """Pages of memory through a table; how many depends on another table."""
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
    body.statements += start_of(frame, [state], "first(p)")
    body.statements.append(update_of(frame, state, [n]))
    body.statements += under("last(p)", [body.assign(y, body.make(y.cls, y.axes, 2))], "ends", frame)


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
    outputs = [frame.output([n], plain=True, block=[size], index=["i"], overwrite=True)
               for _ in range(r.choice([1, 2]))]
    frame.grid("i", size=f"cdiv({n}, {size})", semantics="parallel")
    frame.grid("k", size=k, semantics="arbitrary")
    body.axes.pop(k)
    block_axes(frame, [n])
    steps_of(frame, ["i", "k"])
    some_body(frame, outputs, (0, 2), (0, 0))


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
        frame.input(frame.rows_first([b, name] + frame.subset([d])), plain=True, **frame.perhaps_strided())
    if r.random() < 0.5:
        frame.input(frame.subset([b, d]))
    cover_axes(frame, [d])
    if r.random() < 0.5 and len(names) == 1:
        frame.use("grid over a ragged axis")
        frame.grid("b", axis=b, block=1)
        frame.grid("n", axis=n, block=r.choice([2, 4]), semantics="arbitrary")
        block_axes(frame, [b, n])
        state = frame.scratch(frame.rows_first([b] + frame.subset([d])), r.choice(["f32", "i32"]))
        y = frame.output(frame.rows_first([b] + frame.subset([d])))
        each = [frame.output(frame.rows_first([b, n] + frame.subset([d])), plain=True)] if r.random() < 0.7 else []
        body.statements += start_of(frame, [state], "first(n)")
        body.statements.append(update_of(frame, state, [n]))
        for v in each:
            frame.use("output of each step along a ragged axis")
            body.statements.append(body.write_output(v, 2))
        body.statements += under("last(n)", [body.assign(y, body.make(y.cls, y.axes, 2))], "ends", frame)
        return
    outputs = []
    for _ in range(r.choice([1, 2])):
        axes = frame.rows_first(r.choice([[b, n], [b], [b, n]]) + frame.subset([d]))
        outputs.append(frame.output(axes, plain=True, **frame.perhaps_strided()))
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
    body.statements += under(f"first({z.name})", [Statement(f"{z.name} = 0;")], "begins", frame)
    z.readable, z.hidden = True, True
    whole = z.cls == "i" and body.real  # what is not exact is not rounded to whole numbers
    node = Node(f"dot({a.name}, {x.name}, {k})", (), "f", {m, n}, 9 * bk) if not whole and r.random() < 0.5 else \
        fold_into(frame, "i" if whole else "f", z, [k], "sum")
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
    """An inner dimension whose number of steps depends on the outer one."""
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
    body.statements += start_of(frame, [state], "first(j)")
    body.statements += body.state_local(2)
    body.statements.append(update_of(frame, state, [n]))
    body.statements += under("last(j)", [body.assign(y, body.make(y.cls, y.axes, 2))], "ends", frame)


def few_steps(frame):
    """Numbers of steps by expressions, which may be 0, or less: then the launcher refuses."""
    r = frame.rng
    n, d = frame.axis(plain=True), frame.axis(plain=True)
    size = r.choice([f"max(0, {n} - 2)", f"{n} - 2", f"min({n}, 3)", f"{n} / 2", f"cdiv({n}, 2) - 1",
                     f"2 * {n} - {n} - 1", f"{n} < 3 ? 0 : {n}", f"{n} % 4", f"{n} == 5 ? -1 : {n}"])
    frame.use("steps that may be none")
    frame.extras()
    keys = {"block": ["squeeze", "whole"], "index": ["i", 0]}
    x = frame.input([n, d], plain=True, **keys)
    outputs = [frame.output([n, d], plain=True, partial=True, **keys) for _ in range(r.choice([1, 2]))]
    for v in (x, *outputs):
        v.axes = frozenset({d})
    if r.random() < 0.5:
        frame.input([d], plain=True)
    frame.body.axes.pop(n)
    frame.grid("i", size=size, **({"semantics": r.choice(["parallel", "arbitrary"])} if r.random() < 0.6 else {}))
    steps_of(frame, ["i"])
    some_body(frame, outputs, (0, 3), (0, 1))


def steps_of_steps(frame):
    """An inner dimension whose number of steps the outer one says; sometimes it has none."""
    r, body = frame.rng, frame.body
    n, d = frame.axis(plain=True), frame.axis(plain=True)
    size, empty = r.choice([("i + 1", False), (f"{n} - i", False), (f"{n} - 1 - i", True), ("min(i, 2)", True),
                            ("i % 2 + 1", False), ("i % 3", True), (f"i < 2 ? {n} : 1", False)])
    frame.use("steps by an outer step")
    x = frame.input([n, d], plain=True, block=["squeeze", "whole"], index=["j", 0])
    y = frame.output([n, d], plain=True, block=["squeeze", "whole"], index=["i", 0],
                     **({"partial": True} if empty else {}))
    x.axes = y.axes = frozenset({d})
    body.axes.pop(n)
    state = frame.scratch(r.choice([[], [d]]), r.choice(["f32", "i32"]))
    frame.grid("i", size=n, **({"semantics": "parallel"} if r.random() < 0.6 else {}))
    frame.grid("j", size=size, semantics="arbitrary")
    steps_of(frame, ["i", "j"])
    body.statements += start_of(frame, [state], "first(j)")
    body.statements += body.state_local(2)
    body.statements.append(update_of(frame, state, []))
    body.statements += under("last(j)", [body.assign(y, body.make(y.cls, y.axes, 2))], "ends", frame)


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
