"""What the loader accepts works on all runners: each key that its tables list, with each form of value and each choice,
stands in a spec that the conformance tests run on all of them, or is refused where it would mean nothing.

    keys.py KGEN

The tables are read through `kgen schema`, which prints them. A key or a choice that is added to a table fails here until
a spec in specs/ or tests/conformance/specs/ has it.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

KGEN = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
ROLES = ("inputs", "outputs", "scratch")
# What an entry may be beyond the type in the schema: whole and fractional numbers, infinities, expressions and lists.
FORMS = {
    "params.*": {"whole", "number", "text", "list"},
    "axes.*": {"whole", "text", "list", "table"},
    "axes.*.multiple_of": {"whole"},
    "grid.*.block": {"whole", "text", "list"},
    "grid.*.size": {"whole", "text"},
    "inputs.*": {"text", "table"},
    "outputs.*": {"text", "table"},
    "scratch.*": {"text", "table"},
    "tables.*": {"text", "table"},
    "tables.*.range": {"whole", "text"},
    "inputs.*.outside": {"whole", "number", "inf", "-inf", "nan", "text"},
    "inputs.*.block": {"whole", "text", '"whole"', '"squeeze"'},
    "outputs.*.block": {"whole", "text", '"whole"', '"squeeze"'},
}
# Keys of arrays that say nothing about those of another role, with a value that is right elsewhere.
REFUSED = {
    "inputs": ['alias = "y"', "partial = true", "overwrite = true", "atomic = true"],
    "outputs": ["outside = 1"],
    "scratch": ["outside = 1", 'layout = "strided"', "optional = true", 'alias = "x"', "partial = true",
                "overwrite = true", "atomic = true", 'block = ["whole"]', "index = [0]", "offset = [0]"],
}  # fmt: skip
# Schedule keys that are not used yet: a warning says so.
LATER = {"schedule.cuda.precision"}


def listed():
    """Each key as a path, with the choices that the tables name."""
    schema = json.loads(subprocess.run([KGEN, "schema"], capture_output=True, text=True, check=True).stdout)
    keys = {}
    for section, about in schema["properties"].items():
        if about.get("type") != "object":
            keys[section] = []
            continue
        for name, entry in about.get("properties", {}).items():
            for key, inner in entry["properties"].items():
                keys[f"{section}.{name}.{key}"] = inner.get("enum", [])
        entries = about.get("additionalProperties") or {}
        for one in entries.get("anyOf", [entries] if entries else []):
            if "properties" not in one:
                keys[f"{section}.*"] = []
            for key, inner in one.get("properties", {}).items():
                keys[f"{section}.*.{key}"] = inner.get("enum", [True, False] if inner.get("type") == "boolean" else [])
    return keys


def forms(value):
    if isinstance(value, bool):
        return {value}
    if isinstance(value, float):
        return {"nan" if math.isnan(value) else "number" if math.isfinite(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, str):
        return {"text", value}
    if isinstance(value, list):
        return {"list"} | {f'"{e}"' if e in ("whole", "squeeze") else form for e in value for form in forms(e)}
    return {"whole" if isinstance(value, int) else "table"}


def found(specs):
    """The same paths with all forms of values that the specs have there."""
    keys = {}

    def add(path, value):
        keys.setdefault(path, set()).update(forms(value))

    for spec in specs:
        for section, value in tomllib.loads(spec.read_text()).items():
            if not isinstance(value, dict):
                add(section, value)
                continue
            for name, entry in value.items():
                under = name if section == "schedule" else "*"
                add(f"{section}.{under}", entry)
                for key, inner in entry.items() if isinstance(entry, dict) else []:
                    add(f"{section}.{under}.{key}", inner)
    return keys


class Keys(unittest.TestCase):
    def test_each_key_and_choice_is_in_a_spec_that_all_runners_run(self):
        specs = [*(ROOT / "specs").rglob("*.toml"), *(ROOT / "tests/conformance/specs").glob("*.toml")]
        have, keys = found(specs), listed()
        refused = {f"{role}.*.{text.split()[0]}" for role, texts in REFUSED.items() for text in texts}
        self.assertGreater(len(keys), 50)
        self.assertLessEqual(refused | LATER | set(FORMS), set(keys), "this test names keys that are none")
        for key, choices in keys.items():
            if key in refused or key in LATER:
                self.assertNotIn(key, have.keys() & refused, "it stands in a spec")
                continue
            wanted = FORMS.get(key, set()) | set(choices)
            self.assertIn(key, have.keys(), "no spec has it")
            self.assertLessEqual(wanted, have[key], f"{key}: no spec says this of it")

    def test_keys_of_other_roles_are_refused(self):
        with tempfile.TemporaryDirectory(prefix="kgen_keys_") as folder:
            for role, texts in REFUSED.items():
                for text in texts:
                    arrays = {"inputs": "x", "outputs": "y", "scratch": "s"}
                    lines = [f'{of}.{name} = {{ type = "f32[N]"{", " + text if of == role else ""} }}'
                             for of, name in arrays.items()]  # fmt: skip
                    spec = pathlib.Path(folder) / "k.toml"
                    spec.write_text("\n".join(['kernel = "k"', *lines, "body = 's = x; y = s;'"]) + "\n")
                    done = subprocess.run([KGEN, "generate", spec, "--stop-after", "spec"], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 2, text)
                    self.assertIn(f"error[KG0128]: `{text.split()[0]}` cannot be said of", done.stderr)

    def test_a_word_that_is_no_choice_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="kgen_keys_") as folder:
            for key, choices in listed().items():
                if not choices or choices == [True, False]:
                    continue
                section, name, word = key.split(".")
                entry = {"schedule": name, "tables": "t", "grid": "i", "inputs": "x", "outputs": "y"}.get(section)
                if entry is None:
                    continue
                first = {"tables": 'type = "i32[N]", ', "inputs": 'type = "f32[N]", ', "outputs": 'type = "f32[N]", ',
                         "grid": 'axis = "N", block = 4, '}.get(section, "")  # fmt: skip
                lines = [f'{section}.{entry} = {{ {first}{word} = "no_such" }}']
                lines += [f'{of}.{array} = "f32[N]"' for of, array in (("inputs", "x"), ("outputs", "y")) if of != section]
                spec = pathlib.Path(folder) / "k.toml"
                spec.write_text("\n".join(['kernel = "k"', *lines, "body = 'y = x;'"]) + "\n")
                done = subprocess.run([KGEN, "generate", spec, "--stop-after", "spec"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 2, key)
                self.assertIn("no_such", done.stderr)


if __name__ == "__main__":
    unittest.main()
