"""A random spec as a tree: what the generator makes, the shrinker cuts and TOML shows.

A Node is an expression and a Statement a statement of the body. Both are a text with holes: `%0` for the first
expression, `@0` for the first list of statements. Nodes also carry what the generator must know: the class of the value
(f, i, b), its axes, a bound and the bits below the point, so that sums of small numbers stay exact in f32.
"""
import copy


class Node:
    __slots__ = ("text", "args", "cls", "axes", "bound", "grain", "unsigned", "exact")

    def __init__(self, text, args=(), cls="f", axes=frozenset(), bound=0, grain=0, unsigned=False, exact=True):
        self.text, self.args, self.cls, self.axes = text, list(args), cls, frozenset(axes)
        self.bound, self.grain, self.unsigned, self.exact = bound, grain, unsigned, exact

    def __str__(self):
        return fill(self.text, self.args)


class Statement:
    __slots__ = ("text", "args", "blocks")

    def __init__(self, text, args=(), blocks=()):
        self.text, self.args, self.blocks = text, list(args), [list(b) for b in blocks]

    def lines(self, depth=0):
        """The text, one statement a line; a block is indented."""
        text = fill(self.text, self.args)
        for i, block in enumerate(self.blocks):
            inner = "".join(s.lines(depth + 1) for s in block)
            text = text.replace(f"@{i}", "{\n" + inner + "  " * depth + "}")
        return "  " * depth + text + "\n"


def fill(text, args):
    for i, arg in enumerate(args):
        text = text.replace(f"%{i}", str(arg))
    return text


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, dict):
        if set(value) == {"type"}:
            return toml(value["type"])
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    return f'"{value}"'


class Spec:
    """`items` are the keys in file order: [key, value]; `functions` are texts of functions; `body` statements."""

    def __init__(self, name):
        self.name, self.items, self.functions, self.body = name, [], [], []
        self.functions_apart = False  # in a file of their own

    def add(self, key, value):
        self.items.append([key, value])
        return value

    def has(self, key):
        return any(k == key for k, _ in self.items)

    def copy(self):
        return copy.deepcopy(self)

    def text(self, file=None):
        """As one file, or with the functions in another, of this name."""
        out = f'kernel = "{self.name}"\n' + "".join(f"{k} = {toml(v)}\n" for k, v in self.items)
        if self.functions:
            out += f'functions_from = "{file}"\n' if file else "functions = '''\n" + self.functions_text() + "'''\n"
        return out + "body = '''\n" + "".join(s.lines() for s in self.body) + "'''\n"

    def functions_text(self):
        return "\n".join(self.functions) + "\n"

    def write(self, path, head=""):
        """The files of the spec; `head` is a comment."""
        apart = path.with_suffix(".h") if self.functions and self.functions_apart else None
        path.write_text(head + self.text(apart.name if apart else None))
        if apart:
            apart.write_text(self.functions_text())
