{{{banner}}}"""Tests of {{kernel}}_torch.py: python {{kernel}}_torch_test.py, or pytest."""
import torch

import {{kernel}}_torch as kernel


_FUNCTIONS = {{{functions}}}


# One row of the table of functions for each type and choice.
def _rows():
    seen = set()
    for row in _FUNCTIONS:
        if not seen.issuperset(enumerate(row)):
            seen.update(enumerate(row))
            yield row


def _array(shape, dtype):
    if dtype.is_floating_point:
        return (torch.rand(shape, dtype=torch.float64) * 0.8 + 0.1).to(dtype)
    return (torch.rand(shape) < 0.5).to(dtype)


def _arguments(row):
    torch.manual_seed(1)
    return [
{{#arguments}}
        {{{text}}},  # {{name}}
{{/arguments}}
    ], dict({{{keywords}}})


def _list(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def test_opcheck():
    for row in _rows():
        arguments, keywords = _arguments(row)
        torch.library.opcheck(kernel._operator, arguments, keywords)


def test_compile():
    compiled = torch.compile(kernel.{{function}}, fullgraph=True, dynamic=True, backend="aot_eager")
    arguments, keywords = _arguments(_FUNCTIONS[0])
    for one, other in zip(_list(compiled(*arguments, **keywords)), _list(kernel.{{function}}(*arguments, **keywords))):
        torch.testing.assert_close(one, other, equal_nan=True)
{{#into_outputs}}


def test_into_outputs():
    for row in _rows():
        arguments, keywords = _arguments(row)
        expected = _list(kernel.{{function}}(*arguments, **keywords))
        outputs = [torch.empty_like(array) for array in expected]
        torch.ops.{{namespace}}.{{function}}_out(*arguments, **keywords, **dict(zip([{{{outputs}}}], outputs)))
        for one, other in zip(outputs, expected):
            torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
{{/into_outputs}}
{{#in_place}}


def test_in_place():
    for row in _rows():
        arguments, keywords = _arguments(row)
        expected = _list(kernel.{{function}}(*arguments, **keywords))
        fresh = _list(kernel.{{function}}_(*arguments, **keywords))
        for place, array in {{{places}}}.items():
            torch.testing.assert_close(arguments[array], expected[place], rtol=0, atol=0, equal_nan=True)
{{/in_place}}
{{#vmap}}


def test_vmap():
    arguments, keywords = _arguments(_FUNCTIONS[0])
    once = _list(kernel.{{function}}(*arguments, **keywords))
    dims = tuple(1 if i in {{{batched}}} else None for i in range(len(arguments)))
    arguments = [torch.stack([a] * 2, 1) if dim == 1 else a for a, dim in zip(arguments, dims)]
    twice = _list(torch.vmap(lambda *a: kernel.{{function}}(*a, **keywords), dims)(*arguments))
    for one, two in zip(once, twice):
        torch.testing.assert_close(torch.stack([one] * 2), two, equal_nan=True)
{{/vmap}}
{{#gradcheck}}


def test_gradcheck():
    for row in _rows():
        if any(value.is_floating_point and value != torch.float64 for value in row if isinstance(value, torch.dtype)):
            continue
        arguments, keywords = _arguments(row)
        for i in {{{differentiable}}}:
            arguments[i] = arguments[i].detach().requires_grad_()

        def reals(*a):
            return tuple(array for array in {{{results}}} if array.is_floating_point())

        torch.autograd.gradcheck(reals, arguments)
{{/gradcheck}}
{{#no_backward}}


def test_backward_raises():
    arguments, keywords = _arguments(_FUNCTIONS[0])
    arguments = [a.requires_grad_() if torch.is_tensor(a) and a.is_floating_point() else a for a in arguments]
    real = next(array for array in _list(kernel.{{function}}(*arguments, **keywords)) if array.is_floating_point())
    try:
        real.sum().backward()
    except RuntimeError as error:
        assert "no backward kernel" in str(error)
    else:
        raise AssertionError("a gradient came without a backward kernel")
{{/no_backward}}


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name, "passed")
