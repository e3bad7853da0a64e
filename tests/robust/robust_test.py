"""Garbage, giants and broken folders: each ends in a message at its place or in code, with the exit code that the
commands promise, within 5 seconds of processor time and 1 GB of memory, and with no file half written. (A fast machine
takes 1 second for the worst, a slow and busy one 3; what doubles with each level never ends.)

Giants are rows of a table: what is refused says which message at which line and column; what is legal, if monstrous, is
generated within the same bounds. Texts that break the parsers alone are in tests/unit/spec_robust_test.cpp and
body_limits_test.cpp; here the whole program is held to its bounds.
"""

import itertools
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
OK, BAD_SPEC, BAD_FILES = 0, 2, 4
MOST_SECONDS, MOST_BYTES, HANGS = 5.0, 1 << 30, 60

HEAD = 'kernel = "k"\n'
OPERANDS = 'inputs.x = "f32[N]"\noutputs.y = "f32[N]"\n'
COPY = HEAD + OPERANDS + "body = 'y = x;'\n"
FILES = ["k.h", "k_cuda.cu", "k_openmp.cpp"]


def body(text, before=""):
    """A spec whose body stands in line 5, further lines before it moving it down."""
    return HEAD + before + OPERANDS + "body = '''\n" + text + "\n'''\n"


def functions(text, call):
    return body(call, "functions = '''\n" + text + "'''\n")


def lines(count, line):
    return "".join(line.format(i=i, j=i + 1) for i in range(count))


def nested(count, before, middle, after):
    return before * count + middle + after * count


def brackets(axes, name="x", role="inputs"):
    return f'{role}.{name} = "f32[{", ".join(f"A{i}" for i in range(axes))}]"\n'


TWICE = "real f0(real v) { return v * v; }\n" + lines(40, "real f{j}(real v) {{ return f{i}(v) + f{i}(v + 1); }}\n")
LOOPS = "y = 0;\n" + lines(100, "for (int i{i} = 0; i{i} < 2; ++i{i}) {{") + "y += x;" + "}" * 100

# What is refused: the text, the place, the message.
REFUSED = {
    # --- TOML ---
    "empty": ("", "", "KG0104"),
    "blank": (" \n\t\n" * 1000, "", "KG0104"),
    "no TOML": ("\\\n", "1:1", "KG0101"),
    "control byte": (COPY.replace("y = x", "y \x01= x"), "4:11", "KG0105"),
    "null byte": (COPY.replace("y = x", "y \0= x"), "4:11", "KG0105"),
    "Latin-1": (COPY.encode() + b"doc = '\xe4'\n", "5:8", "KG0105"),
    "UTF-16": (COPY.encode("utf-16"), "1:1", "KG0105"),
    "lines end in returns": (COPY.replace("\n", "\r"), "1:13", "KG0105"),
    "string not closed": ("kernel = 'k\n", "1:12", "KG0101"),
    "quotes": ('"' * 1_000_000, "1:1", "KG0101"),
    "single quotes": ("'" * 1_000_000, "1:1", "KG0101"),
    "string of backslashes": ('a = "' + "\\" * 1_000_000, "", "KG0101"),
    "lines in a string": ("a = '''" + "\n" * 1_000_000, "", "KG0101"),
    "200 000 parentheses": (HEAD + "doc = " + "(" * 200_000, "2:7", "KG0101"),
    "100 000 arrays": ("x = " + nested(100_000, "[", "", "]"), "1:37", "KG0107"),
    "100 000 tables": ("x = " + nested(100_000, "{a=", "1", "}"), "1:101", "KG0107"),
    "long key": ("x" * 1_000_000 + " = 1\n" + COPY, "1:1", "KG0102"),
    "100 000 headers": (lines(100_000, "[a{i}]\n"), "", "KG0106"),
    "400 000 commas": ("a = [" + "," * 400_000, "1:6", "KG0101"),
    "digits": (COPY + "params.p = " + "9" * 100_000 + "\n", "", "KG0101"),
    "10 MB": ("#" * 10_000_000, "", "KG0001"),
    "3 million statements": (body("y = x;" * 3_000_000), "", "KG0001"),
    # --- names and sizes ---
    "long kernel name": (COPY.replace('"k"', '"' + "k" * 200_000 + '"'), "1:11", "KG0111"),
    "long operand name": (COPY.replace("inputs.x", "inputs." + "x" * 100_000), "2:8", "KG0111"),
    "parentheses in a size": (COPY + 'axes.P = "' + nested(200_000, "(", "1", ")") + '"\n', "5:11", "KG0170"),
    "deep size": (COPY + 'axes.P = "' + nested(90, "(", "1", ")") + '"\n', "5:75", "KG0169"),
    "long size": (COPY + 'axes.P = "' + "1 + " * 100_000 + '1"\n', "5:11", "KG0170"),
    "sizes that double": (
        COPY.replace('y = "f32[N]', 'y = "f32[N, A50]')
        + 'axes.A0 = { equals = "N" }\n'
        + lines(50, 'axes.A{j} = {{ equals = "A{i} + A{i}" }}\n'),
        "3:21",
        "KG0170",
    ),
    "5000 operands": (COPY + lines(5000, 'inputs.x{i} = "f32[N]"\n'), "", "KG0140"),
    "120 axes": (
        HEAD + brackets(60) + brackets(60, "z").replace("A", "B") + "outputs.y = 'f32[A0]'\nbody = 'y = 1;'\n",
        "",
        "KG0140",
    ),
    "20 grid dimensions": (COPY + lines(20, "grid.g{i} = {{ size = 2 }}\n"), "", "KG0140"),
    "choices of params": (COPY + lines(20, "params.p{i} = [1, 2, 3, 4, 5, 6, 7, 8]\n"), "", "KG0166"),
    "choices of sizes": (COPY + lines(12, "axes.A{i} = [1, 2, 3, 4]\n"), "", "KG0166"),
    "types": (COPY + "types.T = [" + "'f32', " * 10_000 + "]\n", "5:19", "KG0118"),
    "windows of 8 remainders": (
        HEAD
        + 'outputs.y = { type = "f32[N]", block = [4], index = ["'
        + " + ".join(f"(g{i} * {i + 3}) % {i + 7}" for i in range(8))
        + '"] }\n'
        + lines(8, 'grid.g{i} = {{ size = "N" }}\n')
        + "body = 'y = 1;'\n",
        "2:9",
        "KG0407",
    ),
    "longer doc": (COPY + 'doc = "' + "word " * 100_000 + '"\n', "5:1", "KG0106"),
    "longer license": (COPY + 'license = "' + "line\\n" * 100_000 + '"\n', "5:1", "KG0106"),
    # --- body ---
    "200 000 parentheses in the body": (body("y = " + nested(200_000, "(", "x", ")") + ";"), "5:205", "KG0206"),
    "9000 terms": (body("y = x" + " + x" * 9000 + ";"), "5:32003", "KG0206"),
    "2000 choices": (body("y = " + "x > 0 ? x : " * 2000 + "x;"), "5:11957", "KG0206"),
    "reads within reads": (body("y = " + nested(30, "at(x, N = int64_t(", "x", "))") + ";"), "5:119", "KG0206"),
    "long number": (body("y = x + 0." + "9" * 100_000 + ";"), "5:9", "KG0202"),
    "number of 26 digits": (body("y = x + " + "9" * 26 + ";"), "5:9", "KG0201"),
    "100 000 statements": (body("y = x;\n" * 100_000), "5005:6", "KG0202"),
    "100 000 operations": (body(("y = x" + " + x" * 100 + ";\n") * 1000), "", "KG0226"),
    "5000 mistakes": (body("y = q;\n" * 5000), "5:5", "KG0210"),
    "4000 locals of one name": (body("real y = x;\n" * 4000), "5:6", "KG0212"),
    "100 loops too many": (body("for (;;) " * 300 + "y = x;"), "5:1801", "KG0206"),
    "calls that double": (functions(TWICE, "y = f40(x);"), "", "KG0226"),
    "templates that branch": (
        functions(
            "template <int K, int J> real f(real v) {\n"
            "  return f<(K > 0 ? K - 1 : 0), (K > 0 ? 2 * J : 0)>(v)\n"
            "    + f<(K > 0 ? K - 1 : 0), (K > 0 ? 2 * J + 1 : 0)>(v);\n"
            "}\n",
            "y = f<20, 0>(x);",
        ),
        "3:30",
        "KG0201",
    ),
    "recursion": (functions("real f(real v) { return f(v); }\n", "y = f(x);"), "3:25", "KG0220"),
    "recursion of two": (
        functions("real g(real v);\nreal f(real v) { return g(v); }\nreal g(real v) { return f(v); }\n", "y = f(x);"),
        "5:25",
        "KG0220",
    ),
    "endless loop": (body("y = 0; for (;;) y += x;"), "5:8", "KG0337"),
    "endless constant": (
        functions(
            "constexpr int f() { int s = 0; for (int i = 0; i < 2000000000; ++i) s += i & 1; return s; }\n",
            "real a[f()]; y = x;",
        ),
        "8:6",
        "KG0222",
    ),
    "large local array": (body("real a[4000000000]; y = x;"), "5:6", "KG0222"),
    "choices and a long body": (body("y = x;\n" * 5000, lines(10, "params.p{i} = [1, 2]\n")), "15:1", "KG0202"),
    "choices and library calls": (
        body("y = " + " + ".join(["softmax(x, N)"] * 20) + ";", lines(10, "params.p{i} = [1, 2]\n")),
        "",
        "KG0226",
    ),
}

# What is legal.
GENERATED = {
    "byte order mark": b"\xef\xbb\xbf" + COPY.encode(),
    "lines end in return and feed": COPY.replace("\n", "\r\n"),
    "long line": body("y = x; //" + "z" * 900_000),
    "long doc": COPY + 'doc = "' + "word " * 4000 + '"\n',
    "long license": COPY + 'license = "' + "line\\n" * 4000 + '"\n',
    "long local": body("real " + "a" * 2000 + " = x; y = " + "a" * 2000 + ";"),
    "largest size": COPY + "axes.N = 9223372036854775807\n",
    "largest sizes": COPY.replace("[N]", "[N, M]") + "axes.N = 9223372036854775807\naxes.M = 9223372036854775807\n",
    "largest block": COPY + 'grid.i = { axis = "N", block = 9223372036854775807 }\n',
    "infinite constant": body("y = x + 1e400;"),
    "large exponent": body("y = x + 1e-999999999;"),
    "180 parentheses": body("y = " + nested(180, "(", "x", ")") + ";"),
    "180 conditions": body("y = 0;\n" + nested(180, "if (x > 0) {", "y += x;", "}")),
    "180 else": body("y = 0;\nif (x > 1) y = 1; " + "else if (x > 2) y = 2; " * 180),
    "180 choices": body("y = " + nested(180, "(x > 0 ? ", "1", " : 2)") + ";"),
    "100 loops": body(LOOPS),
    "60 sums": body("y = " + nested(60, "sum(x * ", "x", ", N)") + ";"),
    "6 reads elsewhere": body("y = " + nested(6, "at(x, N = int64_t(", "x", "))") + ";"),
    "100 reads elsewhere": body(
        "real a0 = x;\n" + lines(100, "real a{j} = at(x, N = int64_t(a{i}));\n") + "y = a100;"
    ),
    "long loop": body("y = 0; for (int64_t i = 0; i < 9000000000000000000; ++i) y += x;"),
    "1000 statements": body("y = x;\n" * 1000),
    "500 conditions": body("y = 0;\n" + "if (x > 1) { y = 1; }\n" * 500),
    "200 loops": body("y = 0;\n" + "for (int i = 0; i < 4; ++i) { y += x; }\n" * 200),
    "200 sums": body("y = x;\n" + "y += sum(y, N);\n" * 200),
    "1000 squares": body("real a0 = x;\n" + lines(1000, "real a{j} = a{i} * a{i};\n") + "y = a1000;"),
    "100 sums of sums": body("real a0 = x;\n" + lines(100, "real a{j} = sum(a{i} * a{i}, N) + x;\n") + "y = a100;"),
    "300 scans": body("real a = x;\n" + "a = cumsum(a, N);\n" * 300 + "y = a;"),
    "200 locals that widen": body(
        lines(200, "real a{i} = 0;\n") + "for (int k = 0; k < 3; ++k) {\n" + lines(199, "a{i} = a{j};\n")
        + "a199 = x;\n}\ny = a0;"
    ),
    "300 lane conditions": body(
        "y = sum(x, M, where(" + " && ".join(f"index(M) + {i} * index(N) < {7 * i}" for i in range(300)) + "));"
    ).replace('x = "f32[N]"', 'x = "f32[N, M]"'),
    "500 local arrays": body(lines(500, "real a{i}[4096]; a{i}[0] = x;") + " y = a0[0];"),
    "5000 functions": functions(lines(5000, "real f{i}(real v) {{ return v; }}\n"), "y = x;"),
    "250 operands": HEAD + lines(250, 'inputs.x{i} = "f32[N]"\n') + 'outputs.y = "f32[N]"\nbody = \'y = '
    + " + ".join(f"x{i}" for i in range(250)) + ";'\n",
    "250 outputs": HEAD + 'inputs.x = "f32[N]"\n' + lines(250, 'outputs.y{i} = "f32[N]"\n') + "body = '"
    + lines(250, "y{i} = x;") + "'\n",
    "60 dimensions": HEAD + brackets(60) + brackets(60, "y", "outputs") + "body = 'y = x;'\n",
    "a sum over 60 axes": HEAD + brackets(60) + "outputs.y = 'f32[]'\nbody = 'y = sum(x, "
    + ", ".join(f"A{i}" for i in range(60)) + ");'\n",
    "16 blocked dimensions": HEAD + brackets(16) + brackets(16, "y", "outputs")
    + lines(16, 'grid.g{i} = {{ axis = "A{i}", block = 4 }}\n') + "body = 'y = x;'\n",
    "windows of 20 minima": HEAD
    + 'outputs.y = { type = "f32[N]", block = [4], partial = true, overwrite = true, index = ["'
    + "min(" * 20 + "g0" + lines(20, ", max(g0 * {i}, {i}))") + '"] }\ngrid.g0 = { size = "N" }\nbody = \'y = 1;\'\n',
    "200 tables": COPY + lines(200, 'tables.t{i} = {{ type = "i32[N]", where = "host", sorted = true }}\n'),
    "5000 params": COPY + lines(5000, "params.p{i} = 1\n"),
    "1024 sets of functions": COPY + lines(10, "params.p{i} = [1, 2]\n"),
    "256 sets of 60 statements": body("y = x;\n" * 60, lines(8, "params.p{i} = [1, 2]\n")),
    "20 000 operations": body("y = x;\n" + "y = y * x + y * x + y * x + y * x;\n" * 790),
    "100 000 operations in 5 sets": body(
        "y = x;\n" + "y = y * x + y * x + y * x + y * x;\n" * 790, "params.p = [1, 2, 3, 4, 5]\n"
    ),
    "5000 writes": body("y = x;\n" * 4999),
    "8 sets of 200 sums": body("y = x;\n" + "y += sum(y, N);\n" * 200, lines(3, "params.p{i} = [1, 2]\n")),
    "64 sets of deep nests": body(
        "y = " + nested(12, "-(", "x", " + 1)") + ";\ny = " + nested(30, "max(x, ", "y", ")") + ";",
        lines(6, "params.p{i} = [1, 2]\n"),
    ),
}


def limits(file_size=None, nobody=False):
    """What the process does to itself before it becomes kgen. Root may do everything, so it becomes nobody."""

    def apply():
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # the stacks reserve some
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        if nobody and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

    return apply


class Robust(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="kgen_robust_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, text, name="k.toml"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def kgen(self, *arguments, code, stdout=None, file_size=None, nobody=False, first=True):
        """Runs kgen within the bounds; returns what it said. What took too long may try once more: others share the
        machine."""
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [KGEN, *arguments],
                cwd=self.folder,
                preexec_fn=limits(file_size, nobody),
                stdin=subprocess.DEVNULL,
                stdout=stdout or subprocess.DEVNULL,
                stderr=errors if file_size is None else subprocess.PIPE,
            )
            previous = signal.signal(signal.SIGALRM, lambda *_: process.kill())
            signal.alarm(HANGS)
            _, status, usage = os.wait4(process.pid, 0)
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            with errors if file_size is None else process.stderr as stream:
                said = stream.read().decode(errors="replace")
        self.assertEqual(process.returncode, code, said[:2000])
        seconds = usage.ru_utime + usage.ru_stime
        if first and seconds >= MOST_SECONDS and stdout is None:
            return self.kgen(*arguments, code=code, file_size=file_size, nobody=nobody, first=False)
        self.assertLess(seconds, MOST_SECONDS)
        self.assertLess(usage.ru_maxrss * 1024, MOST_BYTES)
        self.assertLess(len(said), 100_000)
        return said

    def files(self, folder="out"):
        root = self.folder / folder
        files = (p.relative_to(root).as_posix() for p in root.rglob("*") if not p.is_dir())
        return sorted(name for name in files if name not in ("kgen.lock", "kgen_openmp.h", "kgen_cuda.h"))

    # --- specs ---

    def test_what_is_refused_says_where_and_why(self):
        for name, (text, place, message) in REFUSED.items():
            with self.subTest(name):
                self.write(text)
                code = BAD_FILES if message == "KG0001" else BAD_SPEC
                said = self.kgen("k.toml", "-o", "out", code=code)
                self.assertIn(f"error[{message}" if message else "error[KG", said)
                self.assertRegex(said, f"--> k.toml:{place}\n" if place else "--> k.toml")
                self.assertFalse((self.folder / "out").exists())

    def test_what_is_legal_is_generated(self):
        for name, text in GENERATED.items():
            with self.subTest(name):
                self.write(text)
                self.kgen("k.toml", "-o", "out", code=OK)
                self.assertEqual(self.files(), FILES)

    # --- files that cannot be read ---

    def test_specs_that_are_no_files(self):
        (self.folder / "empty").mkdir()
        (self.folder / "loop.toml").symlink_to("loop.toml")
        (self.folder / "folder.toml").mkdir()
        for path, reason in {
            "missing.toml": "No such file",
            "loop.toml": "symbolic links",
            "empty": "no spec in",
            "folder.toml": "no spec in",
            "/dev/null/k.toml": "Not a directory",
            "x" * 5000: "too long",
            "/dev/zero": "larger than",
        }.items():
            with self.subTest(path[:20]):
                self.assertIn(reason, self.kgen(path, "-o", "out", code=BAD_FILES))
        self.assertFalse((self.folder / "out").exists())

    def test_nothing_at_all(self):
        self.assertIn("KG0104", self.kgen("/dev/null", "-o", "out", code=BAD_SPEC))

    def test_unreadable(self):
        self.write(COPY)
        (self.folder / "k.toml").chmod(0)
        self.folder.chmod(0o755)
        self.assertIn("Permission denied", self.kgen("k.toml", "-o", "out", code=BAD_FILES, nobody=True))

    def test_a_link_to_nothing_does_not_hide_the_specs_after_it(self):
        for name in "abcdefgh":
            self.write(COPY.replace('"k"', f'"{name}"'), f"specs/{name}.toml")
            (self.folder / f"specs/.#{name}.toml").symlink_to("someone@somewhere.1234")  # as an editor locks files
        self.kgen("specs", "-o", "out", code=OK)
        self.assertEqual(len(self.files()), 8 * 3)

    def test_one_bad_spec_in_a_folder_stops_all(self):
        for i in range(20):
            self.write(COPY.replace('"k"', f'"k{i}"'), f"specs/k{i}.toml")
        self.write("[" * 1000, "specs/bad.toml")
        self.kgen("specs", "-o", "out", code=BAD_SPEC)
        self.assertFalse((self.folder / "out").exists())

    # --- folders that cannot be written ---

    def test_output_folders_that_are_none(self):
        self.write(COPY)
        self.write("a file", "file")
        (self.folder / "dangling").symlink_to("nowhere/at/all")
        for path in ("file", "file/below", "/dev/full", "/dev/null/out", "/proc/kgen", "x" * 300, "dangling"):
            with self.subTest(path[:20]):
                self.assertIn("KG0002", self.kgen("k.toml", "-o", path, code=BAD_FILES))
        self.assertEqual((self.folder / "file").read_text(), "a file")

    def test_a_folder_where_a_file_should_be(self):
        self.write(COPY)
        for name in FILES:
            with self.subTest(name):
                (self.folder / "out" / name / "deep").mkdir(parents=True)
                self.kgen("k.toml", "-o", "out", code=BAD_FILES)
                self.assertEqual(self.files(), [])
                (self.folder / "out" / name / "deep").rmdir()
                (self.folder / "out" / name).rmdir()

    def test_read_only_folder(self):
        self.write(COPY)
        self.folder.chmod(0o755)
        (self.folder / "out").mkdir(mode=0o555)
        self.assertIn("Permission denied", self.kgen("k.toml", "-o", "out", code=BAD_FILES, nobody=True))
        self.assertIn("Permission denied", self.kgen("k.toml", "-o", "out/below", code=BAD_FILES, nobody=True))
        self.assertEqual(list((self.folder / "out").iterdir()), [])

    def test_a_full_disk_leaves_what_was_there(self):
        self.write(COPY)
        self.kgen("k.toml", "-o", "out", code=OK)
        before = {name: (self.folder / "out" / name).read_bytes() for name in FILES}
        self.write(COPY.replace("y = x", "y = exp(x) + 1"))
        for size in (0, 100, 1000, 2000):  # the last one holds the OpenMP source, but not the one for CUDA
            with self.subTest(size):
                self.assertIn("KG0002", self.kgen("k.toml", "-o", "out", code=BAD_FILES, file_size=size))
                self.assertEqual(self.files(), FILES)
                self.assertEqual(before, {name: (self.folder / "out" / name).read_bytes() for name in FILES})

    # --- streams ---

    def test_closed_streams(self):
        self.write(COPY)
        choices = itertools.chain.from_iterable(itertools.combinations("012", n) for n in (1, 2, 3))
        for count, closed in enumerate(choices):
            with self.subTest(closed):
                command = f'exec "$0" k.toml -o out{count} ' + " ".join(f"{stream}>&-" for stream in closed)
                done = subprocess.run(["sh", "-c", command, KGEN], cwd=self.folder, capture_output=True, timeout=HANGS)
                self.assertEqual(done.returncode, OK)
                self.assertEqual(self.files(f"out{count}"), FILES)
                for name in FILES:
                    self.assertTrue((self.folder / f"out{count}" / name).read_text().startswith("// Code generated"))
        self.write(COPY.replace("y = x", "y = q"))
        done = subprocess.run(["sh", "-c", 'exec "$0" k.toml -o bad 2>&-', KGEN], cwd=self.folder, timeout=HANGS)
        self.assertEqual(done.returncode, BAD_SPEC)

    def test_full_stdout_is_an_error(self):
        self.write(COPY)
        with open("/dev/full", "wb") as full:
            for line in ("k.toml --stop-after plan", "explain k.toml", "--help", "k.toml -o out"):
                with self.subTest(line):
                    self.assertIn("standard output", self.kgen(*line.split(), code=BAD_FILES, stdout=full))

    def test_a_reader_that_leaves(self):
        self.write(COPY)
        done = subprocess.run(
            ["bash", "-c", '"$0" k.toml --stop-after plan | true; echo "${PIPESTATUS[0]}"', KGEN],
            cwd=self.folder, capture_output=True, text=True, timeout=HANGS,
        )
        self.assertIn(int(done.stdout), (OK, 128 + signal.SIGPIPE))

    def test_many_arguments(self):
        self.write(COPY)
        self.kgen("k.toml", *[word for i in range(5000) for word in ("-D", f"p{i}=1")], "-o", "out", code=BAD_SPEC)
        self.kgen("k.toml", "-D", "p=" + "9" * 100_000, "-o", "out", code=BAD_SPEC)
        self.kgen("k.toml", "--batch", "B=" + "x," * 50_000, "-o", "out", code=BAD_SPEC)
        self.assertFalse((self.folder / "out").exists())


unittest.main()
