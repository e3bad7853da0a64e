"""Runs the generated OpenMP functions under sanitizers.

    sanitize.py address|thread --build FOLDER [--generated FOLDER] [--only WORD] [--jobs 2] [--keep-going]

For every kernel its first variant, and the first one on f16 or bf16: a C++ main written from the `@function` lines of
the header calls the function on recorded cases (driver.cpp), with sizes from the conformance list and one large enough
for all threads. `address`: gcc with the address and undefined-behaviour sanitizers; `thread`: clang and its OpenMP.
Any report, a changed guard byte, or a result that depends on the number of threads fails.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("reference", "conformance", "tools")] + [str(ROOT / "bench/gpu")]
import cases  # noqa: E402
import inputs as makers  # noqa: E402
import interface  # noqa: E402
import this_machine  # noqa: E402
from spec_file import SPECS, SpecFile, evaluate  # noqa: E402

LLVM = Path("/usr/lib/llvm-19")
COMPILERS = {
    "address": ["g++", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "thread": ["clang++-19", "-fsanitize=thread"],
}
# Of a file's functions two are called; the others are left out before they are compiled, where the compiler can do that.
CALLED_ALONE = {"address": ["-fwhole-program"], "thread": []}
FLAGS = ["-std=c++17", "-O0", "-g1", "-fopenmp", *this_machine.FLAGS]
ENVIRONMENT = {
    "address": {"ASAN_OPTIONS": "abort_on_error=0:exitcode=99", "UBSAN_OPTIONS": "print_stacktrace=1"},
    # The runtime itself is not instrumented; archer tells the sanitizer what its barriers order.
    "thread": {
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:exitcode=99",
        "OMP_TOOL_LIBRARIES": str(LLVM / "lib/libarcher.so"),
    },
}
HALVES = ("f16", "bf16")
SMALL_WORK, LARGE_WORK = 30000, 200000
SMALL_COUNT = 3
TIMEOUT_S = 100


def described_functions(header):
    """The functions of a header. Extents stay unread: shapes come from the spec. Whether the OpenMP function takes a
    workspace, the query of its size tells."""
    text = re.sub(r"\n\s*(\*(?!/)|//)", "\n", header.read_text())
    functions = []
    for match in interface.FUNCTION.finditer(text):
        parts = [part for part in " ".join(match.group(2).split()).split(";") if part.strip()]
        arguments = [interface.parse_argument(part, match.group(1)) for part in parts]
        arguments = [argument for argument in arguments if not argument.kind.startswith(("workspace", "status"))]
        functions.append(interface.Function(match.group(1), header.stem, header, arguments))
    return functions


def chosen_functions(header):
    """The first variant, and the first other one on a half type."""
    functions = described_functions(header)
    halves = [f for f in functions[1:] if any(argument.type in HALVES for argument in f.arguments)]
    return functions[:1] + halves[:1]


def element_types(spec, function):
    """The choice of type parameters that the function was made for, told by the types of its arguments."""
    types = {argument.name: argument.type for argument in function.arguments}
    declared = {operand.name: operand.type for operand in spec.operands} | spec.scalars
    parameters = spec.data.get("types", {})
    return {declared[n]: t for n, t in types.items() if t and declared.get(n) in parameters}


def enlarged(case, sizes):
    """The sizes with all free axes grown, in turn, until there is work for all threads."""
    sizes, free = dict(sizes), [axis for axis, entry in case.get("axes", {}).items() if len(entry) == 2]
    for turn in range(64 if free else 0):
        if evaluate(case["work"], sizes) >= LARGE_WORK:
            break
        axis = free[turn % len(free)]
        sizes[axis] = 2 * max(sizes[axis], 1) + 1
    return sizes


def sizes_of(spec_path):
    """The sizes that all variants run in the conformance list, a few of its others, and a large one."""
    chosen = []
    for case in tomllib.loads((ROOT / "tests/conformance/cases.toml").read_text())["case"]:
        if SPECS / case["spec"] != spec_path:
            continue
        swept = cases.sweep_sizes(case)
        few = [sizes for sizes, is_few in swept if is_few]
        rest = [s for s, is_few in swept if not is_few and evaluate(case["work"], s) <= SMALL_WORK]
        chosen += few + rest[:: max(1, len(rest) // SMALL_COUNT)]
        chosen.append(enlarged(case, few[0]))
    return list({str(sizes): sizes for sizes in chosen}.values())


def array_record(argument, spec, stored, before, shape, aliases):
    """The line and the bytes of one array argument."""
    name = argument.name
    held = before.get(name, stored.get(aliases.get(name, name)))
    if held is None and argument.kind in ("in", "table"):
        return f"absent {name}\n".encode()
    element = np.dtype(np.uint16 if argument.type == "bf16" else makers.stored(np.zeros(1), argument.type).dtype)
    data = np.ascontiguousarray(held).tobytes() if held is not None else b"\xa5" * (int(np.prod(shape)) * element.itemsize)
    kind = "constant" if argument.kind in ("in", "table") else "result"
    return f"{kind} {name} {element.itemsize} {len(data)}\n".encode() + data


def stride_of(argument, spec, sizes):
    """Of a dense array; the argument's name says which: ARRAY_stride_AXIS."""
    array, axis = argument.name.split("_stride_")
    operand = next(o for o in spec.operands if o.name == array)
    return int(np.prod(operand.shape(sizes)[operand.dims.index(axis) + 1 :]))


def write_case(file, spec, function, given, seed):
    define, sizes = element_types(spec, function), spec.all_sizes(given)
    stored = makers.make(spec, define, sizes, seed)
    rng = np.random.default_rng(seed)
    before, shapes, aliases = {}, {}, {}
    for operand in spec.operands:
        shapes[operand.name] = operand.shape(sizes)
        if operand.keys.get("alias"):
            aliases[operand.name] = operand.keys["alias"]
        elif operand.keys.get("partial"):
            element = spec.element_type(operand.type, define)
            before[operand.name] = makers.stored(makers.random_array(rng, element, shapes[operand.name]), element)
    words = " ".join(f"{axis}={size}" for axis, size in given.items())
    file.write(f"case {function.stem} {len(function.arguments)} {words}\n".encode())
    for argument in function.arguments:
        if argument.kind == "scalar":
            value = stored[argument.name]
            file.write(f"{'integer' if isinstance(value, int) else 'number'} {value!r}\n".encode())
        elif argument.kind == "size":
            file.write(f"integer {sizes[argument.name]}\n".encode())
        elif argument.kind == "stride":
            file.write(f"integer {stride_of(argument, spec, sizes)}\n".encode())
        else:
            file.write(array_record(argument, spec, stored, before, shapes[argument.name], aliases))


def call_text(function, header_text):
    """The row of the table of functions. A function with a workspace takes it and its size last."""
    numbers = {argument.name: f"a[{i}]" for i, argument in enumerate(function.arguments)}
    arguments = list(numbers.values())
    query = "nullptr"
    if f"{function.stem}_openmp_workspace(" in header_text:
        arguments += ["workspace", "bytes"]
        told = [numbers[argument.name] for argument in function.arguments if argument.kind in ("size", "stride")]
        query = f"[](const Argument* a) -> int64_t {{ return {function.stem}_openmp_workspace({', '.join(told)}); }}"
    return (
        f'{{"{function.stem}", [](const Argument* a, void* workspace, int64_t bytes) {{ (void)workspace; (void)bytes; '
        f"return {function.stem}_openmp({', '.join(arguments)}); }}, {query}}}"
    )


def main_text(source, functions, header_text):
    rows = ",\n    ".join(call_text(function, header_text) for function in functions)
    return (
        f'#include "driver.h"\n#include "{source}"\n'
        f"static const Function kFunctions[] = {{\n    {rows},\n}};\n"
        f"int main(int, char** argv) {{ return run_cases(kFunctions, {len(functions)}, argv[1]); }}\n"
    )


class Sanitizer:
    """Compiles and runs kernels in one of the two modes."""

    def __init__(self, mode, folder, specs):
        self.mode, self.folder, self.specs = mode, folder, specs
        folder.mkdir(parents=True, exist_ok=True)
        self.cache = [shutil.which("ccache")] if shutil.which("ccache") else []

    def compile(self, source, target, flags=()):
        """None, or what the compiler said."""
        command = [*self.cache, *COMPILERS[self.mode], *FLAGS, *flags, "-I", HERE, "-c", source, "-o", target]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        return None if done.returncode == 0 else f"does not compile:\n{done.stderr[:2000]}"

    def build_driver(self):
        return self.compile(HERE / "driver.cpp", self.folder / "driver.o")

    def run(self, source):
        """(problem or None, output) of one generated file; an exception is a failure like any other."""
        try:
            return self.build_and_execute(source)
        except Exception as error:
            return f"{type(error).__name__}: {error}", ""

    def build_and_execute(self, source):
        kernel = source.name.removesuffix("_openmp.cpp")
        header = source.with_name(kernel + ".h")
        if kernel not in self.specs:
            return "no spec of that name", ""
        functions = chosen_functions(header)
        if not functions:
            return "the header describes no function", ""
        place = self.folder / kernel
        place.with_suffix(".cpp").write_text(main_text(source, functions, header.read_text()))
        self.write_cases(place.with_suffix(".cases"), kernel, functions)
        problem = self.compile(place.with_suffix(".cpp"), place.with_suffix(".o"), CALLED_ALONE[self.mode])
        if problem:
            return problem, ""
        link = COMPILERS[self.mode] + ["-fopenmp", f"{place}.o", str(self.folder / "driver.o"), "-o", str(place)]
        subprocess.run(link, check=True, capture_output=True)
        return self.execute(place)

    def write_cases(self, path, kernel, functions):
        spec = SpecFile(self.specs[kernel].relative_to(SPECS))
        with open(path, "wb") as file:
            for function in functions:
                for seed, sizes in enumerate(sizes_of(self.specs[kernel]), 1):
                    write_case(file, spec, function, sizes, seed)

    def execute(self, program):
        environment = {**os.environ, **ENVIRONMENT[self.mode]}
        try:
            done = subprocess.run(
                [str(program), f"{program}.cases"], capture_output=True, text=True, errors="replace",
                timeout=TIMEOUT_S, env=environment,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"no end within {TIMEOUT_S} s", ""
        output = done.stdout + done.stderr
        return (f"exit {done.returncode}" if done.returncode else None), output


def kernels_of_specs():
    return {SpecFile(p.relative_to(SPECS)).kernel: p for p in SPECS.rglob("*.toml") if not p.name.endswith(".tune.toml")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=COMPILERS)
    parser.add_argument("--build", type=Path, required=True, help="folder for programs and cases")
    parser.add_argument("--generated", type=Path, default=ROOT / "generated")
    parser.add_argument("--only", default="", help="part of a kernel's name")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not shutil.which(COMPILERS[options.mode][0]):
        print(f"SKIP: {COMPILERS[options.mode][0]} is not installed")
        return 77
    start = time.monotonic()
    sanitizer = Sanitizer(options.mode, options.build.resolve(), kernels_of_specs())
    problem = sanitizer.build_driver()
    if problem:
        sys.exit(problem)
    sources = sorted(p for p in options.generated.resolve().rglob("*_openmp.cpp")
                     if options.only in p.name)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for source, (problem, output) in zip(sources, pool.map(sanitizer.run, sources)):
            if problem:
                failed += 1
                print(f"FAIL {source.name}: {problem}\n{output[:3000]}", flush=True)
    print(f"{len(sources) - failed} of {len(sources)} kernels clean in {time.monotonic() - start:.0f} s")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
