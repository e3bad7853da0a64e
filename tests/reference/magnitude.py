"""Numbers that carry, beside their double value, the magnitude their rounding errors scale with.

Written with `Num`, a reference gives the value and the S of the agreement formula in one go: `v` is the value, `s` the
magnitude (s >= |v|; one rule an operation) and `n` the length of the longest reduction on the way.
"""

import math

import numpy as np

_erf = np.vectorize(math.erf, otypes=[np.float64])


class Num:
    """An array of doubles with magnitudes. Inputs start with s = |v|."""

    __array_priority__ = 100
    __slots__ = ("v", "s", "n")

    def __init__(self, v, s=None, n=1):
        self.v = np.asarray(v, np.float64)
        self.s = np.abs(self.v) if s is None else np.asarray(s, np.float64)
        self.n = n

    def __add__(self, other):
        o = lift(other)
        return Num(self.v + o.v, self.s + o.s, max(self.n, o.n))

    def __sub__(self, other):
        o = lift(other)
        return Num(self.v - o.v, self.s + o.s, max(self.n, o.n))

    def __mul__(self, other):
        o = lift(other)
        return Num(self.v * o.v, self.s * np.abs(o.v) + np.abs(self.v) * o.s, max(self.n, o.n))

    def __truediv__(self, other):
        o = lift(other)
        v = self.v / o.v
        return Num(v, (self.s + np.abs(v) * o.s) / np.abs(o.v), max(self.n, o.n))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return lift(other) - self

    def __rtruediv__(self, other):
        return lift(other) / self

    def __getitem__(self, key):
        return Num(self.v[key], self.s[key], self.n)

    def reshape(self, *shape):
        return Num(self.v.reshape(*shape), self.s.reshape(*shape), self.n)

    def swap(self, first, second):
        return Num(self.v.swapaxes(first, second), self.s.swapaxes(first, second), self.n)

    def _length(self, axis):
        axes = axis if isinstance(axis, tuple) else (axis,)
        return max(self.n, math.prod(self.v.shape[a] for a in axes))

    def sum(self, axis, keep=False):
        return Num(self.v.sum(axis, keepdims=keep), self.s.sum(axis, keepdims=keep), self._length(axis))

    def mean(self, axis, keep=False):
        axes = axis if isinstance(axis, tuple) else (axis,)
        return self.sum(axis, keep) / math.prod(self.v.shape[a] for a in axes)

    def max(self, axis, keep=False):
        return Num(self.v.max(axis, keepdims=keep, initial=-np.inf), self.s.max(axis, keepdims=keep, initial=0), self.n)

    def cumsum(self, axis):
        return Num(self.v.cumsum(axis), self.s.cumsum(axis), self._length(axis))


def lift(x):
    return x if isinstance(x, Num) else Num(x)


def _unary(x, value, slope):
    """f(x) with |f'(x)|: errors of x are scaled by the slope, the function adds its own."""
    return Num(value, np.abs(value) + slope * x.s, x.n)


def exp(x):
    e = np.exp(x.v)
    return Num(e, np.where(e == 0, 0, e * (1 + x.s)), x.n)


def log(x):
    return _unary(x, np.log(x.v), 1 / np.abs(x.v))


def sqrt(x):
    r = np.sqrt(x.v)
    return Num(r, np.where(r == 0, 0, r + 0.5 * x.s / r), x.n)


def rsqrt(x):
    r = 1 / np.sqrt(x.v)
    return _unary(x, r, 0.5 * r / np.abs(x.v))


def sigmoid(x):
    g = 1 / (1 + np.exp(-x.v))
    return _unary(x, g, g * (1 - g))


def erf(x):
    return _unary(x, _erf(x.v) if x.v.size else x.v, 2 / math.sqrt(math.pi) * np.exp(-x.v * x.v))


def atan2(a, b):
    a, b = lift(a), lift(b)
    squares = np.maximum(a.v * a.v + b.v * b.v, 1e-300)
    v = np.arctan2(a.v, b.v)
    return Num(v, np.abs(v) + (np.abs(b.v) * a.s + np.abs(a.v) * b.s) / squares, max(a.n, b.n))


def absolute(x):
    return Num(np.abs(x.v), x.s, x.n)


def maximum(a, b):
    a, b = lift(a), lift(b)
    return Num(np.maximum(a.v, b.v), np.maximum(a.s, b.s), max(a.n, b.n))


def minimum(a, b):
    a, b = lift(a), lift(b)
    return Num(np.minimum(a.v, b.v), np.maximum(a.s, b.s), max(a.n, b.n))


def where(condition, a, b):
    a, b = lift(a), lift(b)
    return Num(np.where(condition, a.v, b.v), np.where(condition, a.s, b.s), max(a.n, b.n))


def matmul(a, b):
    """a @ b over the last two dimensions."""
    v = a.v @ b.v
    return Num(v, a.s @ np.abs(b.v) + np.abs(a.v) @ b.s, max(a.n, b.n, a.v.shape[-1]))
