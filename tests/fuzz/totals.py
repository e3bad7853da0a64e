"""The frame of totals: rows that are gone over several times, and sums of all rows beside them, in any order."""
from frame import cover_axes, size_condition
from tree import Statement

FLOATS = {"f32": 8, "f64": 1, "bf16": 2, "f16": 1}
SUMS = {"f32": 4, "f64": 1}
COUNTS = {"i64": 3, "i32": 1}
# Of x along {row}; whether the result keeps the row.
REAL_ROWS = {"softmax({x}, {row})": True, "log_softmax({x}, {row})": True, "logsumexp({x}, {row})": False,
             "({x} - mean({x}, {row})) / sqrt(1 + variance({x}, {row}))": True, "{x} / (1 + norm({x}, {row}))": True,
             "max({x}, {row})": False, "sum(exp({x} - max({x}, {row})), {row})": False}
EXACT_ROWS = {"{x} - max({x}, {row})": True, "sum({x} - min({x}, {row}), {row})": False, "max({x}, {row})": False,
              "cumsum({x}, {row})": True, "max({x}, {row}) - min({x}, {row})": False}
# Two outputs: a number of a row, and what is added up with it along the same row; the second one may go by a local.
REAL_PAIRS = [("max({x}, {row})", "sum(exp({x} - {first}), {row})"),
              ("mean({x}, {row})", "sum(({x} - {first}) * ({x} - {first}), {row})"),
              ("max({x}, {row})", "sum({x} * exp({x} - {first}), {row})")]
EXACT_PAIRS = [("max({x}, {row})", "sum({first} - {x}, {row})"), ("sum({x}, {row})", "max({x} + {first}, {row})")]
ELEMENTS = ["{x}", "{x}", "max({x}, 0)", "abs({x})"]
FOLDS = {"sum({e}, {over})": SUMS, "max({e}, {over})": SUMS, "min({e}, {over})": SUMS,
         "sum(int64_t({e} > 1), {over})": COUNTS}


def totals(frame):
    """One to three functions of rows, and one to three totals of several rows."""
    r, body = frame.rng, frame.body
    frame.use("totals beside rows")
    frame.batchable = r.random() < 0.3
    axes = [frame.axis(plain=True) for _ in range(r.choice([1, 2, 2, 2, 3]))]
    x = frame.input(axes, FLOATS, plain=True)
    row = r.choice(axes[-1:] * 4 + axes)
    pair = pair_of(frame, x.name, axes, row) if r.random() < 0.4 else []
    statements = [row_of(frame, x.name, axes, row) for _ in range(r.choice([0, 1] if pair else [1, 1, 2, 3]))]
    statements += [total_of(frame, x.name, axes) for _ in range(r.choice([0, 1] if pair else [1, 1, 2, 3]))]
    r.shuffle(statements)
    at = r.randrange(len(statements) + 1)
    statements[at:at] = pair
    if r.random() < 0.2:
        frame.use("totals under a condition on sizes")
        for v in statements:
            body.statements.append(Statement(f"{v[0]} = 0;"))
        inner = [Statement(f"{name} = {text};") for name, text in statements]
        body.statements.append(Statement(f"if ({size_condition(frame, sorted(body.axes))}) @0", [], [inner]))
    else:
        body.statements += [Statement(f"{name} = {text};") for name, text in statements]
    cover_axes(frame, axes)


def row_of(frame, x, axes, row):
    rows = REAL_ROWS if frame.body.real else EXACT_ROWS
    text = frame.rng.choice(sorted(rows))
    kept = axes if rows[text] else [a for a in axes if a != row]
    return frame.output(kept, SUMS, plain=True).name, text.format(x=x, row=row)


def pair_of(frame, x, axes, row):
    """Statements that stay in their order: the second one reads the first, which another may have read before it."""
    frame.use("a total that the next fold reads")
    r = frame.rng
    first, second = r.choice(REAL_PAIRS if frame.body.real else EXACT_PAIRS)
    kept = [a for a in axes if a != row]
    one, other = (frame.output(kept, SUMS, plain=True).name for _ in range(2))
    return [(one, first.format(x=x, row=row)), (other, second.format(x=x, row=row, first=one))]


def total_of(frame, x, axes):
    r = frame.rng
    over = r.sample(axes, r.choice([len(axes)] * 3 + list(range(1, len(axes) + 1))))
    text = r.choice(sorted(FOLDS))
    out = frame.output([a for a in axes if a not in over], FOLDS[text], plain=True)
    return out.name, text.format(e=r.choice(ELEMENTS).format(x=x), over=", ".join(over))
