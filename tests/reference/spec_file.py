"""What a runner needs of a spec file: operands with their types and shapes, in the order of the file.

An independent, small reading of TOML; it checks nothing.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

SPECS = Path(__file__).resolve().parents[2] / "specs"
SECTIONS = ("inputs", "outputs", "tables")


@dataclass
class Operand:
    name: str
    section: str
    type: str  # an element type or a type parameter
    dims: list  # one text per dimension
    keys: dict  # what else the file says

    def shape(self, sizes):
        return tuple(extent(dim, sizes) for dim in self.dims)


def evaluate(text, sizes):
    """The value of an expression of the spec grammar (without ?:, which no shipped spec uses in a size)."""
    functions = {"min": min, "max": max, "cdiv": lambda a, b: -(-a // b)}
    return eval(text.replace("/", "//"), {"__builtins__": {}}, {**sizes, **functions})  # our own spec files only


def extent(dim, sizes):
    if dim == "...":
        return sizes["rows"]
    if dim.startswith("("):
        product = 1
        for part in dim.strip("()").split():
            product *= sizes[part]
        return product
    return evaluate(dim.split("=")[-1], sizes)


class SpecFile:
    def __init__(self, path):
        """path: relative to specs/."""
        self.path = SPECS / path
        self.data = tomllib.loads(self.path.read_text())
        self.kernel = self.data["kernel"]
        self.operands = [
            self._operand(s, name, value) for s in SECTIONS for name, value in self.data.get(s, {}).items()
        ]
        self.scalars = self.data.get("scalars", {})
        self._pack_ragged()
        self._add_batch()

    def of(self, section):
        return [o for o in self.operands if o.section == section]

    def choices(self):
        """The type parameters and list parameters, each with its choices."""
        lists = {name: value for name, value in self.data.get("params", {}).items() if isinstance(value, list)}
        types = {name: value for name, value in self.data.get("types", {}).items() if name != "only"}
        return {**lists, **types}

    def is_made(self, define):
        """Are there functions for these types? `types.only` may leave some out."""
        types = self.data.get("types", {})
        names = [name for name in types if name != "only"]
        return "only" not in types or [define[name] for name in names] in types["only"]

    def params(self, define):
        return {**self.data.get("params", {}), **define}

    def element_type(self, declared, define):
        if declared != "real":
            return define.get(declared, declared)
        others = [define.get(operand.type, operand.type) for operand in self.operands]
        return "f64" if "f64" in others else "f32"

    def all_sizes(self, sizes):
        """The sizes given, with the fixed and the derived ones."""
        result = dict(sizes)
        for operand in self.operands:
            for axis, value in re.findall(r"(\w+)=(\d+)", " ".join(operand.dims)):
                result.setdefault(axis, int(value))
        axes = self.data.get("axes", {})
        result.update({axis: value for axis, value in axes.items() if isinstance(value, int)})
        for axis, value in axes.items():
            if isinstance(value, dict) and "equals" in value:
                result[axis] = evaluate(value["equals"], result)
        return result

    @staticmethod
    def _operand(section, name, value):
        keys = value if isinstance(value, dict) else {}
        element, dims = re.fullmatch(r"(\w+)\[(.*)\]", keys.get("type", value)).groups()
        return Operand(name, section, element, [d.strip() for d in dims.split(",") if d.strip()], keys)

    def _pack_ragged(self):
        """Two dimensions [B, N] with N ragged over B are one, of N elements."""
        for axis, value in self.data.get("axes", {}).items():
            if isinstance(value, dict) and "ragged" in value:
                for operand in self.operands:
                    if axis in operand.dims:
                        operand.dims.remove(value["over"])

    def _add_batch(self):
        for axis, names in self.data.get("batch", {}).items():
            for operand in self.operands:
                if operand.name in names:
                    operand.dims.insert(0, axis)
