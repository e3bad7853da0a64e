"""Calls of one function from one and from several Python threads at once, each with an array of its own: threads.py KGEN

A figure is microseconds for a call, all calls of all threads together by the clock. OpenMP's threads are as many as it
likes, or one for each Python thread; the two take turns in one process. Waiting threads spin or sleep by a process.
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


def framework(name):
    """What makes an array of this shape, and what sets the number of OpenMP threads for a thread of Python's."""
    if name == "torch":
        import torch
        return torch.ones, torch.set_num_threads
    import numpy
    return lambda shape: numpy.ones(shape, "f4"), ctypes.CDLL("libgomp.so.1").omp_set_num_threads


def inside(name):
    sys.path.insert(0, str(ROOT / "bindings"))
    import kgen
    softmax = kgen.load(ROOT / "specs/norm/softmax.toml", T="f32")
    make, set_threads = framework(name)
    times = {}
    for _ in range(ROUNDS):
        for size, (shape, count) in SHAPES.items():
            for openmp_threads in (len(os.sched_getaffinity(0)), 1):
                for threads in THREADS:
                    own = microseconds(softmax, [make(shape) for _ in range(threads)], count, openmp_threads, set_threads)
                    times.setdefault(f"{size}, {threads} x {openmp_threads}", []).append(own)
    turns.tell(turns.best(times))


def main():
    if len(sys.argv) > 2:
        return inside(sys.argv[2])
    figures = {}
    for name in ("numpy", "torch"):
        for policy in ("active", "passive"):
            environment = dict(os.environ, KGEN_EXECUTABLE=str(pathlib.Path(sys.argv[1]).resolve()), OMP_WAIT_POLICY=policy)
            if policy == "active":
                del environment["OMP_WAIT_POLICY"]  # as it is
            done = subprocess.run([sys.executable, __file__, sys.argv[1], name], env=environment, check=True,
                                  stdout=subprocess.PIPE, text=True)
            label = name + (", passive" if policy == "passive" else "")
            figures |= {f"{label}, {key}": value for key, value in json.loads(done.stdout).items()}
    turns.tell(figures)


main()
