"""The binding for PyTorch on all that specs can declare: results, outputs that are given, what is refused, transforms,
gradients; and what the modules' own tests say, opcheck and gradcheck among it.

torch_test.py KGEN [unittest arguments]
"""
import concurrent.futures
import contextlib
import importlib
import inspect
import io
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import matrix
import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from processor_time import seconds_of  # noqa: E402
from this_machine import SOON_COMPILED  # noqa: E402

KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
REVIEWED = pathlib.Path(__file__).parent / "reviewed_torch"
SOFTMAX = """
types.T = ["f32", "f64"]
inputs.x = "T[..., N]"
outputs.y = "T[..., N]"
body = 'y = softmax(x, N);'
"""
SQUASH = """
types.T = ["f32", "f64"]
inputs.x = "T[..., N]"
outputs.y = "T[..., N]"
body = 'real e = exp(-x); y = x / (1 + e);'
"""
BIASED = """
types.T = ["f32", "f64"]
inputs.x = "T[M, N]"
inputs.bias = { type = "T[N]", optional = true }
outputs.y = "T[M, N]"
body = 'real s = present(bias) ? x + bias : x; y = silu(s);'
"""
SCALED = """
types.T = ["f32", "f64"]
params.act = ["square", "identity"]
scalars.scale = "f32"
inputs.x = "T[M, N]"
inputs.w = "T[N]"
inputs.label = "i32[M]"
outputs.y = "T[M, N]"
outputs.total = "T[M]"
body = '''
y = act(scale * x * w) + (label > 0 ? x : 0);
total = sum(y, N);
'''
"""


def setUpModule():
    global FOLDER
    FOLDER = pathlib.Path(KGEN).parent / "bindings_torch"  # of one name, so that ccache knows the files again
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    specs = {case.name: case.spec for case in matrix.CASES}
    specs["product"] = matrix.PRODUCT
    specs |= {name: f'kernel = "{name}"\n{text}' for name, text in (("soft", SOFTMAX), ("scaled", SCALED), ("squash", SQUASH), ("biased", BIASED))}
    for name, text in specs.items():
        (FOLDER / f"{name}.toml").write_text(text)
    kgen("grad", "soft.toml", "-o", ".")
    kgen("grad", "scaled.toml", "biased.toml", "product.toml", "-o", ".")
    kgen("grad", "squash.toml", "-o", ".", "--save", "e")
    kgen(*(f"{name}.toml" for name in specs), "--targets", "openmp", "--bind", "torch")
    names = sorted(path.stem for path in FOLDER.glob("*_torch.py") if not path.stem.endswith(("_backward_torch", "_forward_torch")))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(build, names))
    sys.path.insert(0, str(FOLDER))
    torch.manual_seed(1)


def kgen(*arguments):
    subprocess.run([KGEN, *arguments], cwd=FOLDER, check=True, capture_output=True)


def build(module):
    cached = {"CXX": "ccache c++", "CCACHE_SLOPPINESS": "include_file_mtime,include_file_ctime"}
    environment = {**os.environ, **(cached if shutil.which("ccache") else {}), "CXXFLAGS": SOON_COMPILED}
    subprocess.run([sys.executable, f"{module}.py"], cwd=FOLDER, check=True, env=environment)


def module(name):
    return importlib.import_module(f"{name}_torch")


def function(case):
    return getattr(module(case.name), case.name)


def named(name):
    return next(case for case in matrix.CASES if case.name == name)


def tensor(array):
    if not isinstance(array, np.ndarray):
        return array
    bits = {2: "i2"}.get(array.dtype.itemsize) if array.dtype == matrix.bf16 else None
    out = torch.from_numpy(np.array(array).view(bits or array.dtype))
    out = out.view(torch.bfloat16) if bits else out
    return out.as_strided(array.shape, [step // array.itemsize for step in array.strides]) if array.flags.c_contiguous else out


def tensors(arguments):
    return [tensor(a) for a in arguments]


def as_list(result):
    return list(result) if isinstance(result, tuple) else [result]


def flags_of_memory(address):
    inside = False
    for line in pathlib.Path("/proc/self/smaps").read_text().splitlines():
        if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(match[1], 16) <= address < int(match[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return line.split()[1:]
    return []


def calls():
    for case in matrix.CASES:
        for number, call in enumerate(case.calls):
            yield case, number, call


def parameters(case):
    return list(inspect.signature(function(case)).parameters)


class TorchBinding(unittest.TestCase):
    def assert_gives(self, got, expected):
        got = as_list(got)
        self.assertEqual(len(got), len(expected))
        for one, other in zip(got, tensors(expected)):
            torch.testing.assert_close(one, other, rtol=0, atol=0)

    def assert_refused(self, names, call, kinds=RuntimeError):
        with self.assertRaises(kinds) as caught:
            call()
        for name in names:
            self.assertIn(name, str(caught.exception))

    def test_results(self):
        for case, number, call in calls():
            with self.subTest(case=case.name, call=number):
                arguments = tensors(call.arguments)
                before = [torch.clone(a) for a in arguments if torch.is_tensor(a)]
                self.assert_gives(function(case)(*arguments, **call.keywords), call.outputs)
                for a, b in zip([a for a in arguments if torch.is_tensor(a)], before):
                    torch.testing.assert_close(a, b, rtol=0, atol=0)  # an alias too is a copy

    def test_arrays_that_are_not_dense(self):
        for case, number, call in calls():
            with self.subTest(case=case.name, call=number):
                sparse = [torch.stack([a, a], -1)[..., 0] if torch.is_tensor(a) else a for a in tensors(call.arguments)]
                self.assert_gives(function(case)(*sparse, **call.keywords), call.outputs)

    def test_outputs_that_are_given(self):
        for case, number, call in calls():
            if "alias" in case.spec:
                continue
            with self.subTest(case=case.name, call=number):
                into = getattr(torch.ops.kgen, case.name + "_out")
                names = [a.name for a in into.default._schema.arguments if a.alias_info is not None]
                left = 0 if "partial = true" in case.spec else 1
                dense = [torch.full_like(tensor(o).contiguous(), left) for o in call.outputs]
                gaps = [torch.stack([o, o], -1)[..., 0] for o in dense]
                for outputs in (dense, gaps):
                    keywords = {name: str(k) if name == "r" else k for name, k in call.keywords.items()}
                    into(*tensors(call.arguments), **keywords, **dict(zip(names, outputs)))
                    self.assert_gives(tuple(outputs), call.outputs)

    def test_in_place(self):
        for case, number, call in calls():
            places = [parameters(case).index(old) for old in re.findall(r'alias = "(\w+)"', case.spec)]
            if not places:
                continue
            with self.subTest(case=case.name, call=number):
                arguments = tensors(call.arguments)
                others = getattr(module(case.name), case.name + "_")(*arguments, **call.keywords)
                others = [] if others is None else as_list(others)
                self.assert_gives((*(arguments[i] for i in places), *others), call.outputs)

    def test_optional_outputs_that_are_not_wanted(self):
        case = named("optional")
        y, total = torch.ops.kgen.optional(*tensors(case.calls[0].arguments), wanted=1)
        self.assertIsNone(total)
        torch.testing.assert_close(y, tensor(case.calls[0].outputs[0]))

    def test_wrong_types_are_refused_by_name(self):
        for case, number, call in calls():
            for i, argument in enumerate(call.arguments):
                if isinstance(argument, np.ndarray):
                    with self.subTest(case=case.name, call=number, argument=i):
                        arguments = tensors(call.arguments)
                        arguments[i] = arguments[i].to(torch.complex64)
                        self.assert_refused([parameters(case)[i]], lambda: function(case)(*arguments, **call.keywords))

    def test_wrong_ranks_are_refused_by_name(self):
        for case, number, call in calls():
            for i, argument in enumerate(call.arguments):
                if not isinstance(argument, np.ndarray) or parameters(case)[i] == ("x" if "..." in case.spec else ""):
                    continue
                with self.subTest(case=case.name, call=number, argument=i):
                    arguments = tensors(call.arguments)
                    arguments[i] = arguments[i][None]
                    self.assert_refused([parameters(case)[i], "shape"],
                                        lambda: function(case)(*arguments, **call.keywords))

    def test_arrays_that_disagree_are_both_named(self):
        for case, number, call in calls():
            for i, (dimension, other) in call.disagrees.items():
                with self.subTest(case=case.name, call=number, argument=i):
                    arguments = tensors(call.arguments)
                    arguments[i] = torch.cat([arguments[i]] * 2, dimension)
                    self.assert_refused([parameters(case)[i], parameters(case)[other]],
                                        lambda: function(case)(*arguments, **call.keywords))

    def test_wrong_choices_sizes_and_outputs_are_refused_by_name(self):
        x = tensor(matrix.numbers(4, 2))
        self.assert_refused(["U", "i16"], lambda: function(named("types_only"))(x[:, 0], U="i16"))
        self.assert_refused(["act", "relu or square"], lambda: function(named("chosen"))(x, act="gelu"))
        self.assert_refused(["N"], lambda: function(named("no_inputs"))(M=1, N=-1))
        self.assert_refused(["D"], lambda: function(named("specialised"))(torch.zeros(2, 5)))
        self.assert_refused(["P"], lambda: function(named("derived"))(torch.zeros(2, 0), torch.zeros(5)))
        call = named("split").calls[0]
        into = lambda y: torch.ops.kgen.split_out(*tensors(call.arguments), G=2, y=y)
        good = tensor(call.outputs[0])
        for wrong in (good.double(), good[0], good[:, :3]):
            self.assert_refused(["y"], lambda: into(wrong))
        self.assert_refused(["y", "overlap"], lambda: torch.ops.kgen.split_out(good, torch.zeros(6), G=2, y=good))
        self.assert_refused(["start"], lambda: function(named("ragged"))(torch.tensor([3, 0]), torch.zeros(3)))

    def test_outputs_with_gaps_that_share_memory_are_refused_by_name(self):
        step, _ = module("aliased").aliased_, module("split")
        w, v, g = (torch.zeros(2, 6)[:, ::2] for _ in range(3))
        self.assert_refused(["v must not overlap w"], lambda: step(w, w, g, 1.0))
        buffer = torch.zeros(2, 12)
        self.assert_refused(["v must not overlap g"], lambda: step(w, buffer[:, 0:3], buffer[:, 2:5], 1.0))
        step(buffer[:, 0:3], buffer[:, 3:6], buffer[:, 6:9], 1.0)
        step(buffer[:, 0::4], buffer[:, 1::4], buffer[:, 2::4], 1.0)
        x, into = torch.ones(2, 6), torch.ops.kgen.split_out
        shifted = torch.ones(2, 8)
        self.assert_refused(["y must not overlap x"], lambda: into(shifted[:, :6], x[0], G=2, y=shifted[:, 1:7]))
        self.assert_refused(["y must not overlap x"], lambda: into(x, x[0], G=2, y=x.as_strided((2, 6), (1, 2))))
        for strides in ((1, 0), (1, 1), (2, 1)):
            self.assert_refused(["y has elements that share memory"],
                                lambda: into(x, x[0], G=2, y=torch.zeros(9).as_strided((2, 6), strides)))
        into(shifted[:, :6], x[0], G=2, y=shifted[:, :6])

    def test_none_and_numbers_that_do_not_fit_are_refused_by_name(self):
        x, w = tensors(named("split").calls[0].arguments)
        self.assert_refused(["w must be an array, not None"], lambda: function(named("split"))(x, None, G=2))
        case = named("scalars")
        for wrong in ({"k": 256}, {"k": -1}, {"i": 2**31}, {"i": -2**31 - 1}):
            arguments = tensors(case.calls[0].arguments)
            ((name, value),) = wrong.items()
            arguments[parameters(case).index(name)] = value
            self.assert_refused([f"{name} is beyond", str(value)], lambda: function(case)(*arguments))

    def test_arrays_without_elements_are_refused_where_others_are(self):
        meta = lambda *shape: torch.empty(shape, device="meta")
        split, into = function(named("split")), torch.ops.kgen.split_out
        self.assertEqual(split(meta(2, 6), meta(6), G=2).shape, (2, 6))
        for x, w in ((meta(2, 6), torch.ones(6)), (torch.ones(2, 6), meta(6))):
            self.assert_refused(["x and w are not on the same device"], lambda: split(x, w, G=2))
        self.assert_refused(["w has the shape (5,), not (6,)"], lambda: split(meta(2, 6), meta(5), G=2))
        self.assert_refused(["w has the shape (1, 6)"], lambda: split(meta(2, 6), meta(1, 6), G=2))
        x, w = torch.ones(2, 6), torch.ones(6)
        self.assert_refused(["x and y are not on the same device"], lambda: into(x, w, G=2, y=meta(2, 6)))
        self.assert_refused(["y has the shape (2, 5)"], lambda: into(meta(2, 6), meta(6), G=2, y=meta(2, 5)))
        aliased = module("aliased").aliased_
        self.assert_refused(["old_v has the shape"], lambda: aliased(meta(2, 3), meta(2, 4), meta(2, 3), 1.0))

    def test_arrays_on_two_devices_are_both_named(self):
        # A call of the operator for the CPU with an array that lies elsewhere; torch itself goes to that of the other.
        x, w = tensors(named("split").calls[0].arguments)
        on_cpu = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
        self.assert_refused(["x and w are not on the same device"], lambda: torch.ops.kgen.split.default.redispatch(
            on_cpu, x, w.to("meta"), G=2))

    def test_types_of_torch_are_choices(self):
        x = tensor(matrix.numbers(4))
        self.assertEqual(function(named("types_only"))(x, U=torch.bfloat16).dtype, torch.bfloat16)
        self.assertEqual(function(named("chosen"))(x[:, None].expand(4, 3), r=3, T=torch.float64).dtype, torch.float64)

    def test_compile_and_export(self):
        for case in matrix.CASES:
            call = case.calls[0]
            with self.subTest(case=case.name):
                torch._dynamo.reset()
                arguments, kernel, keywords = tensors(call.arguments), function(case), call.keywords

                class Model(torch.nn.Module):
                    def forward(self, *given):
                        return kernel(*given, **keywords)

                compiled = torch.compile(Model(), fullgraph=True, dynamic=True, backend="aot_eager")
                self.assert_gives(compiled(*arguments), call.outputs)
                if any(torch.is_tensor(a) for a in arguments):
                    self.assert_gives(torch.export.export(Model(), tuple(arguments)).module()(*arguments), call.outputs)

    def test_vmap_of_each_argument(self):
        for case in matrix.CASES:
            call = case.calls[0]
            for i, argument in enumerate(call.arguments):
                if not isinstance(argument, np.ndarray) or case.name == "whole_types":
                    continue
                with self.subTest(case=case.name, argument=i):
                    arguments = tensors(call.arguments)
                    arguments[i] = torch.stack([arguments[i]] * 3)
                    dims = tuple(0 if i == j else None for j in range(len(arguments)))
                    got = torch.vmap(lambda *a: function(case)(*a, **call.keywords), dims)(*arguments)
                    self.assert_gives(got, [np.stack([o] * 3) for o in call.outputs])

    def test_vmap_over_nothing(self):
        w, v, g, rate = tensors(named("aliased").calls[0].arguments)
        results = torch.vmap(function(named("aliased")), (0, None, None, None))(w[None][:0], v, g, rate)
        self.assertEqual([r.shape for r in results], [(0, 2, 3), (0, 2, 3)])

    def test_vmap_joins_a_batch_of_the_spec(self):
        call = named("batched").calls[0]
        x, y = tensors(call.arguments)
        got = torch.vmap(function(named("batched")), (1, None))(torch.stack([x, 2 * x], 1), y)
        self.assert_gives(got, [np.stack([call.outputs[0], 2 * call.outputs[0]])])

    def test_the_modules_own_tests(self):
        for path in sorted(FOLDER.glob("*_torch_test.py")):
            tests = importlib.import_module(path.stem)
            for name, test in vars(tests).items():
                if name.startswith("test_") and name != "test_compile":
                    with self.subTest(module=path.stem, test=name), contextlib.redirect_stdout(io.StringIO()):
                        test()

    def test_calls_from_several_threads(self):
        call = named("types_of_arrays").calls[0]
        arguments = tensors(call.arguments)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for got in pool.map(lambda _: function(named("types_of_arrays"))(*arguments), range(200)):
                self.assert_gives(got, call.outputs)

    def test_calls_from_several_threads_that_start_threads_of_their_own(self):
        arrays = [torch.randn(200 + i, 300, requires_grad=True) for i in range(4)]

        def step(x):
            (gradient,) = torch.autograd.grad((module("soft").soft(x) ** 2).sum(), x)
            return gradient

        expected = [step(x) for x in arrays]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for i, got in enumerate(pool.map(step, arrays * 10)):
                torch.testing.assert_close(got, expected[i % 4], rtol=0, atol=0)

    def test_one_openmp_is_mapped(self):
        lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
        mapped = {line.split()[-1] for line in lines if "gomp" in line or "libomp" in line}
        self.assertEqual(len(mapped), 1, mapped)

    @unittest.skipUnless(pathlib.Path("/sys/kernel/mm/transparent_hugepage").exists(), "the system has no large pages")
    def test_large_results_lie_in_large_pages(self):
        for rows, large in (5000, True), (5, False):
            y = module("soft").soft(torch.randn(rows, 2, 100, dtype=torch.float64))
            torch.testing.assert_close(y.sum(-1), torch.ones(rows, 2, dtype=torch.float64))
            self.assertEqual("hg" in flags_of_memory(y.data_ptr() + y.nbytes // 2), large)

    @unittest.skipUnless(sys.platform == "linux", "only there is memory kept")
    def test_memory_of_large_results_is_used_again(self):
        soft, x = module("soft").soft, torch.randn(25000, 2, 100, dtype=torch.float64)
        smaller, expected = x[1000:], torch.softmax(x, -1)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            one, other = soft(x), pool.submit(soft, x).result()
        held = one[:5]
        del one, other  # the memory of one of them stays in use
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        again = soft(smaller)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, 100)
        torch.testing.assert_close(again, expected[1000:])
        torch.testing.assert_close(soft(x), expected)
        torch.testing.assert_close(held, expected[:5])

    @unittest.skipUnless(sys.platform == "linux", "only there is memory kept")
    def test_a_large_workspace_is_used_again(self):
        product, x, y = module("product").product, torch.randn(2, 8, 600), torch.randn(600, 1400)
        for _ in range(3):
            z = product(x, y)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(10):  # 5.7 MB each
            z = product(x, y)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, 1000)
        torch.testing.assert_close(z, x @ y, rtol=1e-4, atol=1e-4)

    def test_the_file_of_a_binding_compiles_in_three_seconds(self):
        include = pathlib.Path(torch.__file__).parent / "include"
        self.assertLess(seconds_of(("c++", "-O2", "-std=c++17", "-fPIC", "-c", "-isystem", include,
                                    FOLDER / "soft_torch.cpp", "-o", FOLDER / "soft_torch.o")), 3)

    def test_only_symbols_of_the_c_shim_are_undefined(self):
        symbols = subprocess.run(["nm", "-D", "--undefined-only", FOLDER / "libsoft_torch.so"], capture_output=True,
                                 text=True, check=True).stdout.split()
        self.assertIn("aoti_torch_empty_strided", symbols)
        self.assertEqual([s for s in symbols if s.startswith("_Z") and ("c10" in s or "2at" in s or "5torch" in s)], [])


class Files(unittest.TestCase):
    def test_files_are_as_they_were_reviewed(self):
        for reviewed in sorted(REVIEWED.iterdir()):
            with self.subTest(file=reviewed.name):
                self.assertEqual((FOLDER / reviewed.name).read_text(), reviewed.read_text(),
                                 f"if this is meant, copy the new one to {REVIEWED}")


    def test_a_modules_own_tests_use_sizes_that_the_spec_requires(self):
        folder = FOLDER / "required"
        folder.mkdir()
        (folder / "halves.toml").write_text(
            'kernel = "halves"\ninputs.x = "f32[M, N]"\ninputs.w = "f32[H]"\noutputs.y = "f32[M, N]"\n'
            "body = 'require(size(N) == 2 * size(H), \"halves\"); y = x * at(w, H = index(N) % size(H));'\n")
        subprocess.run([KGEN, "halves.toml", "-o", ".", "--bind", "torch"], cwd=folder, check=True, capture_output=True)
        shapes = re.findall(r"_array\(\((\d+),\s?(\d*)\)", (folder / "halves_torch_test.py").read_text())
        self.assertEqual(int(shapes[0][1]), 2 * int(shapes[1][0]))


class Gradients(unittest.TestCase):
    def test_a_gradient_is_that_of_torch(self):
        x = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
        weight = torch.randn(3, 4, 5, dtype=torch.float64)
        (ours,) = torch.autograd.grad((module("soft").soft(x) * weight).sum(), x)
        (theirs,) = torch.autograd.grad((torch.softmax(x, -1) * weight).sum(), x)
        torch.testing.assert_close(ours, theirs)

    def arguments(self):
        return [torch.randn(2, 3, dtype=torch.float64), torch.randn(3, dtype=torch.float64),
                torch.tensor([0, 1], dtype=torch.int32), 1.5]

    def model(self, x, w, label, scale):
        y = (scale * x * w) ** 2 + torch.where(label[:, None] > 0, x, 0)
        return y, y.sum(1)

    def test_only_what_is_wanted_is_computed(self):
        for wanted in ((0,), (1,), (0, 1)):
            for outputs in ((0,), (1,), (0, 1)):
                with self.subTest(wanted=wanted, outputs=outputs):
                    gradients = []
                    arguments = [a.requires_grad_() if i in wanted else a for i, a in enumerate(self.arguments())]
                    for f in (module("scaled").scaled, self.model):
                        results = f(*arguments)
                        loss = sum((results[o] ** 2).sum() for o in outputs)
                        gradients.append(torch.autograd.grad(loss, [arguments[i] for i in wanted]))
                    torch.testing.assert_close(*gradients)

    def test_a_gradient_by_one_of_two_arrays_with_strides(self):
        for wanted in (0, 1):
            given = [torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(4, 5, dtype=torch.float64)]
            x = given[wanted].requires_grad_()
            ours, theirs = (torch.autograd.grad(f(*given).sum(), x) for f in (module("product").product, torch.matmul))
            torch.testing.assert_close(ours, theirs)

    def test_a_last_argument_may_be_left_out(self):
        x, bias = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((3, 5), (5,)))
        biased = module("biased").biased
        for ours, theirs, by in ((biased(x), x, [x]), (biased(x, None), x, [x]), (biased(x, bias), x + bias, [x, bias])):
            theirs = torch.nn.functional.silu(theirs)
            torch.testing.assert_close(*(torch.autograd.grad((y ** 2).sum(), by) for y in (ours, theirs)))

    def test_a_compiled_step_has_the_same_gradient(self):
        x = torch.randn(4, 5, requires_grad=True)
        soft = module("soft").soft
        step = lambda x: (soft(x) ** 2).sum()
        (expected,) = torch.autograd.grad(step(x), x)
        compiled = torch.compile(step, fullgraph=True, dynamic=True, backend="aot_eager")
        torch.testing.assert_close(torch.autograd.grad(compiled(x), x)[0], expected)

    def test_nothing_but_what_the_backward_reads_is_kept(self):
        x = torch.randn(4, 5, requires_grad=True)
        kept = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
            y = module("soft").soft(x)
        self.assertEqual([t.data_ptr() for t in kept], [y.data_ptr()])

    def test_what_writes_into_its_arguments_raises_where_one_requires_a_gradient(self):
        w, v, g, rate = tensors(named("aliased").calls[0].arguments)
        expected = module("aliased").aliased(w, v, g, rate)
        g.requires_grad_()
        with self.assertRaisesRegex(RuntimeError, r"aliased_ has no gradient: call it under torch.no_grad\(\), or aliased"):
            module("aliased").aliased_(w, v, g, rate)
        with torch.no_grad():
            module("aliased").aliased_(w, v, g, rate)
        torch.testing.assert_close(w, expected[0] if isinstance(expected, tuple) else expected)

    def test_writing_into_what_was_kept_for_a_gradient_is_noticed(self):
        module("soft")
        others = tensors(named("aliased").calls[0].arguments)
        w = others.pop(0).requires_grad_()
        y = torch.rand(4, 5, requires_grad=True)
        for array, write in ((w, lambda: module("aliased").aliased_(w, *others)),
                             (y, lambda: torch.ops.kgen.soft_out(torch.rand(4, 5), y=y))):
            loss = (array * array).sum()
            with torch.no_grad():
                write()
            self.assertRaisesRegex(RuntimeError, "modified by an inplace operation", loss.backward)

    def test_a_kernel_with_many_arrays_has_a_module_of_lines_that_fit(self):
        folder = FOLDER / "gate"
        folder.mkdir()
        gates = [f"{when}_{what}" for when in ("previous", "following") for what in ("candidate", "input_gate", "bias", "cell")]
        inputs = "\n".join(f'inputs.{gate} = "f32[N]"' for gate in gates)
        (folder / "gate.toml").write_text(f'kernel = "gate"\n{inputs}\noutputs.y = "f32[N]"\n'
                                        f"body = 'y = {' * '.join(gates)};'\n")
        for command in (["grad", "gate.toml", "-o", "."], ["gate.toml", "-o", ".", "--bind", "torch"]):
            subprocess.run([KGEN, *command], cwd=folder, check=True, capture_output=True)
        text = (folder / "gate_torch.py").read_text()
        compile(text, "gate_torch.py", "exec")
        rules = text[text.index("def _backward("):text.index("\ndef gate(")].splitlines()
        self.assertGreater(len(rules), 20)
        self.assertLess(max(map(len, rules)), 121)

    def test_second_order_raises(self):
        x = torch.randn(4, 5, requires_grad=True)
        (first,) = torch.autograd.grad((module("soft").soft(x) ** 2).sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "soft_backward has no backward kernel"):
            first.sum().backward()

    def test_forward_mode_raises_where_it_would_be_zero(self):
        soft, x = module("soft").soft, torch.randn(4, 5)
        for transform in (lambda: torch.func.jvp(soft, (x,), (x,)), lambda: torch.func.jacfwd(soft)(x),
                          lambda: torch.func.jvp(soft, (x.clone().requires_grad_(),), (x,))):
            self.assertRaisesRegex(NotImplementedError, "kgen::soft has no forward derivative", transform)
        _, tangent = torch.func.jvp(lambda v: 2 * v + soft(x), (x,), (x,))
        torch.testing.assert_close(tangent, 2 * x)

    def test_without_a_backward_kernel_backward_raises_and_forward_does_not(self):
        call = named("split").calls[0]
        x, w = tensors(call.arguments)
        y = function(named("split"))(x.requires_grad_(), w, G=2)
        with self.assertRaisesRegex(RuntimeError, "kgen grad split.toml"):
            y.sum().backward()

    def test_a_forward_kernel_keeps_what_the_backward_kernel_reads(self):
        squash = module("squash").squash
        x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
        (ours,), (theirs,) = (torch.autograd.grad(f(x).sum(), x) for f in (squash, torch.nn.functional.silu))
        torch.testing.assert_close(ours, theirs)
        compiled = torch.compile(lambda x: squash(x).sum(), fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(torch.autograd.grad(compiled(x), x)[0], theirs)
        with torch.no_grad():
            torch.testing.assert_close(squash(x), torch.nn.functional.silu(x))
        with self.assertRaisesRegex(RuntimeError, "keeps too little for gradients"):
            torch.ops.kgen.squash(x).sum().backward()

    def test_batched_gradients(self):
        x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
        ours = torch.autograd.functional.jacobian(module("soft").soft, x, vectorize=True)
        theirs = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), x)
        torch.testing.assert_close(ours, theirs)


class Building(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "k.toml").write_text('kernel = "k"\noutputs.z = "i32[N]"\nbody = \'z = index(N);\'\n')
        subprocess.run([KGEN, "k.toml", "--bind", "torch", "--namespace", "mine"], cwd=self.folder, check=True,
                       capture_output=True)

    def test_a_backward_kernel_that_wants_something_else_is_refused(self):
        (self.folder / "soft.toml").write_text('kernel = "soft"' + SOFTMAX)
        backward = """kernel = "soft_backward"
inputs.y = "f32[N]"
inputs.dy = "f32[N]"
outputs.d_x = "f32[N]"
body = 'd_x = y * dy;'
"""
        bind = lambda: subprocess.run([KGEN, "soft.toml", "--bind", "torch"], cwd=self.folder, capture_output=True, text=True)
        (self.folder / "soft_backward.toml").write_text(backward)
        self.assertEqual(bind().returncode, 0)  # it only has the name
        self.assertFalse((self.folder / "soft_backward_torch.py").exists())
        (self.folder / "soft_backward.toml").write_text('backward_of = "soft"\n' + backward)
        refused = bind()
        self.assertEqual(refused.returncode, 4)
        self.assertIn("soft_backward.toml:4", refused.stderr)
        self.assertIn("`dy` is neither an input or output of it", refused.stderr)

    def python(self, *arguments, **environment):
        return subprocess.run([sys.executable, *arguments], cwd=self.folder, env=dict(os.environ, **environment),
                              capture_output=True, text=True)

    def test_a_module_without_its_library_says_how_to_make_it(self):
        done = self.python("-c", "import k_torch")
        self.assertIn("ImportError", done.stderr)
        command = done.stderr.strip().split("To make it: ")[-1].split()
        self.assertEqual(self.python(*command[1:], NVCC="").returncode, 0)
        self.assertEqual(self.python("-c", "import torch, k_torch; print(torch.ops.mine.k(N=3).tolist())").stdout,
                         "[0, 1, 2]\n")

    def test_a_build_that_fails_says_why_and_leaves_nothing(self):
        before = sorted(self.folder.iterdir())
        self.assertIn("no compiler nothing: name one in $CXX", self.python("k_torch.py", CXX="nothing").stderr)
        self.assertIn("made no library: is $CXX a compiler?", self.python("k_torch.py", CXX="true", NVCC="").stderr)
        self.assertIn("exit code", self.python("k_torch.py", CXXFLAGS="--no-such-flag").stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    @unittest.skipIf(shutil.which("nvcc") is None, "there is no nvcc")
    def test_a_library_with_cuda_loads_without(self):
        made = self.python("k_torch.py", NVCCFLAGS="-arch=sm_80")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(self.python("-c", "import k_torch; print(k_torch.k(N=2).tolist())").stdout, "[0, 1]\n")


if __name__ == "__main__":
    unittest.main()
