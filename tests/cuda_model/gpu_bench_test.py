"""Tests of bench/gpu's reading of interfaces and of its expressions."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "gpu"))

import interface


def one(text):
    return interface.parse_argument(text, "stem")


class Arguments(unittest.TestCase):
    def test_arrays(self):
        argument = one("in? x bf16 [B, (G) * (C), min(H, 4), W]")
        self.assertEqual((argument.kind, argument.name, argument.optional, argument.type), ("in", "x", True, "bf16"))
        self.assertEqual(argument.shape({"B": 2, "G": 3, "C": 5, "H": 9, "W": 1}), (2, 15, 4, 1))

    def test_no_dimensions(self):
        self.assertEqual(one("out loss f32 []").shape({}), ())

    def test_facts(self):
        self.assertEqual(one("size D one_of 64 128").facts, {"one_of": [64, 128]})
        table = one("table col i32 [S] sorted range cdiv(K, 64)")
        self.assertEqual(table.facts, {"sorted": [], "range": "cdiv(K, 64)"})

    def test_refused(self):
        for text in ("input x f32 [M]", "in", "size M even"):
            with self.assertRaises(interface.InterfaceError, msg=text):
                one(text)

    def test_samples(self):
        functions = interface.read_header(ROOT / "tests/cuda_model/sample/sample.h")
        self.assertEqual([f.stem for f in functions][:2], ["sample_axpy", "sample_row_sum"])
        self.assertEqual([a.name for a in functions[0].arguments], ["x", "y", "z", "alpha", "n"])

    def test_header(self):
        """A comment may end on a line of its own; both functions may take a workspace."""
        line = "/* @function f args: in x f32 [N]; size\n * N; workspace workspace; workspace_openmp workspace\n */\nint f();"
        with tempfile.NamedTemporaryFile("w", suffix=".h") as file:
            file.write(line)
            file.flush()
            (function,) = interface.read_header(file.name)
        self.assertEqual([a.kind for a in function.arguments], ["in", "size", "workspace", "workspace_openmp"])


class Expressions(unittest.TestCase):
    def test_values(self):
        sizes = {"H": 7, "I": 3, "N": 0}
        table = {
            "(H + 2 - I) / 2 + 1": 4,
            "-H / 2": -4,
            "-H % 4": 1,
            "cdiv(H, 2) * 10": 40,
            "floordiv(-1, 2)": -1,
            "max(min(H, I), N)": 3,
            "H > 5 && N == 0 ? 1 : 2": 1,
            "N ? 1 : H < I || H != I ? 5 : 6": 5,
            "64L": 64,
            "H - 2 - 1": 4,
        }
        for text, value in table.items():
            self.assertEqual(interface.evaluate(text, sizes), value, text)

    def test_refused(self):
        for text in ("", "H +", "(H", "Q", "H H", "H @ 2", "min(H", "min(H)", "H ? 1"):
            with self.assertRaises(interface.InterfaceError, msg=text):
                interface.evaluate(text, {"H": 1})


if __name__ == "__main__":
    unittest.main()
