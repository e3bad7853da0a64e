"""Whatever identifier an emitted file or a helper uses, a user may have chosen it too: as an array, a scalar, a table, an
axis, a local, scratch, a step of the grid, or the kernel. Each is refused by kgen or gives files that compile without a
warning.

Usage: names_test.py KGEN [--all]      without --all: some of them, and those that went wrong once
"""

import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ALL = "--all" in sys.argv and not sys.argv.remove("--all")
KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]
CUDA_MODEL = ROOT / "tests/cuda_model/include"
WARNINGS = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]

# No body can declare these, which Clang says in words of its own.
KEYWORDS = set("""alignas alignof auto bool break case catch char class const const_cast constexpr continue decltype default
delete do double else enum explicit extern false float for friend goto if inline int long namespace new noexcept
nullptr operator private public register reinterpret_cast return short signed sizeof static static_assert static_cast struct
switch template this throw true try typedef typename union unsigned using virtual void volatile while""".split())
WENT_WRONG = """Index reserve Pack kElements cudaMallocAsync cudaFreeAsync unroll pragma Extent Tile workspace stream N M
threadIdx space launch first_above row_at error kVectorBytes lanes item KGEN_OPENMP_H KGEN_OPENMP_REVISION shared_memory
kgen kgen_cuda tile TABLE KGEN_TABLE_SORTED KGEN_TABLE_CONFLICT T Stored Value kBytes
in_parallel product_of tile_bytes""".split()
ONE_IN = 24  # of the others


def identifiers():
    """Of the templates and of one emitted file of each kind, comments left out."""
    texts = [p.read_text() for p in (ROOT / "templates").rglob("*") if p.suffix in (".h", ".cpp", ".cu")]
    for name in ("norm/softmax", "scan/prefix_sum", "reduce/argmax", "sparse/coo_matmul"):
        texts += [p.read_text() for suffix in (".h", "_openmp.cpp", "_cuda.cu") if (p := ROOT / f"generated/{name}{suffix}").exists()]
    words = set()
    for text in texts:
        words |= set(re.findall(r"\b[A-Za-z]\w*", re.sub(r"//.*|/\*.*?\*/|\"[^\"\n]*\"", " ", text)))
    return sorted(word for word in words if "__" not in word and len(word) < 40 and word not in KEYWORDS)


def sampled(words):
    def chosen(word):
        return hashlib.sha256(word.encode()).digest()[0] % ONE_IN == 0

    return words if ALL else WENT_WRONG + [word for word in words if word not in WENT_WRONG and chosen(word)]


HEAD = 'kernel = "k_names"\ninputs.x_own = "f32[R_own, C_own]"\noutputs.y_own = "f32[R_own, C_own]"\n'
USES = "exp(x_own) + cumsum(x_own, C_own) + sum(x_own, C_own) * max(x_own, R_own) + argmax(x_own, C_own)"


def whole(declarations, statements, terms):
    return HEAD + declarations + "body = '''\n" + statements + f"y_own = {USES};\n" + "".join(
        f"y_own += {term};\n" for term in terms) + "'''\n"


def inputs(names):
    return whole("".join(f'inputs.{n} = "f32[R_own, C_own]"\n' for n in names), "", [f"{n} + sum({n}, C_own)" for n in names])


def scalars(names):
    return whole("".join(f'scalars.{n} = "f32"\n' for n in names), "", [f"x_own * {n}" for n in names])


def tables(names):
    return whole("".join(f'tables.{n} = {{ type = "i32[R_own]", range = "C_own", sorted = true }}\n' for n in names), "",
                 [f"at(x_own, C_own = {n}[index(R_own)])" for n in names])


def axes(names):
    return whole("".join(f'inputs.in{i}_own = "f32[R_own, {n}]"\n' for i, n in enumerate(names)), "",
                 [f"sum(in{i}_own, {n}) + size({n})" for i, n in enumerate(names)])


def locals_of(names):
    called = set(re.findall(r"\w+", USES))  # a local takes the place of a function
    names = [n for n in names if n not in called]
    return whole("", "".join(f"real {n} = exp(x_own * {i + 1});\n" for i, n in enumerate(names)),
                 [f"{n} / sum({n}, C_own)" for n in names])


def scratch(names):
    return whole("".join(f'scratch.{n} = "f32[R_own, C_own]"\n' for n in names), "".join(f"{n} = exp(x_own);\n" for n in names),
                 [f"{n} / sum({n}, C_own) + at({n}, C_own = 0)" for n in names])


def grid(names):
    """Steps that carry something stay loops."""
    body = "".join(f"y += x + {n};\n" for n in names)
    return ('kernel = "k_names"\ninputs.x = "f32[C_own]"\noutputs.y = "f32[C_own]"\n' +
            "".join(f'grid.{n} = {{ size = 2, semantics = "arbitrary" }}\n' for n in names) +
            f"body = '''\nif ({' && '.join(f'first({n})' for n in names)}) y = 0;\n{body}'''\n")


def kernel(names):
    (name,) = names
    return whole("", "", []).replace("k_names", name)


# Role: how many names a spec can bear, and how many batches are enough without --all.
ROLES = {inputs: (60, 99), scalars: (60, 99), tables: (40, 1), axes: (40, 99), locals_of: (40, 99), scratch: (30, 1),
         grid: (4, 3), kernel: (1, 4)}


class Names(unittest.TestCase):
    def generate(self, role, names, folder):
        """The names that kgen takes, after it has written their files."""
        while names:
            (folder / "s.toml").write_text(role(names))
            done = subprocess.run([KGEN, "s.toml", "-o", "."], cwd=folder, capture_output=True, text=True, timeout=60)
            if done.returncode == 0:
                return names
            refused = set(re.findall(r"error\[KG0(?:102|11[123]|207|209|212)\]: (?:unknown key )?`(\w+)`", done.stderr))
            refused |= set(re.findall(r"error\[KG0004\]: (\w+)\.h is written by all kernels", done.stderr))
            self.assertTrue(refused & set(names), done.stderr[:2000])
            names = [name for name in names if name not in refused]
        return names

    def complaints(self, folder):
        stem = next(folder.glob("*_openmp.cpp")).name[: -len("_openmp.cpp")]
        said = ""
        for source, flags in ((f"{stem}_openmp.cpp", ["-fopenmp"]), (f"{stem}_cuda.cu", [f"-I{CUDA_MODEL}", "-xc++"])):
            done = subprocess.run(["g++", *WARNINGS, *flags, source], cwd=folder, capture_output=True, text=True)
            said += "".join(f"{line}\n" for line in done.stderr.splitlines() if "error" in line)[:1500]
        return said

    def check(self, role):
        size, batches = ROLES[role]
        names = sampled(identifiers())
        groups = [names[at : at + size] for at in range(0, len(names), size)]
        tried = 0
        for group in groups if ALL else groups[:batches]:
            with tempfile.TemporaryDirectory(prefix="kgen_names_") as folder, self.subTest(role=role.__name__, names=group):
                taken = self.generate(role, group, pathlib.Path(folder))
                tried += len(taken)
                if taken:
                    self.assertEqual(self.complaints(pathlib.Path(folder)), "")
        self.assertGreater(tried, 3)

    def test_headers_do_for_callers_who_had_those_of_the_c_library_before(self):
        """Signals, errors of the C standard and families of macros: an axis of such a name is another one in C."""
        headers = "".join(f"#include <{name}.h>\n" for name in "errno fenv locale math signal stdio stdlib time".split())
        said = subprocess.run(["gcc", "-dM", "-E", "-xc", "-"], input=headers, capture_output=True, text=True, check=True)
        family = r"SIG[A-Z0-9]+|(FE|LC|SA|SIG|SEEK|CLOCK|FPE|ILL|SEGV|BUS|CLD|POLL)_\w+|EDOM|EILSEQ|ERANGE|NSIG"
        names = sorted(set(re.findall(rf"^#define ({family}) ".replace("(FE", "(?:FE"), said.stdout, re.MULTILINE)))
        self.assertGreater(len(names), 60)
        with tempfile.TemporaryDirectory(prefix="kgen_names_") as folder:
            folder = pathlib.Path(folder)
            for at in range(0, len(names), 50):
                taken = self.generate(axes, names[at : at + 50], folder)
                self.assertEqual(taken, names[at : at + 50])
                (folder / "caller.c").write_text(headers + '#include "k_names.h"\n')
                done = subprocess.run(["gcc", "-Wall", "-Werror", "-fsyntax-only", "caller.c"], cwd=folder,
                                      capture_output=True, text=True)  # fmt: skip
                self.assertEqual(done.stderr, "")


for role in ROLES:
    setattr(Names, f"test_{role.__name__}", lambda self, role=role: self.check(role))

unittest.main()
