"""No two files define a class of the same name in the same namespace: linkers would take the functions of one for both."""
import collections
import re

import tree

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''  # nothing of what these say counts
    r"|\bnamespace\b\s*(?P<space>[\w:]*)\s*\{"
    r"|(?<!enum )\b(?:struct|class)\s+(?P<name>\w+)\s*(?:final\s*)?(?::[^;{]*)?\{"
    r"|[{}]", re.DOTALL)
NO_NAME = "(no name)"


def classes(text):
    """The classes that the file defines outside of others and of namespaces without a name."""
    around = []  # namespaces; None: another block
    for token in TOKEN.finditer(text):
        if token["space"] is not None:
            around.append(token["space"] or NO_NAME)
        elif token["name"]:
            if None not in around and NO_NAME not in around:
                yield "::".join([*around, token["name"]])
            around.append(None)
        elif token[0] == "{":
            around.append(None)
        elif token[0] == "}" and around:
            around.pop()


files = collections.defaultdict(set)
for path in tree.files():
    if re.match(r"generator/.*\.(h|cpp)$", path) and "/prelude/" not in path:
        for name in classes(tree.text(path)):
            files[name].add(path)
tree.finish([f"{name} is defined in {' and in '.join(sorted(where))}" for name, where in sorted(files.items()) if len(where) > 1],
            "Give one of them another name, or put it into a namespace without one.")
