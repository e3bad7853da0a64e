"""Mistakes in a spec and in its body are said in one run, and none follows from another.

Sound specs get one mistake outside their texts: nothing may be said about the body, which is sound. Then the body gets
a mistake, too: it is said as well.

Usage: cascades.py --kgen KGEN [--every N]
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["specs/*/*.toml", "tests/conformance/specs/*.toml"]
TEXTS = re.compile(r"(body|functions|doc|license|functions_from|kernel)\s*=")

# What may be wrong with a line: what is found, and what takes its place.
MISTAKES = {
    "section misspelled": (r"^(\w+)s\.", r"\1."),
    "type misspelled": (r'"([fiu])(\d+)', r'"\g<1>7\2'),
    "type is a list": (r'= "', '= ["'),
    "key misspelled": (r"\b(type|axis|block|index|offset|size|semantics)( = )", r"\1x\2"),
    "bracket missing": (r"\]\"", '"'),
    "name twice": (r"^(\w+\.\w+)(.*)$", r"\1\2\n\1_\2\ngrid.\1_ = 3"),
    "number for a table": (r"= \{.*\}", "= 3"),
    "expression wrong": (r"(size|index|offset|block) = (\[?)\"([^\"]*)", r'\1 = \2"\3 + unknown_name'),
}
# Names that cannot be, in place of a name that is found, wherever it stands.
NAMES = {
    "name is a keyword": (r"^\w+\.(\w+)", "while"),
    "name of a builtin": (r"^(?:inputs|outputs|scratch)\.(\w+)", "sum"),
    "name of a type": (r"^(?:inputs|outputs|scratch|params)\.(\w+)", "double"),
    "axis is a keyword": (r"\[([A-Z])\b", "for"),
    "axis of a builtin": (r"\[([A-Z])\b", "max"),
}
# What the body says of itself, and what is proved of both: a proof asks for the body's stores.
OF_BODY_AND_SPEC = ("KG02", "KG04")


def texts_begin(lines):
    return next((i for i, line in enumerate(lines) if line.startswith(("body", "functions ="))), len(lines))


def with_mistakes(text):
    """Each mistake at each line above the texts."""
    lines = text.split("\n")
    for i, line in enumerate(lines[: texts_begin(lines)]):
        if TEXTS.match(line) or line.startswith("#"):
            continue
        for name, (pattern, replacement) in MISTAKES.items():
            changed = re.sub(pattern, replacement, line, count=1)
            if changed != line:
                yield f"line {i + 1}: {name}", "\n".join([*lines[:i], changed, *lines[i + 1 :]])
        for name, (pattern, replacement) in NAMES.items():
            if found := re.search(pattern, line):
                yield f"line {i + 1}: {name}", re.sub(rf"\b{found[1]}\b", replacement, text)


def with_mistake_in_body(text):
    head, body = re.fullmatch(r"(.*^body = )(.*)", text, re.S | re.M).groups()
    for quotes in ("'''", "'"):
        if body.startswith(quotes):
            return head + quotes + "real its_own_mistake = not_declared_anywhere;" + body[len(quotes) :]
    raise ValueError(body)


def codes(kgen, folder, name, text):
    """The errors, without those that a sound body has in its statements since the head is wrong."""
    (folder / name).write_text(text)
    command = [kgen, "generate", folder / name, "-o", folder / "out", "--message-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    first = texts_begin(text.split("\n")) + 1
    errors = [message for message in said if message["severity"] == "error"]
    return done.returncode, [error["code"] for error in errors if error["line"] < first or of_body(error["code"])]


def of_body(code):
    return code.startswith("KG02")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True, type=pathlib.Path)
    parser.add_argument("--every", type=int, default=20, help="take one mistake of so many")
    options = parser.parse_args()
    tried = faults = heard = 0
    mistakes = [
        (path, what, text)
        for folder in FOLDERS
        for path in sorted(ROOT.glob(folder))
        if "functions_from" not in path.read_text()
        for what, text in with_mistakes(path.read_text())
    ]
    random.Random(1).shuffle(mistakes)
    with tempfile.TemporaryDirectory(prefix="kgen_cascades_") as folder:
        for path, what, text in mistakes[:: options.every]:
            code, said = codes(options.kgen.resolve(), pathlib.Path(folder), path.name, text)
            if code != 2 or all(c.startswith(OF_BODY_AND_SPEC) for c in said) or "KG0101" in said:
                continue  # it is no mistake, or one that cannot be told without a sound body, or no TOML
            tried += 1
            if any(of_body(c) for c in said):
                faults += 1
                print(f"{path.relative_to(ROOT)}, {what}: an error of the body beside it: {said}")
            _, both = codes(options.kgen.resolve(), pathlib.Path(folder), path.name, with_mistake_in_body(text))
            heard += "KG0210" in both
            if set(said) - set(both):
                faults += 1
                print(f"{path.relative_to(ROOT)}, {what}: {said} became {both}")
    print(f"{tried} mistakes, {faults} faults; of {heard} bodies the mistake was said too")
    return 1 if faults or heard < 0.9 * tried or tried < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
