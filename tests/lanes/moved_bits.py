"""What is only moved keeps its bits, those of a signalling NaN too: all numbers of 16 bits, and NaNs of 32 and 64, go
through copies, transposes, shifts, gathers and scratch, by the interpreter and by both targets, on vectors and off them.

    moved_bits.py KGEN MODEL MODEL_LIBRARY
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

KGEN, MODEL, MODEL_LIBRARY = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
M, N = 241, 273  # as many as there are numbers of 16 bits, and a few again; no multiples of a vector
OUTPUTS = ["same", "turned", "shifted", "mirrored", "picked", "counted", "kept"]
SPEC = """kernel = "{name}"
types.T = ["bf16", "f16", "f32", "f64"]
inputs.x = {{ type = "T[M, N]", outside = nan }}
inputs.places = "i32[N]"
inputs.halves = "f16[M]"
outputs.same = "T[M, N]"
outputs.turned = "T[N, M]"
outputs.shifted = "T[M, N]"
outputs.mirrored = "T[M, N]"
outputs.picked = "T[M, N]"
outputs.counted = "T[M, N]"
outputs.kept = "T[M, N]"
scratch.s = "T[M, N]"
{schedule}
body = '''
same = x;
turned = x;
shifted = at(x, N = index(N) - 1);
mirrored = at(x, N = size(N) - 1 - index(N));
picked = at(x, N = places);
counted = at(x, M = int64_t(halves));
s = x;
kept = at(s, N = places);
'''
"""
ALONE = """kernel = "{name}"
types.T = ["bf16", "f16"]
inputs.x = "T[M, N]"
outputs.y = "T[{axes}]"
body = 'y = x;'
"""
TWICE = """kernel = "twice"
types.T = ["bf16", "f16"]
inputs.x = "T[M, N]"
outputs.y = "T[M, N]"
outputs.z = "T[M, N]"
body = 'y = x; z = x;'
"""
BITS = {"bf16": np.uint16, "f16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def numbers(element):
    """All of 16 bits; else infinities, quiet and signalling NaNs of either sign with many payloads, and plain ones."""
    kind = BITS[element]
    if kind == np.uint16:
        return np.resize(np.arange(65536, dtype=kind), (M, N))
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 2 ** (8 * kind().itemsize), M * N, dtype=kind)
    most = kind(0x7F800000 if kind == np.uint32 else 0x7FF0000000000000)
    return np.where(rng.random(M * N) < 0.8, bits | most, bits).reshape(M, N)


def others():
    """Of the columns and of the rows, in another order: the rows by halves, which hold such whole numbers."""
    rng = np.random.default_rng(3)
    return rng.permutation(N).astype(np.int32), rng.permutation(M).astype(np.float16)


def wanted(x):
    places, halves = others()
    return [x, x.T, np.roll(x, 1, 1), x[:, ::-1], x[:, places], x[halves.astype(int)], x[:, places]]


def compiled(folder, name, text):
    (folder / f"{name}.toml").write_text(text)
    subprocess.run([KGEN, folder / f"{name}.toml", "-o", folder], check=True, stdout=subprocess.DEVNULL)
    out = folder / f"{name}.so"
    files = [folder / f"{name}_openmp.cpp", "-x", "c++", folder / f"{name}_cuda.cu", "-x", "none", MODEL_LIBRARY]
    subprocess.run(["g++", "-std=c++17", "-O1", "-march=native", "-Wno-unknown-pragmas", "-isystem", MODEL / "include",
                    "-shared", "-fPIC", "-o", out, *files], check=True)  # fmt: skip
    return ctypes.CDLL(str(out))


def moved(library, name, inputs, shapes):
    outputs = [np.zeros(shape, inputs[0].dtype) for shape in shapes]
    arguments = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, *outputs)]
    workspace = [ctypes.c_void_p(), ctypes.c_int64()] if len(inputs) > 1 else []  # with scratch
    stream = [ctypes.c_void_p()] if name.endswith("_cuda") else []
    if status := getattr(library, name)(*arguments, ctypes.c_int64(M), ctypes.c_int64(N), *workspace, *stream):
        raise RuntimeError(f"{name}: status {status}")
    return outputs


def interpreted(folder, kernel, element, inputs):
    """Files of numpy name no bf16: their bits stand in files of u16."""
    kind = {"f16": np.float16, "f32": np.float32, "f64": np.float64}.get(element, np.uint16)
    files = []
    for name, array in zip(("x", "places", "halves"), inputs):
        np.save(folder / f"{name}.npy", array.view(kind) if name == "x" else array)
        files += ["--in", f"{name}={folder / name}.npy"]
    for name in OUTPUTS:
        files += ["--out", f"{name}={folder / name}_out.npy"]
    subprocess.run([KGEN, "run", folder / f"{kernel}.toml", "-D", f"T={element}", *files], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return [np.load(folder / f"{name}_out.npy").view(BITS[element]) for name in OUTPUTS]


def main():
    faults, tried = [], 0

    def compare(what, got, want):
        nonlocal tried
        for i, (array, right) in enumerate(zip(got, want, strict=True)):
            other = array != right
            if len(want) == len(OUTPUTS) and OUTPUTS[i] == "shifted":  # the first column comes from outside: some NaN
                other[:, 0] = False
            tried += other.size
            if other.any():
                at = tuple(np.argwhere(other)[0])
                faults.append(f"{what}: output {i}: {other.sum()} differ: {int(right[at]):#x} became {int(array[at]):#x}")

    with tempfile.TemporaryDirectory(prefix="kgen_moved_") as folder:
        folder = pathlib.Path(folder)
        every = ["bf16", "f16", "f32", "f64"]
        kernels = [("moved", SPEC.format(name="moved", schedule=""), every, wanted),
                   ("one_by_one", SPEC.format(name="one_by_one", schedule="schedule.openmp.lanes = false"), every, wanted),
                   ("copied", ALONE.format(name="copied", axes="M, N"), ["bf16", "f16"], lambda x: [x]),
                   ("turned", ALONE.format(name="turned", axes="N, M"), ["bf16", "f16"], lambda x: [x.T]),
                   ("twice", TWICE, ["bf16", "f16"], lambda x: [x, x])]  # fmt: skip
        for kernel, text, elements, expected in kernels:
            library = compiled(folder, kernel, text)
            for element in elements:
                x = numbers(element)
                inputs = [x, *others()] if expected is wanted else [x]
                want = [np.ascontiguousarray(array) for array in expected(x)]
                for target in ("openmp", "cuda"):
                    name = f"{kernel}_{element}_{target}"
                    compare(name, moved(library, name, inputs, [w.shape for w in want]), want)
                if kernel == "moved":
                    compare(f"interpreted {element}", interpreted(folder, kernel, element, inputs), want)
    print("\n".join(faults) or f"{tried} elements kept their bits")
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
