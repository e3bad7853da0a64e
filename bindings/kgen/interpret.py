"""The kernel as its interpreter runs it: the written meaning, with all that has a name in the body."""
import itertools
import numbers
import pathlib
import re
import tempfile
import tomllib

import numpy as np

from kgen import tool

try:
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = "V2"  # as what calls return, where nobody has arrays of it

EMPTY = re.compile(r"(?P<name>\w+) is empty: (?P<type>\w+)\[(?P<sizes>.*)\]")
VALUE = re.compile(r"(?:(?P<place>[^:]*): )?(?P<name>\w+) = (?P<value>[-+.\w]+)")


def interpret(folder, options, bound):
    """The arrays by name: outputs, and locals along the axes that they have. Where steps give one several values, it is
    the last one's. `bound` has the arguments by name, as the function takes them."""
    spec = tomllib.loads((folder / "spec.toml").read_text())
    fixed = dict(option.removeprefix("-D").split("=", 1) for option in options if option.startswith("-D"))
    arrays, chosen, given = _sorted(spec, bound)
    chosen = _with_types_of(arrays, spec, chosen | fixed)
    given += [f"-D{name}={value}" for name, value in chosen.items() if name not in fixed]
    with tempfile.TemporaryDirectory() as scratch:
        for name, array in arrays.items():
            file = pathlib.Path(scratch, f"{name}.npy")
            np.save(file, np.asarray(array.view("u2") if _type_of(array) == "bf16" else array, order="C"))
            given.append(f"--in={name}={file}")
        out = {name: pathlib.Path(scratch, f"{name}.out.npy") for name in spec["outputs"]}
        given += [f"--out={name}={file}" for name, file in out.items()]
        said = tool.run("run", "spec.toml", *options, *given, "--trace=values", f"--limit={2**40}", "--color=never",
                        folder=folder)
        results = {name: np.load(file) for name, file in out.items()}
    types = _all_types(spec, chosen)
    for name, declared in spec["outputs"].items():
        word = _element(declared)
        if types.get(word, word) == "bf16":
            results[name] = results[name].view(bfloat16)
    return _locals(said, set(spec.get("grid", {}))) | results


def _sorted(spec, bound):
    """The arrays, the parameters and types that are chosen, and the options for all numbers."""
    words = set(re.findall(r"\w+", repr([part for part in spec.values() if isinstance(part, dict)])))
    arrays, chosen, given = {}, {}, []
    for parameter, value in bound.items():
        name = parameter if parameter in words else parameter.removesuffix("_")  # `in` is `in_` in Python
        if name in spec.get("inputs", {}) or name in spec.get("tables", {}):
            arrays[name] = _array_of(value, parameter)
        elif name in spec.get("scalars", {}):
            is_whole = isinstance(value, (np.bool_, numbers.Integral))
            given.append(f"--scalar={name}={int(value) if is_whole else repr(float(value))}")
        elif name in spec.get("params", {}) or name in spec.get("types", {}):
            chosen[name] = tool.word(value)
        else:
            given.append(f"--size={name}={value}")
    return ({name: array for name, array in arrays.items() if array is not None},
            {name: word for name, word in chosen.items() if word is not None}, given)


def _array_of(value, name):
    """The same as an array of NumPy; None where an argument is left out."""
    if value is None or isinstance(value, np.ndarray):
        return value
    if not hasattr(value, "__dlpack__"):
        raise TypeError(f"{name} must be an array, not {type(value).__name__}")
    try:
        if not hasattr(value, "detach"):
            return np.asarray(value)
        if str(value.dtype) != "torch.bfloat16":
            return value.numpy(force=True)
        import torch  # NumPy itself has no such type
        return value.detach().view(torch.int16).numpy(force=True).view(bfloat16)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{name} cannot be taken for an array of NumPy: {error}") from None


def _with_types_of(arrays, spec, chosen):
    """What is chosen, with the types that arrays tell."""
    declared, chosen = spec.get("inputs", {}) | spec.get("tables", {}), dict(chosen)
    for name, array in arrays.items():
        own, wanted = _type_of(array), _element(declared[name])
        if wanted in spec.get("types", {}):
            wanted = chosen.setdefault(wanted, own)
        if wanted not in (own, "real"):  # about which the program knows
            raise TypeError(f"{name} is {own}, not {wanted}")
    return chosen


def _all_types(spec, chosen):
    """The types by their parameters, with those that follow from what is chosen: the first row that has it."""
    choices = {name: list(names) for name, names in spec.get("types", {}).items() if name != "only"}
    for row in spec.get("types", {}).get("only") or itertools.product(*choices.values()):
        types = dict(zip(choices, row))
        if all(chosen.get(name, word) == word for name, word in types.items()):
            return types
    return {}


def _element(declared):
    """T of "T[M, N]"."""
    return (declared if isinstance(declared, str) else declared["type"]).partition("[")[0].strip()


def _type_of(array):
    return "bf16" if array.dtype == bfloat16 else tool.word(array.dtype)


def _locals(said, steps):
    """Lines such as `i = 1, M = 2, N = 0: p = -0.5`, as arrays along the axes that are no steps; and such as
    `p is empty: f32[M = 2, N = 0]`. All others are what the body prints."""
    found, empty = {}, {}
    for line in said.splitlines():
        if match := VALUE.fullmatch(line):
            found.setdefault(match["name"], {})[_numbers(match["place"] or "", steps)] = match["value"]
        elif match := EMPTY.fullmatch(line):
            empty[match["name"]] = np.zeros(_numbers(match["sizes"], steps), bool if match["type"] == "bool" else float)
        else:
            print(line)
    return {name: _array(values) for name, values in found.items()} | empty


def _numbers(said, steps):
    """(2, 0) of `i = 1, M = 2, N = 0` where `i` is a step."""
    parts = [part.split(" = ") for part in said.split(", ") if part]
    return tuple(int(number) for name, number in parts if name not in steps)


def _array(values):
    """Numbers are doubles, whatever they are in the body."""
    shape = tuple(max(index) + 1 for index in zip(*values))
    if set(values.values()) <= {"true", "false"}:
        array, convert = np.zeros(shape, bool), "true".__eq__
    else:
        array, convert = np.full(shape, np.nan), float
    for index, value in values.items():
        array[index] = convert(value)
    return array
