"""Other ways to write the same kernel. Each maker takes a spec and returns Variants: a new text, how sizes and arrays
are renamed and permuted between the two forms, and the codes of errors with which kgen may rightly refuse this form.
"""

import re
from dataclasses import dataclass, field

# What a grid over one more axis may break: reductions and scans along it see one block, an update at other coordinates
# needs the whole axis, an output would be written in every step, or come back after its window was left.
MAY_REFUSE_BLOCKS = {"KG0316", "KG0323", "KG0324", "KG0325", "KG0326", "KG0406"}


@dataclass
class Variant:
    kind: str
    text: str
    axes: dict = field(default_factory=dict)  # old name of a size -> new name
    permuted: set = field(default_factory=set)  # operands whose dimensions are reversed
    may_refuse: set = field(default_factory=set)


def split_body(text):
    """(before, body, after): the text of the body string and what surrounds it."""
    match = re.search(r"^body = ('''|')(.*?)\1", text, re.M | re.S)
    return text[: match.start(2)], match.group(2), text[match.end(2) :]


def axis_names(spec):
    names = set(spec.data.get("axes", {}))
    for operand in spec.of("inputs") + spec.of("outputs"):
        for dim in operand.dims:
            names.update(re.findall(r"[A-Za-z_]\w*", dim.split("=")[0]))
    return names


def plain(spec):
    """Inputs that the body reads as they are: no window of their own, never null, no rows of other lengths."""
    ragged = {a for a, v in spec.data.get("axes", {}).items() if isinstance(v, dict) and "ragged" in v}
    return [
        o
        for o in spec.of("inputs")
        if o.dims and not set(o.dims) & (ragged | {"..."}) and not set(o.keys) - {"type"} and not is_batched(spec, o)
    ]


def is_batched(spec, operand):
    return any(operand.name in names for names in spec.data.get("batch", {}).values())


def renamed(spec, text):
    new = {axis: f"{axis.lower()}_axis" for axis in axis_names(spec)}
    lines = []
    for line in text.split("\n"):
        if not line.startswith(("#", "doc =", "kernel =")):
            line = re.sub(r"(?<![\w.\"'-])([A-Za-z_]\w*)\b|(?<=[\"'(.])([A-Za-z_]\w*)\b",
                          lambda m: new.get(m.group(0), m.group(0)), line)
        lines.append(line)
    yield Variant("axes renamed", "\n".join(lines), axes=new)


def permuted(spec, text):
    """Every array with its dimensions in the opposite order."""
    aliased = {o.keys.get("alias") for o in spec.of("outputs")}
    done = set()
    for operand in plain(spec) + [o for o in spec.of("outputs") if not set(o.keys) - {"type"}]:
        declared = re.search(rf"(?m)^(?:inputs\.|outputs\.)?{operand.name} = [^\n]*?\"\w+\[([^\]\n]*)\]", text)
        if len(operand.dims) < 2 or not declared or operand.name in aliased or is_batched(spec, operand):
            continue
        dims = [d.strip() for d in declared.group(1).split(",")]
        if "(" in declared.group(1) or "..." in dims or len(operand.dims) != len(dims):
            continue
        dims = ", ".join(reversed(dims))
        text = text[: declared.start(1)] + dims + text[declared.end(1) :]
        done.add(operand.name)
    if done:
        yield Variant("dimensions reversed", text, permuted=done)


def reblocked(spec, text):
    """Other blocks, where neither windows nor the body's own numbers are tied to the present ones."""
    body = re.sub(r"\b(?:first|last)\(\w+\)", "", split_body(text)[1])
    tied = any(re.search(rf"\b{name}\b", body) for name in spec.data.get("grid", {}))
    if tied or any("block" in o.keys for o in spec.operands):
        return
    sizes = iter((3, 5, 16, 2, 7))
    block = r"(?m)^(grid\.\w+ = .*axis = .*\bblock = )(?:\"\w+\"|\d+|\[[\d, ]+\])"
    new = re.sub(block, lambda m: m[1] + str(next(sizes)), text)
    if new != text:
        yield Variant("other blocks", new)


def gridded(spec, text):
    """A grid over one more axis of the first output."""
    outputs = spec.of("outputs")
    blocked = {g.get("axis") for g in spec.data.get("grid", {}).values()} | set(spec.data.get("batch", {}))
    if any("block" in o.keys for o in spec.operands) or any(set(o.dims) & {"..."} for o in outputs):
        return
    for dim in outputs[0].dims:
        axis = dim.split("=")[0]
        if re.fullmatch(r"\w+", axis) and not axis.isdigit() and axis not in blocked:
            before, body, after = split_body(text)
            start = before.rindex("body =")
            line = f'grid.more = {{ axis = "{axis}", block = 5 }}\n'
            yield Variant(f"a grid over {axis}", before[:start] + line + before[start:] + body + after,
                          may_refuse=MAY_REFUSE_BLOCKS)


def ungridded(spec, text):
    """No grid, where neither body nor windows mention it."""
    names = set(spec.data.get("grid", {}))
    if not names or any("block" in o.keys for o in spec.operands) or "scratch" in spec.data:
        return
    without = re.sub(r"(?m)^grid\.\w+ = [^\n]*\n", "", text)
    if "[grid" not in without and not any(re.search(rf"\b{name}\b", split_body(without)[1]) for name in names):
        yield Variant("no grid", without)


def replaced(body, name, by):
    """Reads of an operand at the current point, replaced. Where only its type or its shape is asked for, it stays."""
    asked = "".join(rf"(?<!{word}\()" for word in ("at", "inside", "index", "size", "present"))
    model = rf"round_like\([^()]*, {name}\)"
    return re.sub(rf"{model}|(?<![\w.]){asked}{name}\b(?! = )", lambda m: m[0] if "(" in m[0] else by, body)


def shifted(spec, text):
    """Each read moved along an axis by an offset and back."""
    before, body, after = split_body(text)
    new = body
    for operand in plain(spec):
        axis = re.match(r"[A-Za-z_]\w*", operand.dims[0])
        if axis and not re.search(rf"\b{operand.name} = ", body):
            new = replaced(new, operand.name, f"at({operand.name}, {axis[0]} = (index({axis[0]}) + 2) - 2)")
    if new != body:
        yield Variant("reads shifted and back", before + new + after)


def through_scratch(spec, text):
    """Inputs copied to scratch first."""
    before, body, after = split_body(text)
    new, copies, declared = body, "", ""
    for operand in plain(spec):
        other = replaced(new, operand.name, f"{operand.name}_copy")
        dims = ", ".join(operand.dims)
        if other == new or "=" in dims or "(" in dims:
            continue
        new = other
        copies += f"{operand.name}_copy = {operand.name};\n"
        declared += f'scratch.{operand.name}_copy = "{operand.type}[{dims}]"\n'
    if copies:
        start = before.rindex("body =")
        yield Variant("through scratch", before[:start] + declared + "body = '''\n" + copies + new.lstrip("\n")
                      + "'''" + after.lstrip("'"))


MAKERS = (renamed, permuted, reblocked, gridded, ungridded, shifted, through_scratch)


def variants(spec):
    text = spec.path.read_text()
    for maker in MAKERS:
        yield from maker(spec, text)
