"""Loops of many rounds: their gradients are those of central differences, and local arrays keep what rounds find only
where it is needed.

loops.py KGEN
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

KGEN = sys.argv[1]
X = 'inputs.x = "f64[M, N]"\n'
Y = 'outputs.y = "f64[M, N]"\n'
BIAS = 'inputs.bias = { type = "f64[N]", optional = true }\n'
# name: the spec, what the backward kernel says and what it does not say.
CASES = {
    "a value that enters as it is": (
        X + Y, "real z = x;\nfor (int i = 0; i < 100; ++i) z = 0.5 * cos(z) + 0.1 * x;\ny = z;", ["z_kept[100]"], []),
    "a value that enters linearly": (
        X + Y, "real z = x;\nfor (int i = 0; i < 100; ++i) z = 0.5 * z + sin(x);\ny = z;", ["100"], ["_kept"]),
    "two values that depend on each other": (
        X + Y, "real a = x, b = 0.3;\nfor (int i = 0; i < 40; ++i) {\n  real next = 0.5 * sin(a * b) + 0.2;\n"
        "  b = 0.4 * cos(a) + 0.1 * b;\n  a = next;\n}\ny = a + 2 * b;", ["[40]"], []),
    "values that change places": (
        X + Y, "real a = x, b = 1;\nfor (int i = 0; i < 31; ++i) {\n  real t = a;\n  a = b + 0.1 * t;\n  b = 0.5 * t;\n}\ny = a * b;",
        [], ["_kept"]),
    "a counter that begins elsewhere and goes down by two": (
        X + Y, "real z = x;\nfor (int i = 61; i > 0; i -= 2) z = 0.9 * sin(z) + x / (i + 1);\ny = z;", ["[31]"], []),
    "a condition in it": (
        X + Y, "real z = x;\nfor (int i = 0; i < 50; ++i) {\n  if (i % 3 == 0 && z > 0.1) z = 0.7 * z + 0.2;\n"
        "  else z = 0.5 * sin(z) + 0.3 * x;\n}\ny = z;", ["[50]"], []),
    "a sum of what rounds give, and values of other axes": (
        X + 'inputs.w = "f64[N]"\n' + Y,
        "real total = 0, z = x;\nfor (int i = 0; i < 30; ++i) {\n  z = 0.5 * sin(z * w);\n  total += z * w;\n}\ny = total;",
        ["[30]"], []),
    "a whole number that rounds hand on": (
        X + Y, "real z = x;\nint n = 1;\nfor (int i = 0; i < 20; ++i) {\n  z = 0.5 * sin(z) + x / n;\n  n = n * 3 % 7 + 1;\n}\ny = z;",
        ["[20]"], []),
    "what is summed before and behind it": (
        X + 'outputs.y = "f64[M]"\n',
        "real m = mean(x, N);\nreal z = x;\nfor (int i = 0; i < 25; ++i) z = 0.5 * sin(z) + 0.1 * m;\ny = sum(z * z, N);",
        ["[25]"], []),
    "one behind the other": (
        X + Y, "real z = x;\nfor (int i = 0; i < 20; ++i) z = 0.5 * cos(z) + 0.1 * x;\nreal v = 1;\n"
        "for (int i = 0; i < 30; ++i) v = 0.5 * sin(v * z);\ny = v * z;", ["[20]", "[30]"], []),
    "as many rounds as an axis is long, of what enters linearly": (
        X + Y, "real z = x;\nfor (int i = 0; i < size(N); ++i) z = 0.5 * z + sin(x) * i;\ny = z;",
        ["for (int i = size(N) - 1; i >= 0; --i) {"], ["_kept"]),
    "as many rounds as an element says, downwards": (
        X + 'inputs.k = "i32[M]"\n' + Y, "real z = x;\nfor (int64_t i = k - 1; i >= 0; --i) z = 0.3 * z + x;\ny = z;", [], ["_kept"]),
    "by steps of two, from three": (
        X + 'scalars.n = "i32"\n' + Y, "real z = x, v = 0;\nfor (int i = 3; i < n; i += 2) {\n  real t = z;\n  z = v + x / i;\n"
        "  v = 0.5 * t - 0.25 * z;\n}\ny = z * v;", [], ["_kept"]),
    "an optional input that some rounds read": (
        X + BIAS + Y, "real s = x;\nfor (int i = 0; i < 30; ++i) {\n  if (present(bias)) s = sin(s * bias);\n  else s = sin(s);\n}\ny = s;",
        ["[30]", "present(bias) ? "], []),
    "a loop where an optional input is there": (
        X + BIAS + Y, "real s = x;\nif (present(bias)) {\n  real t = bias;\n  for (int i = 0; i < 30; ++i) t = sin(t * s) + bias;\n  s = t;\n}\n"
        "y = s;", ["real t = present(bias) ? bias : 0;"], []),
    "values of different axes, each with rounds of its own": (
        'inputs.x = "f64[M]"\ninputs.w = "f64[K]"\noutputs.y = "f64[M]"\noutputs.u = "f64[K]"\n',
        "real z = x, v = w;\nfor (int i = 0; i < 30; ++i) {\n  z = 0.5 * sin(z);\n  v = 0.5 * cos(v);\n}\ny = z;\nu = v;",
        ["[30]"], []),
    "a value of fewer axes that others read, and that is given": (
        'inputs.x = "f64[M, N]"\ninputs.a = "f64[M]"\noutputs.y = "f64[M, N]"\noutputs.b = "f64[M]"\n',
        "real z = x, t = a;\nfor (int i = 0; i < 30; ++i) {\n  z = 0.5 * sin(z) + 0.1 * t;\n  t = 0.5 * cos(t);\n}\ny = z;\nb = t;",
        ["[30]"], []),
    "as many rounds as a parameter says, with a mean": (
        "params.K = [20]\n" + X + Y,
        "real z = x;\nfor (int i = 0; i < K; ++i) {\n  real m = mean(z, N);\n  z = 0.9 * z + 0.1 * sin(z - m);\n}\ny = z;",
        ["z_kept[K]", "for (int i = K - 1; i >= 0; --i) {"], []),
    "sums of linear steps, of which nothing is kept": (
        "params.K = [20, 70]\n" + X + 'inputs.w = "f64[N]"\n' + Y,
        "real z = x;\nfor (int i = 0; i < K; ++i) z = 0.5 * z + w * sum(0.1 * z, N) / size(N);\ny = z;", [], []),
    "a sum along an axis that only the factors have": (
        'params.K = [18]\ninputs.x = "f64[M]"\ninputs.w = "f64[N]"\nscalars.alpha = "f64"\noutputs.y = "f64[M]"\n',
        "real z = x;\nfor (int i = 0; i < K; ++i) z = 0.5 * z + alpha * sum(sin(z * w) + 0.1 * (i + 1) * w, N) / (size(N) + 1);\ny = z;",
        ["[K]"], []),
    "sums of sums, of rounds that both read": (
        "params.K = [18]\n" + X + 'inputs.w = "f64[M]"\n' + Y,
        "real z = x, t = 1;\nfor (int i = 0; i < K; ++i) {\n  real m = mean(z, N);\n  real whole = mean(sin(m * t) * w, M);\n"
        "  z = 0.5 * z + 0.2 * m * whole + 0.1 * t;\n  t = 0.8 * t + 0.1 * whole;\n}\ny = z * t;", ["[K]"], []),
    "a norm": (
        "params.K = [18]\n" + X + Y,
        "real z = x;\nfor (int i = 0; i < K; ++i) {\n  real length = norm(z, N);\n  z = 0.5 * z + 0.5 * x / (1 + length);\n}\ny = z;",
        ["[K]"], []),
    "a softmax, with a mask": (
        "params.K = [18]\n" + X + 'inputs.mask = "bool[N]"\n' + Y,
        "real z = x;\nfor (int i = 0; i < K; ++i) z = x + 0.5 * softmax(z, N, where(mask));\ny = z;", ["[K]"], []),
    "the greatest of each round": (
        "params.K = [18]\n" + X + Y,
        "real z = x;\nfor (int i = 0; i < K; ++i) z = 0.5 * sin(z) + 0.25 * max(z, N) + 0.1 * x;\ny = z;", ["[K]"], []),
    "more rounds than are written out, with a sum": (
        X + Y, "real z = x;\nfor (int i = 0; i < 100; ++i) z = 0.5 * sin(z) + 0.25 * mean(z, N);\ny = z;", ["[100]"], []),
    "as many rounds as a value says, of linear steps with a mean": (
        'scalars.n = "i32"\n' + X + Y, "real z = x;\nfor (int i = 0; i < n; ++i) z = 0.5 * z + 0.25 * mean(z, N);\ny = z;", [], ["_kept"]),
    "values that rounds make of other axes, and shares that are alike along some": (
        'params.K = [18]\ninputs.x = "f64[M, N]"\ninputs.w = "f64[N]"\ninputs.v = "f64[M]"\noutputs.y = "f64[M, N]"\n',
        "real a = v, b = v;\nfor (int i = 0; i < K; ++i) {\n  a = sin(mean(0.1 * (i + 1) * w + x, M));\n"
        "  b = 0.5 * v + 0.3 * mean(0.1 * (i + 1) * a + x, N);\n}\ny = a + b;", [], []),
    "rounds that lanes leave": (
        X + Y, "real z = x;\nfor (int i = 0; i < 100; ++i) {\n  if (z > 10) break;\n  z = z * z + 0.3 + 0.1 * x;\n}\ny = z;",
        ["bool goes_on = true;", "[100]"], []),
    "few rounds that lanes leave behind": (
        X + 'outputs.y = "f64[M]"\n', "real z = sum(x, N), t = 0;\nfor (int i = 0; i < 8; ++i) {\n  t += sin(z) * i;\n"
        "  if (abs(t) > 1.5) break;\n  z = 0.5 * z + mean(x * z, N);\n}\ny = t;", ["bool goes_on = true;", "[8]"], []),
    "rounds that are left and that are gone on with": (
        "params.K = [20]\n" + X + Y, "real z = x;\nfor (int i = 0; i < K; ++i) {\n  if (z < 0.1) { z += 0.2 * x * x; continue; }\n"
        "  if (z > 2) { z *= 2; break; }\n  z += 0.3 * sin(z);\n}\ny = z;", ["goes_on_kept[K]"], []),
    "what two outputs take of it, each under conditions of its own": (
        X + Y + 'outputs.z = "f64[M, N]"\n', "real t = x, u = 0, v = 0;\nfor (int i = 0; i < 20; ++i) {\n  t = 0.5 * sin(t) + 0.1 * x;\n"
        "  u += x > 0.2 ? t : 0;\n  v += x < 0.8 ? t : 0;\n}\ny = x > -0.5 ? u : 0;\nz = x < 1.5 ? v : 0;", [], []),
    "more rounds than can be kept": (
        X + Y, "real z = x;\nfor (int i = 0; i < 5000; ++i) z = 0.999 * z + 0.001 * sin(x);\ny = z;", ["4999"], ["_kept"]),
}
T = 'inputs.x = "f64[M, T]"\n'
M = 'outputs.y = "f64[M]"\n'
# Rounds that go along an axis: what each reads gets what that round gives, by an array.
READS = {
    "an element a round": (
        "axes.T = 24\ninputs.w = \"f64[M]\"\n" + T + M, "real s = 0;\nfor (int t = 0; t < 24; ++t) s = tanh(at(x, T = t) + w * s);\ny = s;",
        ["real d_x_at[24];", "d_x_at[t] = ", "d_x = d_x_at[index(T)];"], []),
    "weights that all lanes share": (
        'inputs.w = "f64[T]"\n' + X + Y, "real z = x;\nfor (int t = 0; t < 20; ++t) z = sin(z * at(w, T = t)) + 0.1 * x;\ny = z;",
        ["d_w = index(T) < 20 ? sum(d_w_at[index(T)], M, N) : 0;"], []),
    "from the last element to the first, and a neighbour": (
        "axes.T = 30\n" + T + M, "real s = 0;\nfor (int t = 29; t >= 0; --t) s = 0.5 * sin(s + at(x, T = t)) + at(x, T = t - 1);\ny = s;",
        ["d_x_each[29 - index(T)]", "d_x_at[28 - index(T)]"], []),
    "every third element from the second on": (
        T + M, "real s = 0;\nfor (int t = 0; t < 20; ++t) s = 0.5 * sin(s * at(x, T = 3 * t + 1));\ny = s;", ["(index(T) - 1) / 3"], []),
    "from a place that each lane has": (
        'inputs.x = "f64[T]"\n' + M, "real s = 1;\nfor (int t = 0; t < 18; ++t) s = sin(s * at(x, T = index(M) + t));\ny = s;",
        ["d_x_at[18]"], []),
    "planes of records": (
        'inputs.x = "f64[M, T, C=2]"\n' + M,
        "real s = 1;\nfor (int t = 0; t < 18; ++t) s = sin(s * at(x, T = t, C = 0)) + at(x, T = t, C = 1);\ny = s;", ["C = 0)", "C = 1)"], []),
    "computed values": (
        T + M, "real v = x * x - x;\nreal s = 1;\nfor (int t = 0; t < 18; ++t) s = sin(s * at(v, T = t));\ny = s;", ["at(v, T = t)", "d_v"], []),
    "rounds that lanes leave, with an element each": (
        T + M, "real s = 0;\nfor (int t = 0; t < 20; ++t) {\n  s = s * s + 0.2 * at(x, T = t);\n  if (s > 0.5) break;\n}\ny = s;",
        ["bool goes_on = true;"], []),
    "as many as a parameter says": (
        "params.K = [18]\n" + T + M, "real s = 0;\nfor (int t = 0; t < K; ++t) s = sin(s + at(x, T = t));\ny = s;", ["d_x_at[K];"], []),
    "rows that data picks": (
        'inputs.x = "f64[V, T]"\ninputs.row = "i32[M]"\n' + M,
        "real s = 0;\nfor (int t = 0; t < 20; ++t) s = sin(s + at(x, V = row, T = t));\ny = s;", ["at(d_x, V = row) += "], []),
    "an optional array": (
        'inputs.bias = { type = "f64[T]", optional = true }\n' + X + Y,
        "real z = x;\nfor (int t = 0; t < 20; ++t) z = sin(z + (present(bias) ? at(bias, T = t) : 0.1));\ny = z;", ["d_bias_at"], []),
    "whole numbers": (
        'inputs.n = "i32[T]"\n' + X + Y, "real z = x;\nfor (int t = 0; t < 20; ++t) z = sin(z * at(n, T = t));\ny = z;", ["at(n, T = t)"], []),
    "lanes of the same axis": (
        X + Y, "real z = x;\nfor (int i = 0; i < 4; ++i) z = sin(z * at(x, N = i));\ny = z;", [], ["for ("]),
}
# Loops in lanes that are not taken: whatever these hold comes to nothing, in them and in what all lanes share.
Y1 = 'outputs.y = "f64[N]"\n'
NOT_TAKEN = {
    "a loop in a branch": (Y1, "real t = w;\nif (m) { for (int i = 0; i < 20; ++i) t = 0.5 * (t + x / t); }\ny = t;"),
    "a choice behind it": (Y1, "real t = w;\nfor (int i = 0; i < 20; ++i) t = t + sin(t) / x;\ny = m ? t : 0;"),
    "a sum of some lanes": ('outputs.y = "f64[]"\n', "real t = w;\nfor (int i = 0; i < 20; ++i) t = t + sin(t) / x;\ny = sum(t, N, where(m));"),
    "a choice in it": (Y1, "real t = w, u = 0;\nfor (int i = 0; i < 20; ++i) { t = sin(t) / x; u += m ? t : 0; }\ny = u;"),
    "what a branch computes before it": (
        Y1, "real t = w;\nif (m) { real u = log(abs(x)) * w; for (int i = 0; i < 20; ++i) t = t + sin(t) * u + 0.1; }\ny = t;"),
    "what all rounds read": (Y1, "real t = w, inverse = 1 / x;\nfor (int i = 0; i < 20; ++i) t += m ? sin(t) * inverse : 0;\ny = t;"),
    "branches in it": (Y1, "real t = w;\nfor (int i = 0; i < 20; ++i) { if (m) { real u = 1 / x; t = sin(t) * u; } else t = cos(t); }\ny = t;"),
    "lanes that leave at once": (Y1, "real t = w;\nfor (int i = 0; i < 20; ++i) { if (!m) break; t = sin(t) / (x * x + 0.1 * i); }\ny = t;"),
    "no rounds": (Y1, "real t = w;\nfor (int i = 0; i < (m ? 5 : 0); ++i) t = t + 1 / x;\ny = t;"),
    "a sum in it": (
        'outputs.y = "f64[]"\n',
        "real t = w;\nfor (int i = 0; i < 20; ++i) { real q = sum(sqrt(abs(x)) * t / x, N, where(m)); t = tanh(q + w); }\ny = t;"),
    "sums of what two questions take": (
        Y1, "real t = w, u = 0, v = 0;\nfor (int i = 0; i < 20; ++i) { t = sin(t) / x; u += m ? t : 0; v += m || x > 9 ? t : 0; }\n"
        "y = (m ? u : 0) + (!m && x > 9 ? v * 0 : 0) + (m && x > 1 ? v : 0);"),
    "an element a round": (Y1, "real t = w;\nfor (int i = 0; i < 5; ++i) t = t + sin(t) / at(z, T = i) / x;\ny = m ? t : 0;"),
}
# What a round finds would have to be kept, of rounds that no number counts.
REFUSED = {
    "a value times an input": "real z = x;\nfor (int i = 0; i < size(N); ++i) z = z * x;\ny = z;",
    "an end that rounds move": "real z = x;\nint n = 3;\nfor (int i = 0; i < n; ++i) {\n  z = 0.5 * z;\n  n -= x > 0 ? 1 : 0;\n}\ny = z;",
}


def run(*arguments):
    done = subprocess.run([KGEN, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(name, operands, body, said, unsaid, folder):
    path = folder / "k.toml"
    path.write_text(f"kernel = \"k\"\n{operands}body = '''\n{body}\n'''\n")
    code, text = run("grad", path, "-o", folder)
    if code:
        return [f"{name}: {text}"]
    written = (folder / "k_backward.toml").read_text()
    out = [f"{name}: {part!r} is missing:\n{written}" for part in said if part not in written]
    out += [f"{name}: there is {part!r}:\n{written}" for part in unsaid if part in written]
    code, text = run("verify", "--grad", path, "--seeds", 1)
    return out + ([f"{name}: {text}\n{written}"] if code else [])


def gradients(path, arrays, folder):
    """Of y by x and w, where d_y is 1."""
    written = (folder / "k_backward.toml").read_text()
    for array, value in arrays.items():
        np.save(folder / f"{array}.npy", value)
    given = [f"--in={a}={folder / a}.npy" for a in ("m", "w", "x", "z")]
    code, text = run("run", path, *(g for g in given if f"inputs.{g[5]} = " in path.read_text()), "--out", f"y={folder / 'y'}.npy")
    assert code == 0, text
    np.save(folder / "d_y.npy", np.ones_like(np.load(folder / "y.npy")))
    given = [f"--in={a}={folder / a}.npy" for a in ("m", "w", "x", "z", "y", "d_y") if f"inputs.{a} = " in written]
    code, text = run("run", folder / "k_backward.toml", *given, "--size=N=5", f"--out=d_x={folder}/d_x.npy", f"--out=d_w={folder}/d_w.npy")
    assert code == 0, text + written
    return np.load(folder / "d_x.npy"), np.load(folder / "d_w.npy"), written


def not_taken(name, output, body, folder):
    path = folder / "k.toml"
    inputs = 'inputs.x = "f64[N]"\ninputs.m = "bool[N]"\ninputs.w = "f64[]"\ninputs.z = "f64[T]"\n'
    if "z" not in body:
        inputs = inputs.replace('inputs.z = "f64[T]"\n', "")
    path.write_text(f"kernel = \"k\"\n{inputs}{output}body = '''\n{body}\n'''\n")
    code, text = run("grad", path, "-o", folder)
    if code:
        return [f"{name}: {text}"]
    arrays = {"m": np.array([True] + 4 * [False]), "w": np.array(0.7), "z": np.linspace(1, 2, 5)}
    d_x, d_w, written = gradients(path, arrays | {"x": np.array([2, 3, np.nan, np.inf, 0])}, folder)
    wanted_x, wanted_w, _ = gradients(path, arrays | {"x": np.array([2, 3, 1.5, 4, 5])}, folder)
    right = np.array_equal(d_x, wanted_x) and d_w == wanted_w and d_x[0] != 0 and not d_x[1:].any()
    return [] if right else [f"{name}: {d_x}, {d_w} instead of {wanted_x}, {wanted_w}:\n{written}"]


wrong = []
for name, case in NOT_TAKEN.items():
    with tempfile.TemporaryDirectory() as folder:
        wrong += not_taken(name, *case, Path(folder))
for name, case in (CASES | READS).items():
    with tempfile.TemporaryDirectory() as folder:
        wrong += check(name, *case, Path(folder))
for name, body in REFUSED.items():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.toml"
        path.write_text(f"kernel = \"k\"\n{X}{Y}body = '''\n{body}\n'''\n")
        code, text = run("grad", path, "-o", folder)
        refused = code == 2 and "error[KG0601]: this loop cannot be differentiated" in text and "write a scan" in text
        wrong += [] if refused else [f"{name}: {code} {text}"]
print("\n".join(wrong) or f"{len(CASES) + len(READS) + len(NOT_TAKEN) + len(REFUSED)} cases are right")
sys.exit(1 if wrong else 0)
