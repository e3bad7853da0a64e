"""The pages name all that there is: every builtin, library function, element type and key of the sources stands in
backquotes in docs/language.md, every command in README.md, every argument of the CMake functions in docs/build.md."""
import glob
import re
import sys


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def found(pattern, paths):
    return sorted({name for path in paths for name in re.findall(pattern, text(path), re.MULTILINE)})


SOURCES = [  # page, what, a pattern for its name, the files that have it
    ("docs/language.md", "builtin", r"^KGEN_BUILTIN\((\w+),", ["generator/body/builtins.def"]),
    ("docs/language.md", "library function", r"^(?:template <class V> )?(?:real|V) (\w+)\(", ["generator/body/prelude/library.h"]),
    ("docs/language.md", "element type", r'^KGEN_TYPE\(\w+, "(\w+)"', ["generator/support/types.def"]),
    ("docs/language.md", "key", r'\{"(\w+)", read_', sorted(glob.glob("generator/spec/read_*.cpp"))),
    ("README.md", "command", r'\{Command::\w+, "(\w+)"', ["generator/cli/option_tables.cpp"]),
    ("docs/build.md", "argument of kgen_add_kernels", r"\barg_(?!UNPARSED|KEYWORDS)([A-Z_]+)", ["cmake/kgenFunctions.cmake"]),
]

QUOTED = (r'"([^"\n]+)"', r"`([^`\n]+)`")  # in sources, in pages

problems = []
for page, what, pattern, paths in SOURCES:
    words = {word for quoted in re.findall(QUOTED[page.endswith(".md")], text(page)) for word in re.findall(r"\w+", quoted)}
    names = found(pattern, paths)
    print(f"{page}: {len(names)} times {what}")
    if len(names) < 5:
        problems.append(f"{what}: the sources are written otherwise than this test expects")
    problems += [f"{page} does not name the {what} `{name}`" for name in names if name not in words]
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
