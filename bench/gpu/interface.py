"""Reads the `@function` lines of generated headers: one function with its arguments, in the order of the C interface.

    /* @function matmul_f32 args: in x f32 [M, K]; in y f32 [K, N]; out z f32 [M, N]; size M; size K; size N */

An argument is KIND NAME [TYPE] [EXTENTS] [FACTS]; a `?` after the kind says that the pointer may be null. Extents are C
expressions over the sizes. `workspace` and `status` are arguments of the CUDA function, `workspace_openmp` of the other.
Facts that matter to whoever makes up data: `one_of 64 128` and `multiple_of 8` of a size,
`sorted`, `unique`, `range EXPRESSION` and `offsets NAME` (a table that rises from 0 to the size NAME) of a table.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("in", "out", "inout", "table", "scalar", "size", "stride", "workspace", "workspace_openmp", "status")
ARRAYS = ("in", "out", "inout", "table")
TYPES = ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool")
FUNCTION = re.compile(r"@function\s+(\w+)\s+args:(.*?)(?=\*/|@function|\n\s*//\s*\n|\Z)", re.S)


class InterfaceError(Exception):
    """A line that does not have the form above; the text says which."""


@dataclass
class Argument:
    kind: str
    name: str
    optional: bool = False
    type: str = ""
    extents: list = field(default_factory=list)
    facts: dict = field(default_factory=dict)

    def shape(self, sizes):
        return tuple(evaluate(extent, sizes) for extent in self.extents)


@dataclass
class Function:
    stem: str
    kernel: str
    header: Path
    arguments: list

    def of_kind(self, *kinds):
        return [argument for argument in self.arguments if argument.kind in kinds]

    def sizes(self):
        return self.of_kind("size")


def read_header(path):
    """All functions that a header describes."""
    text = re.sub(r"\n\s*(\*(?!/)|//)", "\n", Path(path).read_text())
    functions = []
    for match in FUNCTION.finditer(text):
        stem, described = match.group(1), " ".join(match.group(2).split())
        arguments = [parse_argument(part, stem) for part in described.split(";") if part.strip()]
        function = Function(stem, Path(path).stem, Path(path), arguments)
        check(function)
        functions.append(function)
    return functions


def parse_argument(text, stem):
    head = re.match(r"\s*(\w+)(\??)\s+(\w+)\s*", text)
    if not head or head.group(1) not in KINDS:
        raise InterfaceError(f"{stem}: `{text.strip()}` is no argument")
    argument = Argument(head.group(1), head.group(3), head.group(2) == "?")
    rest = text[head.end() :]
    first = rest.split(None, 1)[0].split("[")[0] if rest.strip() else ""
    if first in TYPES:
        argument.type = first
        rest = rest[len(first) :].lstrip()
    if rest.startswith("["):
        inside, rest = rest[1:].split("]", 1)
        argument.extents = split_top(inside)
    argument.facts = parse_facts(rest.split(), text, stem)
    return argument


def split_top(text):
    """The parts of a list, at commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def parse_facts(words, text, stem):
    known = {"one_of": None, "multiple_of": None, "sorted": None, "unique": None, "range": None, "offsets": None}
    facts, fact = {}, None
    for word in words:
        if word in known:
            fact = word
            facts[fact] = []
        elif fact:
            facts[fact].append(word)
        else:
            raise InterfaceError(f"{stem}: `{word}` in `{text.strip()}` is not understood")
    for name in ("one_of", "multiple_of"):
        if name in facts:
            facts[name] = [int(word) for word in facts[name]]
    for name in ("range", "offsets"):
        if name in facts:
            facts[name] = " ".join(facts[name])
    return facts


def check(function):
    """Fails now rather than at the first call: types are there, extents evaluate, names differ."""
    names = [argument.name for argument in function.arguments if argument.kind != "workspace_openmp"]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InterfaceError(f"{function.stem}: {sorted(twice)} stand twice")
    ones = {argument.name: 1 for argument in function.sizes()}
    for argument in function.arguments:
        if argument.kind in ARRAYS + ("scalar",) and not argument.type:
            raise InterfaceError(f"{function.stem}: {argument.name} has no type")
        argument.shape(ones)
        if "range" in argument.facts:
            evaluate(argument.facts["range"], ones)


TOKEN = re.compile(r"\s*(?:(\d+)[uUlL]*|([A-Za-z_]\w*)|(<=|>=|==|!=|&&|\|\||[-+*/%<>?:(),!]))")
BINARY = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]
OPERATIONS = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
}
CALLS = {
    "floordiv": OPERATIONS["/"],
    "floormod": OPERATIONS["%"],
    "cdiv": lambda a, b: -(-a // b) if b else 0,
    "min": min,
    "max": max,
}


def evaluate(text, sizes):
    """The value of a C expression over the sizes; division floors."""
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise InterfaceError(f"`{text}` is no expression")
        tokens.append(match.group().strip())
        at = match.end()
    value, rest = ternary(tokens, sizes, text)
    if rest:
        raise InterfaceError(f"`{text}`: `{rest[0]}` is too much")
    return value


def ternary(tokens, sizes, text):
    condition, tokens = binary(tokens, sizes, text, 0)
    if not tokens or tokens[0] != "?":
        return condition, tokens
    yes, tokens = ternary(tokens[1:], sizes, text)
    no, tokens = ternary(expect(tokens, ":", text), sizes, text)
    return (yes if condition else no), tokens


def binary(tokens, sizes, text, level):
    if level == len(BINARY):
        return unary(tokens, sizes, text)
    left, tokens = binary(tokens, sizes, text, level + 1)
    while tokens and tokens[0] in BINARY[level]:
        right, rest = binary(tokens[1:], sizes, text, level + 1)
        left, tokens = OPERATIONS[tokens[0]](left, right), rest
    return left, tokens


def unary(tokens, sizes, text):
    if not tokens:
        raise InterfaceError(f"`{text}` ends too early")
    token, rest = tokens[0], tokens[1:]
    if token == "-":
        value, rest = unary(rest, sizes, text)
        return -value, rest
    if token == "(":
        value, rest = ternary(rest, sizes, text)
        return value, expect(rest, ")", text)
    if token[0].isdigit():
        return int(re.match(r"\d+", token).group()), rest
    if rest and rest[0] == "(" and token in CALLS:
        values, rest = [], rest[1:]
        while True:
            value, rest = ternary(rest, sizes, text)
            values.append(value)
            if not rest or rest[0] != ",":
                break
            rest = rest[1:]
        rest = expect(rest, ")", text)
        if len(values) != 2:
            raise InterfaceError(f"`{text}`: {token} takes two values")
        return CALLS[token](*values), rest
    if token not in sizes:
        raise InterfaceError(f"`{text}`: `{token}` is no size")
    return sizes[token], rest


def expect(tokens, token, text):
    if not tokens or tokens[0] != token:
        raise InterfaceError(f"`{text}`: `{token}` is missing")
    return tokens[1:]
