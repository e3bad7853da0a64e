"""The rows of rows.toml: which function at which sizes, and the bytes that it must move, from the arrays of its spec."""

import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/reference"))
import inputs as makers  # noqa: E402
from spec_file import SPECS, SpecFile, evaluate  # noqa: E402

MOST = 1.5  # times the floor of bytes, and times the time of a copy of these bytes
SHIPPED = ["norm/*.toml", "loss/*.toml", "reduce/*.toml", "scan/*.toml", "conv/*_pool*.toml", "giou/loss_*.toml"]
STATED = r"^// Bytes that {} must move: (.*) read, (.*) written\.$"


def element_bytes(element):
    return 2 if element == "bf16" else makers.stored(np.zeros(1), element).dtype.itemsize


@dataclass
class Row:
    spec: str
    sizes: dict
    grow: list  # axes that are multiplied for larger arrays
    define: dict = field(default_factory=dict)
    most: float = MOST
    reason: str = ""
    slow: str = ""  # why it takes more time than its bytes
    unread: tuple = ()  # inputs that only say how long axes are

    def __post_init__(self):
        self.file = SpecFile(self.spec)
        first = {name: values[0] for name, values in self.file.choices().items()}
        self.define = {**first, **self.define}
        self.function = "_".join([self.file.kernel, *map(str, self.define.values())])
        if (self.most > MOST) != bool(self.reason):
            raise SystemExit(f"{self}: a row that may move more than {MOST} times its floor says why, and no other")

    def __str__(self):
        return f"{self.function} " + " ".join(f"{axis}={size}" for axis, size in self.sizes.items())

    def source(self, generated):
        return Path(generated) / Path(self.spec).parent / f"{self.file.kernel}_openmp.cpp"

    def bytes_of(self, *sections, but=()):
        """Of all arrays of these sections."""
        sizes = self.file.all_sizes(self.sizes)
        arrays = [operand for section in sections for operand in self.file.of(section) if operand.name not in but]
        return sum(
            int(np.prod(a.shape(sizes), dtype=np.int64)) * element_bytes(self.file.element_type(a.type, self.define))
            for a in arrays
        )

    def floor(self):
        """Everything that is given is read once, everything that is made is written once."""
        return self.bytes_of("inputs", "tables", "outputs", but=self.unread)

    def misstated(self, generated):
        """None, or how the emitted file says other bytes than the arrays have. It says them of its first choice."""
        text = self.source(generated).read_text().replace("\n//   ", " ")  # where a sentence goes on
        found = re.search(STATED.format(self.function), text, re.M)
        if not found:
            return None if any(self.define[n] != v[0] for n, v in self.file.choices().items()) else "says no bytes"
        sizes = self.file.all_sizes(self.sizes)
        stated = [evaluate(text, sizes) for text in found.groups()]
        right = [self.bytes_of("inputs"), self.bytes_of("outputs")]
        return None if stated == right else f"says {stated} bytes read and written, its arrays have {right}"

    def grown(self, least):
        """The same row with arrays of that many bytes or more, in total."""
        factor = -(-least // self.floor())
        sizes = {axis: size * (factor if axis in self.grow else 1) for axis, size in self.sizes.items()}
        return Row(self.spec, sizes, self.grow, self.define, self.most, self.reason, self.slow, self.unread)


def all_rows(only=""):
    table = tomllib.loads((HERE / "rows.toml").read_text())
    rows = [Row(**entry) for entry in table["row"]]
    wanted = {str(path.relative_to(SPECS)) for pattern in SHIPPED for path in SPECS.glob(pattern)}
    if missing := wanted - {row.spec for row in rows}:
        raise SystemExit(f"tests/traffic/rows.toml has no row of {sorted(missing)}")
    return [row for row in rows if only in str(row)]
