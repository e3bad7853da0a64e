"""Numbers over 2 that plans, emitted text and helpers are made with stand in tables (spec/decisions.def, spec/machines.def),
or in literals.txt beside this, below the reason why not: by the name of its constant, or as it is written."""
import pathlib
import re

import tree

FOLDERS = ("generator/plan/", "generator/emit/", "templates/")
LISTED = pathlib.Path("tests/tools/literals.txt")
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])'|[A-Za-z_]\w*"""
                   r"""|(?P<number>\d(?:[\w.]|'(?=\w)|(?<=[eEpP])[+-])*)|(?P<sign>[=!<>]=|.)""", re.DOTALL)


def value(literal):
    text = literal.replace("'", "")
    whole = text[:2].lower() == "0x" and "p" not in text.lower()
    text = text.rstrip("uUlL" if whole else "uUlLfF")
    return float.fromhex(text) if text[:2].lower() == "0x" else float(text)


def numbers(text):
    """Names of constants that are made of a number over 2, and such numbers elsewhere, with their lines."""
    before, name = "", ""
    for token in TOKEN.finditer(text):
        if token["number"] and value(token["number"]) > 2:
            yield name or token["number"], text.count("\n", 0, token.start()) + 1
        if token[0] == "=" and re.fullmatch(r"k[A-Z]\w*", before):
            name = before
        elif token[0] == ";":
            name = ""
        if not token[0].isspace() and token[0] not in "[]":
            before = token[0]


listed = {}
for line in LISTED.read_text(encoding="utf-8").splitlines():
    if line and not line.startswith("#"):
        path, _, names = line.partition(": ")
        listed.setdefault(path, set()).update(names.split())

problems, found = [], {}
for path in tree.files():
    if path.startswith(FOLDERS) and path.endswith((".h", ".cpp", ".cu")):
        for name, line in numbers(tree.text(path)):
            found.setdefault(path, set()).add(name)
            if name not in listed.get(path, ()):
                problems.append(f"{path}:{line}: {name}")
for path, names in sorted(listed.items()):
    problems += [f"{LISTED.name}: {path} has no {name}" for name in sorted(names - found.get(path, set()))]
tree.finish(problems, "A number that makes code fast or slow is a row of spec/decisions.def or spec/machines.def. Others are listed in "
                      "tests/tools/literals.txt below their reason.")
