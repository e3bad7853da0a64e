"""The frame of loops: sums, extremes and counts written as in C, in loops that count through an axis; and loops that
look much like these, but of which each round needs the one before."""
from frame import cover_axes, size_condition
from tree import Statement

FLOATS = {"f32": 8, "f64": 1, "bf16": 2, "f16": 1}
WHOLE = {"i32": 4, "i8": 1, "u8": 1, "i64": 1, "u32": 1}
# By the kind of the total: its declarations, what a round does with it and a value {v}, and the elements of results.
TOTALS = {
    "f": (["float {s} = 0;", "real {s} = 0;", "double {s} = 1;"],
          ["{s} += {v};", "{s} = {s} + {v};", "{s} -= {v};", "{s} = max({s}, {v});", "{s} = min({v}, {s});",
           "if ({v} > {s}) {s} = {v};", "if ({s} > {v}) {s} = {v};", "{s} = {v} >= {s} ? {v} : {s};",
           "if ({c}) {s} += {v};", "if ({c}) {s} = max({s}, {v});", "{s} *= {v} > 1 ? -1 : 1;",
           "{s} += {c} ? {v} : 0;", "{s} = fma({v}, real(2), real({s}));"], {"f32": 4, "f64": 1}),
    "i": (["int {s} = 0;", "int64_t {s} = 0;", "uint32_t {s} = 3;"],
          ["{s}++;", "if ({c}) ++{s};", "{s} += {c};", "{s} += int({v});", "{s} = max(int64_t({s}), int64_t({v}));",
           "{s} -= {k};", "if ({c}) {s} += {k};", "{s} *= 3;", "{s} *= 2 * int({v}) + 1;"], {"i32": 3, "i64": 1, "i8": 1}),
    "b": (["bool {s} = false;", "bool {s} = true;"],
          ["{s} = {s} || {c};", "{s} = {c} && {s};", "if ({c}) {s} = true;", "{s} = {s} != {c};"], {"bool": 2, "u8": 1}),
}
# Most of these rounds need the one before, or tell what the last one found.
ORDERED = ["{s} = {v} - {s};", "{s} = {s} / 2 + {v};", "if ({s} > 9) break; {s} += {v};",
           "if ({c}) continue; {s} += {v};", "{s} += {v}; if ({s} > 20) {s} = {k};", "{s} += {v} * {last}; {last} = {v};",
           "if ({v} > {s}) {{ {s} = {v}; {last} = {k}; }}", "if ({s} > {v}) {{ {last} = {k}; {s} = {v}; }}",
           "if ({v} >= {s}) {{ {s} = {v}; {last} = {k}; }}", "{last} = {v}; {s} += 1;", "if ({c}) {last} = {v}; {s} += {last};", "{s} += {v}; {last} += {s};"]


def loops(frame):
    """One to three loops over one axis or two, beside each other, within each other, and under conditions."""
    r, body = frame.rng, frame.body
    frame.use("loops that count through an axis")
    frame.batchable = r.random() < 0.3
    rows = [frame.axis(plain=True) for _ in range(r.choice([0, 1, 1, 2]))]
    depths = [frame.axis(plain=r.random() < 0.6) for _ in range(r.choice([1, 1, 2]))]
    number = iter(range(100))
    for _ in range(r.choice([1, 1, 2, 3])):
        here = rows + ([depths[0]] if r.random() < 0.15 else [])
        body.statements += loop_of(frame, here, depths, number)
    cover_axes(frame, rows + depths)


def loop_of(frame, here, depths, number):
    r, body = frame.rng, frame.body
    kind = r.choice("fffiib")
    declared, rounds, elements = TOTALS[kind]
    ordered = kind == "f" and r.random() < 0.25
    step, further = r.choice(ORDERED if ordered else rounds), r.choice(rounds)
    rounded = body.real and kind == "f" and not set("<>?") & set(step + further)  # what is compared is exact
    names = {"s": f"total_{next(number)}", "last": f"last_{next(number)}"}
    inner, k = counting(frame, here, depths[0], number)
    names |= {"k": k, "v": value(frame, here, {depths[0]: k}, rounded), "c": condition(frame, here, {depths[0]: k})}
    further = further.format(**names)
    lines = []
    if r.random() < 0.4:
        own = f"own_{next(number)}"
        lines.append(f"real {own} = {names['v']};")
        names["v"] = r.choice([own, f"({own} - 1)", f"{own} * {own}"] if rounded or not body.real else [own])
    if not ordered and len(depths) > 1 and r.random() < 0.6:
        around, j = counting(frame, here, depths[1], number)
        names["v"] = value(frame, here, {depths[0]: k, depths[1]: j}, rounded)
        lines += [around.replace("@0", step.format(**names))]
    else:
        lines.append(step.format(**names))
    if r.random() < 0.2:
        lines.append(further)
    out = frame.output(here, elements, plain=True).name
    statements = [r.choice(declared).format(**names)] + ([f"{r.choice(['real', 'int'])} {names['last']} = 0;"] if ordered else [])
    statements.append(inner.replace("@0", "{ " + " ".join(lines) + " }"))
    statements.append(f"{out} = {names['s']}{' + ' + names['last'] if ordered else ''};")
    whole = [Statement(text) for text in statements]
    if r.random() > 0.2:
        return whole
    frame.use("loops under a condition")
    asked = r.choice([size_condition(frame, sorted(body.axes)), condition(frame, here, {})])
    return [Statement(f"{out} = 0;"), Statement(f"if ({asked}) @0", [], [whole])]


def counting(frame, here, depth, number):
    """The head of a loop, and its counter."""
    r = frame.rng
    k = f"k{next(number)}"
    return (r.choice(["for ({t} {k} = 0; {k} < size({d}); ++{k}) @0"] * 3 +
                     ["for ({t} {k} = 0; {k} != size({d}); {k}++) @0", "for ({t} {k} = 0; {k} < size({d}); {k} += 1) @0",
                      "for ({t} {k} = 0; {k} < size({d}) - 1; ++{k}) @0", "for ({t} {k} = 1; {k} < size({d}); ++{k}) @0",
                      "for ({t} {k} = 0; {k} < size({d}); {k} += 2) @0"] +
                     ["for ({t} {k} = 0; {k} <= index({d}); ++{k}) @0", "for ({t} {k} = index({d}); {k} < size({d}); ++{k}) @0",
                      "for ({t} {k} = 0; {k} < index({d}); ++{k}) @0"] * 2 * (depth in here))
            .format(t=r.choice(["int", "int", "int64_t"]), k=k, d=depth), k)


def value(frame, here, at, rounded=False):
    """An element of an array that has the axes of the counters, at their places; perhaps a number that is rounded."""
    r, body = frame.rng, frame.body
    axes = frame.ordered(set(at) | set(r.sample(here, r.randint(0, len(here)))))
    known = [v for v in body.vars.values() if v.role == "input" and set(at) <= set(v.axes) <= set(at) | set(here) and
             v.cls in "fi"]
    array = r.choice(known) if known and r.random() < 0.5 else frame.input(axes, r.choice([FLOATS, WHOLE]), plain=True)
    text = f"at({array.name}, {', '.join(f'{a} = {k}' for a, k in at.items())})" if at else array.name
    counter = next(iter(at.values()), "1")
    forms = ["{x}", "{x}", "{x}", "abs({x})", "clamp({x}, -1, 2)"]
    forms += ["exp(-abs({x}))", "({x} * 0.5)"] if rounded else []
    forms += ["({x} - {k})"] if rounded or not body.real else []
    text = r.choice(forms).format(x=text, k=counter)
    if at and r.random() < 0.3 and (rounded or not body.real):
        text = f"{text} * {value(frame, here, at, rounded)}"
    return f"({text})"


def condition(frame, here, at):
    r = frame.rng
    return r.choice(["{v} > 1", "{v} <= 0", "{v} != 0"]).format(v=value(frame, here, at))
