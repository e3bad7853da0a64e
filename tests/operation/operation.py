#!/usr/bin/env python3
"""A scalar operation is a row of ops.def and its value, and a name for bodies: nothing else has to know of it.

A copy of the sources gets `asinh` as generator/README.md says. Of the program, only what was changed and what reads the
table is compiled; the rest, for which the table has one number more at its end, is linked as it is. A kernel that calls
the operation then runs on the interpreter, on OpenMP and on the CUDA model.
Usage: operation.py BUILD_FOLDER CMAKE MODEL_LIBRARY
"""
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, CMAKE, MODEL_LIBRARY = (sys.argv.pop(1) for _ in range(3))
BUILD = pathlib.Path(BUILD).resolve()
SOURCES = ROOT / "generator"

# File -> what stands before the new line, and the line.
ADDED = {
    "ir/ops.def": ("", 'KGEN_OP(asinh, 1, real, function, 0, 7, carries_nan | call, "", "std::asinh", "asinhf", "asinh", "1 / sqrt(a * a + 1)")'),
    "ir/evaluate.cpp": ("    KGEN_UNARY(sinh, std::sinh(x));", "    KGEN_UNARY(asinh, std::asinh(x));"),
    "ir/magnitude.cpp": ("    return smooth(std::cosh(x), a[0], v) + slack;",
                         "  case Op::asinh:\n    return smooth(1 / std::sqrt(1 + x * x), a[0], v);"),
    "body/builtins.def": ('KGEN_BUILTIN(sinh, maths, 1, "one value")', 'KGEN_BUILTIN(asinh, maths, 1, "one value")'),
    "body/prelude/builtins.h": ("template <class... A> kgen_real<A...> sinh(A...);", "template <class... A> kgen_real<A...> asinh(A...);"),
    "spec/reserved.def": ('KGEN_RESERVED("sinh", builtin)', 'KGEN_RESERVED("asinh", builtin)'),
}
SPEC = """kernel = "asinh_of_rows"
types.T = ["f32", "f64"]
inputs.x = "T[M, N]"
outputs.y = "T[M, N]"
outputs.total = "T[M]"
body = '''
y = asinh(x) * 2;
total = sum(asinh(x), N);
'''
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))[:300]}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done.stdout


def add_operation(sources):
    for name, (before, line) in ADDED.items():
        text = (sources / name).read_text()
        if before:
            assert text.count(before + "\n") == 1, f"{name} has no place for {line}"
            text = text.replace(before + "\n", f"{before}\n{line}\n")
        else:
            text += line + "\n"
        (sources / name).write_text(text)


def changed_units(sources):
    """The translation units that have another text but for the numbers of operations: those that were changed, and those
    that list a changed table themselves."""
    tables = [name for name in ADDED if name.endswith(".def")]
    for path in sorted(sources.rglob("*.cpp")):
        name = str(path.relative_to(sources))
        if name in ADDED or any(f'#include "{table}"' in path.read_text() for table in tables):
            yield name


def compiled(sources, folder):
    """Objects of what the operation changes, with the flags of the build."""
    commands = {entry["file"]: entry for entry in json.loads((BUILD / "compile_commands.json").read_text())}
    prelude = BUILD / "generator/embedded_prelude.cpp"
    listed = prelude.with_suffix(".list")
    run(CMAKE, f"-DOUTPUT={folder / prelude.name}", "-DSYMBOL=prelude", f"-DBASE={sources / 'body/prelude'}", f"-DLIST={listed}",
        "-P", ROOT / "cmake/embed.cmake")
    units = [(str(SOURCES / name), str(sources / name)) for name in changed_units(sources)]
    units.append((str(prelude), str(folder / prelude.name)))
    running = []
    for at, (file, copy) in enumerate(units):
        words = [copy if word == file else word.replace(f"-I{SOURCES}", f"-I{sources}") for word in shlex.split(commands[file]["command"])]
        words[words.index("-o") + 1] = str(folder / f"{at}.o")
        running.append(subprocess.Popen(words, cwd=commands[file]["directory"]))
    assert all(process.wait() == 0 for process in running)
    return [folder / f"{at}.o" for at in range(len(units))]


def linked(objects, program):
    """The program, with these objects before the libraries that have them as they were."""
    line = run("ninja", "-C", BUILD, "-t", "commands", "-s", "kgen").splitlines()[-1]
    words = shlex.split(line.strip().removeprefix(": && ").removesuffix(" && :"))
    out = words.index("-o")
    words[out + 1] = str(program)
    run(*words[:out], *objects, *words[out:], cwd=BUILD)


class Operation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="kgen_operation_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        sources = cls.folder / "generator"
        shutil.copytree(SOURCES, sources)
        add_operation(sources)
        cls.kgen = cls.folder / "kgen"
        linked(compiled(sources, cls.folder), cls.kgen)
        cls.spec = cls.folder / "asinh_of_rows.toml"
        cls.spec.write_text(SPEC)

    def test_before_there_is_no_such_operation(self):
        done = subprocess.run([BUILD / "kgen", "check", self.spec, "-o", self.folder], capture_output=True, text=True)
        self.assertIn("asinh", done.stderr)
        self.assertNotIn(done.returncode, (0, 1))

    def test_the_interpreter_computes_it(self):
        x = numpy.concatenate([numpy.linspace(-20, 20, 41), [1e-6, 1e30, -1e30]]).astype(numpy.float32)[None]
        numpy.save(self.folder / "x.npy", x)
        run(self.kgen, "run", self.spec, "-D", "T=f32", "--in", f"x={self.folder / 'x.npy'}", "--out", f"y={self.folder / 'y.npy'}")
        numpy.testing.assert_allclose(numpy.load(self.folder / "y.npy"), 2 * numpy.arcsinh(x.astype(numpy.float64)), rtol=3e-7)

    def test_both_targets_compute_it(self):
        for target in ("openmp", "cuda_model"):
            run(self.kgen, "verify", self.spec, "--target", target, "--seeds", 1, "--work", 20000, "--cxxflags", "-O1", "--model",
                ROOT / "tests/cuda_model", "--model-library", MODEL_LIBRARY)

    def test_its_derivative_is_that_of_its_row(self):
        run(self.kgen, "verify", self.spec, "--grad", "-D", "T=f64", "--seeds", 1)


if __name__ == "__main__":
    unittest.main()
