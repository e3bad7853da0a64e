"""Kernels that Python calls: what `kgen.load` returns."""
import ast
import contextlib
import hashlib
import importlib
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import types

from kgen import cache, tool
from kgen.errors import CompileError, SpecError

# By the package that an array's class comes from.
FRAMEWORKS = {"numpy": "numpy", "torch": "torch", "jax": "jax", "jaxlib": "jax"}


def load(spec, *, include=(), namespace="kgen", **defines):
    """The kernel of a spec, which is a file's path, or the text itself.

    include: a folder or several for `functions_from`, besides the spec's; defines: parameters and types to fix, as -D
    does, types of frameworks too; namespace: under which frameworks know the kernel; "kgen" gives each kernel one of
    its own, for two of one name are one operator to them. The sources are generated now where they are not in the
    cache, and compiled when the first array of a framework comes.
    """
    text, path = _read(spec)
    include = [include] if isinstance(include, (str, os.PathLike)) else include
    folders = [str(pathlib.Path(folder).resolve()) for folder in ([path.parent] if path else []) + list(include)]
    options = [f"--include={folder}" for folder in folders]
    for name, value in sorted(defines.items()):
        options.append(f"-D{name}={tool.word(value)}")
    name = cache.key(*_deciding(text, path, folders), namespace, *options, cache.stamp(tool.executable()))
    own = f"kgen_{name[:12]}" if namespace == "kgen" else namespace
    folder = cache.entry(name, lambda part: _generate(part, text, path, options, own))
    with cache.used(), cache.whole(folder):
        return Kernel(folder, options, namespace)


class Kernel:
    """Calls the function that a spec declares, with arrays of any framework for which there is a binding; results are
    arrays of the same. `help(kernel)` shows what it takes."""

    def __init__(self, folder, options, namespace):
        self._folder, self._options, self._namespace = folder, options, namespace
        self._name = _declared((folder / "spec.toml").read_text("utf-8"))["kernel"]
        self._frameworks = {}  # by the classes of the arguments
        self._functions = {}  # by their framework
        declared = next(node for node in ast.parse((folder / f"{self._name}_numpy.py").read_text("utf-8")).body
                        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.name != "build")
        self.__name__ = self.__qualname__ = self._function = declared.name
        self.__doc__ = ast.get_docstring(declared)
        self.__annotations__ = _annotations(declared.args, self.__doc__)
        self.__signature__ = _signature(declared.args, self.__annotations__)

    def __call__(self, /, *arguments, **keywords):
        kinds = (*map(type, arguments), *map(type, keywords.values()))
        return self._functions[self._framework_for(kinds)](*arguments, **keywords)

    def __getstate__(self):
        # What it calls lies in modules of this process; another one finds them when it calls.
        return self.__dict__ | {"_frameworks": {}, "_functions": {}}

    def __repr__(self):
        return f"<kgen.Kernel {self.__name__}{self.__signature__}>"

    def source(self, what):
        """The text of the "spec", or of the "openmp" or "cuda" source that it gives."""
        names = {"spec": "spec.toml", "openmp": f"{self._name}_openmp.cpp", "cuda": f"{self._name}_cuda.cu"}
        if what not in names:
            raise ValueError(f"there is the source of spec, openmp and cuda, not of {what!r}")
        return (self._folder / names[what]).read_text("utf-8")

    def interpret(self, /, *arguments, **keywords):
        """What the interpreter makes of a call: a dict of all outputs, and of all that has a name in the body."""
        from kgen.interpret import interpret  # it needs NumPy
        bound = self.__signature__.bind(*arguments, **keywords)
        bound.apply_defaults()
        bound.arguments.pop("out", None)
        return interpret(self._folder, self._options, bound.arguments)

    def explain(self):
        """What kgen found out about the kernel: axes, verdicts, plans, cost."""
        return tool.run("explain", "spec.toml", *self._options, "--color", "never", folder=self._folder)

    def grad(self, of=(), with_=(), save=()):
        """The kernel of its gradients: `of` these inputs, given those `with_` these outputs; default all. It reads what
        `save` names, outputs and locals of the body; of locals, the kernel that gives them is its `forward`."""
        chosen = [f"--{option}={','.join([names] if isinstance(names, str) else names)}"
                  for option, names in (("of", of), ("with", with_), ("save", save)) if names]
        name = hashlib.sha256("\0".join([str(self._folder), *chosen]).encode()).hexdigest()[:32]
        folder = cache.entry(name, lambda part: tool.run("grad", "spec.toml", *self._options, *chosen, "-o", part,
                                                         folder=self._folder))
        gradient = load(next(folder.glob("*_backward.toml")).read_text("utf-8"), namespace=self._namespace)
        for forward in folder.glob("*_forward.toml"):  # which leaves parameters and types open
            gradient.forward = load(forward.read_text("utf-8"), namespace=self._namespace, **self._defines())
        return gradient

    def _defines(self):
        return dict(option.removeprefix("-D").split("=", 1) for option in self._options if option.startswith("-D"))

    def _framework_for(self, kinds):
        if kinds not in self._frameworks:
            # A table of NumPy may stand beside arrays of another framework.
            named = [framework for kind in kinds if (framework := _framework(kind))]
            framework = next((framework for framework in named if framework != "numpy"), "numpy")
            if framework not in self._functions:
                self._functions[framework] = self._binding(framework)
            self._frameworks[kinds] = framework
        return self._frameworks[kinds]

    # What torch.compiler.assume_constant_result sets, without an import of torch: torch.compile runs this method and
    # goes on with the name. Functions as results it would refuse.
    _framework_for._dynamo_marked_constant = True

    def _binding(self, framework):
        package = f"kgen.loaded_{hashlib.sha256(str(self._folder).encode()).hexdigest()[:16]}"
        if package not in sys.modules:  # the modules of one folder import each other
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = [str(self._folder)]
        module = f"{self._name}_{framework}"
        self._compile(module)
        with cache.whole(self._folder):
            return getattr(importlib.import_module(f"{package}.{module}"), self._function)

    def _compile(self, module):
        framework = module.rpartition("_")[2]
        # Modules of frameworks with gradients build the libraries of those kernels, too, one after the other.
        modules = [module] if framework == "numpy" else [file.stem for file in self._folder.glob(f"*_{framework}.py")]
        libraries = [self._folder / f"lib{name}.so" for name in modules]
        if all(library.exists() for library in libraries):
            return
        with cache.locked(self._folder.name):
            if not all(library.exists() for library in libraries):
                _clear(self._folder)
                print(f"kgen: compiling {self._name} for {framework}", file=sys.stderr, flush=True)
                _build(self._folder / f"{module}.py")


def _clear(folder):
    """Before a build: what one that was killed has left goes away. A CacheError where nothing can be written."""
    with cache.used():
        for left in folder.glob("tmp*"):
            if left.is_dir():  # of a build for torch
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


def _build(script):
    cache.compiler()  # it may have changed since the spec was loaded
    gpu = {} if shutil.which("nvidia-smi") else {"NVCC": ""}  # this machine's library needs no more
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=dict(os.environ, **gpu))
    if done.returncode != 0:
        raise CompileError(done.stderr.strip())


def _read(spec):
    """The text of a spec, and its path; None where it came as a text."""
    if isinstance(spec, str) and "\n" in spec:
        if "backward" in _declared(spec):
            raise SpecError("the key `backward` names a file beside the spec, and a text lies nowhere: load the spec by"
                            " its path, or leave the key out")
        return spec, None
    path = pathlib.Path(spec).resolve()
    return path.read_text("utf-8-sig"), path


def _declared(text):
    """The keys of a spec; none where it is no TOML, about which the program has more to say."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _deciding(text, path, folders):
    """All texts that decide what a spec gives: its own, and those of its gradients, each with the functions that it
    includes."""
    return [part for own, file in [(text, path), *_given_gradients(text, path)]
            for part in (own, _functions(own, ([file.parent] if file else []) + folders))]


def _functions(text, folders):
    """The text of the file that `functions_from` names."""
    if named := _declared(text).get("functions_from"):
        for folder in folders:
            if (file := pathlib.Path(folder, str(named))).is_file():
                return file.read_text("utf-8-sig")
    return ""


def _generate(part, text, path, options, namespace):
    (part / "spec.toml").write_text(text, "utf-8")

    def run(*specs):
        tool.run(*specs, *options, "-o", part, "--root", part, "--color", "never", "--namespace", namespace,
                 "--bind", ",".join(dict.fromkeys(FRAMEWORKS.values())), folder=part)

    spec, gradient = path or "spec.toml", _gradient(part, text, path, options)
    try:
        run(spec, *gradient)
    except SpecError:
        if not gradient:
            raise
        for file in gradient:  # nobody has asked for it
            file.unlink()
        run(spec)


def _given_gradients(text, path, seen=()):
    """The texts and files of the specs of the gradients: that which the key `backward` names, or NAME_backward.toml, and
    NAME_forward.toml beside it, and those of the second order; none: `kgen grad` has to make them."""
    declared = _declared(text)
    kernel = declared.get("kernel")
    backward = path and path.parent / str(declared.get("backward", f"{kernel}_backward.toml"))
    if not (backward and backward.is_file()) or backward in seen:
        return []
    own = [(file.read_text("utf-8-sig"), file) for file in (backward, backward.with_name(f"{kernel}_forward.toml"))
           if file.is_file()]
    return own + _given_gradients(own[0][0], backward, (*seen, backward))


def _gradient(part, text, path, options):
    """The spec of the gradients, which frameworks may ask for: where none lies beside the spec, that of `kgen grad`."""
    if "backward_of" in _declared(text) or _given_gradients(text, path):
        return []
    with contextlib.suppress(SpecError):  # what has no gradient goes without one
        tool.run("grad", path or "spec.toml", *options, "-o", part, folder=part)
    return sorted(part.glob("*_backward.toml"))


def _framework(kind):
    for base in kind.__mro__:
        framework = FRAMEWORKS.get(base.__module__.partition(".")[0])
        if framework and (framework != "numpy" or base.__name__ == "ndarray"):
            return framework
    return None


def _annotations(arguments, doc):
    """What the docstring says of each argument but `out`, and of what is returned, such as "T[M, N]"."""
    said = dict(re.findall(r"^(\w+): (.*)", doc, re.MULTILINE))
    names = [a.arg for a in arguments.args + arguments.kwonlyargs if a.arg != "out"]
    return {name: said[name] for name in names} | {"return": re.findall(r"^Returns (.*)", doc, re.MULTILINE)[-1]}


def _signature(arguments, annotations):
    kinds, none = inspect.Parameter, inspect.Parameter.empty
    plain = arguments.args
    defaults = [none] * (len(plain) - len(arguments.defaults)) + [ast.literal_eval(d) for d in arguments.defaults]
    parameters = [kinds(a.arg, kinds.POSITIONAL_OR_KEYWORD, default=d) for a, d in zip(plain, defaults)]
    parameters += [kinds(a.arg, kinds.KEYWORD_ONLY, default=none if d is None else ast.literal_eval(d))
                   for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    parameters = [one.replace(annotation=annotations.get(one.name, none)) for one in parameters]
    return inspect.Signature(parameters, return_annotation=annotations["return"])
