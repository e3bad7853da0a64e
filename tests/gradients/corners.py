"""What gradients are where functions have corners, ties and zeros, and where nothing is reduced: as docs/gradients.md
says it, by numbers.

corners.py KGEN
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

KGEN = sys.argv[1] if len(sys.argv) > 1 else ""
NAN, INF = float("nan"), float("inf")

# name, spec below the kernel's name, inputs (with d_ of the output), expected gradients
CASES = [
    ("two equal arguments get half each", 'inputs.a="f64[N]"\ninputs.b="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = max(a, b);\'',
     {"a": [1, 2, 3], "b": [1, 3, 2], "d_y": [2, 4, 6]}, {"d_a": [1, 0, 6], "d_b": [1, 4, 0]}),
    ("all that are equal share evenly", 'inputs.x="f64[N]"\noutputs.y="f64[]"\nbody=\'y = max(x, N);\'',
     {"x": [3, 1, 3, 3], "d_y": 6}, {"d_x": [2, 0, 2, 2]}),
    ("clamp has slope 1 at its bounds", 'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = clamp(x, 0, 1);\'',
     {"x": [-1, 0, 0.5, 1, 2], "d_y": [1, 1, 1, 1, 1]}, {"d_x": [0, 1, 1, 1, 0]}),
    ("abs has slope 0 at 0", 'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = abs(x);\'',
     {"x": [-2, 0, 2], "d_y": [1, 1, 1]}, {"d_x": [-1, 0, 1]}),
    ("relu has slope 0 at 0", 'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = relu(x);\'',
     {"x": [-2, 0, 2], "d_y": [1, 1, 1]}, {"d_x": [0, 0, 1]}),
    ("relu6, hardtanh and hardsigmoid have slope 0 at their bounds",
     'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = relu6(x) + 10 * hardtanh(x) + 60 * hardsigmoid(x);\'',
     {"x": [0, 6, 1, 3, -3], "d_y": [1, 1, 1, 1, 1]}, {"d_x": [20, 0, 11, 1, 0]}),
    ("hardswish has slope 0 and 1 at its bounds", 'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = hardswish(x);\'',
     {"x": [-4, -3, 0, 1.5, 3, 4], "d_y": [1, 1, 1, 1, 1, 1]}, {"d_x": [0, 0, 0.5, 1, 1, 1]}),
    ("the length of nothing has gradient 0", 'inputs.x="f64[M, N]"\noutputs.y="f64[M]"\nbody=\'y = norm(x, N);\'',
     {"x": [[0, 0], [3, 4]], "d_y": [1, 1]}, {"d_x": [[0, 0], [0.6, 0.8]]}),
    ("a length by two coordinates is nothing", 'inputs.a="f64[N]"\ninputs.b="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = sqrt(a * a + b * b);\'',
     {"a": [0, 3], "b": [0, 4], "d_y": [1, 1]}, {"d_a": [0, 0.6], "d_b": [0, 0.8]}),
    ("the deviation of equal values has gradient 0", 'inputs.x="f64[M, N]"\noutputs.y="f64[M]"\nbody=\'y = sqrt(variance(x, N));\'',
     {"x": [[2, 2], [1, 3]], "d_y": [1, 1]}, {"d_x": [[0, 0], [-0.5, 0.5]]}),
    ("a root of squares, scaled and clamped, has gradient 0 at 0",
     'inputs.x="f64[M, N]"\noutputs.y="f64[M]"\nbody=\'y = sqrt(max(0.5 * sum(square(x), N) / 2, 0));\'',
     {"x": [[0, 0], [6, 8]], "d_y": [1, 1]}, {"d_x": [[0, 0], [0.3, 0.4]]}),
    ("an angle of nothing has gradient 0", 'inputs.a="f64[N]"\ninputs.b="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = atan2(a, b);\'',
     {"a": [0, 3], "b": [0, 4], "d_y": [1, 1]}, {"d_a": [0, 0.16], "d_b": [0, -0.12]}),
    ("what is stored nowhere gets 0, also where it is infinite",
     'inputs.x="f64[E]"\ninputs.to="i32[E]"\noutputs.o={ type = "f64[N]", atomic = true }\nbody=\'o = 0; at(o, N = to) += 1 / x;\'',
     {"x": [0, 2, 0], "to": np.array([-1, 0, 5], np.int32), "d_o": [1, 1]}, {"d_x": [0, -0.25, 0]}),
    ("an output whose gradient is absent adds nothing, also where its slope is infinite",
     'inputs.x="f64[N]"\noutputs.y="f64[N]"\noutputs.z="f64[N]"\nbody=\'y = log(x); z = x > 0 ? x * log(x) : 2 * x;\'',
     {"x": [0, 1], "d_z": [1, 1]}, {"d_x": [2, 1]}),
    ("a power of 0", 'inputs.x="f64[N]"\ninputs.p="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = pow(x, p);\'',
     {"x": [0, 0, 2], "p": [0, 2, 3], "d_y": [1, 1, 1]}, {"d_x": [0, 0, 12], "d_p": [0, 0, 8 * np.log(2)]}),
    ("a branch that is not taken contributes 0, even where its slope is NaN",
     'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'real s = sqrt(x); y = 0; if (x > 0) y = s;\'',
     {"x": [-1, 0, 4], "d_y": [1, 1, 1]}, {"d_x": [0, 0, 0.25]}),
    ("lanes that where leaves out contribute 0", 'inputs.x="f64[N]"\noutputs.y="f64[]"\nbody=\'y = sum(log(x), N, where(x > 0));\'',
     {"x": [-1, 0, 4], "d_y": 1}, {"d_x": [0, 0, 0.25]}),
    ("a softmax that keeps nothing, and what is made of it",
     'inputs.q="f64[S, D]"\ninputs.k="f64[R, D]"\ninputs.mask="bool[R]"\noutputs.y="f64[S]"\n'
     "body='real p = softmax(dot(q, k, D), R, where(mask)); y = dot(p, p, R, where(mask));'",
     {"q": [[1, 2], [3, 4]], "k": [[1, 0], [0, 1]], "mask": np.array([False, False]), "d_y": [1, 2]},
     {"d_q": np.zeros((2, 2)), "d_k": np.zeros((2, 2))}),
    ("a softmax of an empty row, times what the row has",
     'axes.N = { ragged = "start", over = "B" }\ntables.start="i64[B + 1]"\ninputs.k="f64[B, N]"\ninputs.q="f64[B]"\noutputs.y="f64[B]"\n'
     "body='real p = softmax(q * k, N); y = dot(p, p, N);'",
     {"q": [1, 2], "k": [3, 3], "start": np.array([0, 2, 2]), "d_y": [1, 1]}, {"d_q": [0, 0], "d_k": [0, 0]}),
    ("a quotient by 0 of which nothing is summed",
     'inputs.x="f64[N]"\ninputs.s="f64[M]"\ninputs.mask="bool[M, N]"\noutputs.y="f64[M]"\nbody=\'y = sum(x / s, N, where(mask));\'',
     {"x": [1, 2], "s": [0, 2], "mask": np.array([[False, False], [True, True]]), "d_y": [1, 4]},
     {"d_x": [2, 2], "d_s": [0, -3]}),
    ("a function of what has none, of which nothing is summed",
     'inputs.x="f64[N]"\ninputs.s="f64[M]"\ninputs.mask="bool[M, N]"\noutputs.y="f64[M]"\nbody=\'y = sum(x * log(s), N, where(mask));\'',
     {"x": [1, 2], "s": [-1, 2], "mask": np.array([[False, False], [True, True]]), "d_y": [1, 4]},
     {"d_x": [4 * np.log(2)] * 2, "d_s": [0, 6]}),
    ("as many lanes as a mask keeps, by a quotient by 0",
     'inputs.x="f64[M]"\ninputs.s="f64[M]"\ninputs.mask="bool[M, N]"\noutputs.y="f64[M]"\nbody=\'y = sum(x / s, N, where(mask));\'',
     {"x": [1, 2], "s": [0, 2], "mask": np.array([[False, False], [True, True]]), "d_y": [1, 4]},
     {"d_x": [0, 4], "d_s": [0, -4]}),
    ("the least of elements and their neighbours, of which a mask keeps none",
     'inputs.x="f64[M, N]"\ninputs.mask="bool[M, N]"\noutputs.y="f64[M]"\n'
     "body='y = min(x + at(x, N = (N * 3 + 1) % size(N)), N, where(mask));'",
     {"x": [[1, 2, 3, 4], [3, 5, 6, 7]], "mask": np.array([[False] * 4, [True, False, False, False]]), "d_y": [1, 10]},
     {"d_x": [[0] * 4, [10, 10, 0, 0]]}),
    ("as many lanes as an empty row has, by a quotient by their sum",
     'axes.N = { ragged = "start", over = "B" }\ntables.start="i64[B + 1]"\ninputs.x="f64[B, N]"\ninputs.q="f64[B]"\noutputs.y="f64[B]"\n'
     "body='y = sum((q + x) / sum(x, N), N);'",
     {"q": [1, 2], "x": [3, 1], "start": np.array([0, 2, 2]), "d_y": [1, 1]}, {"d_q": [0.5, 0], "d_x": [-0.125, -0.125]}),
    ("an optional input that is there",
     'inputs.x="f64[N, C]"\ninputs.bias={ type = "f64[C]", optional = true }\noutputs.y="f64[N, C]"\n'
     "body='real s = x; if (present(bias)) s += bias; y = silu(s);'",
     {"x": [[1, -3], [0, 1]], "bias": [-1, 3], "d_y": [[2, 4], [0, 0]]}, {"d_x": [[1, 2], [0, 0]], "d_bias": [1, 2]}),
    ("an optional input that is not there",
     'inputs.x="f64[N, C]"\ninputs.bias={ type = "f64[C]", optional = true }\noutputs.y="f64[N, C]"\n'
     "body='real s = x; if (present(bias)) s += bias; y = silu(s);'",
     {"x": [[0, 0], [0, 0]], "d_y": [[2, 4], [0, 8]]}, {"d_x": [[1, 2], [0, 4]]}),
    ("an optional weight of ragged rows, which is not there",
     'axes.N = { ragged = "start", over = "B" }\ntables.start="i64[B + 1]"\ninputs.id="i32[B, N]"\n'
     'inputs.weight={ type = "f64[B, N]", optional = true }\ninputs.table="f64[V, D]"\noutputs.y="f64[B, D]"\n'
     "body='real row = at(table, V = id); real w = present(weight) ? exp(weight) : 1; y = sum(w * row * row, N);'",
     {"id": np.array([1, 0, 1], np.int32), "start": np.array([0, 1, 3]), "table": [[1], [2]], "d_y": [[1], [10]]},
     {"d_table": [[20], [44]]}),
    ("what each element of a batch hands on in scratch",
     'batch.B = ["x"]\ninputs.x="f64[N]"\noutputs.y="f64[N]"\nscratch.run="f64[]"\ngrid.i={ axis = "N", block = 2 }\n'
     "body='if (first(i)) run = 0; y = x + run; run += sum(x * x, N);'",
     {"x": [[1, 2, 3], [4, 5, 6]], "d_y": [[1, 1, 1], [10, 10, 10]]}, {"d_x": [[3, 5, 1], [90, 110, 10]]}),
    ("a running sum of what the steps before gave, of which each gives half",
     'inputs.b={ type = "f64[I]", block = ["squeeze"], index = ["i"] }\n'
     'outputs.y={ type = "f64[I]", block = ["squeeze"], index = ["i"] }\nscratch.t="f64[]"\n'
     'grid.i={ size = "I", semantics = "arbitrary" }\nbody=\'if (first(i)) t = 0; double v = b + 0.5 * t; y = v; t += v;\'',
     {"b": [1, 2, 3], "d_y": [1, 10, 100]}, {"d_b": [1 + 5 + 75, 10 + 50, 100]}),
    *((f"scratch along an axis of a size of its own, {size}",
       'inputs.b={ type = "f64[I]", block = ["squeeze"], index = ["i"] }\n'
       'outputs.y={ type = "f64[I]", block = ["squeeze"], index = ["i"] }\nscratch.s="f64[J=' + size + ']"\n'
       'grid.i={ size = "I", semantics = "arbitrary" }\n'
       "body='if (first(i)) s = 0; y = b + sum(s * s, J); s = 0.5 * s + b * index(J);'",
       {"b": [3, 1], "d_y": [1, 10]}, {"d_b": [1 + 60 * squares, 10]}) for size, squares in (("I", 1), ("2 * I + 1", 30), ("5", 30))),
    ("products with one zero and with two", 'inputs.x="f64[M, N]"\noutputs.y="f64[M]"\nbody=\'y = prod(x, N);\'',
     {"x": [[2, 0, 3], [0, 0, 3], [1, 2, 3]], "d_y": [1, 1, 1]}, {"d_x": [[0, 6, 0], [0, 0, 0], [6, 3, 2]]}),
    ("running products with zeros", 'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = cumprod(x, N);\'',
     {"x": [2, 0, 3, 0, 5], "d_y": [1, 1, 1, 1, 1]}, {"d_x": [1, 2 + 6, 0, 0, 0]}),
    ("an element that leads gets all up to the next", 'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = cummax(x, N);\'',
     {"x": [1, 0, 3, 3, 2], "d_y": [1, 2, 4, 8, 16]}, {"d_x": [3, 0, 4, 24, 0]}),
    ("a mean of nothing has no gradient", 'inputs.x="f64[M, N]"\noutputs.y="f64[M]"\nbody=\'y = mean(x, N);\'',
     {"x": np.zeros((2, 0)), "d_y": [1, 1]}, {"d_x": np.zeros((2, 0))}),
    *((f"{what} of nothing, of rows that have a factor or a summand",
       f'inputs.x="f64[M, N]"\ninputs.b="f64[M]"\noutputs.y="f64[M]"\nbody=\'{body}\'',
       {"x": np.zeros((2, 0)), "b": [1, 2], "d_y": [1, 3]}, {"d_x": np.zeros((2, 0)), "d_b": [0, 0]}) for what, body in (
           ("a mean", "y = mean(x + b, N);"), ("a mean of products", "y = mean(x * b, N);"),
           ("the greatest", "y = max(x * b, N);"), ("the least", "y = min(x + b, N);"),
           ("a logsumexp", "y = logsumexp(x * b, N);"), ("a length", "y = norm(x * b, N);"),
           ("the root of a sum", "y = sqrt(sum(x * x + b, N));"), ("the logarithm of a sum", "y = log(sum(exp(x * b), N));"),
           ("a root mean square", "y = sqrt(mean(x * x * b * b, N));"),
           ("a variance", "real c = x * b - mean(x * b, N); y = mean(c * c, N);"),
           ("a weighted mean", "real e = exp(x * b - max(x * b, N)); y = dot(e, x, N) / sum(e, N);"),
           ("a softmax", "real p = softmax(x * b, N); y = dot(p, x, N);"), ("a product", "y = prod(x * b, N);"))),
    ("a mean over no rows of a loss",
     'inputs.x="f64[M, N]"\ninputs.w="f64[N]"\noutputs.y="f64[]"\nbody=\'real d = x * w; y = mean(d * d, M, N);\'',
     {"x": np.zeros((0, 3)), "w": [1, 2, 3], "d_y": 1}, {"d_x": np.zeros((0, 3)), "d_w": [0, 0, 0]}),
    ("rounding has slope 0", 'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = x * floor(x);\'',
     {"x": [1.5, 2.5], "d_y": [1, 1]}, {"d_x": [1, 2]}),
    ("ragged rows, one of them empty",
     'axes.N = { ragged = "start", over = "B" }\ntables.start="i64[B + 1]"\ninputs.x="f64[B, N]"\noutputs.y="f64[B]"\n'
     "body='y = sum(x * x, N) / max(size(N), 1);'",
     {"x": [1, 2, 3], "start": np.array([0, 1, 1, 3]), "d_y": [1, 1, 2]}, {"d_x": [2, 4, 6]}),
    ("lanes alike", 'inputs.x="f64[M]"\ninputs.w="f64[N]"\noutputs.y="f64[]"\nbody=\'y = sum(x + w, M, N);\'',
     {"x": [1, 2], "w": [1, 2, 3], "d_y": 1}, {"d_x": [3, 3], "d_w": [2, 2, 2]}),
    ("a sum of no rows", 'inputs.x="f64[M, N]"\noutputs.y="f64[N]"\nbody=\'y = sum(x * x, M);\'',
     {"x": np.zeros((0, 2)), "d_y": [1, 1]}, {"d_x": np.zeros((0, 2))}),
    ("a length that is nothing in one of three", 'inputs.x="f64[M, N]"\noutputs.y="f64[]"\nbody=\'y = sum(norm(x, N), M);\'',
     {"x": [[0, 0], [3, 4], [0, 2]], "d_y": 2}, {"d_x": [[0, 0], [1.2, 1.6], [0, 2]]}),
    ("the least of equals", 'inputs.x="f64[M, N]"\noutputs.y="f64[M]"\nbody=\'y = min(x, N);\'',
     {"x": [[1, 1, 2], [5, 3, 3]], "d_y": [4, 6]}, {"d_x": [[2, 2, 0], [0, 3, 3]]}),
    ("elu and softplus at 0", 'inputs.x="f64[N]"\noutputs.y="f64[N]"\nbody=\'y = elu(x) + 10 * softplus(x);\'',
     {"x": [0, 1], "d_y": [1, 1]}, {"d_x": [6, 1 + 10 / (1 + np.exp(-1))]}),
    ("changed in place in some elements, the others stay",
     'inputs.c="i32[N]"\ninputs.x="f64[N]"\noutputs.y={ type = "f64[N]", alias = "x" }\nbody=\'if (c > 0) y = 3 * x;\'',
     {"c": np.array([1, 0, 1], np.int32), "x": [1, 2, 3], "d_y": [1, 10, 100]}, {"d_x": [3, 10, 300]}),
    ("changed in place, by what is left there", 'inputs.x="f64[N]"\noutputs.y={ type = "f64[N]", alias = "x" }\nbody=\'y = exp(x);\'',
     {"x": [0, 1], "d_y": [1, 2]}, {"d_x": [1, 2 * np.e]}),
    ("changed in place in one row",
     'inputs.x="f64[M, N]"\noutputs.y={ type = "f64[M, N]", alias = "x" }\nbody=\'at(y, M = 0) = 2 * at(x, M = 1);\'',
     {"x": np.zeros((3, 2)), "d_y": [[1, 2], [3, 4], [5, 6]]}, {"d_x": [[0, 0], [5, 8], [5, 6]]}),
    ("added to in place",
     'inputs.token="i32[N]"\ninputs.v="f64[N]"\ninputs.t="f64[V]"\noutputs.y={ type = "f64[V]", alias = "t", atomic = true }\n'
     "body='at(y, V = token) += v * v;'",
     {"token": np.array([1, 1, 0], np.int32), "v": [1, 2, 3], "t": np.zeros(3), "d_y": [10, 20, 30]},
     {"d_v": [40, 80, 60], "d_t": [10, 20, 30]}),
    ("ragged rows, times the element one place on",
     'axes.N = { ragged = "start", over = "B" }\ntables.start="i64[B + 1]"\ninputs.x="f64[B, N]"\noutputs.y="f64[B, N]"\n'
     "body='y = x * at(x, N = index(N) + 1);'",
     {"x": [1, 2, 3, 4, 5], "start": np.array([0, 2, 2, 5]), "d_y": [1, 10, 1, 2, 3]}, {"d_x": [2, 1, 4, 3 + 2 * 5, 2 * 4]}),
    ("ragged rows, read from the end",
     'axes.N = { ragged = "start", over = "B" }\ntables.start="i64[B + 1]"\ninputs.x="f64[B, N]"\noutputs.y="f64[B, N]"\n'
     "body='y = x + at(x, N = size(N) - 1 - index(N));'",
     {"x": [1, 2, 3, 4, 5], "start": np.array([0, 2, 2, 5]), "d_y": [1, 10, 1, 2, 3]}, {"d_x": [11, 11, 4, 4, 4]}),
    ("entries of a sorted table that repeat add up: a sum over each segment",
     'tables.seg={type="i32[N]", sorted=true, range="V"}\ninputs.t="f64[V, D]"\noutputs.y="f64[N, D]"\n'
     "body='y = at(t, V = seg[index(N)]);'",
     {"seg": np.array([0, 0, 2, 2, 2], np.int32), "t": np.zeros((4, 2)), "d_y": [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]},
     {"d_t": [[4, 6], [0, 0], [21, 24], [0, 0]]}),
    ("tokens that repeat add up", 'inputs.token="i32[N]"\ninputs.t="f64[V, D]"\noutputs.y="f64[N, D]"\nbody=\'y = at(t, V = token);\'',
     {"token": np.array([1, 1, 7], np.int32), "t": np.zeros((3, 2)), "d_y": [[1, 2], [3, 4], [5, 6]]},
     {"d_t": [[0, 0], [4, 6], [0, 0]]}),
]


def run(name, spec, given, expected, folder, options=()):
    path = folder / "k.toml"
    path.write_text('kernel = "k"\n' + spec + "\n")
    done = subprocess.run([KGEN, "grad", str(path), "-o", str(folder), *options], capture_output=True, text=True)
    if done.returncode:
        return f"{name}: {done.stderr}"
    backward = folder / "k_backward.toml"
    text = backward.read_text()
    arrays = {}
    for array, values in given.items():
        arrays[array] = folder / f"{array}.npy"
        plain = isinstance(values, np.ndarray) and values.dtype != float
        np.save(arrays[array], values if plain else np.asarray(values, float))
    if "inputs.y = " in text:  # what the forward kernel gives
        made = [f"--in={a}={file}" for a, file in arrays.items() if not a.startswith("d_")]
        arrays["y"] = folder / "y.npy"
        done = subprocess.run([KGEN, "run", str(path), *made, "--out", f"y={arrays['y']}"], capture_output=True, text=True)
        if done.returncode:
            return f"{name}: {done.stderr}"
    command = [KGEN, "run", str(backward)]
    for array, file in arrays.items():
        if f".{array} = " in text:
            command += ["--in", f"{array}={file}"]
    sizes = {}
    for array, values in expected.items():
        command += ["--out", f"{array}={folder / (array + '.out.npy')}"]
        shape = np.shape(values)
        names = re.search(rf'inputs\.{array[2:]}=(?:{{ type = )?"\w+\[(.*?)\]', spec)[1]
        if "ragged" not in spec and "batch" not in spec and names:
            sizes.update(zip(names.split(", "), shape))
    for axis, size in sizes.items():
        command += ["--size", f"{axis}={size}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return f"{name}: {done.stderr}\n{text}"
    for array, values in expected.items():
        found = np.load(folder / (array + ".out.npy"))
        if not np.allclose(found, np.asarray(values, float), rtol=1e-12, atol=1e-12):
            return f"{name}: {array} is {found.tolist()}, not {np.asarray(values).tolist()}\n{text}"
    return ""


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            wrong += filter(None, [run(*case, Path(folder))])
        wrong += filter(None, [run("sums over all lanes instead of additions", *CASES[-1][1:], Path(folder), ["--deterministic"])])
    print("\n".join(wrong) or f"{len(CASES)} cases are right")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
