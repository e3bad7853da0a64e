"""The Python package: `kgen.load`, its cache, and what is told of a kernel.

package_test.py KGEN [unittest arguments]
"""
import contextlib
import inspect
import io
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
PACKAGE = str(pathlib.Path(__file__).resolve().parents[2] / "bindings")
sys.path[:0] = PACKAGE, str(pathlib.Path(__file__).resolve().parents[1] / "tools")
from this_machine import SOON_COMPILED  # noqa: E402

os.environ.update(KGEN_EXECUTABLE=KGEN, CXXFLAGS=SOON_COMPILED)

import kgen  # noqa: E402
import numpy as np  # noqa: E402

SCALE = """kernel = "scale"
doc = "y = act(a * x)"
types.T = ["f32", "f64"]
params.act = ["identity", "relu"]
scalars.a = "f32"
inputs.x = "T[M, N]"
outputs.y = "T[M, N]"
body = '''
real scaled = a * x;
bool positive = scaled > 0;
y = act(scaled);
'''
"""
SOFT = """kernel = "soft"
types.T = ["f32", "f64"]
inputs.x = "T[..., N]"
outputs.y = "T[..., N]"
body = 'y = softmax(x, N);'
"""
PICKED = """kernel = "picked"
tables.t = { type = "i32[T]", range = "M" }
inputs.x = "f32[M, N]"
outputs.y = "f32[T, N]"
body = 'y = at(x, M = t[index(T)]);'
"""
WIDE = """kernel = "wide"
types.T = ["f32", "bf16"]
inputs.x = "T[M, N]"
inputs.b = { type = "T[N]", optional = true }
outputs.y = "T[M, N, in]"
body = 'y = x + (present(b) ? b : 0);'
"""
X = np.arange(6, dtype="f4").reshape(2, 3) - 2


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"
        environment = mock.patch.dict(os.environ, KGEN_CACHE_DIR=str(self.cache))
        environment.start()
        self.addCleanup(environment.stop)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def python(self, code, **environment):
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=self.folder,
                              env=dict(os.environ, PYTHONPATH=PACKAGE, **environment))

    def test_a_file_or_a_text_becomes_a_function(self):
        for spec in (SCALE, self.write("scale.toml", SCALE), str(self.folder / "scale.toml")):
            np.testing.assert_array_equal(kgen.load(spec)(X, 3.0, act="relu"), np.maximum(3 * X, 0))
        self.assertEqual(kgen.load(SCALE)(X.astype("f8"), 3.0).dtype, np.dtype("f8"))
        fixed = kgen.load(SCALE, T="f64")
        self.assertRaisesRegex(TypeError, "x is float32, not float64", fixed, X, 3.0)

    def test_a_type_may_be_fixed_by_one_of_a_framework(self):
        import torch
        for dtype in ("f64", np.float64, np.dtype("f8"), torch.float64):
            self.assertIn("scale_relu_f64", kgen.load(SCALE, T=dtype).source("openmp"))
            self.assertNotIn("scale_relu_f32", kgen.load(SCALE, T=dtype).source("openmp"))

    def test_an_argument_named_self_is_one_as_any_other(self):
        own = kgen.load(SCALE.replace("inputs.x", "inputs.self").replace("a * x", "a * self"))
        np.testing.assert_array_equal(own(self_=X, a=2.0), 2 * X)
        np.testing.assert_array_equal(own.interpret(self_=X, a=2.0)["y"], 2 * X)
        for call in (own, own.interpret):
            with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'self'|required argument: 'self_'"):
                call(self=X, a=2.0)

    def test_a_backward_kernel_beside_a_spec_is_no_matter(self):
        self.write("scale_backward.toml", SCALE.replace('"scale"', '"scale_backward"'))
        self.write("a_backward.toml", SCALE.replace('"scale"', '"a_backward"'))
        self.assertEqual(kgen.load(self.write("scale.toml", SCALE)).__name__, "scale")
        self.assertEqual(kgen.load(self.write("a.toml", SCALE.replace('"scale"', '"a"'))).__name__, "a")

    def test_arrays_of_jax_give_arrays_of_jax(self):
        import jax
        with mock.patch.dict(os.environ, NVCC=""):
            spec = SCALE + "# of JAX\n"  # an entry of this test's own cache
            scale, other = kgen.load(spec), kgen.load(spec.replace("real scaled = a * x", "real scaled = -a * x"))
            for call in (lambda x: scale(x, 3.0, act="relu"), jax.jit(lambda x: scale(x, 3.0, act="relu"))):
                self.assertIsInstance(call(jax.numpy.asarray(X)), jax.Array)
                np.testing.assert_array_equal(call(jax.numpy.asarray(X)), np.maximum(3 * X, 0))
            np.testing.assert_array_equal(other(jax.numpy.asarray(X), 3.0), -3 * X)

    def test_a_table_of_numpy_may_stand_before_arrays_of_jax(self):
        import jax
        with mock.patch.dict(os.environ, NVCC=""):
            picked = kgen.load(PICKED)
            t = np.array([1, 0], np.int32)
            np.testing.assert_array_equal(jax.jit(lambda x: picked(t, x))(jax.numpy.asarray(X)), X[t])
            np.testing.assert_array_equal(picked(t, X), X[t])

    def test_tensors_of_torch_give_tensors_with_gradients(self):
        import torch
        soft = kgen.load(SOFT)
        x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
        y, expected = soft(x), torch.softmax(x, -1)
        torch.testing.assert_close(y, expected)
        d_y = torch.randn(3, 5, dtype=torch.float64)
        (mine,), (theirs,) = (torch.autograd.grad(out, x, d_y) for out in (y, expected))
        torch.testing.assert_close(mine, theirs)

    def test_the_first_call_may_be_one_that_torch_compiles(self):
        import torch
        for _ in ("compiled now", "from the cache"):
            first = kgen.load(PICKED.replace("picked", "first"))
            call = torch.compile(lambda t, x: first(t, 2 * x), fullgraph=True, dynamic=True, backend="aot_eager")
            x, t = torch.from_numpy(X), torch.tensor([1, 0], dtype=torch.int32)
            torch.testing.assert_close(call(t, x), 2 * x[t.long()])
            with torch.compiler.set_stance("fail_on_recompile"):
                torch.testing.assert_close(call(t, x), 2 * x[t.long()])
            torch.testing.assert_close(first(t, x), x[t.long()])

    def test_arrays_of_jax_have_gradients(self):
        import jax
        soft = kgen.load(SOFT)
        x = np.linspace(-2, 3, 15, dtype="f4").reshape(3, 5)
        mine, theirs = (jax.grad(lambda x, f=f: (f(x) ** 2).sum())(x) for f in (soft, jax.nn.softmax))
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)

    def test_a_kernel_tells_what_it_is(self):
        scale = kgen.load(SCALE)
        signature = inspect.signature(scale)
        self.assertEqual([str(one.replace(annotation=one.empty)) for one in signature.parameters.values()],
                         ["x", "a", "act='identity'", "out=None"])
        said = {"x": "T[M, N]", "a": "f32", "act": "`identity` or `relu`", "return": "y: T[M, N]"}
        self.assertEqual(inspect.get_annotations(scale), said)
        self.assertEqual(signature.parameters["x"].annotation, "T[M, N]")
        self.assertEqual(signature.return_annotation, "y: T[M, N]")
        self.assertEqual(scale.__name__, "scale")
        self.assertIn("y = act(a * x)", scale.__doc__)
        self.assertIn("x: T[M, N]", scale.__doc__)
        self.assertEqual(scale.source("spec"), SCALE)
        self.assertIn("relu_f64", scale.source("openmp"))
        self.assertIn("__global__", scale.source("cuda"))
        self.assertRaisesRegex(ValueError, "openmp and cuda, not of 'rust'", scale.source, "rust")
        self.assertIn("operands", scale.explain())

    def test_interpret_shows_what_has_a_name_in_the_body(self):
        got = kgen.load(SCALE).interpret(X.astype("f8"), 2.0, act="relu")
        self.assertEqual(sorted(got), ["positive", "scaled", "y"])
        np.testing.assert_array_equal(got["scaled"], 2 * X)
        np.testing.assert_array_equal(got["positive"], X > 0)
        np.testing.assert_array_equal(got["y"], np.maximum(2 * X, 0))
        self.assertEqual(got["y"].dtype, np.dtype("f8"))

    def test_the_package_tells_its_version(self):
        self.assertRegex(kgen.__version__, r"^\d+\.\d+\.\d+$")
        self.assertRaisesRegex(AttributeError, "no attribute 'no'", getattr, kgen, "no")

    def test_interpret_prints_what_the_body_prints(self):
        loud = kgen.load(SCALE.replace("real scaled", 'print("sum of", sum(x, N));\nreal scaled'))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            got = loud.interpret(np.float32([[1, 2], [4, 4]]), 2.0)
        self.assertEqual(said.getvalue(), "M = 0: sum of 3\nM = 1: sum of 8\n")
        self.assertEqual(sorted(got), ["positive", "scaled", "y"])

    def test_interpret_shows_what_is_empty(self):
        for shape in ((2, 0), (0, 3), (0, 0)):
            got = kgen.load(SCALE).interpret(np.zeros(shape, "f4"), 2.0)
            self.assertEqual({name: (array.dtype.str, array.shape) for name, array in got.items()},
                             {"scaled": ("<f8", shape), "positive": ("|b1", shape), "y": ("<f4", shape)})

    def test_interpret_takes_what_calls_take(self):
        import jax
        import ml_dtypes
        import torch
        wide = kgen.load(WIDE)
        x = X.astype(ml_dtypes.bfloat16)
        tensor = torch.from_numpy(X).bfloat16().requires_grad_()
        for one in (x, np.asfortranarray(x), jax.numpy.asarray(x), tensor, tensor.detach().T.contiguous().T):
            got = wide.interpret(one, in_=2)
            self.assertEqual(got["y"].dtype, x.dtype)
            np.testing.assert_array_equal(got["y"], np.stack([x, x], 2))
        self.assertEqual(wide.interpret(X, in_=1)["y"].dtype, X.dtype)
        half = kgen.load('kernel = "half"\ninputs.x = "f32[..., K=2 * N]"\noutputs.y = "f32[..., N]"\n'
                         "body = 'y = at(x, K = index(N)) * at(x, K = index(N) + size(N));'\n")
        np.testing.assert_array_equal(half.interpret(x.astype("f4")[:, :2])["y"], half(x.astype("f4")[:, :2]))
        made = kgen.load(SCALE.replace('inputs.x = "T[M, N]"\n', "").replace("a * x", "a"))
        for dtype in (np.float64, np.dtype("f8"), torch.float64, "f64"):
            self.assertEqual(made.interpret(2.0, M=1, N=1, T=dtype)["y"].dtype, np.dtype("f8"))

    def test_interpret_names_the_argument_that_it_refuses(self):
        import torch
        wide, fixed, doubles = kgen.load(WIDE), kgen.load(WIDE, T="f32"), X.astype("f8")
        self.assertRaisesRegex(TypeError, "^b is f64, not f32$", wide.interpret, X, doubles[0], in_=1)
        self.assertRaisesRegex(TypeError, "^x is f64, not f32$", fixed.interpret, doubles, in_=1)
        self.assertRaisesRegex(TypeError, "^x must be an array, not list$", wide.interpret, [[1.0]], in_=1)
        self.assertRaisesRegex(TypeError, "^b cannot be taken", wide.interpret, X, torch.ones(3, device="meta"), in_=1)

    def test_the_gradient_is_a_kernel(self):
        gradient = kgen.load(SCALE).grad(of="x")
        self.assertEqual(gradient.__name__, "scale_backward")
        np.testing.assert_array_equal(gradient(X, X, 2.0, act="relu"), np.where(X > 0, 2 * X, 0))

    def test_what_has_no_gradient_says_how_to_learn_why(self):
        import jax
        import torch
        halving = kgen.load(PICKED.split("tables")[0] + """inputs.x = "f32[N]"
outputs.y = "f32[N]"
body = 'real v = x; while (v > 1) v = v / 2; y = v;'
""")
        with self.assertRaisesRegex(RuntimeError, r"of a kernel that kgen\.load gives, grad\(\) says why"):
            halving(torch.ones(3, requires_grad=True)).sum().backward()
        with self.assertRaisesRegex(NotImplementedError, r"of a kernel that kgen\.load gives, grad\(\) says why"):
            jax.grad(lambda x: halving(x).sum())(jax.numpy.ones(3))
        self.assertRaisesRegex(kgen.SpecError, "KG0601", halving.grad)

    def test_a_gradient_may_read_what_a_forward_kernel_keeps(self):
        squash = kgen.load(SOFT.replace("y = softmax(x, N);", "real e = exp(-x); y = x / (1 + e);"), T="f64")
        gradient, plain = squash.grad(save="e"), squash.grad()
        x = np.linspace(-2, 3, 15).reshape(3, 5)
        y, e = gradient.forward(x)
        np.testing.assert_allclose(e, np.exp(-x))
        arguments = {"x": x, "y": y, "e": e, "d_y": np.cos(x)}
        mine, theirs = (f(**{name: arguments[name] for name in inspect.signature(f).parameters if name in arguments})
                        for f in (gradient, plain))
        self.assertIn("e", inspect.signature(gradient).parameters)
        np.testing.assert_allclose(mine, theirs, rtol=1e-13)
        self.assertRaisesRegex(kgen.SpecError, "KG0603", squash.grad, save="z")

    def test_the_forward_kernel_of_a_gradient_is_for_the_same_parameters(self):
        text = SOFT.replace("y = softmax(x, N);", "real e = exp(-k * x); y = x / (1 + e);") + "params.k = 2\n"
        forward = kgen.load(text, k=3, T="f64").grad(save="e").forward
        x = np.linspace(-2, 3, 15).reshape(3, 5)
        np.testing.assert_allclose(forward(x)[1], np.exp(-3 * x))
        self.assertRaisesRegex(TypeError, "x", forward, x.astype("f4"))

    def test_a_gradient_that_reads_no_array_knows_the_shape(self):
        import jax
        import torch
        twice_and_sum = kgen.load("""kernel = "twice_and_sum"
inputs.x = "f32[..., N]"
outputs.a = "f32[..., N]"
outputs.b = "f32[...]"
body = 'a = 2 * x; b = sum(x, N);'
""")
        x = torch.ones(2, 3, 4, requires_grad=True)
        sum(value.sum() for value in twice_and_sum(x)).backward()
        self.assertTrue(torch.equal(x.grad, torch.full((2, 3, 4), 3.0)))
        gradient = jax.grad(lambda value: twice_and_sum(value)[1].sum())(jax.numpy.ones((2, 3, 4)))
        np.testing.assert_array_equal(gradient, np.ones((2, 3, 4)))

    def test_a_second_gradient_beside_the_spec_is_found(self):
        import torch
        self.write("cubed.toml", 'kernel = "cubed"\ninputs.x = "f64[N]"\noutputs.y = "f64[N]"\n' + "body = 'y = x * x * x;'\n")
        for name in ("cubed", "cubed_backward"):
            subprocess.run([KGEN, "grad", name + ".toml", "-o", "."], cwd=self.folder, check=True, capture_output=True)
        x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        (first,) = torch.autograd.grad(kgen.load(self.folder / "cubed.toml")(x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        self.assertEqual(second.tolist(), [6.0, 12.0])

    def test_large_whole_numbers_are_exact(self):
        hashed = kgen.load('kernel = "hashed"\ninputs.x = "u64[N]"\nscalars.seed = "u64"\noutputs.y = "u64[N]"\n'
                           "body = 'y = (x ^ seed) * 1099511628211;'\n")
        x = np.arange(3, dtype="u8")
        for seed in (5, 2**53 + 1, 2**63 + 5):
            expected = (x ^ np.uint64(seed)) * np.uint64(1099511628211)
            np.testing.assert_array_equal(hashed(x, seed), expected)
            np.testing.assert_array_equal(hashed.interpret(x, seed)["y"], expected)

    def test_a_spec_may_name_the_file_of_its_gradients(self):
        import torch
        wrong = SCALE.replace('"scale"', '"scale_backward"\nbackward_of = "scale"').replace("inputs.x", "inputs.d_y")
        wrong = wrong.replace("outputs.y", "outputs.d_x").replace("a * x", "100 * a * d_y").replace("\ny =", "\nd_x =")
        (self.folder / "other").mkdir()
        self.write("other/mine.toml", wrong)
        text = 'backward = "other/mine.toml"\n' + SCALE
        self.assertRaisesRegex(kgen.SpecError, "load the spec by its path", kgen.load, text)
        scale = kgen.load(self.write("scale.toml", text))
        x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
        scale(x, 2.0).sum().backward()
        self.assertEqual(x.grad.unique().tolist(), [200.0])

    def test_what_is_wrong_with_a_spec_is_an_exception_with_line_and_column(self):
        with self.assertRaises(kgen.SpecError) as caught:
            kgen.load(self.write("wrong.toml", SCALE.replace("act(scaled)", "act(scald)")))
        self.assertIn("wrong.toml:11:9", str(caught.exception))
        self.assertIn("did you mean `scaled`", str(caught.exception))
        self.assertRaisesRegex(kgen.SpecError, "KG0124", kgen.load, SCALE, Q="f32")
        self.assertRaisesRegex(kgen.SpecError, "KG0101", kgen.load, "kernel = \n")
        self.assertEqual([path for path in self.cache.iterdir() if path.suffix != ".lock"], [])

    def instead_of_kgen(self, script):
        program = self.write("kgen", f"#!/bin/sh\n{script}\nexec {KGEN} \"$@\"\n")
        program.chmod(0o755)
        return mock.patch.dict(os.environ, KGEN_EXECUTABLE=str(program))

    def test_a_program_that_is_ended_is_an_exception_that_says_so(self):
        with self.instead_of_kgen("kill -9 $$"):
            self.assertRaisesRegex(kgen.SpecError, "ended by signal 9: is there enough memory", kgen.load, SCALE)

    def test_a_gradient_that_cannot_be_planned_leaves_the_kernel_as_it_is(self):
        with self.instead_of_kgen('case "$*" in *_backward.toml*) kill -9 $$;; esac'):
            scale = kgen.load(SCALE)
        np.testing.assert_array_equal(scale(X, 3.0), 3 * X)
        with self.instead_of_kgen('case "$*" in *wrong.toml*) ;; *) exit 1;; esac'):
            path = self.write("wrong.toml", SCALE.replace("act(scaled)", "act(scald)"))
            self.assertRaisesRegex(kgen.SpecError, "wrong.toml:11:9", kgen.load, path)

    def test_functions_of_other_files_count_among_what_decides(self):
        spec = SCALE.replace("body =", "functions_from = \"f.h\"\nbody =").replace("a * x", "f(a * x)")
        include = self.folder / "include"
        include.mkdir()
        (include / "f.h").write_text("real f(real v) { return v; }\n")
        np.testing.assert_array_equal(kgen.load(spec, include=[include])(X, 1.0), X)
        (include / "f.h").write_text("real f(real v) { return -v; }\n")
        np.testing.assert_array_equal(kgen.load(spec, include=[include])(X, 1.0), -X)
        for one in (str(include), include):
            np.testing.assert_array_equal(kgen.load(spec, include=one)(X, 1.0), -X)

    def test_specs_of_gradients_and_their_functions_count_among_what_decides(self):
        (self.folder / "other").mkdir()
        backward = SCALE.replace('"scale"', '"scale_backward"\nbackward_of = "scale"\nfunctions_from = "slope.h"')
        backward = backward.replace("inputs.x", "inputs.d_y").replace("outputs.y", "outputs.d_x")
        backward = backward.replace("a * x", "slope(a) * d_y").replace("\ny =", "\nd_x =")
        texts = {"mine.toml": backward, "slope.h": "real slope(real a) {\n  return a;\n}\n",
                 "scale_forward.toml": SCALE.replace('"scale"', '"scale_forward"')}
        for name, text in texts.items():
            self.write(f"other/{name}", text)
        spec = self.write("scale.toml", 'backward = "other/mine.toml"\n' + SCALE)
        kgen.load(spec)
        for number, (name, text) in enumerate(texts.items(), 2):
            self.write(f"other/{name}", text.replace("a;", "2 * a;").replace("scaled > 0", "scaled > 1"))
            kgen.load(spec)
            self.assertEqual(sum(path.is_dir() for path in self.cache.iterdir()), number, name)

    def test_a_gradient_of_the_second_order_counts_among_what_decides(self):
        self.write("square.toml", 'kernel = "square"\ninputs.x = "f64[N]"\noutputs.y = "f64[N]"\n'
                   "body = 'y = x * x;'\n")
        for kernel in ("square", "square_backward"):
            subprocess.run([KGEN, "grad", f"{kernel}.toml", "-o", "."], check=True, cwd=self.folder, capture_output=True)
        kgen.load(self.folder / "square.toml")
        second = self.folder / "square_backward_backward.toml"
        second.write_text(second.read_text() + "# Another text.\n")
        kgen.load(self.folder / "square.toml")
        self.assertEqual(sum(path.is_dir() for path in self.cache.iterdir()), 2)

    def test_a_kernel_that_was_called_may_be_sent_to_another_process(self):
        kernel = kgen.load(SCALE)
        kernel(X, 2.0)
        (self.folder / "kernel").write_bytes(pickle.dumps(kernel))
        done = self.python("import pickle, numpy as np\n"
                           f"print(pickle.load(open({str(self.folder / 'kernel')!r}, 'rb'))(np.ones((1, 1)), 2.0))")
        self.assertEqual(done.stdout, "[[2.]]\n", done.stderr)

    def test_a_spec_may_begin_with_a_mark_of_its_encoding(self):
        spec = self.folder / "marked.toml"
        spec.write_bytes(b"\xef\xbb\xbf" + SCALE.replace("y = act(a * x)", "y = act(a \u00b7 x)").encode())
        np.testing.assert_array_equal(kgen.load(spec)(X, 1.0), X)

    def test_what_is_scattered_has_a_gradient_for_each_type_that_is_chosen(self):
        spec = """kernel = "picks"
types.T = ["f32", "bf16"]
tables.t = { type = "i32[K]", range = "N" }
inputs.x = "T[N]"
outputs.y = "T[K]"
body = 'y = at(x, N = t[index(K)]);'
"""
        for choice in ({}, {"T": "f32"}):
            self.assertTrue(kgen.load(spec, **choice).grad().source("spec"))
            folder = self.folder / ("_".join(choice) or "all")
            folder.mkdir()
            (folder / "picks.toml").write_text(spec)
            subprocess.run([KGEN, "grad", "picks.toml", "-o", "."], check=True, cwd=folder, capture_output=True)
            kgen.load(folder / "picks.toml", **choice)

    def test_it_compiles_once_and_says_so(self):
        code = f"import kgen, numpy as np; print(kgen.load({SCALE!r})(np.ones((1, 1)), 2.0))"
        first, second = self.python(code), self.python(code)
        self.assertEqual((first.stdout, second.stdout), ("[[2.]]\n", "[[2.]]\n"))
        self.assertEqual(first.stderr, "kgen: compiling scale for numpy\n")
        self.assertEqual(second.stderr, "")
        third = self.python(code, CXXFLAGS=SOON_COMPILED + " -g")
        self.assertEqual(third.stderr, "kgen: compiling scale for numpy\n")

    def test_each_program_of_the_compiler_counts_among_what_decides(self):
        for name in ("first", "second"):
            self.write(name, "#!/bin/sh\n").chmod(0o755)
        with mock.patch.dict(os.environ, CXX=f"{self.folder}/first {self.folder}/second"):
            kgen.load(SCALE)
            for number, name in enumerate(("first", "second"), 2):
                self.write(name, "#!/bin/sh\n\n")
                kgen.load(SCALE)
                self.assertEqual(sum(path.is_dir() for path in self.cache.iterdir()), number, name)

    def test_processes_and_threads_that_load_at_once_share_one_build(self):
        code = f"import kgen, numpy as np; print(kgen.load({SCALE!r})(np.ones((1, 1)), 2.0))"
        done = []
        threads = [threading.Thread(target=lambda: done.append(self.python(code))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([one.stdout for one in done], ["[[2.]]\n"] * 3)
        self.assertEqual(sum("compiling" in one.stderr for one in done), 1)

    def test_a_compiler_that_fails_is_an_exception_and_leaves_nothing(self):
        scale = kgen.load(SCALE)
        before = sorted(self.cache.rglob("*"))
        with mock.patch.dict(os.environ, CXX="nothing"):
            self.assertRaisesRegex(kgen.CompileError, "no compiler nothing: name one in", scale, X, 1.0)
        with mock.patch.dict(os.environ, CXXFLAGS="--no-such-flag"):
            self.assertRaisesRegex(kgen.CompileError, "no-such-flag", scale, X, 1.0)
        for text in ("'", " "):
            with mock.patch.dict(os.environ, CXX=text):
                self.assertRaisesRegex(kgen.CompileError, "[$]CXX", kgen.load, SCALE)
                self.assertRaisesRegex(kgen.CompileError, "[$]CXX", scale, X, 1.0)
        with mock.patch.dict(os.environ, CXXFLAGS="'"):
            self.assertRaisesRegex(kgen.CompileError, "[$]CXXFLAGS", kgen.load, SCALE)
        self.assertEqual(sorted(self.cache.rglob("*")), before)
        np.testing.assert_array_equal(scale(X, 1.0), X)

    def test_what_was_interrupted_is_cleared_away(self):
        scale = kgen.load(SCALE)
        folder = next(path for path in self.cache.iterdir() if path.is_dir())
        (folder / "tmp123.so").write_text("half of a library")
        (folder / "tmp456").mkdir()  # where a build for torch keeps its objects
        (folder / "tmp456/torch.cpp.o").write_text("an object")
        half = self.cache / f"{folder.name}.abc.part"
        half.mkdir()
        np.testing.assert_array_equal(scale(X, 1.0), X)
        self.assertEqual(list(folder.glob("tmp*")), [])
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink()
        folder.rmdir()
        kgen.load(SCALE)
        self.assertFalse(half.exists())

    def test_a_build_that_stops_before_the_gradient_is_made_again(self):
        import torch
        soft, x = kgen.load(SOFT), torch.ones(1, 2, requires_grad=True)
        folder = next(path for path in self.cache.iterdir() if path.is_dir())
        (folder / "libsoft_torch.so").write_text("the first library; the second one was never made")
        torch.testing.assert_close(soft(x), torch.softmax(x, -1))

    def test_a_damaged_cache_is_an_exception_with_the_way_out(self):
        call = f"import kgen, numpy; kgen.load({SOFT!r})(numpy.ones((2, 3), 'f4'))"  # in a process of its own
        way_out = "is damaged: .*; remove that folder, and load the kernel again"
        self.assertEqual(self.python(call).returncode, 0)
        folder = next(path for path in self.cache.iterdir() if path.is_dir())
        for name, text in (("libsoft_numpy.so", ""), ("soft_numpy.py", "def"), ("soft_numpy.py", ""), ("spec.toml", "")):
            before = (folder / name).read_bytes()
            (folder / name).write_text(text)
            self.assertRegex(self.python(call).stderr, rf"kgen\.errors\.CacheError: .*{way_out}")
            (folder / name).write_bytes(before)
        self.assertEqual(self.python(call).returncode, 0)
        (folder / "spec.toml").unlink()
        self.assertRaisesRegex(kgen.CacheError, way_out, kgen.load, SOFT)

    def test_a_cache_that_cannot_be_written_is_an_exception_with_the_way_out(self):
        self.cache.write_text("a file")
        self.assertRaisesRegex(kgen.CacheError, "KGEN_CACHE_DIR", kgen.load, SCALE)

    @contextlib.contextmanager
    def without_rights(self):
        """As a user who is not root, for whom all folders are open."""
        self.folder.chmod(0o755)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            yield
        finally:
            if is_root:
                os.seteuid(0)

    def test_a_cache_without_rights_is_an_exception_with_the_way_out(self):
        scale = kgen.load(SCALE)
        entry = next(path for path in self.cache.iterdir() if path.is_dir())
        (self.cache / f"{entry.name}.lock").chmod(0o666)
        entry.chmod(0o555)
        with self.without_rights():
            self.assertRaisesRegex(kgen.CacheError, "KGEN_CACHE_DIR", scale, X, 1.0)
        entry.chmod(0o000)
        with self.without_rights():
            self.assertRaisesRegex(kgen.CacheError, "KGEN_CACHE_DIR", kgen.load, SCALE)
        self.cache.chmod(0o000)
        with self.without_rights():
            self.assertRaisesRegex(kgen.CacheError, "KGEN_CACHE_DIR", kgen.load, SCALE)
        self.cache.chmod(0o755)
        entry.chmod(0o755)

    def test_the_cache_and_the_program_may_be_named_by_relative_paths(self):
        code = f"import kgen, numpy as np; k = kgen.load({SCALE!r}); k.explain(); print(k(np.ones((1, 1)), 2.0))"
        program = os.path.relpath(KGEN, self.folder.resolve())
        for names in ({"KGEN_CACHE_DIR": "here"}, {"KGEN_CACHE_DIR": "", "XDG_CACHE_HOME": "there"}):
            done = self.python(code, KGEN_EXECUTABLE=program, **names)
            self.assertEqual((done.stdout, done.stderr), ("[[2.]]\n", "kgen: compiling scale for numpy\n"))
        self.assertTrue((self.folder / "here").is_dir() and (self.folder / "there/kgen").is_dir())

    def test_nothing_of_a_framework_is_imported_before_its_first_array(self):
        code = f"import sys, kgen; kgen.load({SCALE!r}); print([m for m in ('numpy', 'torch', 'jax') if m in sys.modules])"
        self.assertEqual(self.python(code).stdout, "[]\n")

    def test_the_module_is_the_program(self):
        done = subprocess.run([sys.executable, "-m", "kgen", "explain", "KG0124"], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=PACKAGE))
        self.assertIn("KG0124", done.stdout)
        missing = self.python(f"import kgen; kgen.load({SCALE!r})", KGEN_EXECUTABLE="nowhere/kgen")
        self.assertIn("name a built kgen in $KGEN_EXECUTABLE", missing.stderr)


if __name__ == "__main__":
    unittest.main()
