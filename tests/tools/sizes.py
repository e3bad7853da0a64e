"""Files stay small enough to be read at a sitting: told from 450 lines, refused over 600. Tables and tests are exempt."""
import re

import tree

TOLD, REFUSED = 450, 600

problems = []
for path in tree.files():
    if not re.match(r"(generator|templates|cmake|bench)/|[^/]+$", path) or path.endswith((".def", ".json", ".md")):
        continue
    lines = tree.text(path).count("\n")
    if lines > REFUSED:
        problems.append(f"{path}: {lines} lines")
    elif lines > TOLD:
        print(f"{path}: {lines} lines, will be refused over {REFUSED}")
tree.finish(problems, "Split by idea: one file, one thing to understand.")
