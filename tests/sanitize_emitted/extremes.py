"""Emitted code computes with numbers of its caller near the ends of 64 bits as the interpreter does, without a report of
the address and undefined-behaviour sanitizers: bounds of `where`, coordinates, products of both, entries of tables.

    extremes.py KGEN MODEL MODEL_LIBRARY

CUDA code runs on the model of a GPU, whose fibers the address sanitizer does not know: there the other one looks alone.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

KGEN, MODEL, MODEL_LIBRARY = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
LEAST, MOST = -(2**63), 2**63 - 1
NUMBERS = [LEAST, LEAST + 1, LEAST + 15, -(2**62), -70, -1, 0, 33, 2**31, MOST - 69, MOST]
S, R = 3, 70

HEAD = """kernel = "{name}"
inputs.x = "{type}[S, R]"
inputs.bound = "i64[S]"
scalars.w = "i64"
{more}{outputs}body = '''
{body}
'''
"""
# What stands for v goes to an output of its own: (its axes, how it is written).
FOLD = ("[S]", "y{i} = sum({v});")
ELEMENT = ("[S, R]", "y{i} = {v};")
SCATTER = ("[S, R]", "y{i} = 0; {v}")
# name, element type of x and of the outputs, further declarations, what is computed
KERNELS = [
    ("bounds", "i32", "i64", "", FOLD, [
        "x, R, where(index(R) < w)", "x, R, where(index(R) <= w)", "x, R, where(index(R) > w)",
        "x, R, where(w <= index(R))", "x, R, where(index(R) < w + 1)", "x, R, where(index(R) - w < 3)",
        "x, R, where(index(R) < index(S) * w)", "x, R, where(index(R) < index(S) + w)", "x, R, where(index(R) < bound)",
        "x, R, where(index(R) + 1 > bound)", "x, R, where(abs(index(R) - bound) < 3)",
        "x, R, where(abs(index(R) - index(S)) <= w)", "x, R, where(index(R) >= w && index(R) < bound)",
        "x, R, where(index(R) * w < 5)"]),
    ("bounds_of_floats", "f32", "f32", "", FOLD, [
        "x, R, where(index(R) < w)", "x, R, where(index(R) < index(S) * w)", "x, R, where(index(R) < bound)",
        "float(index(R) + w), R", "float(index(R) - w), R, where(index(R) > w)"]),
    ("bounds_of_columns", "f32", "f32", "", ("[R]", "y{i} = sum({v});"), [
        "x, S, where(index(S) < w)", "x, S, where(index(S) < index(R) * w)", "x, S, where(index(S) + w < 2)"]),
    ("places", "i32", "i64", 'tables.t = "i32[R]"\n', ELEMENT, [
        "at(x, R = index(R) + w)", "at(x, R = index(R) - w)", "at(x, R = w)", "at(x, R = w - index(R))",
        "at(x, R = index(R) * w)", "at(x, R = 2 * index(R) + w)", "at(x, S = index(S) + w)",
        "at(x, S = index(S) * w, R = index(R) + w)", "at(x, R = index(R) + bound)", "at(x, S = bound, R = w)",
        "at(x, R = clamp(index(R) + w, 0, size(R) - 1))", "at(x, R = max(min(index(R) - w, 20), 3))",
        "inside(x, R = index(R) + w) ? 1 : 2", "inside(x, S = w, R = 2 * index(R) + w) ? 1 : 2", "t[index(R) + w]", "t[w]"]),
    ("places_of_halves", "bf16", "f32", "", ELEMENT, [
        "at(x, R = index(R) + w)", "at(x, R = 3 * index(R) - w)", "at(x, R = clamp(index(R) + w, 0, size(R) - 1))"]),
    ("scattered", "i32", "i64", "", SCATTER, [
        "at(y{i}, R = index(R) + w) += x;", "at(y{i}, R = w) += x;", "at(y{i}, S = bound, R = w + x) += 1;",
        "at(y{i}, S = index(S) + w) += x;"]),
    ("counted", "i32", "i64", "", ELEMENT, [
        "x; for (int64_t n{i} = 0; n{i} < w && n{i} < 9; ++n{i}) y{i} += n{i}",
        "x; for (int64_t n{i} = 9; n{i} > w && n{i} > 0; --n{i}) y{i} += n{i}", "(x + w) / w + x % w + (x << w)"]),
]  # fmt: skip
SANITIZE = ["-O0", "-g1", "-fno-sanitize-recover=all"]


def numpy_type(name):
    return np.dtype({"f32": "float32", "bf16": "uint16", "i32": "int32", "i64": "int64"}[name])


def written(folder, name, element, result, more, form, values):
    axes, statement = form
    body = "\n".join(statement.replace("{v}", v).replace("{i}", str(i)) for i, v in enumerate(values))
    outputs = "".join(f'outputs.y{i} = "{result}{axes}"\n' for i in range(len(values)))
    spec = folder / f"{name}.toml"
    spec.write_text(HEAD.format(name=name, type=element, more=more, outputs=outputs, body=body))
    subprocess.run([KGEN, spec, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    return spec


def library(folder, name, target):
    out = folder / f"{name}_{target}.so"
    cuda = ["-Wno-unknown-pragmas", "-isystem", MODEL / "include", "-x", "c++", folder / f"{name}_cuda.cu", "-x", "none", MODEL_LIBRARY]
    openmp = ["-fopenmp", folder / f"{name}_openmp.cpp"]
    sanitizers = "undefined" if target == "cuda" else "address,undefined"
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", f"-fsanitize={sanitizers}", *SANITIZE, "-o", out,
                    *(cuda if target == "cuda" else openmp)], check=True)  # fmt: skip
    return out


def data(kernel):
    _, element, result, more, (axes, _), values = kernel
    rng = np.random.default_rng(1)
    x = rng.integers(0, 5, (S, R))
    x = (x << 7 if element == "bf16" else x).astype(numpy_type(element))
    table = rng.integers(1, 9, R).astype(np.int32) if more else None
    outputs = [np.full({"[S]": S, "[R]": R, "[S, R]": (S, R)}[axes], 77, numpy_type(result)) for _ in values]
    return x, table, outputs


def interpreted(folder, spec, x, table, bound, w, outputs):
    np.save(folder / "x.npy", x)
    np.save(folder / "bound.npy", bound)
    given = ["--in", f"x={folder}/x.npy", "--in", f"bound={folder}/bound.npy", "--scalar", f"w={w}"]
    if table is not None:
        np.save(folder / "t.npy", table)
        given += ["--in", f"t={folder}/t.npy"]
    wanted = [word for i in range(len(outputs)) for word in ("--out", f"y{i}={folder}/y{i}.npy")]
    subprocess.run([KGEN, "run", spec, *given, *wanted], check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"y{i}.npy") for i in range(len(outputs))]


def called(shared, name, target, x, table, bound, w, outputs):
    def pointer(array):
        return ctypes.c_void_p(array.ctypes.data)

    function, query = (getattr(shared, f"{name}_{target}{end}", None) for end in ("", "_workspace"))
    arguments = [pointer(x), pointer(bound), ctypes.c_int64(w)] + ([] if table is None else [pointer(table)])
    arguments += [pointer(y) for y in outputs] + [ctypes.c_int64(S), ctypes.c_int64(R)]
    if query is not None:
        arguments += [ctypes.c_void_p(), ctypes.c_int64(0)]
    if target == "cuda":  # what is wrong with a table is not asked for; the stream
        arguments += [ctypes.c_void_p()] * (1 + (table is not None))
    return function(*arguments)


def check(folder, kernel):
    name, faults = kernel[0], []
    spec = written(folder, *kernel)
    shared = {target: ctypes.CDLL(str(library(folder, name, target))) for target in ("openmp", "cuda")}
    for w in NUMBERS:
        x, table, outputs = data(kernel)
        bound = np.array([w, 3, MOST if w < 0 else LEAST], np.int64)
        wanted = interpreted(folder, spec, x, table, bound, w, outputs)
        for target in shared:
            got = [y.copy() for y in outputs]
            print(f"{name}_{target} with w = {w}", flush=True)  # a report of a sanitizer ends the program
            if status := called(shared[target], name, target, x, table, bound, w, got):
                faults.append(f"{name}_{target}, w = {w}: status {status}")
                continue
            faults += [f"{name}_{target}, w = {w}: {kernel[5][i]}: {g.ravel()[:9]}, not {v.ravel()[:9]}"
                       for i, (g, v) in enumerate(zip(got, wanted)) if not np.array_equal(g, v)]  # fmt: skip
    return faults


def main():
    runtime = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    if os.environ.pop("LD_PRELOAD", "") != runtime:  # it has to be there from the start, but in no compiler
        options = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
        os.execvpe(sys.executable, [sys.executable, *sys.argv], {**os.environ, **options, "OMP_NUM_THREADS": "2"})
    with tempfile.TemporaryDirectory(prefix="kgen_extremes_") as folder:
        faults = [fault for kernel in KERNELS for fault in check(pathlib.Path(folder), kernel)]
    print("\n".join(faults) or f"{len(KERNELS)} kernels right with {len(NUMBERS)} numbers on both targets")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
