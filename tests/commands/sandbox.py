"""A temporary folder in which a test runs kgen: the program is the first argument of the test."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]

ADD = """kernel = "add"
types.T = ["f32", "f64"]
inputs.x = "T[N]"
inputs.y = "T[N]"
outputs.z = "T[N]"
body = 'z = x + y;'
"""


JSON_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def violations(schema, value, where=""):
    """What a value breaks of a JSON schema, for the keywords that kgen's schema uses."""
    found = []
    kinds = schema.get("type", list(JSON_TYPES))
    is_kind = [isinstance(value, JSON_TYPES[k]) and (k == "boolean" or not isinstance(value, bool))
               for k in ([kinds] if isinstance(kinds, str) else kinds)]
    if not any(is_kind):
        return [f"{where}: not {kinds}"]
    if "enum" in schema and value not in schema["enum"] or not re.search(schema.get("pattern", ""), str(value)):
        found.append(f"{where}: {value} is not allowed")
    if "anyOf" in schema and all(choices := [violations(s, value, where) for s in schema["anyOf"]]):
        found += sum(choices, [])
    if isinstance(value, list) and "items" in schema:
        found += sum((violations(schema["items"], item, where) for item in value), [])
    if isinstance(value, dict):
        found += [f"{where}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            rule = schema.get("properties", {}).get(key, schema.get("additionalProperties", True))
            if rule is False:
                found.append(f"{where}: unknown {key}")
            elif rule is not True:
                found += violations(rule, item, f"{where}.{key}")
    return found


class Sandbox(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="kgen_commands_")
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def kgen(self, *arguments, code=0, environment=None, stdin=""):
        variables = {**os.environ, **(environment or {})}
        done = subprocess.run(
            [KGEN, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60, env=variables,
            input=stdin
        )
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def files(self, folder="out"):
        root = self.folder / folder
        return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
