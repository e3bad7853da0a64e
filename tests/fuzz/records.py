"""The frame of records: arrays of few fields, written whole, one field at a time, and again for some of the rows."""
from frame import cover_axes
from tree import Statement

FLOATS = {"f32": 8, "f64": 2, "bf16": 1, "f16": 1}
WHOLE = {"i32": 3, "u8": 1, "i64": 1, "i16": 1}
SIZES = [2, 2, 3, 4, 4, 5]


def records(frame):
    """One to three arrays of records, in statements that conditions take rows or fields from."""
    r, body = frame.rng, frame.body
    frame.use("records")
    frame.batchable = r.random() < 0.2
    rows = [frame.axis(plain=True) for _ in range(r.choice([1, 1, 1, 2]))]
    field = frame.axis(plain=True)
    size = r.choice(SIZES)
    frame.spec.add(f"axes.{field}", size)
    body.axes[field].big = size
    table = FLOATS if body.real else WHOLE
    x, w = frame.input([*rows, field], table, plain=True), frame.input(rows, table, plain=True)
    made = Made(r, x.name, w.name, rows[-1], field, size)
    written = []  # of each array, in its order
    for _ in range(r.choice([1, 1, 2, 3])):
        out = frame.output([*rows, field], FLOATS if body.real else {**WHOLE, "f32": 2}, plain=True).name
        written.append([made.whole(out), *(made.again(out) for _ in range(r.choice([1, 1, 2, 3])))])
    mixed = r.random() < 0.5
    while any(written):
        left = [statements for statements in written if statements]
        body.statements.append((r.choice(left) if mixed else left[0]).pop(0))
    cover_axes(frame, rows)


class Made:
    """Values, conditions and statements of records. Where one field is written, nothing differs along the fields."""

    def __init__(self, r, x, w, row, field, size):
        self.r, self.x, self.w, self.row, self.field, self.size = r, x, w, row, field, size

    def value(self, of_row=False):
        at = f"at({self.x}, {self.field} = {self.r.randrange(self.size)})"
        values = [self.w, "7", "0", at, f"{self.w} + {at}", f"max({self.w}, {at})"]
        if not of_row:
            values += [self.x, f"2 * {self.x}", f"{self.x} + {self.w}", f"index({self.field})"]
        return self.r.choice(values)

    def condition(self, of_row):
        r = self.r
        many, few = r.choice([2, 3, 7]), r.choice([0, 1, 33, 46])
        conditions = [f"index({self.row}) % {many} == {r.randrange(many)}", f"index({self.row}) == {few}",
                      f"{self.w} > 0", f"{self.w} < -1"]
        if not of_row:
            conditions += [f"{self.x} > 0", f"index({self.field}) == {r.randrange(self.size)}"]
        one = r.choice(conditions)
        return one if r.random() < 0.75 else f"{one} {r.choice(['&&', '||'])} {self.condition(of_row)}"

    def fields(self, out, count):
        some = self.r.sample(range(self.size), count)
        return [Statement(f"at({out}, {self.field} = {k}) = {self.value(of_row=True)};") for k in some]

    def whole(self, out):
        if self.r.random() < 0.3:
            return Statement("\n".join(str(s.text) for s in self.fields(out, self.size)))
        return Statement(f"{out} = {self.value()};")

    def simple(self, out, of_row):
        r = self.r
        if of_row and r.random() < 0.5:
            return self.fields(out, r.choice([1, 2, self.size]))
        return [Statement(f"{out} {r.choice(['=', '=', '+='])} {self.value()};")]

    def again(self, out, of_row=None, depth=0):
        r = self.r
        of_row = r.random() < 0.6 if of_row is None else of_row
        nested = depth < 2 and r.random() < 0.4
        inner = [self.again(out, of_row, depth + 1)] if nested else self.simple(out, of_row)
        if r.random() < 0.35:
            return Statement(f"if ({self.condition(of_row)}) @0 else @1", [], [inner, self.simple(out, of_row)])
        return Statement(f"if ({self.condition(of_row)}) @0", [], [inner])
