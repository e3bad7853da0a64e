#!/usr/bin/env python3
"""The floor under general code: our OpenMP functions beside plain numba loops, at four sizes.

    bench/cpu/general.py [--only WORD] [--rounds 9] [--generated DIR] [--no-write]

The loops are what a person writes first: `prange` over the outermost kept axis, fastmath off. Matrix products are timed in
two loop orders, and the faster one counts. Ours are the files under generated/, compiled as a user would compile them.
Each side runs in a process of its own, so that their thread pools do not meet; the sides take turns, results are checked
against numpy in double first, and the figure is the median over the rounds. Writes bench/results/cpu-general-<date>.json and
.md, and fails where ours has less than 0.2 of the speed of the loops. Makes its own environment under build/.
"""

import argparse
import ctypes
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "bench-cpu"
PACKAGES = ["numba==0.68.1", "numpy==2.4.6", "llvmlite==0.50.0"]
FLAGS = ["-O3", "-march=native", "-fopenmp", "-std=c++17"]
FLOOR = 0.2
ROUND_SECONDS = 0.3
PLANES = [f"{side}_{kind}" for kind in "pt" for side in ("left", "top", "right", "bottom")]

# name: the function in generated/, its sizes, bytes and operations of one call.
WORKLOADS = {
    "add_vectors": {
        "file": "elementwise/add_vectors",
        "sizes": {"N": 2**24},
        "bytes": 12 * 2**24,
        "operations": 2**24,
    },
    "matmul": {
        "file": "matmul/matmul",
        "sizes": {"M": 512, "K": 512, "N": 512},
        "bytes": 12 * 512**2,
        "operations": 2 * 512**3,
    },
    "softmax": {
        "file": "norm/softmax",
        "sizes": {"rows": 4096, "N": 4096},
        "bytes": 8 * 4096**2,
        "operations": 5 * 4096**2,
    },
    "giou_planes": {
        "file": "giou/giou_planes",
        "sizes": {"M": 8192, "N": 4096},
        "bytes": 36 * 8192 * 4096,
        "operations": 31 * 8192 * 4096,
    },
}


# The two sides: each gives, for a workload and its arrays, a dict of callables by name.


def numba_loops():
    import math

    import numpy as np
    from numba import njit, prange

    zero, eps = np.float32(0), np.float32(1e-5)

    @njit(parallel=True)
    def add_vectors(x, y, z):
        for i in prange(x.size):
            z[i] = x[i] + y[i]

    @njit(parallel=True)
    def matmul_dots(x, y, z):
        for i in prange(x.shape[0]):
            for j in range(y.shape[1]):
                s = zero
                for k in range(x.shape[1]):
                    s += x[i, k] * y[k, j]
                z[i, j] = s

    @njit(parallel=True)
    def matmul_rows(x, y, z):
        for i in prange(x.shape[0]):
            for j in range(y.shape[1]):
                z[i, j] = zero
            for k in range(x.shape[1]):
                for j in range(y.shape[1]):
                    z[i, j] += x[i, k] * y[k, j]

    @njit(parallel=True)
    def softmax(x, y):
        for i in prange(x.shape[0]):
            top = x[i, 0]
            for j in range(x.shape[1]):
                top = max(top, x[i, j])
            s = zero
            for j in range(x.shape[1]):
                y[i, j] = math.exp(x[i, j] - top)
                s += y[i, j]
            for j in range(x.shape[1]):
                y[i, j] /= s

    @njit(parallel=True)
    def giou_planes(lp, tp, rp, bp, lt, tt, rt, bt, giou):
        for i in prange(lp.shape[0]):
            for j in range(lp.shape[1]):
                l, t, r, b = lp[i, j], tp[i, j], rp[i, j], bp[i, j]
                u, v, w, x = lt[i, j], tt[i, j], rt[i, j], bt[i, j]
                overlap = max(min(r, w) - max(l, u), zero) * max(min(b, x) - max(t, v), zero)
                joined = (r - l) * (b - t) + (w - u) * (x - v) - overlap
                hull = max(max(r, w) - min(l, u), zero) * max(max(b, x) - min(t, v), zero)
                giou[i, j] = overlap / max(joined, eps) - (hull - joined) / max(hull, eps)

    loops = {
        "add_vectors": {"loops": add_vectors},
        "matmul": {"dot order": matmul_dots, "row order": matmul_rows},
        "softmax": {"loops": softmax},
        "giou_planes": {"loops": giou_planes},
    }
    return lambda name, arrays: {k: lambda f=f: f(*arrays.values()) for k, f in loops[name].items()}


def library(name, generated):
    """The OpenMP file of a workload, compiled to a shared library; newer than its source."""
    source = generated / f"{WORKLOADS[name]['file']}_openmp.cpp"
    target = WORK / f"{name}.so"
    command = ["g++", *FLAGS, "-shared", "-fPIC", str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def parameters(name, generated):
    """The names in the C prototype of the f32 function, in order."""
    header = (generated / f"{WORKLOADS[name]['file']}.h").read_text()
    text = re.search(rf"\bint\s+{name}_f32_openmp\s*\(([^)]*)\)", header).group(1)
    return [part.split()[-1].lstrip("*") for part in text.split(",")]


def ours(generated):
    def prepare(name, arrays):
        function = getattr(library(name, generated), f"{name}_f32_openmp")
        sizes = WORKLOADS[name]["sizes"]
        values = []
        for parameter in parameters(name, generated):
            if parameter in arrays:
                values.append(ctypes.c_void_p(arrays[parameter].ctypes.data))
            elif parameter in sizes:
                values.append(ctypes.c_int64(sizes[parameter]))
            else:  # a workspace: none given, so that the launcher allocates
                values.append(ctypes.c_void_p(0) if parameter == "workspace" else ctypes.c_int64(0))

        def call():
            status = function(*values)
            if status != 0:
                raise RuntimeError(f"{name}: status {status}")

        return {"ours": call}

    return prepare


# Data and truth.


def aligned(shape):
    import numpy as np

    count = 4 * int(np.prod(shape))
    raw = np.empty(count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count].view(np.float32).reshape(shape)


def make_arrays(name):
    """The arguments of a workload by name, in the order of the spec, outputs last."""
    import numpy as np

    rng = np.random.default_rng(1)
    sizes = WORKLOADS[name]["sizes"]
    shapes = {
        "add_vectors": dict.fromkeys("xyz", (sizes.get("N"),)),
        "matmul": {c: tuple(sizes.get(a) for a in axes) for c, axes in zip("xyz", ("MK", "KN", "MN"))},
        "softmax": dict.fromkeys("xy", (sizes.get("rows"), sizes.get("N"))),
        "giou_planes": dict.fromkeys([*PLANES, "giou"], (sizes.get("M"), sizes.get("N"))),
    }[name]
    arrays = {key: aligned(shape) for key, shape in shapes.items()}
    for key, array in arrays.items():
        array[...] = rng.random(array.shape, np.float32)
        if key.startswith(("right", "bottom")):
            array += arrays[key.replace("right", "left").replace("bottom", "top")]
    return arrays


def truth(name, arrays, rows):
    """The first rows of the result, in double."""
    import numpy as np

    a = {key: array[:rows].astype(np.float64) for key, array in arrays.items()}
    if name == "add_vectors":
        return a["x"] + a["y"]
    if name == "matmul":
        return a["x"] @ arrays["y"].astype(np.float64)
    if name == "softmax":
        e = np.exp(a["x"] - a["x"].max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)
    (l, t, r, b, u, v, w, x) = (a[key] for key in PLANES)
    overlap = np.maximum(np.minimum(r, w) - np.maximum(l, u), 0) * np.maximum(np.minimum(b, x) - np.maximum(t, v), 0)
    hull = (np.maximum(r, w) - np.minimum(l, u)) * (np.maximum(b, x) - np.minimum(t, v))
    joined = (r - l) * (b - t) + (w - u) * (x - v) - overlap
    return overlap / np.maximum(joined, 1e-5) - (hull - joined) / np.maximum(hull, 1e-5)


def check(name, arrays, label):
    """The first and the last rows against double; the output is scribbled over before the next call."""
    import numpy as np

    output = list(arrays.values())[-1]
    rows = min(len(output), 64 if output.ndim == 2 else 4096)
    for part in (slice(None, rows), slice(-rows, None)):
        if name == "matmul" or output.ndim == 1:
            inputs = {k: v if k == "y" and name == "matmul" else v[part] for k, v in arrays.items()}
        else:
            inputs = {k: v[part] for k, v in arrays.items()}
        expected = truth(name, inputs, rows)
        if not np.allclose(output[part], expected, rtol=2e-5, atol=2e-5):
            raise RuntimeError(f"{name}: {label} is wrong by {np.abs(output[part] - expected).max()}")
    output[...] = np.nan


# Workers: one process a side, told what to do line by line.


def worker(side, generated):
    prepare = numba_loops() if side == "numba" else ours(generated)
    calls, arrays = {}, {}
    for line in sys.stdin:
        command, name = line.split()
        if command == "prepare":
            arrays, calls = make_arrays(name), {}
            for label, call in prepare(name, arrays).items():
                call()
                check(name, arrays, label)
                calls[label] = call
            print(json.dumps(list(calls)), flush=True)
        else:
            print(json.dumps({label: best_of_round(call) for label, call in calls.items()}), flush=True)


def best_of_round(call):
    """Median seconds of the calls that fit a round, after one to wake the threads."""
    call()
    times, end = [], time.perf_counter() + ROUND_SECONDS
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Side:
    def __init__(self, side, options):
        command = [sys.executable, __file__, "--worker", side, "--generated", str(options.generated)]
        threads = {f"{v}_NUM_THREADS": str(os.cpu_count()) for v in ("OMP", "NUMBA")}
        # Threads bound: unbound ones may wake on one core and wait for the scheduler.
        bound = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores", "NUMBA_THREADING_LAYER": "omp"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, env={**os.environ, **threads, **bound}, **pipes)

    def ask(self, command, name):
        self.process.stdin.write(f"{command} {name}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{command} {name}: the worker ended (see above)")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(name, options):
    """Seconds by label: the median of the rounds' medians, and all of these."""
    sides = [Side("numba", options), Side("ours", options)]
    rounds = {}
    for side in sides:
        rounds.update({label: [] for label in side.ask("prepare", name)})
    for number in range(options.rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            for label, seconds in side.ask("time", name).items():
                rounds[label].append(seconds)
    for side in sides:
        side.close()
    return rounds


def summary(name, rounds):
    medians = {label: statistics.median(times) for label, times in rounds.items()}
    label, best = min(((k, v) for k, v in medians.items() if k != "ours"), key=lambda pair: pair[1])
    work = WORKLOADS[name]
    return {
        "workload": name,
        "sizes": work["sizes"],
        "ours_ms": 1e3 * medians["ours"],
        "loops_ms": {k: 1e3 * v for k, v in medians.items() if k != "ours"},
        "fastest_loops": label,
        "speed_ratio": best / medians["ours"],
        "ours_GB_per_s": work["bytes"] / medians["ours"] / 1e9,
        "ours_Gop_per_s": work["operations"] / medians["ours"] / 1e9,
        "rounds_ms": {k: [1e3 * t for t in v] for k, v in rounds.items()},
    }


def machine():
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    compiler = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    return {
        "cpu": model.group(1) if model else platform.machine(),
        "threads": os.cpu_count(),
        "compiler": f"g++ {compiler}",
        "flags": " ".join(FLAGS),
        "packages": PACKAGES,
    }


def report(results, where):
    lines = [
        "# General code beside plain numba loops",
        "",
        f"{where['cpu']}, {where['threads']} threads, {where['compiler']} {where['flags']}, {where['packages'][0]}.",
        f"Ratio: the time of the faster loops over ours; above 1 ours is faster. The floor is {FLOOR}.",
        "",
        "| workload | sizes | ours ms | loops ms | ratio | ours GB/s | ours Gop/s |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        sizes = " ".join(f"{k}={v}" for k, v in r["sizes"].items())
        loops = ", ".join(f"{v:.2f}" + (f" ({k})" if len(r["loops_ms"]) > 1 else "") for k, v in r["loops_ms"].items())
        figures = f"{r['speed_ratio']:.2f} | {r['ours_GB_per_s']:.1f} | {r['ours_Gop_per_s']:.1f}"
        lines.append(f"| {r['workload']} | {sizes} | {r['ours_ms']:.2f} | {loops} | {figures} |")
    return "\n".join(lines) + "\n"


def own_environment():
    """Runs this file again under an interpreter that has the pinned packages."""
    folder = ROOT / "build" / "bench-cpu-venv"
    python = folder / "bin" / "python"
    stamp = folder / "packages.txt"
    if not stamp.exists() or stamp.read_text() != "\n".join(PACKAGES):
        print("making an environment with", *PACKAGES, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        stamp.write_text("\n".join(PACKAGES))
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of a workload's name")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--generated", type=lambda p: Path(p).resolve(), default=ROOT / "generated")
    parser.add_argument("--no-write", action="store_true", help="print only")
    parser.add_argument("--worker", choices=("numba", "ours"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if Path(sys.prefix) != ROOT / "build" / "bench-cpu-venv":
        own_environment()
    WORK.mkdir(parents=True, exist_ok=True)
    if options.worker:
        return worker(options.worker, options.generated)
    results = [summary(name, measure(name, options)) for name in WORKLOADS if options.only in name]
    text = report(results, machine())
    print(text)
    if not options.no_write:
        path = ROOT / "bench" / "results" / f"cpu-general-{datetime.date.today().isoformat()}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps({"machine": machine(), "results": results}, indent=1) + "\n")
        path.with_suffix(".md").write_text(text)
        print("wrote", path.with_suffix(".json").relative_to(ROOT), "and .md")
    slow = [r["workload"] for r in results if r["speed_ratio"] < FLOOR]
    if slow:
        print(f"below {FLOOR} of the loops:", *slow)
    return 1 if slow or not results else 0


if __name__ == "__main__":
    sys.exit(main())
