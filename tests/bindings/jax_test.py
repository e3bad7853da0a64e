#!/usr/bin/env python3
"""What `--bind jax` gives, run by JAX on the CPU: python jax_test.py KGEN [unittest's arguments].

All kernels are built once, plainly, with what is the same for all compiled ahead."""

import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
import jax.numpy as jnp
import matrix
import numpy as np
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from processor_time import seconds_of  # noqa: E402
from this_machine import SOON_COMPILED  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
KGEN = pathlib.Path(sys.argv.pop(1)).resolve()
SHIPPED = ("norm/softmax", "norm/layer_norm", "giou/loss_ragged", "conv/conv2d", "memory/sgd_momentum",
           "memory/convert", "reduce/row_sum")  # fmt: skip
SQUASH = """kernel = "squash"
types.T = ["f32", "bf16"]
inputs.x = "T[..., N]"
outputs.y = "T[..., N]"
body = 'real e = exp(-x); y = x / (1 + e);'
"""
CUBE = """kernel = "cube"
backward = "cube_slope.toml"
params.act = ["identity", "square"]
types.W = ["f32", "i32"]
scalars.times = "i32"
inputs.x = "f32[N]"
inputs.w = "f32[N]"
outputs.y = "f32[N]"
outputs.v = "W[Q, N]"
body = 'y = act(x * x * x) * w; v = times + index(Q);'
"""
CUBE_SLOPE = """kernel = "cube_slope"
backward_of = "cube"
params.act = ["identity", "square"]
inputs.x = "f32[N]"
inputs.w = "f32[N]"
inputs.d_y = "f32[N]"
outputs.d_x = "f32[N]"
body = 'd_x = act(x) * 0 + 3 * x * x * w * d_y;'
"""
DIFFERENTIATED = ("norm/softmax", "norm/layer_norm", "giou/loss_ragged", "conv/conv2d")


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(module, flags=SOON_COMPILED, **environment):
    """Compiles a binding without nvcc."""
    return subprocess.run([sys.executable, str(module)], capture_output=True, text=True,
                          env={**os.environ, "NVCC": "", "CXXFLAGS": flags, **environment})  # fmt: skip


def setUpModule():
    global folder, out
    folder = tempfile.TemporaryDirectory()
    specs, out = pathlib.Path(folder.name, "specs"), pathlib.Path(folder.name, "out")
    specs.mkdir()
    for case in matrix.CASES:
        (specs / f"{case.name}.toml").write_text(case.spec)
    shipped = [ROOT / f"specs/{name}.toml" for name in SHIPPED]
    run(KGEN, "grad", *(ROOT / f"specs/{name}.toml" for name in DIFFERENTIATED), "-o", specs)
    (specs / "squash.toml").write_text(SQUASH)
    run(KGEN, "grad", specs / "squash.toml", "-o", specs, "--save", "e")
    (specs / "product.toml").write_text(matrix.PRODUCT)
    (specs / "cube.toml").write_text(CUBE)
    (specs / "cube_slope.toml").write_text(CUBE_SLOPE)
    run(KGEN, "grad", specs / "product.toml", "-o", specs)
    run(KGEN, *specs.iterdir(), *shipped, "-o", out, "--root", out, "--targets", "openmp", "--bind", "jax")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for built in pool.map(build, out.glob("*_jax.py")):
            assert built.returncode == 0, built.stdout + built.stderr
    sys.path.insert(0, str(out))


def tearDownModule():
    folder.cleanup()


def kernel(name):
    return getattr(importlib.import_module(name + "_jax"), name)


def close(got, expected, dtype=np.float32):
    tolerance = {"bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}[str(np.dtype(dtype))]
    np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(expected, np.float64), tolerance, tolerance)


def slopes(function, *arrays):
    """The gradients of a number that depends on all that the function gives."""
    return jax.grad(lambda *values: jnp.sin(function(*values).astype(jnp.float32)).sum(),
                    tuple(range(len(arrays))))(*arrays)  # fmt: skip


def parameters(function):
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def is_wide(array):
    return isinstance(array, np.ndarray) and array.dtype in (np.float64, np.int64, np.uint64)


def calls():
    """Each call of the matrix, with 64 bits where it has any; tables of int64 also without, as JAX is by default."""
    for case in matrix.CASES:
        for number, call in enumerate(case.calls):
            wide = any(map(is_wide, (*call.arguments, *call.outputs)))
            for bits in (64, 32) if wide and case.name in ("ragged", "tables") else (64,) if wide else (32,):
                yield case, (number, bits), call


class Matrix(unittest.TestCase):
    def each(self, check, only_first=False):
        for case, (number, bits), call in calls():
            if not only_first or number == 0:
                with self.subTest(case=case.name, call=number, bits=bits), jax.enable_x64(bits == 64):
                    check(getattr(importlib.import_module(f"{case.name}_jax"), case.name), call)

    def check(self, outputs, expected):
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        self.assertEqual(len(outputs), len(expected))
        for one, other in zip(outputs, expected):
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            np.testing.assert_array_equal(np.asarray(one, "f8"), np.asarray(other, "f8"))

    @staticmethod
    def bound(function, call, places):
        """The call as a function of some of its arguments, and these."""

        def of_some(*some):
            arguments = dict(enumerate(call.arguments)) | dict(zip(places, some))
            return function(*arguments.values(), **call.keywords)

        return of_some, [call.arguments[i] for i in places]

    @staticmethod
    def arrays(call):
        return [i for i, argument in enumerate(call.arguments) if isinstance(argument, np.ndarray)]

    def test_eager_and_compiled_calls_give_what_numpy_says(self):
        def check(function, call):
            of_arrays, arrays = self.bound(function, call, self.arrays(call))
            self.check(of_arrays(*arrays), call.outputs)
            self.check(jax.jit(of_arrays)(*arrays), call.outputs)

        self.each(check)

    def test_vmap_runs_over_one_array_or_all(self):
        def check(function, call):
            for places in (self.arrays(call), self.arrays(call)[:1]):
                of_arrays, arrays = self.bound(function, call, places)
                if arrays:
                    outputs = jax.jit(jax.vmap(of_arrays))(*(np.stack([array] * 2) for array in arrays))
                    self.check(outputs, [np.stack([expected] * 2) for expected in call.outputs])

        self.each(check, only_first=True)

    def test_arrays_that_disagree_are_both_named(self):
        def check(function, call):
            for i, (dimension, other) in call.disagrees.items():
                of_one, (array,) = self.bound(function, call, [i])
                with self.assertRaises(ValueError) as caught:
                    of_one(np.concatenate([array] * 2, dimension))
                for name in (parameters(function)[i], parameters(function)[other]):
                    self.assertIn(name, str(caught.exception))

        self.each(check)

    def test_what_is_no_array_or_of_another_type_is_refused_by_name(self):
        def check(function, call):
            for i in self.arrays(call):
                of_one, (array,) = self.bound(function, call, [i])
                for wrong in (array.astype("c8"), [1, 2]):
                    with self.assertRaisesRegex(TypeError, parameters(function)[i]):
                        of_one(wrong)

        self.each(check, only_first=True)

    def test_traced_scalars_say_what_to_write(self):
        def check(function, call):
            for i, argument in enumerate(call.arguments):
                if isinstance(argument, (bool, int, float)):
                    of_scalar, _ = self.bound(function, call, [i])
                    message = rf"{parameters(function)[i]} is traced.*declare it as an input `\w+\[\]`"
                    with self.assertRaisesRegex(TypeError, message):
                        jax.jit(of_scalar)(argument)

        self.each(check, only_first=True)


class Transforms(unittest.TestCase):
    x = np.random.default_rng(1).standard_normal((2, 3, 8)).astype(np.float32)
    image = np.random.default_rng(2).standard_normal((2, 3, 8, 9)).astype(np.float32)
    filters = np.random.default_rng(3).standard_normal((4, 3, 3, 3)).astype(np.float32)
    bias = np.random.default_rng(4).standard_normal(4).astype(np.float32)

    @staticmethod
    def conv2d(x, w, bias):
        y = jax.lax.conv_general_dilated(x, w, (2, 2), [(1, 1), (1, 1)])
        return y if bias is None else y + bias[:, None, None]

    def test_vmap_of_leading_dimensions_is_one_call(self):
        softmax = kernel("softmax")
        close(jax.vmap(softmax, 1, 1)(self.x), jax.nn.softmax(self.x))
        text = jax.jit(jax.vmap(softmax, 1, 1)).lower(self.x).as_text()
        self.assertEqual(text.count("kgen.softmax"), 1)
        self.assertNotIn("while", text)

    def test_gradients_come_from_the_backward_kernel(self):
        for transformed in (lambda f: f, jax.jit, jax.vmap):
            for got, expected in zip(slopes(transformed(kernel("softmax")), self.x),
                                     slopes(transformed(jax.nn.softmax), self.x)):  # fmt: skip
                close(got, expected)
        with_bias = self.image, self.filters, self.bias
        for got, expected in zip(slopes(kernel("conv2d"), *with_bias), slopes(self.conv2d, *with_bias)):
            np.testing.assert_allclose(got, expected, 1e-4, 1e-4)

    def test_a_forward_kernel_keeps_what_the_backward_kernel_reads(self):
        squash = kernel("squash")
        close(jax.grad(lambda x: squash(x).sum())(self.x), jax.grad(lambda x: jax.nn.silu(x).sum())(self.x))
        text = str(jax.make_jaxpr(jax.grad(lambda x: squash(x).sum()))(self.x))
        self.assertIn("squash_forward", text)
        close(jax.jit(squash)(self.x), jax.nn.silu(self.x))

    def test_an_optional_input_that_is_not_there_has_no_gradient(self):
        ours, theirs = (lambda x, w: f(x, w, None) for f in (kernel("conv2d"), self.conv2d))
        for got, expected in zip(slopes(ours, self.image, self.filters), slopes(theirs, self.image, self.filters)):
            np.testing.assert_allclose(got, expected, 1e-4, 1e-4)

    def test_only_gradients_that_are_asked_for_are_computed(self):
        text = jax.jit(jax.grad(lambda gamma: kernel("layer_norm")(self.x, gamma, gamma * 0).sum()))
        lowered = text.lower(self.x[0, 0]).as_text()
        self.assertRegex(lowered, r"given_d_gamma = true")
        self.assertRegex(lowered, r"given_d_x = false")

    def test_a_gradient_by_one_of_two_arrays_with_strides(self):
        given = self.x, self.x[0, 0][:, None]
        for wanted in (0, 1):
            ours, theirs = (jax.grad(lambda x, y: f(x, y).sum(), wanted)(*given) for f in (kernel("product"), jnp.matmul))
            close(ours, theirs)

    def test_gradients_have_the_types_of_the_inputs(self):
        x = self.x.astype(jnp.bfloat16)
        gamma = self.x[0, 0]
        for got, array in zip(slopes(kernel("layer_norm"), x, gamma, gamma), (x, gamma, gamma)):
            self.assertEqual(got.dtype, array.dtype)

    def test_tables_and_ragged_rows_have_gradients_of_the_rest(self):
        boxes = np.sort(np.random.default_rng(5).random((2, 5, 4)).astype(np.float32))
        for start in (np.array([0, 2, 2, 5], np.int32), np.array([0, 2, 2, 5])):
            loss = lambda pred: kernel("giou_loss_ragged")(start, pred, boxes[1])[2]
            slope = jax.jit(jax.grad(loss))(boxes[0])
            step = 1e-2 * np.random.default_rng(6).standard_normal((5, 4)).astype(np.float32)
            change = loss(boxes[0] + step) - loss(boxes[0] - step)
            np.testing.assert_allclose(change, 2 * (slope * step).sum(), 0.2, 1e-4)

    def test_a_kernel_without_a_gradient_says_how_to_get_one(self):
        row_sum = kernel("row_sum")
        with self.assertRaisesRegex(NotImplementedError, "row_sum has no gradient.*kgen grad row_sum.toml"):
            jax.grad(lambda x: row_sum(x)[0])(self.x[0])
        with self.assertRaisesRegex(NotImplementedError, "softmax_backward has no gradient"):
            jax.grad(lambda x: jax.grad(lambda y: (kernel("softmax")(y) ** 2).sum())(x).sum())(self.x)

    def test_a_gradient_that_the_backward_kernel_does_not_give_is_refused(self):
        x, w = self.x[0, 0], self.x[0, 1]
        y = lambda x, w: kernel("cube")(x, w, 1, Q=2)[0].sum()
        close(jax.grad(y)(x, w), 3 * x * x * w)
        for transformed in (y, jax.jit(y)):
            with self.assertRaisesRegex(NotImplementedError, "cube_slope gives no gradient of w"):
                jax.grad(transformed, 1)(x, w)
        with self.assertRaisesRegex(NotImplementedError, "cube_slope takes no gradient of v"):
            jax.grad(lambda x: kernel("cube")(x, w, 1, Q=2)[1].sum())(x)

    def test_whole_numbers_have_the_gradient_zero(self):
        convert = kernel("convert")
        slope = jax.grad(lambda x: (x + convert(x, U="i8")).sum())(self.x[0, 0])
        np.testing.assert_array_equal(slope, np.ones(8))

    def test_memory_that_is_given_away_is_used_and_other_memory_is_kept(self):
        old = [np.full(4, value, np.float32) for value in (1, 0, 2)]
        step = lambda weight, velocity, gradient: kernel("sgd_momentum")(weight, velocity, gradient, 0.5, 0.9)
        kept = [jnp.asarray(array) for array in old]
        close(step(*kept)[0], np.zeros(4))
        close(kept[0], old[0])
        close(jax.jit(step, donate_argnums=(0, 1))(*kept)[0], np.zeros(4))
        self.assertTrue(kept[0].is_deleted() and kept[1].is_deleted())

    def test_shard_map_needs_no_communication_and_has_gradients(self):
        mesh = jax.make_mesh((2,), ("d",), axis_types=(AxisType.Auto,))
        sharded = jax.shard_map(kernel("conv2d"), mesh=mesh, in_specs=(P("d"), P(), P()), out_specs=P("d"))
        arguments = self.image, self.filters, self.bias
        np.testing.assert_allclose(jax.jit(sharded)(*arguments), self.conv2d(*arguments), 1e-4, 1e-4)
        self.assertNotIn("all-gather", jax.jit(sharded).lower(*arguments).compile().as_text())
        for got, expected in zip(slopes(sharded, *arguments), slopes(self.conv2d, *arguments)):
            np.testing.assert_allclose(got, expected, 1e-4, 1e-4)

    def test_loops_of_jax_and_checkpoints_go_through(self):
        softmax = kernel("softmax")

        def loss(function):
            add = lambda total, row: (total + (jax.checkpoint(function)(row) ** 2).sum(), None)
            return lambda x: jax.lax.scan(add, 0.0, x)[0]

        close(jax.grad(loss(softmax))(self.x), jax.grad(loss(jax.nn.softmax))(self.x))

    def test_empty_arrays(self):
        self.assertEqual(kernel("softmax")(np.zeros((0, 5), np.float32)).shape, (0, 5))
        close(kernel("row_sum")(np.zeros((3, 0), np.float32)), np.zeros(3))


class BadInput(unittest.TestCase):
    def refused(self, error, message, name, *arguments, **more):
        with self.assertRaisesRegex(error, message):
            kernel(name)(*arguments, **more)

    def test_types_and_shapes_are_checked_when_traced(self):
        x = np.ones((2, 3, 8, 9), np.float32)
        w = np.ones((4, 3, 3, 3), np.float32)
        self.refused(TypeError, r"conv2d: w is bf16.*f32\[O, C, 3, 3\]", "conv2d", x, w.astype(jnp.bfloat16))
        other = r"w is f32\[4, 2, 3, 3\], but .* is f32\[4, 3, 3, 3\] here, by x"
        self.refused(ValueError, other, "conv2d", x, w[:, 1:])
        self.refused(ValueError, "bias .* by w", "conv2d", x, w, x[0, 0, 0])
        self.refused(ValueError, "x must have 4 dimensions", "conv2d", x[0], w)
        self.refused(TypeError, "x must be an array, not list", "conv2d", [1.0], w)
        self.refused(TypeError, "x must be f32 or f64 or bf16 or f16, not i32", "softmax", x.astype(np.int32))
        self.refused(TypeError, "x is float64.*jax_enable_x64", "softmax", x.astype(np.float64))

    def test_scalars_sizes_and_choices_are_checked(self):
        x = np.ones(4, np.float32)
        self.refused(TypeError, "rate must be f32", "sgd_momentum", x, x, x, "much", 0.9)
        self.refused(ValueError, "M must not be negative", "sizes_of_outputs", x, M=-1, P=2)
        self.refused(TypeError, "P must be a whole number", "sizes_of_outputs", x, M=2, P=1.5)
        self.refused(ValueError, "U must be bf16 or f16 or i8, not i64", "convert", x, U="i64")
        for wrong in ("foo", 3.5):
            self.refused(ValueError, f"W must be f32 or i32, not {wrong}", "cube", x, x, 1, Q=1, W=wrong)
        self.refused(ValueError, "act must be identity or square, not None", "cube", x, x, 1, Q=1, act=None)
        self.refused(ValueError, "times must be i32", "cube", x, x, 2**31, Q=1)

    def test_scalars_that_are_equal_but_not_the_same_are_told_apart(self):
        x, w = np.ones(3, np.float32), -np.zeros(3, np.float32)
        for scale in (0.0, -0.0, 0.0):  # -0.0 * 1 + -0.0 keeps its sign, 0.0 * 1 + -0.0 does not
            y = kernel("optional_then_required")(w, x, scale)
            self.assertEqual(np.signbit(y).tolist(), [np.signbit(scale)] * 3)
        self.assertTrue(np.isnan(kernel("optional_then_required")(w, x, float("nan"))).all())

    def test_sizes_that_nothing_can_have_are_refused_by_name(self):
        x = np.ones(4, np.float32)
        for size in (2**44, 2**59, 2**61, 2**62):
            self.refused(ValueError, f"v would have the shape .*, Q = {size}", "cube", x, x, 1, Q=size)
        self.refused(ValueError, "Q is beyond int64", "cube", x, x, 1, Q=2**63)

    def test_tables_that_32_bits_cannot_hold_are_refused_by_name(self):
        boxes = np.zeros((5, 4), np.float32)
        self.refused(ValueError, "box_start has entries that JAX keeps only with jax_enable_x64", "giou_loss_ragged",
                     np.array([0, 2**32 + 5]), boxes, boxes)  # fmt: skip

    def test_a_wrong_table_is_an_error_of_the_call(self):
        boxes = np.zeros((5, 4), np.float32)
        for start in ([1, 5], [0, 4], [0, 3, 2, 5]):
            self.refused(jax.errors.JaxRuntimeError, "giou_loss_ragged: box_start must start at 0",
                         "giou_loss_ragged", np.array(start), boxes, boxes)  # fmt: skip


class Building(unittest.TestCase):
    def module(self, work):
        for name in ("softmax.h", "softmax_openmp.cpp", "softmax_jax.cpp", "softmax_jax.py", "kgen_openmp.h"):
            (work / name).write_bytes((out / name).read_bytes())
        return work / "softmax_jax.py"

    def test_a_library_that_is_missing_is_named_with_the_command(self):
        with tempfile.TemporaryDirectory() as work:
            self.module(pathlib.Path(work))
            command = [sys.executable, "-c", "import softmax_jax"]
            done = subprocess.run(command, cwd=work, capture_output=True, text=True)
            self.assertRegex(done.stderr, r"ImportError: .*libsoftmax_jax.so is missing. To make it: .*softmax_jax.py")

    def test_the_file_of_a_binding_compiles_in_three_seconds(self):
        self.assertLess(seconds_of(("c++", "-O2", "-std=c++17", "-fPIC", "-c", "-isystem", jax.ffi.include_dir(),
                                    out / "softmax_jax.cpp", "-o", out / "softmax_jax.o")), 3)  # fmt: skip

    def test_what_fails_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as work:
            module = self.module(pathlib.Path(work))
            before = sorted(os.listdir(work))
            self.assertIn("there is no compiler nobody: name one in $CXX", build(module, CXX="nobody").stderr)
            self.assertIn("exit code 1 of", build(module, CXX="false").stderr)
            self.assertIn("made no library: is $CXX a compiler?", build(module, CXX="true").stderr)
            self.assertEqual(sorted(os.listdir(work)), before)


    @unittest.skipIf(shutil.which("nvcc") is None, "there is no nvcc")
    def test_a_library_with_handlers_for_gpus_loads_without_cuda(self):
        with tempfile.TemporaryDirectory() as work:
            spec = matrix.CASES[0]
            (pathlib.Path(work) / "k.toml").write_text(spec.spec)
            run(KGEN, "k.toml", "-o", ".", "--bind", "jax", cwd=work)
            made = build(pathlib.Path(work) / f"{spec.name}_jax.py", NVCC="nvcc", NVCCFLAGS="-arch=sm_80")
            self.assertEqual(made.returncode, 0, made.stderr)
            code = f"import {spec.name}_jax as m; print(len([n for n in ('cpu', 'cuda') if hasattr(m._library, f'kgen_{spec.name}_jax_{{n}}')]))"
            self.assertEqual(run(sys.executable, "-c", code, cwd=work), "2\n")

    def test_handlers_for_gpus_compile_without_cuda(self):
        specs = pathlib.Path(folder.name, "specs")
        run(KGEN, "giou_loss_ragged_backward.toml", "-o", "gpu", "--bind", "jax", cwd=specs)
        run("c++", "-std=c++17", "-fsyntax-only", "-DKGEN_JAX_CUDA", "-Wall", "-Wextra", "-Wno-unused-parameter",
            "-Werror", "-isystem", jax.ffi.include_dir(), "giou_loss_ragged_backward_jax.cpp",
            cwd=specs / "gpu")  # fmt: skip


class Threads(unittest.TestCase):
    def test_calls_from_several_threads_that_start_threads_of_their_own(self):
        arrays = [np.random.default_rng(i).standard_normal((200 + i, 300)).astype(np.float32) for i in range(4)]
        step = jax.jit(jax.grad(lambda x: (kernel("softmax")(x) ** 2).sum()))
        expected = [np.asarray(step(x)) for x in arrays]
        with ThreadPoolExecutor(4) as pool:
            for i, got in enumerate(pool.map(step, arrays * 10)):
                np.testing.assert_array_equal(np.asarray(got), expected[i % 4])

    SCRIPT = """
import os, jax, jax.numpy as jnp
from softmax_jax import softmax
x = jnp.ones((500, 2000))
jax.jit(lambda x: x + 1)(x).block_until_ready()
before = len(os.listdir("/proc/self/task"))
jax.jit(softmax)(x).block_until_ready()
print(len(os.listdir("/proc/self/task")) - before)
print(len({line.split()[-1] for line in open("/proc/self/maps") if "gomp" in line}))
"""

    def started(self, **environment):
        environment = {**os.environ, "OMP_NUM_THREADS": "9", **environment}
        text = run(sys.executable, "-c", self.SCRIPT, cwd=out, env=environment)
        started, libraries = map(int, text.split())
        self.assertEqual(libraries, 1)
        return started

    @unittest.skipUnless(os.path.isdir("/proc/self/task"), "counts the threads that Linux lists")
    def test_no_more_threads_than_xla_has(self):
        self.assertLess(self.started(NPROC="1"), 2)
        self.assertLess(self.started(NPROC="3"), 4)


if __name__ == "__main__":
    unittest.main()
