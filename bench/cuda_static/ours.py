"""Our kernels: what the launcher launches, asked of the launcher itself on the CPU model, and what nvcc makes of them."""

import ctypes
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/cuda_model"


def header_of(source):
    return source.with_name(source.name.replace("_cuda.cu", ".h")).read_text()


def arguments_of(source, function):
    """The kinds of the arguments of a function, by the line about it in the header: ("in", name), ("size", "N"), ..."""
    line = re.search(rf"@function {function} args: (.*?) \*/", header_of(source), re.DOTALL)
    if not line:
        raise SystemExit(f"{source}: no function {function}")
    return [tuple(part.split()[:2]) for part in " ".join(line[1].split()).split(";")]


def list_launches(source, function, sizes, folder, cxx="g++"):
    """[(kernel, grid, block, shared, arguments)] of one call; the kernel by its demangled name."""
    library = pathlib.Path(folder) / f"{source.stem}.so"
    if not library.exists():
        model = [MODEL / f"{name}.cpp" for name in ("fiber", "memory", "scheduler", "order", "races", "launch", "runtime",
                                                     "device_math")]
        subprocess.run([cxx, "-std=c++17", "-O0", "-fPIC", "-shared", "-w", "-isystem", MODEL / "include", "-I", MODEL, "-x", "c++",
                        source, *model, "-o", library, "-ldl"], check=True)
    listing = pathlib.Path(folder) / "launches"
    listing.unlink(missing_ok=True)
    os.environ["KGEN_MODEL_LIST"] = str(listing)
    call = getattr(ctypes.CDLL(str(library)), function + "_cuda")
    values, place = [], 1 << 44
    for kind, name in arguments_of(source, function):
        if kind in ("in", "out", "inout", "table"):
            values.append(ctypes.c_void_p(place))  # nothing looks there, as no kernel is run
            place += 1 << 40
        elif kind == "size":
            values.append(ctypes.c_int64(sizes[name]))
        elif kind == "workspace":
            values += [ctypes.c_void_p(0), ctypes.c_int64(0)]
        elif kind == "status":
            values.append(ctypes.c_void_p(0))
    status = call(*values, ctypes.c_void_p(0))
    del os.environ["KGEN_MODEL_LIST"]
    if status != 0:
        raise SystemExit(f"{function} {sizes}: status {status}")
    names = {}
    for line in subprocess.run(["nm", "-C", library], capture_output=True, text=True, check=True).stdout.splitlines():
        address, _, name = line.partition(" ")
        if address.strip():
            names[int(address, 16)] = name[2:]
    out = []
    for line in listing.read_text().splitlines() if listing.exists() else []:
        at, grid, block, shared, _, _, arguments = line.split(" ")
        numbers = lambda text: tuple(int(n) for n in text.split(","))
        out.append((names[int(at, 16)], numbers(grid), numbers(block), int(shared), bytes.fromhex(arguments)))
    return out


def short_name(demangled):
    """softmax_kernel<true, int, float>, whoever mangled it."""
    name = re.sub(r"\([^()]*anonymous[^()]*\)::|\(anonymous namespace\)::|<unnamed>::|kgen_cuda::", "", demangled)
    name = re.sub(r"^(?:void |cudaError_t )", "", name)
    depth = 0
    for at, sign in enumerate(name):
        depth += (sign == "<") - (sign == ">")
        if sign == "(" and depth == 0:
            name = name[:at]
            break
    return name.replace("(bool)1", "true").replace("(bool)0", "false").replace("(bool)", "").replace(" ", "")


def compiled(nvcc, nvdisasm, source, architecture, folder):
    """The text of nvdisasm, and {mangled name: (registers, static shared memory, spills)}."""
    cubin = pathlib.Path(folder) / f"{source.stem}.{architecture}.cubin"
    said = cubin.with_suffix(".txt")
    if not said.exists():  # what was compiled into the same folder before stays
        done = subprocess.run([nvcc, "-std=c++17", f"-arch={architecture}", "-cubin", "-Xptxas", "-v", "-o", cubin, source],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        said.write_text(done.stderr)
    text = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    return text, resources(said.read_text())


def resources(report):
    out = {}
    for name, said in re.findall(r"Compiling entry function '(\w+)' for(.*?)(?=Compiling entry|\Z)", report, re.DOTALL):
        number = lambda pattern: int((re.search(pattern, said) or [0, 0])[1])
        out[name] = (number(r"Used (\d+) registers"), number(r"(\d+) bytes smem"), number(r"(\d+) bytes spill stores"))
    return out


def demangled(names):
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, done.stdout.splitlines()))
