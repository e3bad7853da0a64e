"""Nothing committed names a place on somebody's machine, or carries a marker of work left over."""
import re

import tree

# Written so that this file does not match itself.
MACHINE = re.compile(r"(?<![\w.*/$}~-])/(?:home|root|work|tmp|Users)/")
MARKER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X{3}|HA" r"CK)\b")

problems = []
for path in tree.files():
    for number, line in enumerate(tree.text(path).splitlines(), 1):
        for pattern, what in ((MACHINE, "a machine's path"), (MARKER, "a leftover marker")):
            if pattern.search(line):
                problems.append(f"{path}:{number}: {what}: {line.strip()[:100]}")
tree.finish(problems, "Make paths relative to the tree or a temporary folder; finish what a marker leaves, or drop it.")
