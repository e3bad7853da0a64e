"""What compilers are told where what they make runs on this machine alone: no other set of instructions is compiled."""

import pathlib


def has_avx512():
    cpu = pathlib.Path("/proc/cpuinfo")
    return cpu.exists() and {f"avx512{part}" for part in ("f", "bw", "dq", "vl", "cd")} <= set(cpu.read_text().split())


LEFT_OUT = [] if has_avx512() else ["-DKGEN_NO_AVX512"]
FLAGS = ["-march=native", *LEFT_OUT]

# Where it is no matter how fast a kernel is: what compilers take the shortest time for.
SOON_COMPILED = "-O0 -DKGEN_NO_AVX2 -DKGEN_NO_AVX512"
