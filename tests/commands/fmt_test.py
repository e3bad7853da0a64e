"""kgen fmt: the layout it gives, that what a spec says stays as it is, and how it treats files."""

import os
import random
import re
import subprocess
import tomllib
import unittest

from sandbox import ADD, ROOT, Sandbox

UNTIDY = """

#:schema kgen.schema.json
#  a comment   \t
kernel="add"   # its name


\tdoc   =   "two  blanks  stay, and # is no comment"  # what it does
types . T=[ "f32" ,"f64", ]
  inputs."x"  = {type="T[N]",outside = 3 }
inputs.y = 'T[N]'
axes.D = [
64,  128,#small
# large
    256
  ]#sizes
[outputs]   # all of them
z   = "T[N]"
body = 3
"""
TIDY = """#:schema kgen.schema.json
#  a comment
kernel = "add"  # its name

doc = "two  blanks  stay, and # is no comment"  # what it does
types.T = ["f32", "f64"]
inputs."x" = { type = "T[N]", outside = 3 }
inputs.y = 'T[N]'
axes.D = [
  64, 128,  #small
  # large
  256,
]  #sizes

[outputs]  # all of them
z = "T[N]"
body = 3
"""


def comments(text):
    """Of a spec: all that follows a # outside of strings."""
    string = r"'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|\"(?:\\.|[^\"\\\n])*\""
    return [m.rstrip() for m in re.findall(rf"{string}|(#[^\n]*)", text, re.DOTALL) if m]


def without_blank_ends(value):
    return re.sub(r"[ \t]+$", "", value, flags=re.MULTILINE)


def shuffled(text, chance):
    """The same spec with other blanks around keys, values and lines."""
    lines, inside = [], False
    for line in text.split("\n"):
        if not inside and not line.startswith("#"):
            line = re.sub(r"^([\w.]+) = ", lambda m: m[1] + chance.choice(["=", " =", "= ", "\t =  "]), line)
            line = chance.choice(["", " ", "\t"]) + line + ("" if "'''" in line else chance.choice(["", " ", "\t "]))
        inside ^= line.count("'''") == 1
        lines.append(line if inside else line + chance.choice(["", "", "\n\n\n"]) if line.strip() == "" else line)
    return chance.choice(["", "\n"]) + "\n".join(lines) + chance.choice(["", "\n\n"])


class Fmt(Sandbox):
    def fmt(self, text):
        return self.kgen("fmt", "-", stdin=text).stdout

    def test_the_layout(self):
        self.assertEqual(self.fmt(UNTIDY), TIDY)
        self.assertEqual(self.fmt(TIDY), TIDY)
        self.assertEqual(self.fmt(TIDY.replace("\n", "\r\n")), TIDY)
        self.assertEqual(self.fmt("\ufeffkernel='k'"), "\ufeffkernel = 'k'\n")
        self.assertEqual(self.fmt(""), "")
        self.assertEqual(self.fmt("a={}\nb=[]\nc=[\n]\nd=1979-05-27 07:32:00\n"),
                         "a = {}\nb = []\nc = [\n]\nd = 1979-05-27 07:32:00\n")
        self.assertEqual(self.fmt("a=[[1,2],[\n3]]\n[[ b . c ]]\n"), "a = [\n  [1, 2], [\n    3,\n  ],\n]\n\n[[b.c]]\n")
        self.assertEqual(self.fmt("ab=1 #x\nc=2 #y\n\nd=3 #z\n"), "ab = 1  #x\nc = 2   #y\n\nd = 3  #z\n")

    def test_text_stays_but_for_blanks_at_the_ends_of_code(self):
        text = "doc = '''\n  two  \n\n\n   three\t'''\nbody = '''\n  if (a)   \n\n\n\tb = 'c';  \n'''\n"
        self.assertEqual(self.fmt(text), text.replace("(a)   ", "(a)").replace("'c';  ", "'c';"))

    def test_blanks_behind_the_opening_quotes_are_no_line_of_code(self):
        """A blank there keeps the line break that follows, which TOML takes away where there is none."""
        for key in ("body", "functions"):
            for blank in (" ", "\t", " \t "):
                with self.subTest(key=key, blank=blank):
                    made = self.fmt(f"{key} = '''{blank}\n  y = x;\n'''\n")
                    self.assertEqual(made, f"{key} = '''\n  y = x;\n'''\n")
        prose = "doc = ''' \n  two\n'''\n"
        self.assertEqual(self.fmt(prose), prose)

    def test_what_specs_say_stays(self):
        chance = random.Random(1)
        paths = sorted([*(ROOT / "specs").rglob("*.toml"), *(ROOT / "tests/conformance/specs").glob("*.toml")])
        self.assertGreater(len(paths), 100)
        for path in paths:
            text = path.read_text()
            wanted = self.fmt(text)
            self.assertEqual(self.fmt(wanted), wanted, path)
            once = self.fmt(shuffled(text, chance))
            self.assertEqual(self.fmt(once), once, path)
            for made in (wanted, once):
                self.assertEqual(comments(made), comments(text), path)
                before, after = tomllib.loads(text), tomllib.loads(made)
                for key in ("body", "functions"):
                    if key in before:
                        before[key], after[key] = without_blank_ends(before[key]), without_blank_ends(after[key])
                self.assertEqual(repr(after), repr(before), path)  # in order; and nan is nan

    def test_shipped_specs_are_laid_out(self):
        for folder in ("specs", "tests/conformance/specs"):
            self.assertEqual(self.kgen("fmt", "--check", str(ROOT / folder)).stdout, "")

    def test_it_writes_in_place_and_says_what(self):
        self.write("specs/a.toml", ADD)
        self.write("specs/deep/b.toml", ADD.replace("el = ", "el="))
        self.write("specs/c.tune.toml", "not=a spec")
        os.chmod(self.folder / "specs/deep/b.toml", 0o640)
        (self.folder / "link.toml").symlink_to("specs/deep/b.toml")
        before = (self.folder / "specs/a.toml").stat().st_mtime_ns
        for only_looks in (["--check"], ["--diff"]):
            done = self.kgen("fmt", "specs", *only_looks, code=1)
            self.assertIn("specs/deep/b.toml", done.stdout)
            self.assertNotIn("specs/a.toml", done.stdout)
            self.assertIn("to format, run: kgen fmt specs", done.stderr)
        self.assertIn('-kernel="add"\n', done.stdout)
        self.assertIn('+kernel = "add"\n', done.stdout)
        self.assertEqual(self.kgen("fmt", "link.toml").stdout, "link.toml\n")
        self.assertTrue((self.folder / "link.toml").is_symlink())
        self.assertEqual((self.folder / "specs/deep/b.toml").read_text(), ADD)
        self.assertEqual((self.folder / "specs/deep/b.toml").stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.kgen("fmt", "specs").stdout, "")
        self.assertEqual((self.folder / "specs/a.toml").stat().st_mtime_ns, before)
        self.assertEqual(self.kgen("fmt", "specs", "--check", "--diff").stdout, "")

    def test_what_does_not_parse_is_left_alone(self):
        broken = 'kernel="add\n  body = 3\n'
        self.write("specs/broken.toml", broken)
        self.write("specs/b.toml", 'kernel="b"')
        done = self.kgen("fmt", "specs", code=2)
        self.assertIn("KG0101", done.stderr)
        self.assertEqual(done.stdout, "specs/b.toml\n")
        self.assertEqual((self.folder / "specs/broken.toml").read_text(), broken)
        self.assertEqual(self.kgen("fmt", "-", code=2, stdin=broken).stdout, "")
        self.kgen("fmt", "gone.toml", code=4)

    def test_a_difference_is_one_that_patch_takes(self):
        lines = [f"axes.A{i} = {i}" for i in range(40)]
        text = "\n".join(lines) + "\n"
        for i in (3, 5, 20, 39):
            text = text.replace(f"axes.A{i} = ", f"axes.A{i}=")
        text = text.replace("axes.A30 = 30", "\n\n\naxes.A30 = 30").rstrip("\n")
        self.write("many.toml", text)
        diff = self.kgen("fmt", "many.toml", "--diff", code=1).stdout
        self.assertEqual(diff.count("@@ -"), 4)
        self.write("patch", diff)
        done = subprocess.run(["git", "apply", "-p0", "--unsafe-paths", "patch"], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "many.toml").read_text(), self.fmt(text))


unittest.main()
