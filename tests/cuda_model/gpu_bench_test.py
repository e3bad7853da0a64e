"""Tests of bench/gpu without a device: interfaces, expressions, made-up data, workers, and what a page keeps."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "gpu"))

import data
import interface
import report
import workers


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


SERVING = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import workers

def answer(name):
    if name == "dies":
        print("it is broken", file=sys.stderr, flush=True)
        os._exit(7)
    if name == "hangs":
        time.sleep(60)
    print("what a library prints")
    return {"name": name}

workers.serve(answer, sys.stdin, sys.stdout)
"""


class Workers(unittest.TestCase):
    def answers(self, names, count=1, seconds=60.0, patience=60.0):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", SERVING, str(ROOT / "bench" / "gpu")]
            logs = [Path(folder) / f"{number}.log" for number in range(count)]
            return workers.run(names, [command] * count, logs, seconds, patience, lambda name, answer: None)

    def test_every_function_is_answered_by_some_worker(self):
        names = [f"f{number}" for number in range(9)]
        answers, codes = self.answers(names, count=3)
        self.assertEqual(answers, {name: {"name": name} for name in names})
        self.assertEqual(codes, [0, 0, 0])

    def test_a_function_that_ends_its_process_costs_no_other(self):
        answers, _ = self.answers(["one", "dies", "two"])
        self.assertEqual(answers["two"], {"name": "two"})
        self.assertEqual(answers["dies"], {"error": "the process ended with code 7: it is broken"})

    def test_a_function_that_takes_too_long_costs_no_other(self):
        answers, _ = self.answers(["one", "hangs", "two"], patience=2.0)
        self.assertEqual(answers["two"], {"name": "two"})
        self.assertEqual(answers["hangs"], {"error": "the process ended with code -9: after 2 s"})

    def test_nothing_waits_for_a_function_beyond_the_time(self):
        answers, _ = self.answers(["one", "hangs", "two"], seconds=2.0)
        self.assertEqual(answers, {"one": {"name": "one"}})


class Data(unittest.TestCase):
    def test_large_arrays_repeat_after_a_prime_number_of_elements(self):
        self.assertTrue(all(data.PERIOD % divisor for divisor in range(2, 2050)))
        import numpy as np

        entry, argument = {"kind": "normal"}, one("in x f32 [N]")
        made = data.make_normal(entry, argument, (data.PERIOD + 3,), {}, np.random.default_rng(0))
        self.assertTrue((made[:3] == made[-3:]).all())
        self.assertFalse((made[:3] == made[3:6]).any())


class Report(unittest.TestCase):
    def result(self, **found):
        return {"machine": {"device": "a"}, "arch": "sm", "compiler": "c", "checks": {}, "sanitizer": {}, "times": []} | found

    def test_a_second_run_of_a_day_keeps_the_steps_that_it_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gpu.json"
            row = {"function": "f", "sizes": {"N": 1}, "milliseconds": 1}
            path.write_text(report.json.dumps(self.result(checks={"f": {"ok": True}}, times=[row])))
            faster = row | {"milliseconds": 0.5}
            kept = report.with_earlier(self.result(sanitizer={"memcheck": "clean"}, times=[faster]), path)
            self.assertEqual(kept["checks"], {"f": {"ok": True}})
            self.assertEqual(kept["times"], [faster])
            other = self.result(machine={"device": "b"})
            self.assertEqual(report.with_earlier(other, path), other)


if __name__ == "__main__":
    unittest.main()
