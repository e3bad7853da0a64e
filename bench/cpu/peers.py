"""What people would use instead, by workload: a peer gives callables for the arrays of a workload, and where they leave
their outputs (how many, where not all of them). torch writes into arrays that are there (out=) where it can; JAX and Inductor make their own.
"""

import ctypes
import math
import subprocess
from pathlib import Path

import numpy as np
import steps

from workloads import PLANES


def giou_of(np_like, planes, clamped=True, eps=1e-5):
    """Clamped: widths and heights of overlap and hull are at least 0."""
    l, t, r, b, u, v, w, x = planes
    low, high = np_like.minimum, np_like.maximum
    zero = 0 * l if clamped else None
    side = (lambda length: high(length, zero)) if clamped else (lambda length: length)
    overlap = side(low(r, w) - high(l, u)) * side(low(b, x) - high(t, v))
    hull = side(high(r, w) - low(l, u)) * side(high(b, x) - low(t, v))
    joined = (r - l) * (b - t) + (w - u) * (x - v) - overlap
    return overlap / joined.clip(eps) - (hull - joined) / hull.clip(eps)


def giou_of_boxes(np_like, pred, target):
    return giou_of(np_like, [a[..., i] for a in (pred, target) for i in range(4)])


def kind(name):
    """The workload without its size; a training step goes by its forward kernel."""
    return " ".join(word for word in name.split() if not word[0].isdigit() and word != "step")


def loss_first(values):
    """The loss, which a training step gives a gradient, is the last output of the forward kernel."""
    return (values[-1].reshape(1), *values[-2::-1])


# name: arrays -> value, in the operations that torch and JAX share.
def shared(np_like, act, a):
    half = lambda x: x.shape[-1] // 2  # noqa: E731

    def rope(x, cosine, sine):
        one, other, c, s = x[..., : half(x)], x[..., half(x) :], cosine[:, None], sine[:, None]
        return np_like.concatenate([one * c - other * s, other * c + one * s], -1)

    def loss_of(pred, target):
        mask = target[..., 3] != 0
        values = giou_of_boxes(np_like, pred, target) * mask
        return values, mask, (mask * (1 - values)).sum() / mask.sum().clip(1)

    def masked_softmax(x, length):
        key, query = np_like.arange(x.shape[-1]), np_like.arange(x.shape[-2])
        seen = (key <= query[:, None]) & (key < length[:, None, None, None])
        return act.softmax(np_like.where(seen, x, -math.inf), -1)

    def residual_norm(x, w, residual, gamma):
        v = x @ w.T + residual
        return v / ((v * v).mean(-1)[:, None] + 1e-6) ** 0.5 * gamma

    return {
        "add": lambda x, y: x + y,
        "muladd": lambda x, y: x * y + 0.5,
        "giou planes": lambda *planes: giou_of(np_like, planes),
        "gelu": lambda x: act.gelu(x),
        "silu": lambda x: act.silu(x),
        "relu": lambda x: act.relu(x),
        "bias + silu": lambda x, bias: act.silu(x + bias),
        "rope": rope,
        "row sum": lambda x: x.sum(1),
        "column sum": lambda x: x.sum(0),
        "cumsum along rows": lambda x: x.cumsum(1),
        "cumsum down columns": lambda x: x.cumsum(0),
        "log-softmax": lambda x: act.log_softmax(x, -1),
        "masked softmax": masked_softmax,
        "giou loss": loss_of,
        "giou mean loss padded": lambda pred, target: loss_first(loss_of(pred, target)),
        "matmul": np_like.matmul,
        "matmul batched": np_like.matmul,
        "matmul bf16": np_like.matmul,
        "matmul + bias + relu": lambda x, y, bias: act.relu(x @ y + bias),
        "matmul + bias + gelu": lambda x, y, bias: act.gelu(x @ y + bias),
        "matmul + softmax": lambda x, w: act.softmax(x @ w, -1),
        "linear": lambda x, w, bias: x @ w.T + bias,
        "matmul + residual + norm": residual_norm,
        "attention": lambda q, k, v: act.softmax(0.125 * q @ k.swapaxes(-1, -2), -1) @ v,
        "causal attention": lambda q, k, v: act.softmax(
            np_like.where(np_like.tril(np_like.ones((q.shape[-2], k.shape[-2]))) > 0, 0.125 * q @ k.swapaxes(-1, -2),
                          -float("inf")), -1) @ v,
        "mlp": lambda x, w1, b1, w2, b2: act.gelu(x @ w1 + b1) @ w2 + b2,
    }


def torch_peer(compiled):
    import torch
    from torch.nn import functional

    torch.set_num_threads(torch.get_num_threads())

    def ragged_loss(start, pred, target):
        values = giou_of_boxes(torch, pred, target)
        picture = torch.segment_reduce(1 - values, "sum", offsets=start)
        return values, picture / start.diff().clip(1), (1 - values).mean()

    table = shared(torch, functional, None) | {
        "transpose": lambda x: x.t().contiguous(),
        "f32 to bf16": lambda x: x.to(torch.bfloat16),
        "bf16 to f32": lambda x: x.to(torch.float32),
        "softmax": lambda x: torch.softmax(x, -1),
        "softmax over channels": lambda x: torch.softmax(x, 1),
        "layer norm": lambda x, g, b: functional.layer_norm(x, x.shape[-1:], g, b),
        "argmax": lambda x: torch.max(x, -1)[1],
        "histogram": lambda x: torch.bincount(x, minlength=256),
        "rms norm": lambda x, g: functional.rms_norm(x, x.shape[-1:], g, 1e-6),
        "batch norm": lambda x, g, b: functional.batch_norm(x, torch.zeros(len(g)), torch.ones(len(g)), g, b, True),
        "max pool": lambda x: functional.max_pool2d(x, 3, 2, 1),
        "average pool": lambda x: functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        "giou loss ragged": ragged_loss,
        "giou mean loss ragged": lambda start, pred, target: loss_first(ragged_loss(start, pred, target)),
        "cross entropy": lambda x, target: functional.cross_entropy(x, target.long(), reduction="none"),
        "matmul f64": torch.matmul,
        "linear": functional.linear,
        "matmul int8": torch._int_mm,
        "matmul + residual + norm": lambda x, w, r, g: functional.rms_norm(functional.linear(x, w) + r, x.shape[-1:], g, 1e-6),
        "mlp": lambda x, w1, b1, w2, b2: torch.addmm(b2, functional.gelu(torch.addmm(b1, x, w1)), w2),
        "matmul + bias + relu": lambda x, y, bias: functional.relu(torch.addmm(bias, x, y)),
        "matmul + bias + gelu": lambda x, y, bias: functional.gelu(torch.addmm(bias, x, y)),
        "nearest distance": lambda x, centre: (torch.cdist(x, centre) ** 2).min(1)[0],
        "int8 similarity": lambda q, r, s, t: torch._int_mm(q, r.t()) * s[:, None] * t,
        "attention": functional.scaled_dot_product_attention,
        "causal attention": lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    }
    out_forms = {
        "add": lambda o, x, y: torch.add(x, y, out=o),
        "softmax": lambda o, x: torch.softmax(x, -1, out=o),
        "transpose": lambda o, x: o.copy_(x.t()),
        "f32 to bf16": lambda o, x: o.copy_(x),
        "bf16 to f32": lambda o, x: o.copy_(x),
        "matmul": lambda o, x, y: torch.mm(x, y, out=o),
        "matmul f64": lambda o, x, y: torch.mm(x, y, out=o),
        "matmul bf16": lambda o, x, y: torch.mm(x, y, out=o),
    }

    def prepare(work, arrays):
        function = table.get(kind(work.name))
        if function is None:
            return {}

        def tensor(array):
            t = torch.from_numpy(array.view(np.int16) if array.dtype == np.uint16 else array)
            return t.view(torch.bfloat16) if array.dtype == np.uint16 else t

        inputs = [tensor(v) for k, v in arrays.items() if v is not None and k not in work.outputs]
        targets = [tensor(arrays[name]) for name in work.outputs]
        target = targets[0]

        def keep(value):
            values = value if isinstance(value, tuple) else (value,)
            for where, one in zip(targets, values):
                where.copy_(one)
            return len(values)

        if compiled:
            function = torch.compile(function, dynamic=False)
        if work.backward:
            step = steps.torch_step(work, arrays, {k: tensor(v) for k, v in arrays.items() if v is not None}, function)
            return {"inductor" if compiled else "torch": (step, keep)}
        if compiled:
            return {"inductor": (lambda: function(*inputs), keep)}
        calls = {"torch": (lambda: function(*inputs), keep)}
        if kind(work.name) in out_forms:
            write = out_forms[kind(work.name)]
            calls["torch out="] = (lambda: write(target, *inputs), lambda value: None)
        return calls

    return prepare


def jax_peer():
    import jax
    import jax.numpy as jnp

    act = type("act", (), {"gelu": staticmethod(lambda x: jax.nn.gelu(x, approximate=False)),
                           "silu": staticmethod(jax.nn.silu), "relu": staticmethod(jax.nn.relu),
                           "softmax": staticmethod(jax.nn.softmax), "log_softmax": staticmethod(jax.nn.log_softmax)})

    def layer_norm(x, g, b):
        d = x - x.mean(-1, keepdims=True)
        return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * g + b

    def batch_norm(x, g, b):
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        wide = lambda v: v[:, None, None]  # noqa: E731
        return (x - wide(mean)) * wide(g * jax.lax.rsqrt(variance + 1e-5)) + wide(b), mean, variance

    def linear_recurrence(a, x):
        step = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])  # noqa: E731
        return jax.lax.associative_scan(step, (a, x), axis=1)[1]

    def window(x, start, fold):
        return jax.lax.reduce_window(x, start, fold, (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1)))

    def ragged_loss(start, pred, target):
        values = giou_of_boxes(jnp, pred, target)
        rows = len(start) - 1
        picture = jnp.repeat(jnp.arange(rows), jnp.diff(start), total_repeat_length=len(values))
        sums = jax.ops.segment_sum(1 - values, picture, rows, indices_are_sorted=True)
        return values, sums / jnp.diff(start).clip(1), (1 - values).mean()

    table = shared(jnp, act, None) | {
        "transpose": lambda x: x.T.copy(),
        "f32 to bf16": lambda x: x.astype(jnp.bfloat16),
        "bf16 to f32": lambda x: x.astype(jnp.float32),
        "softmax": lambda x: jax.nn.softmax(x, -1),
        "softmax over channels": lambda x: jax.nn.softmax(x, 1),
        "layer norm": layer_norm,
        "argmax": lambda x: x.argmax(-1),
        "histogram": lambda x: jnp.bincount(x, length=256),
        "rms norm": lambda x, g: x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g,
        "batch norm": batch_norm,
        "linear recurrence": linear_recurrence,
        "max pool": lambda x: window(x, -jnp.inf, jax.lax.max),
        "average pool": lambda x: window(x, 0.0, jax.lax.add) / window(jnp.ones_like(x), 0.0, jax.lax.add),
        "giou loss ragged": ragged_loss,
        "giou mean loss ragged": lambda start, pred, target: loss_first(ragged_loss(start, pred, target)),
        "int8 similarity": lambda q, r, s, t: jax.lax.dot_general(
            q, r, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32) * s[:, None] * t,
        "cross entropy": lambda x, target: jax.nn.logsumexp(x, -1) - x[jnp.arange(len(x)), target],
        "matmul int8": lambda x, y: jax.lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32),
        "nearest distance": lambda x, c: ((x * x).sum(1)[:, None] + (c * c).sum(1) - 2 * (x @ c.T)).min(1),
    }

    def prepare(work, arrays):
        function = table.get(kind(work.name))
        if function is None:
            return {}
        bits = lambda v: v.view(jnp.bfloat16) if v.dtype == np.uint16 else v  # noqa: E731
        inputs = [jnp.asarray(bits(v)) for k, v in arrays.items() if v is not None and k not in work.outputs]
        run = jax.jit(function)
        call = lambda: jax.block_until_ready(run(*inputs))  # noqa: E731
        if work.backward:
            call = steps.jax_step(work, arrays, function)

        def keep(value):
            values = value if isinstance(value, tuple) else (value,)
            for name, one in zip(work.outputs, values):
                bits = np.asarray(one)
                arrays[name][...] = bits.view(np.uint16) if bits.dtype == jnp.bfloat16 else bits
            return len(values)

        return {"jax": (call, keep)}

    return prepare


def numba_peer():
    """The loops that a person writes first: `prange` over the outermost axis, fastmath off."""
    from numba import njit, prange

    zero, eps, one = np.float32(0), np.float32(1e-5), np.float32(1)

    @njit(parallel=True)
    def add(x, y, z):
        for i in prange(x.size):
            z[i] = x[i] + y[i]

    @njit(parallel=True)
    def muladd(x, y, z):
        for i in prange(x.size):
            z[i] = x[i] * y[i] + np.float32(0.5)

    @njit(parallel=True)
    def giou(lp, tp, rp, bp, lt, tt, rt, bt, out):
        for i in prange(lp.shape[0]):
            for j in range(lp.shape[1]):
                l, t, r, b = lp[i, j], tp[i, j], rp[i, j], bp[i, j]
                u, v, w, x = lt[i, j], tt[i, j], rt[i, j], bt[i, j]
                overlap = max(min(r, w) - max(l, u), zero) * max(min(b, x) - max(t, v), zero)
                joined = (r - l) * (b - t) + (w - u) * (x - v) - overlap
                hull = max(max(r, w) - min(l, u), zero) * max(max(b, x) - min(t, v), zero)
                out[i, j] = overlap / max(joined, eps) - (hull - joined) / max(hull, eps)

    @njit(parallel=True)
    def gelu(x, y):
        for i in prange(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = np.float32(0.5) * x[i, j] * (one + np.float32(math.erf(x[i, j] * np.float32(0.70710678))))

    @njit(parallel=True)
    def silu(x, y):
        for i in prange(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = x[i, j] / (one + np.float32(math.exp(-x[i, j])))

    @njit(parallel=True)
    def relu(x, y):
        for i in prange(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = max(x[i, j], zero)

    @njit(parallel=True)
    def bias_silu(x, bias, y):
        for i in prange(x.shape[0]):
            for j in range(x.shape[1]):
                v = x[i, j] + bias[j]
                y[i, j] = v / (one + np.float32(math.exp(-v)))

    @njit(parallel=True)
    def transpose(x, y):
        for i in prange(y.shape[0]):
            for j in range(y.shape[1]):
                y[i, j] = x[j, i]

    @njit(parallel=True)
    def rope(x, cosine, sine, y):
        for b in prange(x.shape[0]):
            for s in range(x.shape[1]):
                for h in range(x.shape[2]):
                    for r in range(cosine.shape[1]):
                        p, q, c, d = x[b, s, h, r], x[b, s, h, r + 64], cosine[s, r], sine[s, r]
                        y[b, s, h, r] = p * c - q * d
                        y[b, s, h, r + 64] = q * c + p * d

    @njit(parallel=True)
    def mandelbrot(count):
        step = np.float32(2.5 / 1024)
        for i in prange(count.shape[0]):
            for j in range(count.shape[1]):
                cx, cy = np.float32(-2) + step * np.float32(j), np.float32(-1.25) + step * np.float32(i)
                x, y, n = zero, zero, 0
                while n < 256 and x * x + y * y <= np.float32(4):
                    x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
                    n += 1
                count[i, j] = n

    @njit(parallel=True)
    def softmax(x, y):
        for i in prange(x.shape[0]):
            top = x[i, 0]
            for j in range(x.shape[1]):
                top = max(top, x[i, j])
            s = zero
            for j in range(x.shape[1]):
                y[i, j] = math.exp(x[i, j] - top)
                s += y[i, j]
            for j in range(x.shape[1]):
                y[i, j] /= s

    @njit(parallel=True)
    def row_sum(x, total):
        for i in prange(x.shape[0]):
            s = zero
            for j in range(x.shape[1]):
                s += x[i, j]
            total[i] = s

    @njit(parallel=True)
    def cumsum_rows(x, y):
        for i in prange(x.shape[0]):
            s = zero
            for j in range(x.shape[1]):
                s += x[i, j]
                y[i, j] = s

    @njit(parallel=True)
    def cumsum_columns(x, y):
        for part in prange(x.shape[1] // 256):
            state = np.zeros(256, np.float32)
            for i in range(x.shape[0]):
                for j in range(256):
                    state[j] += x[i, 256 * part + j]
                    y[i, 256 * part + j] = state[j]

    @njit(parallel=True)
    def column_sum(x, total):
        for part in prange(x.shape[1] // 256):
            state = np.zeros(256, np.float32)
            for i in range(x.shape[0]):
                for j in range(256):
                    state[j] += x[i, 256 * part + j]
            total[256 * part : 256 * part + 256] = state

    @njit(parallel=True)
    def linear_recurrence(a, x, h):
        parts = x.shape[2] // 256
        for item in prange(x.shape[0] * parts):
            b, first = item // parts, 256 * (item % parts)
            state = np.zeros(256, np.float32)
            for t in range(x.shape[1]):
                for c in range(256):
                    state[c] = a[b, t, first + c] * state[c] + x[b, t, first + c]
                    h[b, t, first + c] = state[c]

    @njit
    def one_giou(p, t):
        overlap = max(min(p[2], t[2]) - max(p[0], t[0]), zero) * max(min(p[3], t[3]) - max(p[1], t[1]), zero)
        joined = (p[2] - p[0]) * (p[3] - p[1]) + (t[2] - t[0]) * (t[3] - t[1]) - overlap
        hull = (max(p[2], t[2]) - min(p[0], t[0])) * (max(p[3], t[3]) - min(p[1], t[1]))
        return overlap / max(joined, eps) - (hull - joined) / max(hull, eps)

    @njit(parallel=True)
    def giou_loss(pred, target, values, mask, loss):
        total, count = 0.0, 0
        for b in prange(pred.shape[0]):
            s, found = zero, 0
            for n in range(pred.shape[1]):
                valid = target[b, n, 3] != 0
                v = one_giou(pred[b, n], target[b, n]) if valid else zero
                mask[b, n] = valid
                values[b, n] = v
                s += 1 - v if valid else zero
                found += valid
            total += s
            count += found
        loss[0] = total / max(count, 1)

    @njit(parallel=True)
    def giou_loss_ragged(start, pred, target, values, picture, loss):
        total = 0.0
        for b in prange(start.size - 1):
            s = zero
            for n in range(start[b], start[b + 1]):
                values[n] = one_giou(pred[n], target[n])
                s += 1 - values[n]
            picture[b] = s / np.float32(max(start[b + 1] - start[b], 1))
            total += s
        loss[0] = total / max(values.size, 1)

    @njit(parallel=True)
    def max_pool(x, y):
        height, width = x.shape[2], x.shape[3]
        for plane in prange(x.shape[0] * x.shape[1]):
            b, c = plane // x.shape[1], plane % x.shape[1]
            for p in range(y.shape[2]):
                for q in range(y.shape[3]):
                    top = np.float32(-np.inf)
                    for i in range(max(2 * p - 1, 0), min(2 * p + 2, height)):
                        for j in range(max(2 * q - 1, 0), min(2 * q + 2, width)):
                            top = max(top, x[b, c, i, j])
                    y[b, c, p, q] = top

    @njit(parallel=True)
    def matmul_dots(x, y, z):
        for i in prange(x.shape[0]):
            for j in range(y.shape[1]):
                s = zero
                for k in range(x.shape[1]):
                    s += x[i, k] * y[k, j]
                z[i, j] = s

    @njit(parallel=True)
    def similarity(query, row, query_scale, row_scale, score):
        for j in prange(row.shape[0]):
            for i in range(query.shape[0]):
                s = np.int32(0)
                for k in range(query.shape[1]):
                    s += np.int32(query[i, k]) * np.int32(row[j, k])
                score[i, j] = np.float32(s) * query_scale[i] * row_scale[j]

    @njit(parallel=True)
    def matmul_rows(x, y, z):
        for i in prange(x.shape[0]):
            for j in range(y.shape[1]):
                z[i, j] = zero
            for k in range(x.shape[1]):
                for j in range(y.shape[1]):
                    z[i, j] += x[i, k] * y[k, j]

    loops = {
        "add": {"numba": add}, "muladd": {"numba": muladd}, "giou planes": {"numba": giou}, "gelu": {"numba": gelu},
        "silu": {"numba": silu}, "relu": {"numba": relu}, "bias + silu": {"numba": bias_silu},
        "transpose": {"numba": transpose}, "rope": {"numba": rope}, "mandelbrot": {"numba": mandelbrot},
        "row sum": {"numba": row_sum}, "column sum": {"numba": column_sum}, "cumsum along rows": {"numba": cumsum_rows},
        "cumsum down columns": {"numba": cumsum_columns}, "linear recurrence": {"numba": linear_recurrence},
        "giou loss": {"numba": giou_loss}, "giou loss ragged": {"numba": giou_loss_ragged}, "max pool": {"numba": max_pool},
        "softmax": {"numba": softmax}, "int8 similarity": {"numba": similarity}, "matmul": {"numba, dots": matmul_dots, "numba, rows": matmul_rows},
    }  # fmt: skip

    def prepare(work, arrays):
        given = [v for v in arrays.values() if v is not None]
        return {} if work.backward else {
            label: (lambda f=f: f(*given), lambda value: None) for label, f in loops.get(kind(work.name), {}).items()
        }

    return prepare


def halide_peer():
    """Pipelines scheduled by hand as their tutorials do: parallel over chunks or rows, vectors of 16."""
    import halide as hl

    x, y = hl.Var("x"), hl.Var("y")

    def pointwise(work, arrays, value):
        inputs = [hl.Buffer(v.ravel()) for k, v in arrays.items() if v is not None and k not in work.outputs]
        f, chunk = hl.Func("f"), hl.Var("chunk")
        f[x] = value(*[b[x] for b in inputs])
        f.vectorize(x, 16).split(x, chunk, x, 1024).parallel(chunk)
        f.compile_jit()
        target = hl.Buffer(arrays[work.outputs[0]].ravel())
        return {"halide": (lambda keep=inputs: f.realize(target), lambda value: None)}

    def clip(v, low):
        return hl.max(v, hl.f32(low))

    def giou(l, t, r, b, u, v, w, z):
        overlap = clip(hl.min(r, w) - hl.max(l, u), 0) * clip(hl.min(b, z) - hl.max(t, v), 0)
        hull = clip(hl.max(r, w) - hl.min(l, u), 0) * clip(hl.max(b, z) - hl.min(t, v), 0)
        joined = (r - l) * (b - t) + (w - u) * (z - v) - overlap
        return overlap / clip(joined, 1e-5) - (hull - joined) / clip(hull, 1e-5)

    table = {
        "add": lambda a, b: a + b,
        "muladd": lambda a, b: a * b + hl.f32(0.5),
        "giou planes": giou,
        "silu": lambda v: v / (1 + hl.exp(-v)),
        "relu": lambda v: clip(v, 0),
    }

    def transpose(work, arrays):
        source, f = hl.Buffer(arrays["x"]), hl.Func("f")
        xo, yo, xi, yi = hl.Var("xo"), hl.Var("yo"), hl.Var("xi"), hl.Var("yi")
        f[x, y] = source[y, x]
        f.tile(x, y, xo, yo, xi, yi, 16, 16).vectorize(xi).parallel(yo)
        f.compile_jit()
        target = hl.Buffer(arrays["y"])
        return {"halide": (lambda keep=source: f.realize(target), lambda value: None)}

    def prepare(work, arrays):
        name = kind(work.name)
        if name == "transpose":
            return transpose(work, arrays)
        return pointwise(work, arrays, table[name]) if name in table and not work.backward else {}

    return prepare


def loops_peer():
    """loops.cpp, compiled like ours."""
    library = Path(__file__).resolve().parents[2] / "build" / "bench-cpu" / "loops.so"
    source = Path(__file__).parent / "loops.cpp"
    flags = ["-O3", "-march=native", "-fopenmp", "-std=c++17", "-shared", "-fPIC"]
    subprocess.run(["g++", *flags, str(source), "-o", str(library)], check=True)
    functions = ctypes.CDLL(str(library))

    def prepare(work, arrays):
        function = getattr(functions, kind(work.name), None)
        if function is None:
            return {}
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays.values()]
        return {"C++ loops": (lambda: function(*pointers), lambda value: None)}

    return prepare


def numpy_peer():
    """Its wheel calls OpenBLAS for products of one type."""
    of_type = {"matmul", "matmul batched", "matmul f64"}

    def prepare(work, arrays):
        if kind(work.name) not in of_type:
            return {}
        x, y, z = arrays.values()
        return {"numpy": (lambda: np.matmul(x, y, out=z), lambda value: None)}

    return prepare


PEERS = {
    "torch": lambda: torch_peer(False),
    "inductor": lambda: torch_peer(True),
    "jax": jax_peer,
    "numba": numba_peer,
    "halide": halide_peer,
    "c++": loops_peer,
    "numpy": numpy_peer,
}
