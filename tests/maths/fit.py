#!/usr/bin/env python3
"""Finds the polynomials of templates/openmp/maths.h and says how far each is from its function.

Remez's exchange, in 60 digits: the error of the best polynomial of a degree swings between equal peaks, so peaks are
sought, the polynomial is made that swings at them, and so on. Highest powers are printed first, as horner() takes them.
Needs mpmath, which the tests do not:  python3 -m venv V && V/bin/pip install mpmath numpy && V/bin/python tests/maths/fit.py
"""
import argparse
import struct

import numpy
from mpmath import mp, mpf

mp.dps = 60


def remez(function, weight, low, high, count, rounds=12):
    """The coefficients, lowest first, with the least greatest weight(x) * |polynomial(x) - function(x)|; that error."""
    middle, half = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    points = [middle - half * mp.cos(mp.pi * (i + mpf("0.5")) / (count + 1)) for i in range(count + 1)]
    grid = [middle - half * mp.cos(mp.pi * i / (24 * count)) for i in range(24 * count + 1)]
    values = [(x, function(x), weight(x)) for x in grid]
    floor = max(w for _, _, w in values) / 10000  # where the weight has a zero, any coefficients do
    values = [(x, f, max(w, floor)) for x, f, w in values]
    for _ in range(rounds):
        rows = mp.matrix([[x ** k for k in range(count)] + [(-1) ** i / max(weight(x), floor)]
                          for i, x in enumerate(points)])
        solution = mp.lu_solve(rows, mp.matrix([function(x) for x in points]))
        found = [solution[i] for i in range(count)]

        def error(x, f, w):
            return w * (sum(c * x ** k for k, c in enumerate(found)) - f)

        errors = [error(*v) for v in values]
        peaks = []
        for i, e in enumerate(errors):
            if peaks and (errors[peaks[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > count + 1:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < count + 1:
            break
        points = [grid[i] for i in peaks]
    return found, max(abs(e) for e in errors)


def rational(function, low, high, degree, rounds=300):
    """Numerator and denominator, lowest power first, with a small greatest error as a part of function(x); that error.

    Lawson's weights: least squares over many points, again and again, each time heavier where the error is large."""
    count = 600
    at = numpy.sin(numpy.pi / 2 * (numpy.arange(count) + 0.5) / count) ** 4 * 2 - 1  # dense at both ends, more so at low
    values = numpy.array([float(function(x)) for x in (low + high) / 2 + (high - low) / 2 * at])
    terms = numpy.polynomial.chebyshev.chebvander(at, degree)
    weight, below, least = numpy.ones(count), numpy.ones(count), None
    for _ in range(rounds):
        rows = numpy.hstack([terms / values[:, None], -terms]) / below[:, None] * numpy.sqrt(weight)[:, None]
        scale = numpy.linalg.norm(rows, axis=0)
        found = numpy.linalg.svd(rows / scale, full_matrices=False)[2][-1] / scale
        above, below = terms @ found[:degree + 1], terms @ found[degree + 1:]
        error = abs(above / below / values - 1)
        below = below / abs(below).max()
        if least is None or error.max() < least[0]:
            least = error.max(), found
        weight *= numpy.sqrt(error / error.max() + 1e-3)
        weight /= weight.mean()
    parts = []
    for half in (least[1][:degree + 1], least[1][degree + 1:]):
        series = numpy.polynomial.Chebyshev(half, domain=[float(low), float(high)])
        parts.append(series.convert(kind=numpy.polynomial.Polynomial).coef)
    return parts[0] / parts[1][0], parts[1] / parts[1][0], least[0]


def as_single(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def literal(x, single):
    """The shortest decimal that reads back as the same number."""
    number = as_single(x) if single else float(x)
    for digits in range(6, 18):
        text = f"{number:.{digits}g}"
        if (as_single(float(text)) if single else float(text)) == number:
            break
    return text + ("f" if single else "")


def series(x, term, start=0):
    """The sum of term(k) x^(k - start): what is left of a power series after its first terms, without cancellation."""
    total, k = mpf(0), start
    while True:
        step = term(k) * x ** (k - start)
        total += step
        k += 1
        if abs(step) < mpf(10) ** -55 and k > start + 4:
            return total


def exp_rest(r):
    """(e^r - 1 - r) / r^2"""
    return series(r, lambda k: 1 / mp.factorial(k), 2)


def log_rest(f):
    """(log(1 + f) - f + f^2 / 2) / f^3"""
    if abs(f) < mpf("1e-6"):
        return mpf(1) / 3 - f / 4 + f * f / 5
    return (mp.log1p(f) - f + f * f / 2) / f ** 3


def sin_rest(z):
    """(sin(r) - r) / r^3 at z = r^2"""
    return series(z, lambda k: (-1) ** k / mp.factorial(2 * k + 1), 1)


def cos_rest(z):
    """(cos(r) - 1) / r^2 at z = r^2"""
    return series(z, lambda k: (-1) ** k / mp.factorial(2 * k), 1)


def atan_rest(z):
    """(atan(t) - t) / t^3 at z = t^2"""
    t = mp.sqrt(z)
    return (mp.atan(t) / t - 1) / z if z > mpf("1e-8") else -mpf(1) / 3 + z / 5 - z * z / 7


def tanh_rest(z):
    """(tanh(x) - x) / x^3 at z = x^2"""
    x = mp.sqrt(z)
    return (mp.tanh(x) / x - 1) / z if z > mpf("1e-12") else -mpf(1) / 3 + 2 * z / 15


def log2_part(f):
    """log2(1 + f) / f"""
    return mp.log1p(f) / f / mp.log(2) if abs(f) > mpf("1e-20") else 1 / mp.log(2)


def erfinv_rest(v):
    """erfinv(x) / x at v = sqrt(3 - log(1 - x^2)) - 3"""
    w = (v + 3) ** 2 - 3
    if w < mpf("1e-20"):
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    y, beyond = mp.sqrt(w) * mpf("0.85"), mp.exp(-w) / (1 + x)  # erfc(y), where erf(y) has no digits left
    for _ in range(60):  # Halley's steps
        newton = (mp.erfc(y) - beyond) * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
        step = newton / (1 - y * newton)
        y += step
        if abs(step) < y * mpf(10) ** -50:
            return y / x
    raise ArithmeticError(f"no erfinv at {w}")


def fits():
    """name, single precision?, function, weight (error of the result for one of the polynomial), low, high, count."""
    near = mp.log(2) / 2 + mpf("1e-6")
    low, high = mp.sqrt(mpf(1) / 2) - 1, mp.sqrt(2) - 1
    quarter = (mp.pi / 4) ** 2 * mpf("1.00001")
    root = mp.sqrt(3) - 3

    def exp_weight(r):
        return r * r / mp.exp(r)

    def log_weight(f):
        return f * f * abs(f / mp.log1p(f)) if f != 0 else mpf(0)

    def of_one(_):
        return mpf(1)

    yield "exp f32", True, exp_rest, exp_weight, -near, near, 5
    yield "exp f64", False, exp_rest, exp_weight, -near, near, 11
    yield "log f32", True, log_rest, log_weight, low, high, 9
    yield "log f64", False, log_rest, log_weight, low, high, 20
    yield "tanh f32", True, tanh_rest, lambda z: z, mpf(0), mpf("0.390625"), 5
    yield "exp2, short", False, lambda r: mpf(2) ** r, lambda r: 1 / mpf(2) ** r, mpf("-0.5"), mpf("0.5"), 8
    yield "log2, short", False, log2_part, lambda f: 1 / log2_part(f), low, high, 13
    yield "sin", False, sin_rest, lambda z: z, mpf(0), quarter, 5
    yield "cos", False, cos_rest, lambda z: z, mpf(0), quarter, 5
    yield "atan", False, atan_rest, lambda z: z, mpf(0), mpf(1), 12
    yield ("erfinv", False, erfinv_rest, lambda v: 1 / erfinv_rest(v), root,
           mp.sqrt(3 + 23 * mp.log(2)) - 3, 16)


def main():
    for name, single, function, weight, low, high, count in fits():
        found, error = remez(function, weight, low, high, count)
        print(f"{name}: within 2^{mp.nstr(mp.log(error, 2), 4)}")
        print("   ", ", ".join(literal(c, single) for c in reversed(found)))
    # Both parts may be multiplied by one number: by this one, rounding them to f32 does least harm (of some hundred tried).
    above, below, error = rational(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z), 0, 3.85 ** 2, 5)
    print(f"erf f32: within 2^{numpy.log2(error):.4g}")
    for part in (above, below):
        print("   ", ", ".join(literal(c * 1.3486121, True) for c in reversed(part)))


if __name__ == "__main__":
    main()
