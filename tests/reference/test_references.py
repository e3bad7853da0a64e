"""The references against second opinions: scalar loops, or torch where it is installed.

python3 test_references.py
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "conformance"))
import cases  # noqa: E402
import inputs as makers  # noqa: E402
from magnitude import Num  # noqa: E402
from opinions_loops import LOOPS  # noqa: E402
from opinions_torch import TORCH, torch  # noqa: E402
from references import REFERENCES  # noqa: E402
from references_maps import activate, philox_word  # noqa: E402
from registry import Result  # noqa: E402
from run import what_the_kernel_sees  # noqa: E402
from spec_file import SpecFile  # noqa: E402


def agree(first, second):
    """The reference's outputs against the second opinion's, both in double."""
    assert first.keys() == second.keys()
    for name, value in first.items():
        keep = np.True_
        if isinstance(value, Result):
            keep = ~value.undecided if value.undecided is not None else keep
            value = value.value
        got = value.v if isinstance(value, Num) else np.asarray(value)
        other = np.asarray(second[name])
        assert got.shape == other.shape, (name, got.shape, other.shape)
        close = np.isclose(got, other, rtol=1e-9, atol=1e-9, equal_nan=True) | ~keep
        assert close.all(), (name, got[~close][:3], other[~close][:3])


def check_magnitudes():
    """S bounds |v|, and activations and Philox meet known values."""
    assert philox_word(0, np.array([0]))[0] == 0x6627E8D5
    assert abs(float(activate("gelu", Num(1.0)).v) - 0.8413447460685429) < 1e-15
    x = Num(np.linspace(-3, 3, 7))
    for y in (x + 1.0, x - x, x * x, x / 2.0, x.sum(0), activate("silu", x)):
        assert (y.s >= np.abs(y.v) * (1 - 1e-12)).all()


def main():
    check_magnitudes()
    checked, unsupported = set(), set()
    for run in cases.expand():
        spec = SpecFile(run["spec"])
        opinion = LOOPS.get(spec.kernel) or (TORCH.get(spec.kernel) if torch else None)
        if opinion is None:
            unsupported.add(spec.kernel)
            continue
        if run["work"] > 400000 or (spec.kernel in TORCH and 0 in run["sizes"].values()):
            continue  # torch refuses or defines otherwise many empty cases
        sizes = spec.all_sizes(run["sizes"])
        seen = what_the_kernel_sees(spec, run["define"], makers.make(spec, run["define"], sizes, run["seed"]))
        params = spec.params(run["define"])
        with np.errstate(all="ignore"):
            agree(REFERENCES[spec.kernel](seen, sizes, params), opinion(seen, sizes, params))
        checked.add(spec.kernel)
    without = set(REFERENCES) - checked
    assert not without - (set() if torch else set(TORCH)), without
    print(
        f"{len(checked)} references agree with a second opinion"
        + (f", {len(unsupported)} need torch" if unsupported else "")
    )


if __name__ == "__main__":
    main()
