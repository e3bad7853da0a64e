{{{banner}}}"""{{kernel}} for JAX: the function `{{function}}`.

`python {{kernel}}_jax.py` compiles the library that this module loads, beside it, with $CXX and $CXXFLAGS;
for GPUs with $NVCC, else nvcc where there is one, and $NVCCFLAGS.
"""
{{{imports}}}

import jax
import jax.numpy as jnp
import numpy as np

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.join(_FOLDER, "lib{{kernel}}_jax.so")
_KERNEL = "{{kernel}}"  # in messages
_TARGET = f"{__package__}." * bool(__package__) + "{{namespace}}.{{kernel}}"  # for XLA
_VMAP = "{{vmap}}"
{{{choices}}}

{{{text}}}{{{helpers}}}

def _run(command):
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        raise SystemExit(f"there is no compiler {command[0]}: name one in $CXX") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"exit code {error.returncode} of {shlex.join(command)}") from None


def build():
    """Compiles the library. It gets its name when it is whole, so that nobody loads half of it."""
    handle, made = tempfile.mkstemp(suffix=".so", dir=_FOLDER)
    os.close(handle)
    command = [*shlex.split(os.environ.get("CXX") or "c++"), "-O2", "-std=c++17", "-fopenmp", "-fPIC", "-shared"]
    command += ["-isystem", jax.ffi.include_dir(), *shlex.split(os.environ.get("CXXFLAGS", ""))]
    command += [os.path.join(_FOLDER, "{{kernel}}" + end) for end in ("_jax.cpp", "_openmp.cpp")]
    try:
        with tempfile.TemporaryDirectory() as folder:
            _run([*command, *_for_gpus(folder), "-o", made])
        os.chmod(made, 0o755)
        os.replace(made, _LIBRARY)
    finally:
        if os.path.exists(made):
            os.remove(made)


def _for_gpus(folder):
    """What GPUs add to the command."""
{{#cuda}}
    nvcc = shutil.which(os.environ.get("NVCC", "nvcc"))
    if nvcc:
        code = os.path.join(folder, "cuda.o")
        flags = ["-O2", "-std=c++17", "-Xcompiler", "-fPIC", *shlex.split(os.environ.get("NVCCFLAGS", ""))]
        _run([nvcc, *flags, "-c", os.path.join(_FOLDER, "{{kernel}}_cuda.cu"), "-o", code])
        runtime = os.path.join(os.path.dirname(os.path.realpath(nvcc)), "..", "lib64")
        return ["-DKGEN_JAX_CUDA", code, "-L", runtime, "-lcudart_static", "-ldl", "-lrt", "-lpthread"]
{{/cuda}}
    return []


if __name__ == "__main__":
    build()
    sys.exit()
if not os.path.exists(_LIBRARY):
    raise ImportError(f"{_LIBRARY} is missing. To make it: {shlex.join([sys.executable, os.path.abspath(__file__)])}")
_library = ctypes.CDLL(_LIBRARY)
for _platform, _handler in (("cpu", "{{namespace}}_{{kernel}}_jax_cpu"), ("CUDA", "{{namespace}}_{{kernel}}_jax_cuda")):
    if hasattr(_library, _handler):
        jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(getattr(_library, _handler)), platform=_platform)
