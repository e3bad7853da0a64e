"""Calls of one function from one and from several Python threads at once, each with an array of its own: threads.py KGEN

A figure is microseconds for a call, all calls of all threads together by the clock. OpenMP's threads are as many as it
likes, or one for each Python thread; the two take turns in one process. Waiting threads spin or sleep by a process. JAX
calls kernels from threads of its own, so that OpenMP has one thread by a process, too.
"""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import turns

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHAPES = {"16 x 64": ((16, 64), 500), "1024 x 1024": ((1024, 1024), 20)}  # and how many calls
THREADS = (1, 2, 4)
ROUNDS = 12


def microseconds(function, arrays, count, openmp_threads, set_threads):
    def work(array):
        set_threads(openmp_threads)
        for _ in range(count):
            function(array)

    workers = [threading.Thread(target=work, args=(array,)) for array in arrays]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return (time.perf_counter() - begin) / count / len(arrays) * 1e6


ENVIRONMENTS = {"": {}, ", passive": {"OMP_WAIT_POLICY": "passive"}, ", one": {"OMP_NUM_THREADS": "1"}}


def framework(name, softmax):
    """What is called, what makes an array of this shape, and what sets the number of OpenMP threads for a thread of
    Python's."""
    if name == "jax":
        import jax
        jitted = jax.jit(softmax)
        return lambda array: jitted(array).block_until_ready(), jax.numpy.ones, lambda openmp_threads: None
    if name == "torch":
        import torch
        return softmax, torch.ones, torch.set_num_threads
    import numpy
    return softmax, lambda shape: numpy.ones(shape, "f4"), ctypes.CDLL("libgomp.so.1").omp_set_num_threads


def inside(name):
    sys.path.insert(0, str(ROOT / "bindings"))
    import kgen
    softmax = kgen.load(ROOT / "specs/norm/softmax.toml", T="f32")
    call, make, set_threads = framework(name, softmax)
    most = int(os.environ.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0))))
    times = {}
    for _ in range(ROUNDS):
        for size, (shape, count) in SHAPES.items():
            for openmp_threads in (most,) if name == "jax" else (most, 1):
                for threads in THREADS:
                    own = microseconds(call, [make(shape) for _ in range(threads)], count, openmp_threads, set_threads)
                    times.setdefault(f"{size}, {threads} x {openmp_threads}", []).append(own)
    turns.tell(turns.best(times))


def main():
    if len(sys.argv) > 2:
        return inside(sys.argv[2])
    figures = {}
    for name, environments in {"numpy": ("", ", passive"), "torch": ("", ", passive"), "jax": ENVIRONMENTS}.items():
        for label in environments:
            environment = {key: value for key, value in os.environ.items() if not key.startswith("OMP_")}
            environment |= {"KGEN_EXECUTABLE": str(pathlib.Path(sys.argv[1]).resolve())} | ENVIRONMENTS[label]
            done = subprocess.run([sys.executable, __file__, sys.argv[1], name], env=environment, check=True,
                                  stdout=subprocess.PIPE, text=True)
            figures |= {f"{name}{label}, {key}": value for key, value in json.loads(done.stdout).items()}
    turns.tell(figures)


main()
