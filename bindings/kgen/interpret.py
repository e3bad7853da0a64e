"""The kernel as its interpreter runs it: the written meaning, with all that has a name in the body."""
import pathlib
import re
import tempfile
import tomllib

import numpy as np

from kgen import tool

TYPE_NAMES = {"bool": "bool", "bfloat16": "bf16"} | {
    f"{word}{bits}": f"{word[0]}{bits}" for word in ("int", "uint", "float") for bits in (8, 16, 32, 64)}
VALUE = re.compile(r"(?:(?P<place>[^:]*): )?(?P<name>\w+) = (?P<value>[-+.\w]+)")


def interpret(folder, options, bound):
    """The arrays by name: outputs, and locals along the axes that they have. Where steps give one several values, it is
    the last one's. `bound` has the arguments by name, as the function takes them."""
    spec = tomllib.loads((folder / "spec.toml").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        said = tool.run("run", "spec.toml", *options, *_arguments(spec, bound, pathlib.Path(scratch)), "--trace=values",
                        f"--limit={2**40}", "--color=never", folder=folder)
        results = {file.stem: np.load(file) for file in pathlib.Path(scratch, "out").iterdir()}
    return _locals(said, set(spec.get("grid", {}))) | results


def _arguments(spec, bound, scratch):
    arrays = spec.get("inputs", {}) | spec.get("tables", {})
    (scratch / "out").mkdir()
    given, types = [f"--out={name}={scratch / 'out' / name}.npy" for name in spec["outputs"]], {}
    for parameter, value in bound.items():
        name = parameter.rstrip("_") if parameter.rstrip("_") in [*arrays, *spec.get("scalars", {})] else parameter
        if name in arrays and value is not None:
            declared = arrays[name] if isinstance(arrays[name], str) else arrays[name]["type"]
            value = np.from_dlpack(value) if not isinstance(value, np.ndarray) else value
            types[declared.partition("[")[0]] = TYPE_NAMES.get(str(value.dtype), str(value.dtype))
            np.save(scratch / f"{name}.npy", value.view("u2") if value.dtype.name == "bfloat16" else value)
            given.append(f"--in={name}={scratch / name}.npy")
        elif name in spec.get("scalars", {}):
            given.append(f"--scalar={name}={int(value) if isinstance(value, (bool, int)) else float(value)!r}")
        elif name in spec.get("params", {}) or name in spec.get("types", {}):
            types.setdefault(name, value)
        elif name not in arrays:
            given.append(f"--size={name}={value}")
    known = [*spec.get("params", {}), *spec.get("types", {})]
    return given + [f"-D{name}={value}" for name, value in types.items() if name in known and value is not None]


def _locals(said, steps):
    """Lines such as `i = 1, M = 2, N = 0: p = -0.5`, as arrays along the axes that are no steps."""
    found = {}
    for line in said.splitlines():
        if not (match := VALUE.fullmatch(line)):
            continue
        place = [part.split(" = ") for part in (match["place"] or "").split(", ") if part]
        indices = tuple(int(index) for name, index in place if name not in steps)
        found.setdefault(match["name"], {})[indices] = match["value"]
    return {name: _array(values) for name, values in found.items()}


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
