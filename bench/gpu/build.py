"""Compiles each generated file into a shared library, with the CUDA compiler or, for tests, on a CPU model of CUDA."""

import ctypes
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOST_FLAGS = ["-std=c++17", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]


class BuildError(Exception):
    pass


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildError(" ".join(map(str, command)) + "\n" + done.stdout + done.stderr)


def device_arch():
    """sm_90a on a Hopper, the plain architecture of older devices; sm_90a where there is no device to ask."""
    smi = shutil.which("nvidia-smi")
    if smi:
        query = [smi, "--query-gpu=compute_cap", "--format=csv,noheader"]
        reply = subprocess.run(query, capture_output=True, text=True).stdout.split()
        if reply and reply[0].replace(".", "").isdigit():
            number = reply[0].replace(".", "")
            return f"sm_{number}{'a' if int(number) >= 90 else ''}"
    return "sm_90a"


class Toolchain:
    """Where the libraries go and what compiles the CUDA ones."""

    def __init__(self, folder, arch=None, model=None, defines=()):
        self.folder, self.arch, self.model = Path(folder), arch, model
        self.defines = [f"-D{define}" for define in defines]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

    def build_model(self):
        """The CPU model of CUDA, where it stands in for a device."""
        sources = sorted(Path(self.model).glob("*.cpp"))
        runtime = [s for s in sources if not s.name.endswith("_test.cpp") and not s.name.startswith("check_")]
        flags = ["-std=c++17", "-O2", "-shared", "-fPIC", f"-I{self.model}/include"]
        run(["g++", *flags, *runtime, "-o", self.model_library()])

    def model_library(self):
        return self.folder / "libcuda_model.so"

    def cuda(self, source, library):
        """Compiles a .cu file into `library`; with no library only checks that it compiles."""
        if self.model:
            command = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", f"-I{self.model}/include", *self.defines]
            run(
                [
                    *command,
                    "-x",
                    "c++",
                    source,
                    "-x",
                    "none",
                    self.model_library(),
                    f"-Wl,-rpath,{self.folder}",
                    "-o",
                    library,
                ]
            )
            return
        flags = ["-std=c++17", "-O3", f"-arch={self.arch}", *self.defines]
        target = ["-shared", "-Xcompiler", "-fPIC", "-o", library] if library else ["-c", "-o", os.devnull]
        run([self.nvcc, *flags, source, *target])

    def host(self, source, library):
        run(["g++", *HOST_FLAGS, source, "-o", library])


def libraries_of(toolchain, kernel_source):
    stem = kernel_source.name[: -len("_cuda.cu")]
    return {side: toolchain.folder / f"lib{stem}_{side}.so" for side in ("cuda", "openmp")}


def build_kernel(toolchain, kernel_source):
    built = libraries_of(toolchain, kernel_source)
    toolchain.cuda(kernel_source, built["cuda"])
    toolchain.host(kernel_source.with_name(kernel_source.name.replace("_cuda.cu", "_openmp.cpp")), built["openmp"])


def build_all(toolchain, sources, step=build_kernel):
    """Builds in parallel; gives {source: error text} for those that failed."""

    def attempt(source):
        try:
            step(toolchain, source)
        except BuildError as error:
            return source, str(error)
        return source, None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {source: error for source, error in pool.map(attempt, sources) if error}


def load(library):
    return ctypes.CDLL(str(library))
