"""The frame of elsewhere: what a kernel computes and keeps in memory, read at other rows: where data says, and beyond."""
from frame import cover_axes
from tree import Statement

FLOATS = {"f32": 6, "f64": 2, "bf16": 1, "f16": 1}
WHOLE = {"i32": 3, "i64": 1, "u8": 1}
REAL_KEPT = ["exp({x} - max({x}, {a}))", "softmax({x}, {b})", "{x} / (1 + sum(abs({x}), {a}, {b}))"]
EXACT_KEPT = ["cumsum({x}, {b})", "{x} - max({x}, {a})", "{x} + sum({x}, {a}, {b})", "2 * {x}"]
MOVES = ["index({a}) + 1", "index({a}) - 1", "index({a}) + 3000", "2 * index({a})", "2 * index({a}) - 5", "2",
         "size({a}) - 1 - index({a})", "index({a}) / 2"]
PICKS = ["{row}", "{row} + 1", "{row} - 3"]
WHOLE_ROWS = ["{v}", "{v}", "cumsum({v}, {b})", "{v} + max({v}, {b})"]


def elsewhere(frame):
    """One or two such values, and one to three outputs that read them."""
    r, body = frame.rng, frame.body
    frame.use("kept and read elsewhere")
    frame.batchable = r.random() < 0.2
    a, b, picked = (frame.axis(plain=True) for _ in range(3))
    x = frame.input([a, b], FLOATS if body.real else WHOLE, plain=True)
    row = frame.input([picked], {"i32": 1}, plain=True)
    kept = []
    for _ in range(r.choice([1, 1, 2])):
        text = r.choice(REAL_KEPT if body.real else EXACT_KEPT).format(x=x.name, a=a, b=b)
        kept.append(frame.name())
        body.statements.append(Statement(f"auto {kept[-1]} = {text};"))
    for _ in range(r.choice([1, 1, 2, 3])):
        by_data = r.random() < 0.5
        reads = [read(r, r.choice(kept), a, b, row.name if by_data else None) for _ in range(r.choice([1, 1, 2]))]
        value = r.choice(WHOLE_ROWS).format(v="(" + " + ".join(reads) + ")", b=b)
        out = frame.output([picked, b] if by_data else [a, b], {"f32": 4, "f64": 1} if body.real else {"i64": 1}, plain=True)
        body.statements.append(Statement(f"{out.name} = {value};"))
    cover_axes(frame, [a, b, picked])


def read(r, v, a, b, row):
    place = r.choice(PICKS if row else MOVES).format(a=a, row=row)
    along = f", {b} = {r.choice(MOVES[:2]).format(a=b)}" if r.random() < 0.2 else ""
    at = f"at({v}, {a} = {place}{along})"
    if not row and r.random() < 0.2:
        at = f"at({v}, {b} = {r.choice(MOVES[:2]).format(a=b)})"
    return f"(inside({v}, {a} = {place}) ? {at} : 7)" if r.random() < 0.2 else at
