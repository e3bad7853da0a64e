"""Launchers answer at once, and without a report of the undefined-behaviour sanitizer, whatever the sizes are: at the ends
of 64 bits, where products and sums of them are no numbers, and where there is nothing to write.

    extreme_sizes.py KGEN MODEL MODEL_LIBRARY
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile
import unittest

KGEN, MODEL, MODEL_LIBRARY = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
LEAST, MOST = -(1 << 63), (1 << 63) - 1
SPECS = {
    "soft": 'inputs.x = "f32[..., N]"\noutputs.y = "f32[..., N]"\nbody = "real e = exp(x - max(x, N)); y = e / sum(e, N);"',
    "frames": """axes.P = { equals = "(H + 2 * I - 3) / 2 + 1" }
axes.Q = { equals = "H * I - min(H, I)" }
inputs.x = "f32[B, H, I]"
outputs.y = "f32[B, P, Q]"
body = "y = at(x, H = index(P), I = index(Q));"
""",
    "ragged": """axes.N = { ragged = "row_start", over = "B" }
tables.row_start = { type = "i64[B + 1]", where = "host" }
inputs.x = "f32[B, N]"
outputs.y = "f32[B]"
body = "y = sum(x, N);"
""",
    "kept": """inputs.x = "f32[M]"
inputs.y = "f32[N]"
outputs.z = "f32[M]"
body = "real c = cumsum(x * y, N); z = sum(c * cumsum(c, M), N);"
""",
    "blocks": """inputs.x = { type = "f32[M, N]", block = [4, "whole"], index = ["i", 0] }
outputs.y = { type = "f32[M, N]", block = [4, "whole"], index = ["i", 0] }
grid.i = { size = "cdiv(M, 4)", semantics = "parallel" }
body = "y = x + sum(x, N);"
""",
}


def compiled(folder):
    libraries = {}
    for name, text in SPECS.items():
        spec = folder / f"{name}.toml"
        lines = text.replace('body = "', "body = '")
        spec.write_text(f'kernel = "{name}"\n{lines.rstrip()[:-1]}\'\n')
        subprocess.run([KGEN, spec, "-o", folder], check=True, stdout=subprocess.DEVNULL)
        said = f'extern "C" const char* said(int status) {{ return {name}_error(status); }}'
        (folder / "said.cpp").write_text(f'#include "{name}.h"\n{said}\n')
        files = [folder / f"{name}_openmp.cpp", folder / f"{name}_cuda.cu", folder / "said.cpp"]
        out = folder / f"{name}.so"
        subprocess.run(["g++", "-std=c++17", "-Wno-unknown-pragmas", "-fsanitize=undefined", "-fno-sanitize-recover=all",
                        "-isystem", MODEL / "include", "-shared", "-fPIC", "-o", out, "-x", "c++", *files, "-x", "none",
                        MODEL_LIBRARY], check=True)  # fmt: skip
        libraries[name] = ctypes.CDLL(str(out))
        libraries[name].said.restype = ctypes.c_char_p
    return libraries


class ExtremeSizes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="kgen_sizes_")
        cls.libraries = compiled(pathlib.Path(cls.temporary.name))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def call(self, name, arrays, *sizes):
        """What the launchers of both targets say of so many null pointers and the sizes."""
        library, answers = self.libraries[name], []
        for target, queue in (("openmp", 0), ("cuda", 1)):
            function, query = (getattr(library, f"{name}_{target}{end}", None) for end in ("", "_workspace"))
            numbers = [ctypes.c_int64(size) for size in sizes]
            workspace = [] if query is None else [ctypes.c_void_p(), ctypes.c_int64(0)]
            status = function(*[ctypes.c_void_p()] * arrays, *numbers, *workspace, *[ctypes.c_void_p()] * queue)
            answers.append(library.said(status).decode())
        return answers[0] if answers[0] == answers[1] else answers

    def test_nothing_to_write_is_done_at_once(self):
        for sizes in ((1 << 62, 0), (0, 1 << 62), (MOST, 0), (0, MOST), (0, 0)):
            self.assertEqual(self.call("soft", 2, *sizes), "success", sizes)
        for sizes in ((1 << 62, 0), (0, 1 << 62), (MOST, 0), (0, MOST)):
            self.assertEqual(self.call("blocks", 2, *sizes), "success", sizes)

    def test_nothing_to_write_needs_no_workspace(self):
        for target in ("openmp", "cuda"):
            query = getattr(self.libraries["soft"], f"soft_{target}_workspace", None)
            if query is not None:
                query.restype = ctypes.c_int64
                for sizes in ((1 << 62, 0), (0, 1 << 62)):
                    self.assertEqual(query(*[ctypes.c_int64(size) for size in sizes]), 0)

    def test_the_workspace_of_what_is_kept_is_counted_or_refused(self):
        for target in ("openmp", "cuda"):
            query = getattr(self.libraries["kept"], f"kept_{target}_workspace")
            query.restype = ctypes.c_int64
            self.assertGreaterEqual(query(ctypes.c_int64(100), ctypes.c_int64(200)), 4 * 100 * 200)
            self.assertEqual(query(ctypes.c_int64(0), ctypes.c_int64(MOST)), 0)
            for sizes in ((1 << 32, 1 << 32), (1 << 60, 1 << 60), (1 << 31, 1 << 32)):
                refused = query(*[ctypes.c_int64(size) for size in sizes])
                self.assertLess(refused, 0, sizes)
                self.assertEqual(self.libraries["kept"].said(-refused).decode(), "M * N is more than can be counted")

    def test_negative_sizes_are_refused_before_anything_is_computed(self):
        for size in (-1, LEAST, LEAST + 1):
            self.assertEqual(self.call("soft", 2, size, 3), "rows must not be negative")
            self.assertEqual(self.call("frames", 2, 1, size, 3), "H must not be negative")
            self.assertEqual(self.call("frames", 2, 0, 5, size), "I must not be negative")
            self.assertEqual(self.call("ragged", 3, size, 0), "B must not be negative")
            self.assertEqual(self.call("blocks", 2, size, 0), "M must not be negative")

    def test_sizes_that_cannot_be_counted_are_refused(self):
        for B in (0, 1):
            for sizes in ((MOST, 5), (5, MOST), (MOST, MOST), (1 << 62, 1 << 62), (MOST - 1, 1)):
                answer = self.call("frames", 2, B, *sizes)
                self.assertIn("more than can be counted", answer.replace("more bytes than", "more than"), sizes)
        self.assertEqual(self.call("ragged", 3, MOST, 0), "B + 1 is more than can be counted")
        self.assertEqual(self.call("soft", 2, 1 << 62, 2), "x has more bytes than can be counted")
        self.assertEqual(self.call("blocks", 2, MOST, 1), "x has more bytes than can be counted")


if __name__ == "__main__":
    unittest.main()
