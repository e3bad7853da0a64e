{{{banner}}}"""{{kernel}} for PyTorch: the function `{{function}}`, which is the operator {{namespace}}::{{function}}.

`python {{kernel}}_torch.py` compiles the library that this module loads, beside it, with $CXX and $CXXFLAGS.
torch.compile, torch.export and vmap know the operator{{autograd_note}}.
"""
{{#imports}}
{{{line}}}
{{/imports}}

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.join(_FOLDER, "lib{{kernel}}_torch.so")


def _run(*command):
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        raise SystemExit(f"there is no compiler {command[0]}: name one in $CXX{{#cuda}}, or in $NVCC{{/cuda}}") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"exit code {error.returncode} of {shlex.join(command)}") from None


def build():
    """Compiles the library{{#cuda}}, for CUDA too with $NVCC and $NVCCFLAGS: the nvcc that is found, or none if that is ""{{/cuda}}."""
    compiler = [*shlex.split(os.environ.get("CXX") or "c++"), "-O2", "-std=c++17", "-fPIC"]
    compiler += shlex.split(os.environ.get("CXXFLAGS", ""))
    found = importlib.util.find_spec("torch")
    if found is None:
        raise SystemExit(f"{sys.executable} has no torch: build with the Python that will load the library")
    folder = found.submodule_search_locations[0]
    link = ["-L" + os.path.join(folder, "lib"), "-ltorch_cpu"]
    with tempfile.TemporaryDirectory(dir=_FOLDER) as scratch:
        objects = []

        def compile_file(suffix, *command):
            objects.append(os.path.join(scratch, suffix + ".o"))
            _run(*command, "-c", os.path.join(_FOLDER, "{{kernel}}_" + suffix), "-o", objects[-1])
{{#cuda}}
        nvcc = shlex.split(os.environ.get("NVCC", shutil.which("nvcc") or ""))
        with_cuda = ["-DKGEN_CUDA"] if nvcc else []
        compile_file("torch.cpp", *compiler, *with_cuda, "-isystem", os.path.join(folder, "include"))
{{/cuda}}
{{^cuda}}
        compile_file("torch.cpp", *compiler, "-isystem", os.path.join(folder, "include"))
{{/cuda}}
{{#openmp}}
        compile_file("openmp.cpp", *compiler, "-fopenmp")
{{/openmp}}
        linker = [*compiler, "-fopenmp"]
{{#cuda}}
        if nvcc:
            import torch
            machines = "-arch=" + ("native" if torch.cuda.is_available() else "all-major")
            compile_file("cuda.cu", *nvcc, *shlex.split(os.environ.get("NVCCFLAGS", machines)), "-O2", "-std=c++17",
                         "-Xcompiler=-fPIC")
            linker = [*nvcc, "-Xcompiler=-fopenmp"]  # the CUDA runtime is linked statically: it loads without CUDA
{{/cuda}}
        library = os.path.join(scratch, "library.so")
        _run(*linker, "-shared", *objects, *link, "-o", library)
        if not os.path.exists(library):
            raise SystemExit(f"{shlex.join(linker)} made no library: is $CXX a compiler?")
        os.replace(library, _LIBRARY)  # whole, or not at all
{{#others}}
    _run(sys.executable, os.path.join(_FOLDER, "{{name}}_torch.py"))
{{/others}}


if __name__ == "__main__":
    build()
    sys.exit()

import torch  # noqa: E402 (building for the CPU needs it only to be there)

if not hasattr(torch.ops.{{namespace}}, "{{function}}"):  # else a library that is loaded has it
    command = shlex.join([sys.executable, os.path.abspath(__file__)])
    if not os.path.exists(_LIBRARY):
        raise ImportError(f"{_LIBRARY} is missing. To make it: {command}")
    try:
        torch.ops.load_library(_LIBRARY)
    except OSError as error:
        raise ImportError(f"{error}. To make it again: {command}") from None
{{#others}}

if __package__:
    _{{role}}_operator = importlib.import_module("." + "{{name}}_torch", __package__)._operator
else:
    _{{role}}_operator = importlib.import_module("{{name}}_torch")._operator
{{/others}}

_operator = torch.ops.{{namespace}}.{{function}}.default

{{{body}}}
