"""Each tree check passes on a small good tree and fails on one with a single fault. Usage: tools_can_fail.py CLANG_FORMAT"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOOD = {
    "README.md": "See `generator/spec/a.h`, `generator/{spec,body}/` and [the stages](generator/README.md).\n",
    "generator/README.md": "Stages: `spec/a.h` and `body/*.cpp`.\n",
    "generator/spec/a.h": "#pragma once\n",
    "generator/spec/load.cpp": "#include \"spec/a.h\"\n#include <toml++/toml.h>\n",
    "generator/body/b.cpp": "#include \"spec/a.h\"\n#include <clang/AST/AST.h>\n",
}
FAULTS = [  # check, file, its text, what the check must say
    ("format.py", "generator/spec/a.cpp", "int   a;\n", "generator/spec/a.cpp"),
    ("layers.py", "generator/spec/a.cpp", '#include "body/b.h"\n', "body comes after spec"),
    ("layers.py", "generator/spec/a.cpp", "#include <clang/AST/AST.h>\n", "only body and emit"),
    ("layers.py", "generator/spec/a.cpp", '#include "a.h"\n', "not a path from generator/"),
    ("layers.py", "generator/spec/a.h", "#include <toml++/toml.h>\n", "through generator/spec/a.h"),
    ("layers.py", "generator/other/a.h", "\n", "no stage is called other"),
    ("sizes.py", "generator/spec/a.cpp", "\n" * 601, "601 lines"),
    ("paths.py", "specs/a.toml", "# see /ho" "me/me/a.toml\n", "a machine's path"),
    ("paths.py", "generator/spec/a.cpp", "// TO" "DO later\n", "a leftover marker"),
    ("readme_paths.py", "README.md", "See `generator/spec/gone.h`.\n", "generator/spec/gone.h does not exist"),
    ("readme_paths.py", "generator/README.md", "[here](nowhere.md)\n", "nowhere.md does not exist"),
]


def run(check, changed):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in (GOOD | changed).items():
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(text)
        return subprocess.run([sys.executable, os.path.join(HERE, check), *sys.argv[1:]], cwd=folder,
                              capture_output=True, text=True)


failures = 0
for check in sorted({fault[0] for fault in FAULTS}):
    result = run(check, {})
    if result.returncode != 0:
        failures += 1
        print(f"{check} fails on a good tree:\n{result.stdout}{result.stderr}")
for check, path, text, expected in FAULTS:
    result = run(check, {path: text})
    if result.returncode != 1 or expected not in result.stdout:
        failures += 1
        print(f"{check} should say '{expected}' about {path}, but returned {result.returncode}:\n"
              f"{result.stdout}{result.stderr}")
sys.exit(1 if failures else 0)
