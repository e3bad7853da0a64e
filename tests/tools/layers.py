"""A stage includes only itself and earlier stages, and each library is seen by its own stages only, also through headers."""
import re

import tree

STAGES = ["support", "spec", "body", "ir", "analysis", "rewrite", "grad", "plan", "emit", "cli"]
LIBRARIES = {  # how an include of it begins: the stages that may see it
    "clang/": {"body", "emit"},
    "clang-c/": set(),
    "llvm/": {"body", "emit"},
    "llvm-c/": set(),
    "toml++/": {"spec"},
    "isl/": {"analysis", "rewrite", "plan"},
    "kainjow/": {"emit"},
    "CLI/": {"cli"},
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def library_of(name):
    return next((prefix for prefix in LIBRARIES if name.startswith(prefix)), None)


def reached_libraries(path, includes, seen):
    """Libraries that `path` includes, or that a header it includes does: {prefix: the file that includes it}."""
    found = {}
    seen.add(path)
    for name in includes.get(path, []):
        if library_of(name):
            found.setdefault(library_of(name), path)
        elif "generator/" + name not in seen:
            for prefix, origin in reached_libraries("generator/" + name, includes, seen).items():
                found.setdefault(prefix, origin)
    return found


includes, problems = {}, []
for path in tree.files():
    if re.match(r"generator/\w+/(?!prelude/).*\.(h|cpp|def)$", path):
        found = INCLUDE.findall(tree.text(path))
        includes[path] = [name for _, name in found]
        for quote, name in found:
            if quote == '"' and not library_of(name) and name.split("/")[0] not in STAGES:
                problems.append(f'{path}: "{name}" is not a path from generator/')

for path in sorted(includes):
    stage = path.split("/")[1]
    if stage not in STAGES:
        problems.append(f"{path}: no stage is called {stage}; the stages are {' '.join(STAGES)}")
        continue
    for name in includes[path]:
        other = name.split("/")[0]
        if other in STAGES and STAGES.index(other) > STAGES.index(stage):
            problems.append(f"{path}: includes {name}, but {other} comes after {stage}")
    for prefix, origin in sorted(reached_libraries(path, includes, set()).items()):
        if stage not in LIBRARIES[prefix]:
            through = "" if origin == path else f" through {origin}"
            allowed = " and ".join(sorted(LIBRARIES[prefix])) or "nothing"
            problems.append(f"{path}: sees {prefix}{through}; only {allowed} may")

tree.finish(problems, "Move what is shared to an earlier stage, or keep the library behind a plain struct.")
