"""A spec from a stranger: its text stays in its comment, its files in their folders, its names out of the way.

Usage: untrusted.py KGEN
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
CUDA_MODEL = pathlib.Path(__file__).resolve().parents[1] / "cuda_model/include"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]

COPY = """kernel = "copy"
inputs.x = "f32[N]"
outputs.z = "f32[N]"
body = 'z = x;'
"""
FROM = COPY.replace("z = x;", "z = twice(x);") + 'functions_from = "{}"\n'
TWICE = "real twice(real v) { return 2 * v; }\n"

# Each line would be code, a directive or a warning if it left its comment.
HOSTILE = [
    "ends */ int escaped;",
    "/* begins",
    "two\nint escaped;",
    "two\r\nint escaped;",
    "return\rint escaped;",
    "joins \\\nint escaped;",
    "joins \\  \t\nint escaped;",
    "joins ??/\nint escaped;",
    "joins ends \\",
    "ends ??/",
    "form\fint escaped; vertical\vint escaped;",
    "null\0int escaped;",
    "next line\x85int escaped; separators\u2028int escaped;\u2029int escaped;",
    "bell \a escape \x1b[31m delete \x7f",
    "turned \u202e\u2066 text",
    "\n#include <escaped.h>\n#define escaped\n#error escaped",
    '" quotes \' )" R"(escaped)"',
    "{{kernel}} {{{banner}}} {{#kernels}} {{>escaped}}",
    "${escaped} $ENV{escaped} `escaped` $(escaped) ; && | > %s %n \\n",
    "x" * 5000,
]
# Words and macros of C, C++, OpenMP and CUDA that are no words of the body language.
WORDS = """linux unix errno stdin NULL EOF I complex INT_MAX INT64_MAX M_PI FP_NAN HUGE_VAL UINT8_C SIZE_MAX offsetof
threadIdx warpSize dim3 float4 cudaStream_t cudaSuccess main std OMP y0 gamma stream workspace status rows item
lanes tile error kernel Index Lanes launch fma2 Copy""".split()
HEADERS = ("errno", "complex")  # of which no kernel has the name


def toml(text):
    """`text` as a TOML string, whatever is in it."""
    return '"' + "".join(c if c.isalnum() or c == " " else f"\\U{ord(c):08X}" for c in text) + '"'


class Untrusted(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="kgen_untrusted_")
        self.addCleanup(temporary.cleanup)
        self.top = pathlib.Path(temporary.name)
        self.folder = self.top / "specs"
        self.folder.mkdir()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def kgen(self, *arguments, code=0):
        done = subprocess.run([KGEN, *arguments], cwd=self.folder, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr.decode()

    def compile_all(self, stem):
        """The header as C, the sources as C++, with the macros of GNU's dialects."""
        self.write("out/header.c", f'#include "{stem}.h"\n')
        commands = [["gcc", "-std=gnu11", *WARNINGS, "header.c"]]
        commands.append(["g++", "-std=gnu++17", "-trigraphs", "-fopenmp", *WARNINGS, f"{stem}_openmp.cpp"])
        cuda = ["-Wno-unknown-pragmas", f"-I{CUDA_MODEL}", "-xc++", f"{stem}_cuda.cu"]
        commands.append(["g++", "-std=gnu++17", "-trigraphs", *WARNINGS, *cuda])
        for command in commands:
            done = subprocess.run(
                [command[0], "-fsyntax-only", *command[1:]], cwd=self.folder / "out", capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stderr)

    # --- text ---

    def check_comments(self, stem):
        for path in (self.folder / "out").glob(f"{stem}*"):
            for line in path.read_text().split("\n"):
                if "escaped" in line or "xxxx" in line:
                    self.assertTrue(line.startswith("//"), f"{path.name}: {line}")
                    self.assertFalse(line.rstrip().endswith("\\") or line.rstrip().endswith("??/"), line)
                self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", line), line)

    def test_text_stays_in_its_comment(self):
        everything = "\n".join(HOSTILE)
        for text in [*HOSTILE, everything]:
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            self.write("copy.toml", f"doc = {toml(text)}\nlicense = {toml(text)}\n" + COPY)
            self.kgen("copy.toml", "-o", "out")
            self.check_comments("copy")
        self.compile_all("copy")

    def test_file_names_stay_in_their_comment(self):
        for name in ("a\\.toml", "int escaped;.toml", "??", "\u202e.toml", "a\" 'b' ${c} `d`.toml", "{{kernel}}.toml"):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            self.write(name, COPY)
            self.kgen(name, "-o", "out")
            self.check_comments("copy")
            self.compile_all("copy")

    def test_file_names_are_text(self):
        for name in (b"a\nint escaped;.toml", b"a\rb.toml", b"\x1b[31m.toml", b"\xff.toml", b"a\tb.toml"):
            with open(os.fsencode(self.folder) + b"/" + name, "w") as file:
                file.write(COPY)
            self.assertIn("KG0001", self.kgen(name, "-o", "out", code=4))

    def test_comments_of_bodies_are_left_behind(self):
        comments = "/* */ // */ int escaped; ??/\n// \" ' )\" escaped\n"
        self.write("copy.toml", COPY.replace("'z = x;'", f"'''\n{comments}z = x;\n{comments}'''"))
        self.kgen("copy.toml", "-o", "out")
        self.assertFalse([p for p in (self.folder / "out").iterdir() if "escaped" in p.read_text()])
        for end in ("// \\", "// \\ \t", "// \\\nz = 1;"):
            self.write("copy.toml", COPY.replace("'z = x;'", f"'''\nz = x; {end}'''"))
            self.assertIn("comments that end in `\\`", self.kgen("copy.toml", "-o", "no", code=2))

    def test_messages_show_no_controls(self):
        self.write("copy.toml", COPY.replace('"f32[N]"', toml("f32[\x1b[31m\n\x07]"), 1))
        said = self.kgen("copy.toml", "-o", "out", code=2)
        self.assertNotIn("\x1b", said)
        self.assertNotIn("\x07", said)

    # --- what is read ---

    def refused(self, name, *options):
        self.write("copy.toml", FROM.format(name))
        self.assertIn("KG0115", self.kgen("copy.toml", "-o", "out", *options, code=2))

    def test_functions_come_from_below_the_folder(self):
        (self.top / "secret.h").write_text(TWICE)
        (self.top / "elsewhere").mkdir()
        (self.top / "elsewhere/twice.h").write_text(TWICE)
        self.write("below/twice.h", TWICE)
        os.symlink("../secret.h", self.folder / "link.h")
        os.symlink("../elsewhere", self.folder / "linked")
        os.symlink("nowhere", self.folder / "dangling.h")
        os.symlink("loop.h", self.folder / "loop.h")
        os.symlink("below/twice.h", self.folder / "inside.h")
        os.mkfifo(self.folder / "pipe.h")
        for name in ("../secret.h", "below/../../secret.h", "./../secret.h", str(self.top / "secret.h"), "link.h"):
            self.refused(name)
        for name in ("linked/twice.h", "dangling.h", "loop.h", "pipe.h", "below", ".", "", "..", "/dev/zero", "a\\\\b"):
            self.refused(name)
        self.refused("twice.h", "--include", str(self.top / "gone"))
        self.refused("../secret.h", "--include", str(self.top / "elsewhere"))
        for name, options in (
            ("below/twice.h", []),
            ("./below/twice.h", []),
            ("inside.h", []),
            ("twice.h", ["--include", str(self.top / "elsewhere")]),
            ("twice.h", ["--include", "linked"]),  # who calls kgen may name any folder
        ):
            self.write("copy.toml", FROM.format(name))
            self.kgen("copy.toml", "-o", "out", *options)

    def test_functions_are_text(self):
        lines = ("// \r#define x 3\n", "// \f\n", "// \0\n", "\ufeff// \x0b\n", "// \\")
        for line in lines:
            self.write("twice.h", "")
            (self.folder / "twice.h").write_text(TWICE + line, newline="")
            self.write("copy.toml", FROM.format("twice.h"))
            self.kgen("copy.toml", "-o", "out", code=2)
        (self.folder / "twice.h").write_bytes(TWICE.replace("\n", "\r\n").encode())
        self.kgen("copy.toml", "-o", "out")

    def test_nothing_else_is_opened(self):
        """Under strace, where it is there: the spec, its functions, kgen's own books, and no file of the user's else."""
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        self.write("twice.h", TWICE)
        for name in ("escaped.h", "escaped.pch", "module.modulemap"):
            self.write(name, "")
        self.write("copy.toml", FROM.format("twice.h"))
        trace = self.top / "trace"
        command = ["strace", "-f", "-e", "trace=open,openat,execve", "-o", str(trace), KGEN, "copy.toml", "-o", "out"]
        if subprocess.run(command, cwd=self.folder, capture_output=True).returncode != 0:
            self.skipTest("strace may not trace here")
        opened = re.findall(r'open(?:at)?\([^"]*"([^"]*)"', trace.read_text())
        self.assertIn("copy.toml", opened)
        system = ("/etc/ld.so", "/lib", "/usr/lib", "/proc/", "/sys/", "/dev/", "/usr/share/locale", "out/")
        others = {p for p in opened if not p.startswith(system) and pathlib.Path(p).name != "kgen.lock"}
        self.assertEqual(others - {"copy.toml", "twice.h", "out"}, set())
        self.assertEqual(len(re.findall(r"execve\(", trace.read_text())), 1)

    # --- what is written ---

    def test_kernels_name_no_other_folder(self):
        for name in ("../escaped", "a/b", "/escaped", "a\\\\b", ".", "..", "", "a b", "a\\u0000b", "-o", "CON:", "a\\nb"):
            self.write("copy.toml", COPY.replace('"copy"', f'"{name}"'))
            self.assertRegex(self.kgen("copy.toml", "-o", "out", code=2), "KG0111")
        self.assertEqual(sorted(p.name for p in self.top.iterdir()), ["specs"])

    def test_links_in_the_output_are_replaced(self):
        victim = self.top / "victim"
        victim.write_text("kept")
        (self.folder / "out").mkdir()
        for name in ("copy.h", "copy_openmp.cpp", "copy_cuda.cu"):
            os.symlink(victim, self.folder / "out" / name)
        self.write("copy.toml", COPY)
        self.kgen("copy.toml", "-o", "out")
        self.assertEqual(victim.read_text(), "kept")
        self.assertFalse((self.folder / "out/copy.h").is_symlink())

    def test_names_of_other_languages(self):
        for word in WORDS:
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            self.write("word.toml", COPY.replace('"copy"', f'"{word}"'))
            if word in HEADERS:
                self.assertRegex(self.kgen("word.toml", "-o", "out", code=2), "the name of a system's header")
                continue
            self.kgen("word.toml", "-o", "out")
            self.compile_all(word)
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        for role in ('inputs.{} = "f32[N]"\n', 'scalars.{} = "f32"\n'):
            text = COPY + "".join(role.format(word) for word in WORDS)
            self.write("words.toml", text.replace("z = x;", f"z = x + {' + '.join(WORDS)};"))
            self.kgen("words.toml", "-o", "out")
            self.compile_all("copy")
        axes = ", ".join(WORDS[:40])
        self.write("words.toml", COPY.replace('"f32[N]"', f'"f32[N, {axes}]"', 1).replace("z = x;", f"z = sum(x, {axes});"))
        self.kgen("words.toml", "-o", "out")
        self.compile_all("copy")


unittest.main()
