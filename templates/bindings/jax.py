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
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    flags = ["-fopenmp", "-fPIC", *shlex.split(os.environ.get("CXXFLAGS", ""))]
    options = ["-O2", "-std=c++17", "-shared", "-isystem", jax.ffi.include_dir()]
    command, sources = [*compiler, *options, *flags], ["_jax.cpp", "_openmp.cpp"]
{{#cuda}}
    if nvcc := shlex.split(os.environ.get("NVCC", shutil.which("nvcc") or "")):
        machines = os.environ.get("NVCCFLAGS", "-arch=native" if shutil.which("nvidia-smi") else "-arch=all-major")
        command = [*nvcc, *options, *shlex.split(machines), "-DKGEN_JAX_CUDA", "-ccbin", compiler[0]]
        command += [f"-Xcompiler={flag}" for flag in [*compiler[1:], *flags]]
        sources.append("_cuda.cu")
{{/cuda}}
    command += [os.path.join(_FOLDER, "{{kernel}}" + end) for end in sources]
    try:
        _run([*command, "-o", made])
        if os.path.getsize(made) == 0:
            raise SystemExit(f"{shlex.join(command)} made no library: is $CXX a compiler?")
        os.chmod(made, 0o755)
        os.replace(made, _LIBRARY)
    finally:
        if os.path.exists(made):
            os.remove(made)
{{#others}}
    _run([sys.executable, os.path.join(_FOLDER, "{{name}}_jax.py")])
{{/others}}


if __name__ == "__main__":
    build()
    sys.exit()
if not os.path.exists(_LIBRARY):
    raise ImportError(f"{_LIBRARY} is missing. To make it: {shlex.join([sys.executable, os.path.abspath(__file__)])}")
_library = ctypes.CDLL(_LIBRARY)
for _platform, _handler in (("cpu", "{{namespace}}_{{kernel}}_jax_cpu"), ("CUDA", "{{namespace}}_{{kernel}}_jax_cuda")):
    if hasattr(_library, _handler):
        jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(getattr(_library, _handler)), platform=_platform)
