"""Compiles the maths functions of emitted code for several machines and compilers, and the driver that compares them.

What is promised stands in docs/maths.md; promised() reads it there.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What templates/openmp/sets.h says of the set that is being compiled; a program of templates has only one.
LEFT_OUT = ["-DKGEN_NO_AVX2", "-DKGEN_NO_AVX512"]
SET_MACROS = ["-ffp-contract=off", "-DIN_SET=", "-DKGEN_SET_AVX2=(KGEN_SET_NUMBER>=1)",
              "-DKGEN_SET_AVX512=(KGEN_SET_NUMBER>=2)", "-DKGEN_SET_FUSES=KGEN_SET_AVX2"]
SOURCES = ["templates/openmp/maths.h", "templates/openmp/maths_in_doubles.h"]
TWO = ["pow", "atan2"]


def promised():
    """{function: {"f32": ulps, "f64": ulps or None where the standard library is called}}"""
    page = (ROOT / "docs/maths.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+|library) \|", page, re.MULTILINE)
    return {name: {"f32": float(f32), "f64": None if f64 == "library" else float(f64)} for name, f32, f64 in rows}


def sources_hash():
    """Comments do not count."""
    lines = [line for path in SOURCES for line in (ROOT / path).read_text().splitlines() if not line.startswith("//")]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def machines():
    """(-march, the number of its set of instructions) of what this processor can run: plain, AVX2, AVX-512, its own."""
    flags = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    here = ["x86-64", *["x86-64-v3"] * (" avx2 " in flags and " fma " in flags),
            *["x86-64-v4"] * (" avx512vl " in flags and " avx512dq " in flags)]
    return [*((name, number) for number, name in enumerate(here)), ("native", len(here) - 1)]


def all_builds(emitted=False):
    """(name, command) for each compiler and machine, of programs of templates or of emitted files: one set of instructions."""
    compilers = [("gcc", "g++")] + [("clang", clang) for clang in [shutil.which("clang++-19")] if clang]
    return [(f"{short}_{re.sub('[^a-z0-9]', '_', march)}",
             [compiler, f"-march={march}", *(LEFT_OUT[number:] if emitted else [f"-DKGEN_SET_NUMBER={number}", *SET_MACROS])])
            for short, compiler in compilers for march, number in machines()]


def compile_driver(folder, builds, flags=("-O2",), templates=ROOT / "templates"):
    """The driver with these builds, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for name, command in builds:
        objects.append(folder / f"{name}.o")
        subprocess.run([*command, "-std=c++17", *flags, "-Wno-unknown-pragmas", f"-DBUILD={name}", "-I", templates,
                        "-c", HERE / "functions.cpp", "-o", objects[-1]], check=True)
    listed = " ".join(f"X({name})" for name, _ in builds)
    here = ["g++", "-std=c++17", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno"]
    subprocess.run([*here, "-D__FAST_MATH__", "-c", HERE / "reference.cpp", "-o", folder / "reference.o"], check=True)
    subprocess.run([*here, "-fopenmp", f"-DBUILDS(X)={listed}", HERE / "driver.cpp", folder / "reference.o", *objects,
                    "-lm", "-o", folder / "driver"], check=True)
    return folder / "driver"


def ask(driver, *arguments):
    """The words of each line that the driver prints."""
    done = subprocess.run([driver, *map(str, arguments)], check=True, capture_output=True, text=True)
    return [line.split() for line in done.stdout.splitlines()]


class Row:
    """A line of `every` or `sample`."""

    def __init__(self, words):
        _, self.function, self.type, self.build, count, error, x, y, specials, special_x, special_y, differing = words
        self.count, self.error, self.specials = int(count), float(error), int(specials)
        self.differing = int(differing)
        two = self.function in TWO
        self.at = f"{x}, {y}" if two else x
        self.special_at = f"{special_x}, {special_y}" if two else special_x

    def fault(self, bounds):
        """What of the promise does not hold; None: all does."""
        bound = bounds[self.function][self.type]
        if bound is None:
            return None
        if self.specials:
            return f"{self.specials} special values are wrong, such as at {self.special_at}"
        return f"{self.error:.4f} ulp at {self.at}, {bound} promised" if self.error > bound else None
