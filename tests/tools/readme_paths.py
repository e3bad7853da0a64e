"""Every path that the front pages and those of docs/ name exists. A path is a word in backquotes with a slash in it, or
a link's target; `a/{b,c}/` names two and `a/*.toml` at least one."""
import glob
import os
import re

import tree

PAGES = ["README.md", "generator/README.md", *sorted(glob.glob("docs/*.md"))]
PATH = re.compile(r"^(?:\./)?[A-Za-z_.][\w.+-]*(?:/[\w.+*{},-]*)+$")
BUILT = ("build/", "./build/")


def expanded(path):
    """`a/{b,c}/d` as a/b/d and a/c/d."""
    group = re.search(r"\{([^{}]*)\}", path)
    if not group:
        return [path]
    return [one for choice in group[1].split(",") for one in expanded(path[:group.start()] + choice + path[group.end():])]


def named_paths(line):
    words = [word for quoted in re.findall(r"`([^`]+)`", line) for word in quoted.split()]
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", line) if "://" not in link]
    return [word for word in words if PATH.match(word) and not word.startswith(BUILT)] + [link for link in links if link]


problems = []
for page in PAGES:
    if not os.path.exists(page):
        problems.append(f"{page}: missing")
        continue
    outside_block = True
    for number, line in enumerate(tree.text(page).splitlines(), 1):
        if line.startswith("```"):
            outside_block = not outside_block
        for named in named_paths(line) if outside_block else []:
            for path in expanded(named):
                if not any(glob.glob(os.path.join(folder, path)) for folder in (".", os.path.dirname(page))):
                    problems.append(f"{page}:{number}: {path} does not exist")
tree.finish(problems, "Correct the page, or bring back the file.")
