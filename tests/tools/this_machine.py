"""What compilers are told where what they make runs on this machine alone: no other set of instructions is compiled."""

import pathlib


def has_avx512():
    cpu = pathlib.Path("/proc/cpuinfo")
    return cpu.exists() and all(f" avx512{part} " in cpu.read_text().replace("\n", " \n") for part in ("f", "bw", "dq", "vl", "cd"))


FLAGS = ["-march=native", *([] if has_avx512() else ["-DKGEN_NO_AVX512"])]
