"""The NumPy binding on all that specs can declare: results, `out`, arrays of other frameworks, and what is refused.

numpy_test.py KGEN [unittest arguments]
"""
import concurrent.futures
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import matrix
import numpy as np
from matrix import numbers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from this_machine import SOON_COMPILED  # noqa: E402

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())


def setUpModule():
    global FOLDER
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    FOLDER = pathlib.Path(temporary.name)
    for case in matrix.CASES:
        (FOLDER / f"{case.name}.toml").write_text(case.spec)
    (FOLDER / "product.toml").write_text(matrix.PRODUCT)
    kgen("grad", "product.toml", "-o", ".")
    names = [case.name for case in matrix.CASES] + ["product_backward"]
    kgen(*(f"{name}.toml" for name in names), "--targets", "openmp", "--bind", "numpy")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(build, names))
    sys.path.insert(0, str(FOLDER))


def kgen(*arguments):
    subprocess.run([KGEN, *arguments], cwd=FOLDER, check=True, capture_output=True)


def build(name):
    environment = dict(os.environ, CXXFLAGS=SOON_COMPILED)
    subprocess.run([sys.executable, f"{name}_numpy.py"], cwd=FOLDER, check=True, env=environment)


def kernel(name):
    return getattr(importlib.import_module(f"{name}_numpy"), name)


def function(case):
    return kernel(case.name)


def named(name):
    return next(case for case in matrix.CASES if case.name == name)


def calls():
    for case in matrix.CASES:
        for number, call in enumerate(case.calls):
            yield case, number, call


def parameters(case):
    code = function(case).__code__
    return code.co_varnames[:code.co_argcount]


class NumpyBinding(unittest.TestCase):
    def assert_gives(self, got, expected):
        got = got if isinstance(got, tuple) else (got,)
        self.assertEqual(len(got), len(expected))
        for one, other in zip(got, expected):
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            np.testing.assert_array_equal(one, other)

    def assert_refused(self, kind, names, call):
        with self.assertRaises(kind) as caught:
            call()
        for name in names:
            self.assertIn(name, str(caught.exception))

    def test_results(self):
        for case, number, call in calls():
            with self.subTest(case=case.name, call=number):
                before = [np.copy(a) for a in call.arguments if isinstance(a, np.ndarray)]
                self.assert_gives(function(case)(*call.arguments, **call.keywords), call.outputs)
                for a, b in zip([a for a in call.arguments if isinstance(a, np.ndarray)], before):
                    np.testing.assert_array_equal(a, b)  # an alias too is a copy

    def test_out(self):
        for case, number, call in calls():
            with self.subTest(case=case.name, call=number):
                left = 0 if "partial = true" in case.spec else 77
                out = tuple(np.full(o.shape, left, o.dtype) for o in call.outputs)
                given = out[0] if len(out) == 1 else out
                got = function(case)(*call.arguments, **call.keywords, out=given)
                self.assertIs(got if len(out) == 1 else got[0], out[0])
                self.assert_gives(out, call.outputs)

    def test_strides_may_be_negative_and_outputs_may_have_some(self):
        strided = function(named("strided"))
        x, w = matrix.numbers(3, 5), matrix.numbers(5, seed=2)
        for a, v in ((x[::-1], w), (x[:, ::-1], w[::-1]), (x[::-1, ::-1], w)):
            np.testing.assert_array_equal(strided(a, v), a * v)
        wide = np.zeros((3, 10), "f4")
        strided(x, w, out=wide[:, ::2])
        np.testing.assert_array_equal(wide[:, ::2], x * w)
        self.assertFalse(wide[:, 1::2].any())
        self.assert_refused(ValueError, ["y", "strides"], lambda: strided(
            matrix.numbers(2, 3, 5), w, out=np.empty((3, 2, 5), "f4").transpose(1, 0, 2)))

    def test_out_that_is_the_input(self):
        case = named("aliased")
        w, v, g, rate = [np.copy(a) for a in case.calls[0].arguments]
        function(case)(w, v, g, rate, out=(w, v))
        self.assert_gives((w, v), case.calls[0].outputs)

    def test_out_that_is_another_input_is_refused_and_nothing_is_written(self):
        case = named("aliased")
        new = lambda *shape: np.full(shape or (2, 3), 7, "f4")
        for out_of, names in ((lambda w, v, g: (v, w), ["w", "old_v"]), (lambda w, v, g: (g, v), ["w", "g"]),
                              (lambda w, v, g: (new(), w), ["v", "old_w"]), (lambda w, v, g: (new(), new(2)), ["v"]),
                              (lambda w, v, g: 2 * (new(),), ["w", "v"])):
            w, v, g, rate = [np.copy(a) for a in case.calls[0].arguments]
            out = out_of(w, v, g)
            before = [np.copy(a) for a in out]
            self.assert_refused(ValueError, names, lambda: function(case)(w, v, g, rate, out=out))
            for one, other in zip((w, v, g, *out), (*case.calls[0].arguments[:3], *before)):
                np.testing.assert_array_equal(one, other)

    def test_a_refused_scalar_leaves_out_as_it_was(self):
        w, v, g, _ = named("aliased").calls[0].arguments
        out = np.full((2, 3), 7, "f4"), np.full((2, 3), 8, "f4")
        self.assert_refused(TypeError, ["rate"], lambda: function(named("aliased"))(w, v, g, "much", out=out))
        self.assertEqual([a.min() == a.max() for a in out], [True, True])

    def test_optional_outputs_that_are_not_wanted(self):
        case = named("optional")
        call = case.calls[0]
        y = np.empty_like(call.outputs[0])
        self.assertIsNone(function(case)(*call.arguments, out=(y, None))[1])
        np.testing.assert_array_equal(y, call.outputs[0])

    def test_an_output_with_strides_that_is_not_wanted(self):
        x, y, d_z = numbers(2, 3, 4), numbers(4, 5), numbers(2, 3, 5)
        d_x = np.empty_like(x)
        self.assertIsNone(kernel("product_backward")(x, y, d_z, out=(d_x, None))[1])
        np.testing.assert_array_equal(d_x, d_z @ y.T)

    def test_wrong_types_are_refused_by_name(self):
        for case, number, call in calls():
            for i, argument in enumerate(call.arguments):
                if not isinstance(argument, np.ndarray):
                    continue
                with self.subTest(case=case.name, call=number, argument=i):
                    for wrong in (argument.astype("c8"), argument.astype(argument.dtype.newbyteorder()), [1, 2]):
                        if isinstance(wrong, np.ndarray) and wrong.dtype == argument.dtype:
                            continue  # of one byte
                        arguments = [*call.arguments[:i], wrong, *call.arguments[i + 1:]]
                        self.assert_refused(TypeError, [parameters(case)[i]],
                                            lambda: function(case)(*arguments, **call.keywords))

    def test_wrong_ranks_are_refused_by_name(self):
        for case, number, call in calls():
            for i, argument in enumerate(call.arguments):
                rest = "x" if "..." in case.spec else ""
                if not isinstance(argument, np.ndarray) or parameters(case)[i] == rest:
                    continue
                with self.subTest(case=case.name, call=number, argument=i):
                    arguments = [*call.arguments[:i], argument[None], *call.arguments[i + 1:]]
                    self.assert_refused(ValueError, [parameters(case)[i]],
                                        lambda: function(case)(*arguments, **call.keywords))

    def test_arrays_that_disagree_are_both_named(self):
        for case, number, call in calls():
            for i, (dimension, other) in call.disagrees.items():
                with self.subTest(case=case.name, call=number, argument=i):
                    longer = np.concatenate([call.arguments[i]] * 2, dimension)
                    arguments = [*call.arguments[:i], longer, *call.arguments[i + 1:]]
                    self.assert_refused(ValueError, [parameters(case)[i], parameters(case)[other]],
                                        lambda: function(case)(*arguments, **call.keywords))

    def test_wrong_outputs_are_refused_by_name(self):
        case = named("split")
        call, good = case.calls[0], case.calls[0].outputs[0]
        read_only = np.copy(good)
        read_only.flags.writeable = False
        for wrong, kind in ((good.astype("f8"), TypeError), (good[0], ValueError), (read_only, ValueError), ("y", TypeError),
                            (np.empty((6, 2), "f4").T, ValueError)):
            self.assert_refused(kind, ["y"], lambda: function(case)(*call.arguments, G=2, out=wrong))
        case = named("single_values")
        self.assert_refused(TypeError, ["total", "one"], lambda: function(case)(*case.calls[0].arguments, out=good))
        self.assert_refused(TypeError, ["square"], lambda: function(case)(
            *case.calls[0].arguments, out=(case.calls[0].outputs[0], None, case.calls[0].outputs[2])))

    def test_wrong_choices_sizes_and_scalars_are_refused_by_name(self):
        only, chosen, made, scalars = (named(n) for n in ("types_only", "chosen", "no_inputs", "scalars"))
        x = matrix.numbers(4, 2)
        self.assert_refused(ValueError, ["U", "i16"], lambda: function(only)(x[:, 0], U="i16"))
        self.assert_refused(TypeError, ["U", "f32"], lambda: function(only)(x[:, 0], U="f32"))
        self.assert_refused(ValueError, ["act", "relu or square"], lambda: function(chosen)(x, act="gelu"))
        self.assert_refused(ValueError, ["r", "2 or 3"], lambda: function(chosen)(x, r=4))
        self.assert_refused(ValueError, ["act"], lambda: function(chosen)(x, act=["relu"]))
        self.assert_refused(TypeError, ["M"], lambda: function(made)(M=1.5, N=1))
        self.assert_refused(ValueError, ["N"], lambda: function(made)(M=1, N=-1))
        self.assert_refused(ValueError, ["N"], lambda: function(made)(M=1, N=2**64))
        self.assert_refused(ValueError, ["z", str(2**62)], lambda: function(made)(M=1, N=2**62))
        self.assert_refused(MemoryError, ["z", str(2**50)], lambda: function(made)(M=1, N=2**50))
        arguments = scalars.calls[0].arguments
        self.assert_refused(TypeError, ["b must be a number"],
                            lambda: function(scalars)(arguments[0], 1.0, "2", *arguments[3:]))
        for i, wrong, kind in ((1, "a", TypeError), (3, None, TypeError), (4, 2**31, ValueError), (6, -1, ValueError),
                               (5, 0.5, TypeError), (7, "on", TypeError), (7, None, TypeError), (7, 1, TypeError)):
            self.assert_refused(kind, [parameters(scalars)[i]], lambda: function(scalars)(
                *[wrong if i == j else a for j, a in enumerate(arguments)]))

    def test_masked_arrays_are_refused_by_name(self):
        x, w = named("split").calls[0].arguments
        self.assert_refused(TypeError, ["w", "mask"], lambda: function(named("split"))(x, np.ma.masked_array(w, w > 0), G=2))

    def test_choices_may_be_types_of_frameworks_and_numbers(self):
        import torch
        only, chosen = named("types_only"), named("chosen")
        x = matrix.numbers(4, 3)
        for given in (torch.bfloat16, matrix.bf16, matrix.ml_dtypes.bfloat16, "bf16"):
            self.assertEqual(function(only)(x[:, 0], U=given).dtype, matrix.bf16)
        for given in (np.float64, np.dtype("f8"), torch.float64):
            self.assertEqual(function(chosen)(x, r=3, T=given).dtype, np.dtype("f8"))

    def test_what_the_c_functions_refuse_is_an_exception(self):
        ragged, special = named("ragged"), named("specialised")
        start, x = ragged.calls[0].arguments
        self.assert_refused(ValueError, ["start"], lambda: function(ragged)(start[::-1].copy(), x))
        self.assert_refused(ValueError, ["B"], lambda: function(ragged)(start[:0], x))
        self.assert_refused(ValueError, ["D"], lambda: function(special)(matrix.numbers(2, 5)))
        self.assert_refused(ValueError, ["E"], lambda: function(special)(matrix.numbers(3, 4)))
        split = named("split")
        y = np.copy(split.calls[0].outputs[0])
        self.assert_refused(ValueError, ["y", "overlap"], lambda: function(split)(y, matrix.numbers(6), G=2, out=y))
        derived = named("derived")
        self.assert_refused(ValueError, ["P"], lambda: function(derived)(matrix.numbers(2, 0), matrix.numbers(5)))

    def test_tensors_of_other_frameworks(self):
        import torch
        case = named("types_of_arrays")
        for number, call in enumerate(case.calls[:4]):
            x, w = call.arguments
            is_bf16 = x.dtype == matrix.bf16
            tensor = torch.from_numpy(x.view("i2") if is_bf16 else x)
            tensor = tensor.view(torch.bfloat16) if is_bf16 else tensor
            with self.subTest(call=number):
                self.assert_gives(function(case)(tensor, torch.from_numpy(w)), call.outputs)
                self.assert_gives(function(case)(tensor.transpose(0, 1).contiguous().transpose(0, 1), w), call.outputs)
                out = torch.zeros_like(tensor)
                self.assertIs(function(case)(x, w, out=out), out)
                np.testing.assert_array_equal(out.float().numpy(), call.outputs[0].astype("f4"))
        self.assert_refused(TypeError, ["x", "CPU"], lambda: function(case)(torch.empty(3, device="meta"), w))
        self.assert_refused(TypeError, ["x", "grad"], lambda: function(case)(torch.empty(5, requires_grad=True), w))

    def test_an_input_without_dimensions_may_be_a_number_of_numpy(self):
        case = next(c for c in matrix.CASES if '[]"' in c.spec.split("outputs.")[0])
        call = case.calls[0]
        numbers = [a[()] if isinstance(a, np.ndarray) and a.ndim == 0 else a for a in call.arguments]
        self.assertTrue(any(isinstance(a, np.generic) for a in numbers))
        self.assert_gives(function(case)(*numbers, **call.keywords), call.outputs)

    def test_memory_that_may_not_be_written_is_refused_by_name(self):
        import jax.numpy as jnp
        case = named("types_of_arrays")
        for call in case.calls:
            x, w = call.arguments
            out = jnp.zeros(x.shape, x.dtype)
            if out.dtype == x.dtype:  # f64 is none of JAX's types by itself
                with self.subTest(dtype=str(x.dtype)):
                    self.assert_refused(ValueError, ["y", "may not be written"], lambda: function(case)(x, w, out=out))
                    self.assertFalse(out.any())

    def test_calls_from_several_threads(self):
        case = named("types_of_arrays")
        call = case.calls[0]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for got in pool.map(lambda _: function(case)(*call.arguments), range(200)):
                self.assert_gives(got, call.outputs)

    def test_calls_from_several_threads_that_start_threads_of_their_own(self):
        w = matrix.numbers(300, seed=2)
        arrays = [matrix.numbers(200 + i, 300, seed=i) for i in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for x, got in zip(arrays * 10, pool.map(lambda x: function(named("types_of_arrays"))(x, w), arrays * 10)):
                np.testing.assert_array_equal(got, 2 * x + w)


class Building(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "k.toml").write_text('kernel = "k"\noutputs.z = "i32[N]"\nbody = \'z = index(N);\'\n')
        subprocess.run([KGEN, "k.toml", "--bind", "numpy"], cwd=self.folder, check=True, capture_output=True)

    def python(self, *arguments, **environment):
        return subprocess.run([sys.executable, *arguments], cwd=self.folder, env=dict(os.environ, **environment),
                              capture_output=True, text=True)

    def test_a_module_without_its_library_says_how_to_make_it(self):
        done = self.python("-c", "import k_numpy")
        self.assertIn("ImportError", done.stderr)
        command = done.stderr.strip().split("To make it: ")[-1].split()
        self.assertEqual(self.python(*command[1:]).returncode, 0)
        self.assertEqual(self.python("-c", "import k_numpy; print(k_numpy.k(N=3))").stdout, "[0 1 2]\n")

    def test_a_build_that_fails_says_why_and_leaves_nothing(self):
        before = sorted(self.folder.iterdir())
        self.assertIn("no compiler nothing: name one in $CXX", self.python("k_numpy.py", CXX="nothing").stderr)
        self.assertIn("made no library: is $CXX a compiler?", self.python("k_numpy.py", CXX="true").stderr)
        self.assertIn("exit code", self.python("k_numpy.py", CXXFLAGS="--no-such-flag").stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)


if __name__ == "__main__":
    unittest.main()
