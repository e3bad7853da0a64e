"""Cuts a failing spec down: the smallest that still fails in the same way.

Candidates get smaller by one cut: a statement gone, a condition or loop replaced by what stands in it, an expression by
a part of it or a constant, a declaration or one of its keys gone, a list by one choice, a type by f32. A cut that makes
the spec illegal, or fail in another way, is undone. Runs through all cuts until none helps, or no more may be tried.
"""
import re

from tree import Node, Statement


def lists_of(statements):
    """All lists of statements, the outermost first."""
    yield statements
    for s in statements:
        for block in s.blocks:
            yield from lists_of(block)


def holders(spec):
    """Where expressions stand: (list of arguments, position), the outer ones first."""
    open_ = [s for listed in lists_of(spec.body) for s in listed]
    while open_:
        thing = open_.pop(0)
        for i, arg in enumerate(thing.args):
            yield thing.args, i
            open_.append(arg)


def without_arrays(spec):
    """One array less, with the statements that name it."""
    for k in range(len(spec.items) - 1, -1, -1):
        kind, _, name = spec.items[k][0].partition(".")
        if kind not in ("inputs", "outputs", "scratch"):
            continue
        made = spec.copy()
        del made.items[k]
        for listed in lists_of(made.body):
            listed[:] = [s for s in listed if not re.search(rf"\b{name}\b", "".join(s.lines()))]
        if made.body:
            yield made


def without_statements(spec):
    count = sum(len(listed) for listed in lists_of(spec.body))
    for k in range(count - 1, -1, -1):
        made = spec.copy()
        for listed in lists_of(made.body):
            if k < len(listed):
                del listed[k]
                break
            k -= len(listed)
        if made.body:
            yield made


def opened_blocks(spec):
    count = sum(len(listed) for listed in lists_of(spec.body))
    for k in range(count):
        for way in (0, 1):
            made = spec.copy()
            for listed in lists_of(made.body):
                if k >= len(listed):
                    k -= len(listed)
                    continue
                s = listed[k]
                if way < len(s.blocks):
                    listed[k:k + 1] = s.blocks[way]
                    yield made
                break


def smaller_expressions(spec):
    count = sum(1 for _ in holders(spec))
    for k in range(count):
        options = None
        choice = 0
        while options is None or choice < options:
            made = spec.copy()
            held = next((h for i, h in enumerate(holders(made)) if i == k), None)
            if held is None:
                return
            args, i = held
            node = args[i]
            constants = {"f": ["1.0f", "0.0f"], "i": ["1", "0"], "b": ["true", "false"]}[node.cls]
            ways = ([] if str(node) in constants else [Node(c, (), node.cls) for c in constants]) + node.args
            options = len(ways)
            if choice < options:
                args[i] = ways[choice]
                yield made
            choice += 1


def smaller_declarations(spec):
    for k in range(len(spec.items) - 1, -1, -1):
        made = spec.copy()
        del made.items[k]
        yield made
        value = spec.items[k][1]
        if isinstance(value, dict):
            for key in [key for key in value if key != "type"]:
                made = spec.copy()
                del made.items[k][1][key]
                yield made
            if isinstance(value.get("block"), int) and value["block"] > 1:
                for small in range(1, value["block"]):
                    made = spec.copy()
                    made.items[k][1]["block"] = small
                    yield made
        if isinstance(value, list):
            for one in value if len(value) > 1 else ():
                made = spec.copy()
                made.items[k][1] = [one]
                yield made
        yield from smaller_brackets(spec, k, value)
    if spec.functions_apart:
        made = spec.copy()
        made.functions_apart = False
        yield made
    for k in range(len(spec.functions)):
        made = spec.copy()
        del made.functions[k]
        yield made


def smaller_brackets(spec, k, value):
    text = value if isinstance(value, str) else value.get("type") if isinstance(value, dict) else None
    if not text or "[" not in text:
        return
    head, dims = text.rstrip("]").split("[")
    dims = [d for d in dims.split(", ") if d]
    others = [head + "[" + ", ".join(dims[:i] + dims[i + 1:]) + "]" for i in range(len(dims))]
    if head not in ("f32", "i32"):
        others += [simple + "[" + ", ".join(dims) + "]" for simple in ("f32", "i32")]
    for other in others:
        made = spec.copy()
        if isinstance(value, str):
            made.items[k][1] = other
        else:
            made.items[k][1]["type"] = other
        yield made


CUTS = [without_arrays, without_statements, opened_blocks, smaller_declarations, smaller_expressions]


def size_of(spec):
    return len(spec.text()) + spec.functions_apart


class Attempts:
    """Asks of smaller specs whether they fail, of each once, as many as may be asked."""

    def __init__(self, fails, most):
        self.fails, self.most, self.asked = fails, most, set()

    def over(self):
        return len(self.asked) >= self.most

    def helps(self, made, spec):
        form = made.text(), made.functions_apart
        if size_of(made) >= size_of(spec) or form in self.asked or self.over():
            return False
        self.asked.add(form)
        return self.fails(made)


def cut_down(spec, cut, attempts):
    """All cuts of one kind that leave the spec failing, one after the other."""
    start = 0  # what did not help before does not often help after a later cut
    while not attempts.over():
        for place, made in enumerate(cut(spec)):
            if place >= start and attempts.helps(made, spec):
                spec, start = made, place
                break
        else:
            break
    return spec


def shrink(spec, fails, most):
    """`fails(spec)` says whether a spec fails in the same way."""
    attempts = Attempts(fails, most)
    before = None
    while before is not spec:
        before = spec
        for cut in CUTS:
            spec = cut_down(spec, cut, attempts)
    return spec
