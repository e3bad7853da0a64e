"""Every message of kgen, provoked, as its user reads it.

KGnnnn_CAUSE.toml is a spec that is wrong in one way, KGnnnn_CAUSE.txt beside it what kgen says of it. Comments at the
top of a spec may give the `options:` that kgen is called with, and the number of `messages:` if it is not one. Specs that
are no text, or too large to keep, are made here; messages about files and arrays come from commands, listed here too.
The test fails when a row of generator/support/diagnostics.def is provoked by nothing, when a message says nothing that
helps, and when a rule or a spec is missing in rules.toml. `--update` writes the texts anew: read them.
"""

import argparse
import concurrent.futures
import difflib
import fnmatch
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
MESSAGE = re.compile(r"^(?:error|warning|note)\[(KG\d{4})\]", re.MULTILINE)
SAYS_ALL = {"KG0103", "KG0214"}  # the text itself says what is wanted
OK, FOUND, BAD_SPEC, BAD_FILES = 0, 1, 2, 4

COPY = """kernel = "copy"
inputs.x = "f32[N]"
outputs.z = "f32[N]"
body = 'z = x;'
"""


def with_body(body):
    return COPY.replace("z = x;", body)


def operands(count):
    return COPY + "".join(f'inputs.x{i} = "f32[N]"\n' for i in range(count))


# Specs that nobody wants to keep as files: what is too large, and what is no text.
MADE = {
    "KG0105_not_utf8": COPY.encode() + b"doc = '\xe9'\n",
    "KG0105_control": COPY.encode() + b"doc = '\x07'\n",
    "KG0105_null": COPY.encode() + b"\0\n",
    "KG0105_byte_order": COPY.encode("utf-16"),
    "KG0106_values": COPY + "params.p = [" + "1, " * 30_000 + "]\n",
    "KG0140_arguments": operands(300),
    "KG0140_axes": COPY.replace("[N]", "[N, " + ", ".join(f"A{i}" for i in range(40)) + "]", 1)
    + 'inputs.y = "f32[' + ", ".join(f"B{i}" for i in range(40)) + ']"\n',
    "KG0140_dimensions": COPY.replace("[N]", "[" + ", ".join(f"A{i}" for i in range(70)) + "]", 1),
    "KG0140_grid": COPY + "".join(f"grid.g{i} = {{ size = 2 }}\n" for i in range(20)),
    "KG0170_long": COPY + 'axes.M = "N' + " + 1" * 1000 + '"\n',
    "KG0202_text": with_body("z = x; //" + "x" * 1_010_000),
    "KG0202_statement": with_body("z = x" + " + 1" * 15_000 + ";"),
    "KG0206_brackets": with_body("z = " + "(" * 250 + "x" + ")" * 250 + ";"),
    "KG0206_loops": with_body("if (x > 0) " * 250 + "z = x;"),
    "KG0206_expressions": with_body("z = x" + " + x" * 1_500 + ";"),
    "KG0206_calls": COPY.replace("x;'", "f80(x);'")
    + "functions = '''\nreal f0(real v) { return v + 1; }\n"
    + "".join(f"real f{i}(real v) {{ return f{i - 1}(v); }}\n" for i in range(1, 81))
    + "'''\n",
    "KG0226_calls": COPY.replace("x;'", "f20(x);'")
    + "functions = '''\nreal f0(real v) { return v + 1; }\n"
    + "".join(f"real f{i}(real v) {{ return f{i - 1}(v) + f{i - 1}(v); }}\n" for i in range(1, 21))
    + "'''\n",
}


def npy(descr, values, code):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    return start + header.encode() + struct.pack(f"<{len(values)}{code}", *values)


def lint(text):
    return ["lint", "copy.toml"], {"copy.toml": text}, FOUND


def grad(text, code=BAD_SPEC, *options):
    return ["grad", "copy.toml", "-o", "out", *options], {"copy.toml": text}, code


DOUBLED = with_body("z = 2 * x;")
HALF_OF_ITS_BACKWARD = """# Written by kgen grad from copy.toml.
kernel = "copy_backward"
doc = "The gradient of copy by x, given that of z"
backward_of = "copy"
inputs.d_z = "f32[N]"
outputs.d_x = "f32[N]"
body = '''
d_x = d_z;
'''
"""

POWER = """kernel = "power"
params.k = 2
inputs.x = "f32[N]"
outputs.z = "f32[N]"
body = 'z = k * exp(x);'
"""
ITS_BACKWARD_FOR_ONE_NUMBER = """# Written by kgen grad -D k=3 from power.toml.
kernel = "power_backward"
doc = "The gradient of power by x, given that of z"
backward_of = "power"
inputs.x = "f32[N]"
inputs.d_z = "f32[N]"
outputs.d_x = "f32[N]"
body = '''
d_x = 3 * d_z * exp(x);
'''
"""

DOC = 'doc = "copies"\n'
BLOCKED = DOC + COPY + 'grid.i = { axis = "N", block = 8, semantics = "arbitrary" }\n'

LOCK = """# Written by kgen: what each file was made from. DO NOT EDIT.
"old.h" = { spec = "../copy.toml", spec_hash = "0", hash = "0" }
"""

# What files, arrays and lint provoke: the arguments of kgen, the files that are there (a folder ends in /), the exit code.
COMMANDS = {
    "KG0501_input": lint(DOC + COPY + 'inputs.y = "f32[N]"\n'),
    "KG0501_local": lint(DOC + with_body("float v = x; z = x;")),
    "KG0501_function": lint(DOC + COPY + "functions = 'real f(real v) { return v; }'\n"),
    "KG0502_steps": lint(BLOCKED.replace("z = x;", "z = x + i;")),
    "KG0503_blocks": lint(BLOCKED.replace(', semantics = "arbitrary"', "")),
    "KG0504_partial": lint(DOC + COPY.replace('z = "f32[N]"', 'z = { type = "f32[N]", partial = true }')),
    "KG0504_outside": lint(DOC + COPY.replace('x = "f32[N]"', 'x = { type = "f32[N]", outside = 1 }')),
    "KG0505_pairs": lint(DOC + with_body("z = at(x, N = index(N) - index(N) % 2 + 1);")),
    "KG0506_missing": lint(COPY),
    "KG0507_print": lint(DOC + with_body('print("x is", x); z = x;')),
    "KG0508_local": lint(DOC + COPY.replace('x = "f32', 'x = "i8').replace('z = "f32[N]', 'z = "i8[]').replace("z = x", "int s = sum(x, N); z = s + 1")),
    "KG0508_dot": lint(DOC + COPY.replace('x = "f32', 'x = "i8').replace('z = "f32[N]', 'z = "i8[]').replace("z = x", "z = dot(x, x, N)")),
    "KG0006_left_over": (["copy.toml", "-o", "out"], {"copy.toml": COPY, "out/kgen.lock": LOCK, "out/old.h": ""}, OK),
    "KG0007_edited": (
        ["copy.toml", "-o", "out", "--prune"],
        {"copy.toml": COPY, "out/kgen.lock": LOCK, "out/old.h": "edited"},
        OK,
    ),
    "KG0008_colon": (["a:b.toml", "-o", "out", "--depfile", "d", "--stamp", "s"], {"a:b.toml": COPY}, BAD_FILES),
    "KG0009_no_value": (
        ["copy.toml", "-o", "out", "--templates", "mine"],
        {"copy.toml": COPY, "mine/common/header.h": "{{{banner}}}\n{{{author}}}\n"},
        BAD_FILES,
    ),
    "KG0601_loop": grad(with_body("z = x; while (z > 1) z = z / 2;")),
    "KG0601_bits": grad(with_body("z = x * bitcast<float>(bitcast<int>(x) & 15);")),
    "KG0602_whole_numbers": grad(COPY.replace("f32", "i32")),
    "KG0602_of": grad(COPY + "inputs.place = \"i32[N]\"\n", BAD_SPEC, "--of", "place"),
    "KG0603_of": grad(COPY, BAD_SPEC, "--of", "X"),
    "KG0603_with": grad(COPY, BAD_SPEC, "--with", "x"),
    "KG0604_axis_functions": grad('params.form = ["cumsum", "cumprod"]\n' + with_body("z = form(x, N);")),
    "KG0605_steps": grad(
        COPY.replace('"f32[N]"', '{ type = "f32[N]", block = [2], index = ["f"] }')
        .replace('z = { type = "f32[N]",', 'z = { type = "f32[N]", partial = true,')
        + 'tables.count = { type = "i32[1]", where = "host" }\ngrid.f = { size = "min(count[0], 4)" }\n'
    ),
    "KG0606_rounding": grad(with_body("z = floor(x);"), OK),
    "KG0607_tokens": grad(
        'inputs.token = "i32[M]"\n' + with_body("z = at(x, N = token);").replace('z = "f32[N]"', 'z = "f32[M]"'), OK
    ),
    "KG0611_tokens": grad(
        'inputs.token = "i32[M]"\n' + with_body("z = at(x, N = token);").replace('z = "f32[N]"', 'z = "f32[M]"'), OK, "--deterministic"
    ),
    "KG0612_tokens": grad(
        'inputs.token = "i32[M]"\n'
        + with_body("real part = cumsum(x, N); z = at(part, N = token);").replace('z = "f32[N]"', 'z = "f32[M]"'), OK
    ),
    "KG0608_in_place": grad(COPY.replace('z = "f32[N]"', 'z = { type = "f32[N]", alias = "x" }').replace("= x;", "= x * x;")),
    "KG0603_save": grad(with_body("real part = exp(x); z = part / (1 + part);"), BAD_SPEC, "--save", "prt"),
    "KG0609_block": grad(with_body("z = x; if (x > 0) { real part = exp(x); z = part / (1 + part); }"), BAD_SPEC, "--save", "part"),
    "KG0609_two": grad(with_body("real part = exp(x), more = 1 + part; z = part / more;"), BAD_SPEC, "--save", "part"),
    "KG0609_set_in_loop": grad(with_body("real part = x; for (int i = 0; i < 3; ++i) part = part * x; z = part;"), BAD_SPEC,
                               "--save", "part"),
    "KG0609_not_needed": grad(with_body("real part = 2 * x; z = part;"), BAD_SPEC, "--save", "part"),
    "KG0610_products": grad(
        'kernel = "copy"\ninputs.x = "f32[M, K]"\ninputs.y = "f32[K, N]"\noutputs.z = "f32[M, N]"\n'
        "body = 'real part = dot(x, y, K); z = part * exp(part);'\n", OK),
    "KG0001_backward": (["copy.toml", "--bind", "numpy"], {"copy.toml": 'backward = "gone.toml"\n' + COPY}, BAD_FILES),
    "KG0005_backward": (
        ["copy.toml", "--bind", "numpy"],
        {"copy.toml": 'backward = "other.toml"\n' + COPY, "other.toml": COPY.replace('"copy"', '"other"')},
        BAD_FILES,
    ),
    "KG0005_backward_array": (
        ["copy.toml", "--bind", "numpy"],
        {
            "copy.toml": 'backward = "slope.toml"\n' + COPY,
            "slope.toml": 'kernel = "slope"\nbackward_of = "copy"\ninputs.d_z = "f64[N]"\noutputs.d_x = "f32[N]"\n'
            "body = 'd_x = d_z;'\n",
        },
        BAD_FILES,
    ),
    "KG0001_missing": (["gone.toml", "-o", "out"], {}, BAD_FILES),
    "KG0001_large": (["large.toml", "-o", "out"], {"large.toml": COPY + "# " + "x" * 5_000_000}, BAD_FILES),
    "KG0001_array": (["run", "copy.toml", "--in", "x=gone.npy"], {"copy.toml": COPY}, BAD_FILES),
    "KG0002_output": (["copy.toml", "-o", "out"], {"copy.toml": COPY, "out": "a file"}, BAD_FILES),
    "KG0002_array": (
        ["run", "copy.toml", "--size", "N=2", "--out", "z=gone/z.npy"],
        {"copy.toml": COPY},
        BAD_FILES,
    ),
    "KG0003_empty": (["specs", "-o", "out"], {"specs/": ""}, BAD_FILES),
    "KG0004_clash": (["a.toml", "b.toml", "-o", "out"], {"a.toml": COPY, "b.toml": COPY}, BAD_FILES),
    "KG0004_case": (
        ["a.toml", "b.toml", "-o", "out"],
        {"a.toml": COPY, "b.toml": COPY.replace('"copy"', '"Copy"')},
        BAD_FILES,
    ),
    "KG0010_out": (
        ["a.toml", "b.toml", "-o", "out", "--bind", "torch"],
        {"a.toml": COPY, "b.toml": COPY.replace('"copy"', '"copy_out"')},
        BAD_FILES,
    ),
    "KG0613_changed": (
        ["copy.toml", "-o", "out", "--bind", "torch"],
        {"copy.toml": DOUBLED, "copy_backward.toml": HALF_OF_ITS_BACKWARD},
        OK,
    ),
    "KG0614_one_number": (
        ["power.toml", "-o", "out", "--bind", "torch"],
        {"power.toml": POWER, "power_backward.toml": ITS_BACKWARD_FOR_ONE_NUMBER},
        BAD_SPEC,
    ),
    "KG0005_type": (
        ["run", "copy.toml", "--in", "x=x.npy"],
        {"copy.toml": COPY, "x.npy": npy("<f8", [1, 2], "d")},
        BAD_FILES,
    ),
    "KG0005_no_array": (
        ["run", "copy.toml", "--in", "x=x.npy"],
        {"copy.toml": COPY, "x.npy": "1, 2, 3"},
        BAD_FILES,
    ),
    "KG0005_short": (
        ["run", "copy.toml", "--in", "x=x.npy"],
        {"copy.toml": COPY, "x.npy": npy("<f4", [1, 2, 3], "f")[:-4]},
        BAD_FILES,
    ),
}


def rows():
    text = (ROOT / "generator/support/diagnostics.def").read_text()
    return dict(re.findall(r'^KGEN_DIAGNOSTIC\(\w+, "(KG\d{4})", (\w+),', text, re.MULTILINE))


def setting(text, name, default):
    found = re.search(rf"^# {name}: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else default


def run(kgen, arguments, folder):
    """What kgen says, and its exit code."""
    done = subprocess.run([kgen, *arguments], cwd=folder, capture_output=True, timeout=60)
    return done.stderr.decode(), done.returncode


def run_spec(kgen, path):
    text = path.read_text()
    with tempfile.TemporaryDirectory() as out:
        options = setting(text, "options", "").split()
        said, code = run(kgen, ["generate", path.name, "-o", out, *options], path.parent)
        left = sorted(p.name for p in pathlib.Path(out).iterdir())
    if code == BAD_SPEC and left:
        said += f"files were written: {left}\n"
    return said, code, int(setting(text, "messages", "1")), None


def run_made(kgen, name):
    with tempfile.TemporaryDirectory() as folder:
        text = MADE[name]
        path = pathlib.Path(folder) / f"{name}.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        said, code = run(kgen, ["generate", path.name, "-o", "out"], folder)
    return said, code, 1, None


def run_command(kgen, name):
    arguments, files, wanted = COMMANDS[name]
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            path = pathlib.Path(folder) / file
            if file.endswith("/"):
                path.mkdir(parents=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        said, code = run(kgen, arguments, folder)
    return said, code, 1, wanted


def faults_of(name, severities, said, code, messages, wanted_code):
    """What is wrong with the messages themselves, whatever the text of old says."""
    codes = MESSAGE.findall(said)
    if len(codes) != messages:
        yield f"{len(codes)} messages instead of {messages}"
    if name[:6] not in codes:
        yield f"{name[:6]} is not among them"
    if wanted_code is None:
        wanted_code = BAD_SPEC if any(severities.get(c) == "error" for c in codes) else OK
    if code != wanted_code:
        yield f"exit code {code} instead of {wanted_code}"
    for part in re.split(r"^(?=error\[|warning\[|note\[)", said, flags=re.MULTILINE):
        if MESSAGE.match(part) and "= help: " not in part and MESSAGE.match(part).group(1) not in SAYS_ALL:
            yield f"no help: {part.splitlines()[0]}"


def rule_faults(names):
    """rules.toml names every spec, and only specs that are there. `*` stands for all causes."""
    listed = set()
    for section, rules in tomllib.loads((FOLDER / "rules.toml").read_text()).items():
        for rule, specs in rules.items():
            if not specs:
                yield f"rules.toml: no spec for: {section}: {rule}"
            for pattern in specs:
                found = fnmatch.filter(names, pattern)
                listed.update(found)
                if not found:
                    yield f"rules.toml names {pattern}, which is not there"
    for name in sorted(names - listed):
        yield f"rules.toml does not name {name}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    parser.add_argument("--update", action="store_true", help="write the texts anew")
    parser.add_argument("only", nargs="*", help="beginnings of names")
    arguments = parser.parse_args()
    kgen = str(pathlib.Path(arguments.kgen).resolve())
    severities = rows()

    tasks = {path.stem: (run_spec, path) for path in sorted(FOLDER.glob("KG*.toml"))}
    tasks |= {name: (run_made, name) for name in MADE} | {name: (run_command, name) for name in COMMANDS}
    faults = []
    if not arguments.only:
        faults += list(rule_faults(set(tasks)))
        provoked = {name[:6] for name in tasks}
        faults += [f"no spec provokes {code}" for code in severities if code not in provoked]
        faults += [f"left over: {p.name}" for p in sorted(FOLDER.glob("KG*.txt")) if p.stem not in tasks]
    chosen = [n for n in sorted(tasks) if not arguments.only or any(n.startswith(o) for o in arguments.only)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = dict(zip(chosen, pool.map(lambda n: tasks[n][0](kgen, tasks[n][1]), chosen)))
    for name, (said, code, messages, wanted_code) in results.items():
        faults += [f"{name}: {fault}" for fault in faults_of(name, severities, said, code, messages, wanted_code)]
        golden = FOLDER / f"{name}.txt"
        if arguments.update:
            golden.write_text(said)
        wanted = golden.read_text() if golden.exists() else ""
        if said != wanted:
            lines = difflib.unified_diff(wanted.splitlines(), said.splitlines(), golden.name, "now", lineterm="")
            faults.append("\n".join(list(lines)[:40]))
    print("\n".join(faults))
    if faults:
        print("to accept texts: tests/bad/bad.py --kgen PATH --update, then read what changed")
    print(f"{len(results)} specs and commands, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
