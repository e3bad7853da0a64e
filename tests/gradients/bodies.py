"""The gradients of small kernels, for all choices of their parameters, and the second ones of some, are those of central
differences.

bodies.py KGEN [WORD]: only those with the word in their name
"""
import subprocess
import sys
import tempfile
from pathlib import Path

KGEN = sys.argv[1] if len(sys.argv) > 1 else ""
WORD = sys.argv[2] if len(sys.argv) > 2 else ""

ROW = 'inputs.x = "f64[N]"\noutputs.y = "f64[N]"\n'
X = 'inputs.x = "f64[N]"\n'
PLANE = ['inputs.x = "f64[M, N]"\noutputs.y = "f64[M, N]"\n']
WHOLE = ("params.n = 3\n", "params.n = [2, 5]\n")
ANY = (*WHOLE, "params.n = 0.75\n")
# Blocks that a table picks: the last one may go beyond its array.
PICKED = ['tables.pick = { type = "i32[R]", range = "cdiv(N, 4)" }\n'
          'inputs.x = { type = "f64[Pos=N, K]", block = [4, "whole"], index = ["pick[i]", 0] }\n'
          'inputs.h = { type = "f64[Pos=4 * R, K]", block = [4, "whole"], index = ["i", 0] }\n'
          'outputs.y = { type = "f64[Pos=4 * R, K]", block = [4, "whole"], index = ["i", 0], partial = true }\n'
          'grid.i = { size = "R" }\n']
PAGED = ['tables.pages = { type = "i32[H, R]", range = "cdiv(M, 4)" }\ntables.count = { type = "i32[H]", range = "R + 1" }\n'
         'inputs.x = { type = "f64[M]", block = [4], index = ["pages[b][p]"] }\n'
         'outputs.y = { type = "f64[H]", block = ["squeeze"], index = ["b"] }\nscratch.most = "f64[]"\n'
         'grid.b = { size = "H", semantics = "parallel" }\ngrid.p = { size = "max(1, count[b])", semantics = "arbitrary" }\n']
# Arrays that end at different positions of one axis: lanes that only some have.
ENDS = ['axes.M = 20\ngrid.s = { size = "K" }\n'
        'inputs.a = { type = "f64[K, M=7]", block = ["squeeze", 5], index = ["s", 0] }\n'
        'inputs.b = { type = "f64[K, M=7]", block = ["squeeze", 5], index = ["s", 1] }\n'
        'outputs.y = { type = "f64[K, M=6]", block = ["squeeze", 5], index = ["s", 0], partial = true }\n']
RAGGED = ['axes.C = { ragged = "start", over = "R" }\ntables.start = "i64[R + 1]"\ninputs.id = "i32[R, C]"\n'
          'inputs.x = "f64[R, N]"\noutputs.y = "f64[R, N]"\n']

EDGES = ('inputs.x = "f64[E]"\ninputs.z = "f64[B]"\ninputs.idx = "i32[E]"\n'
         'outputs.h = { type = "f64[B]", atomic = true }\noutputs.y = "f64[B]"\noutputs.t = "f64[]"\n')

# name: what comes before the body, one or several; body
CASES = {
    "what is scattered is read again": (
        [EDGES], "h = z; at(h, B = idx) += x * x; y = h / sqrt(1 + sum(h * h, B)); t = sum(h, B);"),
    "a maximum of segments that cancels along one axis, and not along the other": (
        ['tables.seg = { type = "i32[N]", range = "R" }\ninputs.x = "f64[N, Q]"\noutputs.y = "f64[R, Q]"\n'],
        "real m = max(x, N, where(seg[index(N)] == index(R))); real e = exp(x - at(m, R = seg[index(N)])); "
        "y = isinf(m) ? 0 : exp(m) * sum(e, N, where(seg[index(N)] == index(Q)));"),
    "what either arm scatters": (
        [EDGES], "h = z * z; if (x > 0) { at(h, B = idx) += x * x; } else { at(h, B = idx + 1) += 2 * x; at(h, B = 3) += x; } "
                 "y = h * h * h; t = at(h, B = 1);"),
    "what one arm scatters is read there and elsewhere": (
        [EDGES], "h = z; if (sum(x, E) > 0) { at(h, B = idx) += x; at(h, B = idx + 2) += x * x; y = h * h; } else { y = h; } "
                 "t = max(h, B);"),
    "what the other arm scatters is read there": (
        [EDGES], "h = z; if (sum(x, E) > 0) { y = h; } else { at(h, B = idx) += x * x; y = h * h; } t = max(h, B);"),
    "places along two axes, of which neither has a value of its own": (
        ['inputs.x = "f64[E]"\ninputs.i = "i32[E]"\ninputs.j = "i32[E]"\n'
         'outputs.h = { type = "f64[M, N]", atomic = true }\noutputs.t = "f64[]"\n'],
        "h = 0; at(h, M = i, N = j) += x * x; t = 3 * sum(h, M, N);"),
    "what a loop scatters": ([EDGES], "h = 0; for (int i = 0; i < 3; ++i) at(h, B = idx + i) += x * x * i; y = h * z; t = 0;"),
    "what is scattered and scaled before more is": (
        [EDGES], "h = z * z; at(h, B = idx) += x * x; y = 2 * h; h = 3 * h; at(h, B = idx) += x; t = sum(h, B, where(z > 0));"),
    "a gather through a table whose entries differ": (
        ['tables.p = { type = "i32[E]", range = "N", unique = true }\ninputs.x = "f64[N, F]"\ninputs.w = "f64[E, G, F]"\n'
         'outputs.y = "f64[E, G, F]"\n'], "y = w > 0 ? at(x, N = p[index(E)]) * w : 0;"),
    "a question along an axis, which is answered at the places that are read": (
        ['axes.K = 3\ninputs.x = "f64[X]"\ninputs.w = "f64[P, Q, K]"\ninputs.c = "bool[P, Q]"\noutputs.y = "f64[P, Q]"\n'],
        "y = c ? sum(tanh(at(x, X = index(P) - 2)) * w, K, where(index(K) <= index(P))) : 0;"),
    "a softmax over the edges of each node of a graph": (
        ['inputs.x = "f64[V, D]"\ninputs.a = "f64[D]"\ntables.src = { type = "i32[E]", range = "V" }\n'
         'tables.dst = { type = "i32[E]", range = "V", sorted = true }\noutputs.y = "f64[V, D]"\n'],
        "real hs = at(x, V = src[index(E)]); real l = dot(hs, a, D); "
        "real lse = logsumexp(l, E, where(dst[index(E)] == index(V))); real p = exp(l - at(lse, V = dst[index(E)])); "
        "y = sum(p * hs, E, where(dst[index(E)] == index(V)));"),
    "what is read at a place and has a name": (
        ['inputs.n = "f64[N]"\ninputs.dst = "i32[E]"\ninputs.w = "f64[E]"\noutputs.y = "f64[E]"\n'],
        "real m = cumsum(n, N); real md = at(m, N = dst); y = md * w;"),
    "a sum of those that have a number, read by each and named": (
        ['axes.N = 5\ninputs.i = "i32[T]"\ninputs.x = "f64[T]"\noutputs.y = "f64[T]"\n'],
        "real m = sum(x, T, where(i == index(N))); real g = at(m, N = i); y = x / (1 + g * g);"),
    "a scan read along both of its axes": (
        ['inputs.x = "f64[T, N]"\ninputs.i = "i32[T]"\noutputs.y = "f64[T]"\noutputs.z = "f64[T, N]"\n'],
        "real h = linrec(0.5, x, T); real own = at(h, N = i), tail = at(h, T = i); y = own * own; z = tail * own;"),
    "edges that lead nowhere, in a softmax over the edges of each node": (
        ['inputs.x = "f64[E]"\ninputs.src = "i32[E]"\ninputs.dst = "i32[E]"\ninputs.h = "f64[N]"\n'
         'outputs.total = { type = "f64[N]", atomic = true }\noutputs.num = { type = "f64[N]", atomic = true }\n'],
        "real e = exp(x); total = 0; at(total, N = dst) += e; real alpha = e / at(total, N = dst); num = 0; "
        "at(num, N = dst) += alpha * at(h, N = src);"),
    "sums of neighbours, weighed and handed on": (
        ['inputs.f = "f64[N, F]"\ninputs.w = "f64[F, G]"\ninputs.c = "f64[E]"\ninputs.src = "i32[E]"\ninputs.dst = "i32[E]"\n'
         'outputs.agg = { type = "f64[N, F]", atomic = true }\noutputs.y = "f64[N, G]"\n'],
        "agg = 0; at(agg, N = dst) += at(f, N = src) * c; y = tanh(sum(agg * w, F));"),
    "a softmax over the edges of each node": (
        ['inputs.x = "f64[E]"\ninputs.dst = "i32[E]"\noutputs.whole = { type = "f64[N]", atomic = true }\noutputs.y = "f64[E]"\n'],
        "whole = 0; real p = exp(x); at(whole, N = dst) += p; y = p / max(at(whole, N = dst), 1e-9);"),
    "a logarithm of a softmax beside what has another axis": (
        ['inputs.x = "f64[N, K]"\ninputs.w = "f64[K]"\noutputs.y = "f64[N, K]"\n'], "y = log_softmax(w, K) - x;"),
    "one that is written out": (
        ['inputs.x = "f64[M, N, K]"\ninputs.w = "f64[N, K]"\noutputs.y = "f64[M, N, K]"\n'],
        "real m = max(w, K);\ny = x + w - m - log(sum(exp(w - m), K));"),
    "a mixture's weights in a logarithm of sums": (
        ['inputs.x = "f64[N]"\ninputs.w = "f64[K]"\ninputs.mu = "f64[K]"\noutputs.y = "f64[N]"\n'],
        "real lp = log_softmax(w, K) - 0.5 * (x - mu) * (x - mu);\ny = logsumexp(lp, K);"),
    "a parameter under a minus": (ANY, "y = x * x * -n;"),
    "under a minus in an argument": (ANY, "y = exp(-n * sum(x * x, N) / 16) * x;"),
    "under two of them": (ANY, "y = x * - -n * x;"),
    "bounds with a minus": (WHOLE, "y = x * x * clamp(index(N) - 3, -n, n);"),
    "under a minus in a power": (ANY, "y = pow(abs(x) + 1, -n);"),
    "under a minus in a function": (
        [p + "functions = 'real falls(real v) { return exp(-n * v * v / 8); }'\n" for p in ANY], "y = falls(x);"),
    "under a minus in a chosen function": (
        [p + 'params.f = ["falls", "silu"]\nfunctions = \'real falls(real v) { return exp(-n * v * v / 8); }\'\n' for p in ANY],
        "y = f(x);"),
    "a chosen function with an argument of its own": (['params.f = ["leaky_relu", "celu", "silu"]\n'], "y = f(x) * x;"),
    "a whole number under one": (ANY, "y = pow(abs(x) + 1, real(1) / n);"),
    "a whole number, divided": (ANY, "y = x * x * (real(n) / 4);"),
    "a whole number, divided by one with a point": (ANY, "y = x * x * (n / 2.0);"),
    "a whole number times one": (ANY, "y = x * x * (1.0 * n / 4);"),
    "times a number below one": (ANY, "y = x * x * (0.1 * n);"),
    "an index, divided by a parameter": (ANY, "y = x * x * (float(index(N)) / n);"),
    "a size, divided by a parameter": (ANY, "y = x * x * (real(size(N)) / n);"),
    "two whole numbers": (["params.n = 3\nparams.k = 2\n", "params.n = [3, 4]\nparams.k = [5, 2]\n"],
                          "y = pow(abs(x) + 1, real(n) / k) + x * x * (real(n) * k / 7);"),
    "one as a whole number and as another": (WHOLE, "y = at(x, N = index(N) / n) * x * (real(1) / n);"),
    "a negative whole number, divided": (ANY, "y = x * x * (-real(n) / 4);"),
    "a choice of whole numbers, divided": (ANY, "y = x * x * ((x > 0 ? real(1) : n) / 4);"),
    "the larger of whole numbers, divided": (ANY, "y = x * x * (max(real(index(N)), n) / 4);"),
    "a sum of whole numbers, divided": (ANY, "y = x * x * ((real(n) + index(N)) / 4);"),
    "a sum over lanes, divided": (ANY, "y = x * x * (sum(real(index(N) % 3), N) / n);"),
    "a quotient, divided": (WHOLE, "y = x * x * (real(7 / n) / 4);"),
    "one under a whole product": (ANY, "y = pow(abs(x) + 1, 1.0 / (n * size(N)));"),
    "a whole number to a power": (ANY, "y = x * x * pow(real(n), -1.0);"),
    "a slice over the whole": ([X + 'outputs.y = "f64[N, Z=2]"\n'], "y = x; at(y, Z = 1) = 2 * x * x;"),
    "a number over the whole": (PLANE, "y = x * x; at(y, N = 0) = 7;"),
    "two slices over the whole": (PLANE, "y = x * x; at(y, N = 1) = 7 * at(x, N = 0); at(y, N = 0) = sum(x, N);"),
    "a slice over the whole, added to": (
        [X + 'outputs.y = { type = "f64[N, Z=2]", atomic = true }\n'],
        "y = x * x; at(y, Z = 1) = sin(x); at(y, Z = 1) += x * x * x;"),
    "a slice over the whole, where a row says so": (
        PLANE, "y = x * x; if (at(x, N = 0) > 0) at(y, N = 1) = 3 * at(x, N = 0);"),
    "a slice over a slice": (PLANE, "y = 0; at(y, N = 1) = sum(x * x, N); at(y, N = 1) = 3 * sum(x, N);"),
    "a slice over a slice, where a row says so": (
        PLANE, "y = 0; at(y, N = 1) = sum(x * x, N); if (at(x, N = 0) > 0) at(y, N = 1) = 3 * sum(x, N);"),
    "a slice over one of two": (
        PLANE, "y = 0; real s = sum(x * x, N); if (s > 1) at(y, N = 1) = s; else at(y, N = 1) = s * s; at(y, N = 1) = sin(s);"),
    "a moved copy over the whole": (PLANE, "y = x * x; at(y, N = index(N) - 1) = 3 * x;"),
    "two halves, one over the other's first": (
        ['inputs.x = "f64[H]"\noutputs.y = "f64[N=2 * H]"\n'],
        "y = 0; at(y, N = H) = x * x; at(y, N = H + size(H)) = sin(x); at(y, N = 0) = 3 * at(x, H = 1);"),
    "every other one": (['inputs.x = "f64[H]"\noutputs.y = "f64[N=2 * H]"\n'],
                        "y = 0; at(y, N = 2 * H) = x * x; at(y, N = 2 * H + 1) = sin(x);"),
    "the whole over a slice": (PLANE, "at(y, N = 1) = sum(x, N); y = x * x;"),
    "the whole over a slice, where a row says so": (
        PLANE, "y = 0; at(y, N = 1) = sum(x, N); if (at(x, N = 0) > 0) y = x * x;"),
    "a number over a slice, where a row says so": (
        PLANE, "y = 0; at(y, N = 1) = sum(x, N); if (at(x, N = 0) > 0) y = 3;"),
    "counts as places": ([X + 'inputs.c = "i32[N]"\n' + 'outputs.y = "f64[N]"\noutputs.n = "i32[N]"\n'],
                         "n = 0; at(n, N = c) += 1; y = at(x, N = n) * x;"),
    "bits of a whole number in 32 bits, of a count in 64": (
        [X + 'outputs.y = "f64[N]"\n'], "y = x * x * bitcast<float>(1065353216 + int(sum(x > 0, N) & 7) * 8388608);"),
    "what a loop of a function returns": (
        [X + 'inputs.w = "f64[I=8]"\noutputs.y = "f64[N]"\nfunctions = \'int steps(int v) { int n = 0; '
         'for (int i = 0; i < 6; ++i) { if (v == i) return n; if (i % 2 == 1) continue; n += i; } return 7; }\'\n'],
        "y = x * x * at(w, I = steps(index(N)));"),
    "outside of a local array": (
        PLANE, "real t[2]; t[0] = x * x; t[1] = sin(x); y = x * t[index(N) % 3] + t[5 - index(N)];"),
    "two places that say where a step is": (
        ['grid.i = { axis = "K", block = 2, semantics = "arbitrary" }\n'
         'grid.j = { axis = "M", block = 1, semantics = "arbitrary" }\ninputs.x = "f64[K, M]"\noutputs.y = "f64[K]"\n'],
        "if (last(j)) y = at(x, M = 2 * K + 1);"),
    "sums of bytes beside a number below 0": (
        [X + 'inputs.u = "u8[N, M]"\ninputs.i = "i16[N, M]"\noutputs.y = "f64[N]"\n'],
        "int64_t c = -index(N) - 1; y = x; if (sum(u, M) > c) y = 3 * x * x; if (dot(i, u, M) > c) y += sin(x);"
        " if (sum(cumsum(u, M) > c ? 1 : 0, M) > 0) y *= 2;"),
    "the least of a block, with elements that it reads twice": (
        ['axes.M = 1\ninputs.x = "f64[M, N]"\noutputs.y = "f64[]"\ngrid.j = { axis = "N", block = 3 }\n'],
        "if (first(j)) y = 100; y = min(min(at(x, N = N / 2, M = 0 + j), N), y);"),
    "a running sum of what is alike along its axis": (PLANE, "y = sum(x * x, N); y = cumsum(y, N) * x;"),
    "folds of what is alike along their axes": (
        PLANE, "y = sum(x * x, N); y = x * (min(y, N) + max(y, M, N) + 0.1 * sum(y, N) + mean(y, N));"),
    "a count of whole numbers that are alike": (
        [X + 'inputs.k = "f64[M, N]"\noutputs.c = "i32[M, N]"\noutputs.y = "f64[M, N]"\n'],
        "c = sum(k > 0, N); y = x * k * (sum(c, N) + 1);"),
    "lanes of a picked block": (PICKED, "y = x + 2 * h * h;"),
    "lanes that a condition asks in a picked block": (PICKED, "if (x > 0) y = h * h; else y = 3 * h;"),
    "lanes of a picked block, over what all have": (PICKED, "y = h * h; y = max(y * h, x); if (h > x) y *= h;"),
    "lanes that a condition asks which is known": (PICKED, "if (x != x) y = h; else y = 3 * h; if (x > x) y = 1;"),
    "steps over an axis that no floating array has": (
        ['axes.L = [2, 5]\ninputs.c = "u8[L]"\ninputs.x = "f64[N]"\noutputs.y = "f64[N]"\n'
         'grid.i = { axis = "N", block = 2, semantics = "parallel" }\n'
         'grid.j = { axis = "L", block = 2, semantics = "arbitrary" }\n'], "if (first(j)) y = 1; y = y + x * x;"),
    "nothing of a picked block": ([PICKED[0] + 'inputs.w = "f64[K]"\n'], "y = 3 * sin(w);"),
    "a size that an array says of which lanes alone are asked": (
        ['tables.pick = { type = "i32[M]", range = "R / 3" }\n'
         'inputs.a = { type = "u8[Pos=R, H]", block = [3, "whole"], index = ["pick[i]", 0] }\n'
         'outputs.y = { type = "f64[Pos=3 * M, H]", block = [3, "whole"], index = ["i", 0] }\n'
         'inputs.w = "f64[H]"\ngrid.i = { size = "M" }\n'], "y = a < a ? w : w * w;"),
    "the greatest of pages": (
        PAGED, "if (first(p)) most = -inf; most = max(most, max(x, M)); if (last(p)) y = most;"),
    "rows of different lengths that no floating array has": (RAGGED, "y = x * x * sum(x + index(C) % 3, C);"),
    "what a condition leaves of other lanes": (ENDS, "real r = a; if (b > 0) r = b; else r = 7; y = r * a;"),
    "what is known before a condition that lanes lack": (ENDS, "real r = a; if (b < 1) r += 5 * a; r += a; y = r;"),
    "what is set under a condition, and then anew": (ENDS, "real r; if (b > 0) r = 2; else r = 7; r = a; y = r * a;"),
    "a value that lanes lack, under a condition": (ENDS, "real r = a; if (a > 0) r = b * b; y = r;"),
    "lanes that cannot ask whether they leave": (
        ENDS, "real r = a; for (int i = 0; i < 2; ++i) { r *= a; if (b > i) break; r += a; } y = r * a;"),
    "or whether they go on": (
        ENDS, "real r = a; for (int i = 0; i < 2; ++i) { r *= a; if (b > i) continue; r += a; } y = r * a;"),
    "or only where they ask": (
        ENDS, "real r = a; for (int i = 0; i < 2; ++i) { if (a > 0) { r *= a; if (b < i) break; r += 1; } else r *= 7; r += a; } y = r;"),
    "a size that stands in the range of a table alone": (
        ['tables.pages = { type = "i32[H, R]", range = "cdiv(M, 3)" }\ntables.count = { type = "i32[H]", range = "R + 1" }\n'
         'inputs.x = { type = "f64[M]", block = [3], index = ["pages[b][p]"] }\n'
         'outputs.y = { type = "f64[H]", block = ["squeeze"], index = ["b"] }\nscratch.done = "i64[]"\n'
         'grid.b = { size = "H", semantics = "parallel" }\ngrid.p = { size = "max(1, count[b])", semantics = "arbitrary" }\n'],
        "if (first(p)) done = 0; done = min(int64_t(2), done); if (last(p)) y = (inside(x, M = 1) ? at(x, M = 1) : 1) / 2;"),
    "a loop of so many rounds": (WHOLE, "real z = x; for (int t = 0; t < n; ++t) z = sin(z * z + x); y = z;"),
    "a loop of one round more, by two": (
        WHOLE, "real z = x; for (int t = 1; t <= n; t += 2) z = sin(z * z * t + x); y = z;"),
    "a loop that counts down": (WHOLE, "real z = x; for (int64_t t = n; t > 0; --t) z = sin(z * z * t + x); y = z;"),
    "a loop in a function": (
        [p + "functions = 'real turns(real v) { real z = v; for (int t = 0; t < n; ++t) z = sin(z * z + v); return z; }'\n"
         for p in WHOLE], "y = turns(x);"),
    "borders that stay where they are": (
        [ROW], "y = at(x, N = max(N - 2, 0)) * at(x, N = min(N + 3, size(N) - 1)) - x;"),
    "borders in two directions": (
        PLANE, "y = at(x, M = max(M - 1, 0), N = min(N + 1, size(N) - 1)) * at(x, M = min(M + 2, size(M) - 1)) * x;"),
    "borders in three directions": (
        ['inputs.x = "f64[D, H, W]"\noutputs.y = "f64[D, H, W]"\n'],
        "real v = at(x, D = clamp(D + 1, 0, size(D) - 1), H = clamp(H - 1, 0, size(H) - 1), W = clamp(2 * W - 1, 0, size(W) - 1)); y = v * v;"),
    "borders of rows": (
        ['axes.C = { ragged = "start", over = "R" }\ntables.start = "i64[R + 1]"\ninputs.x = "f64[R, C]"\noutputs.y = "f64[R, C]"\n'],
        "real v = at(x, C = max(C - 2, 0)) + at(x, C = min(C + 1, size(C) - 1)) * at(x, C = index(C) / 2); y = v * v + x;"),
    "what rows of different lengths have in common": (
        ['axes.C = { ragged = "start", over = "R" }\ntables.start = "i64[R + 1]"\ninputs.x = "f64[R, C]"\n'
         'inputs.w = "f64[P, D]"\noutputs.y = "f64[R, C, D]"\n'],
        "real v = at(w, P = index(C) + 1) * x + at(w, P = max(3 - index(C), 0)); y = v * v;"),
    "the row and the place in it, together and apart": (
        ['axes.C = { ragged = "start", over = "R" }\ntables.start = "i64[R + 1]"\ninputs.x = "f64[R, C]"\n'
         'inputs.w = "f64[P, Q]"\ninputs.u = "f64[P]"\noutputs.y = "f64[R, C]"\n'],
        "real v = at(w, Q = max(index(R) - 1, 0), P = min(index(C), size(P) - 1)) + at(w, P = size(C) - 1 - index(C), Q = index(R)) "
        "+ at(u, P = index(R) + index(C)); y = v * v * (x + size(C));"),
    "places that go around backwards": (
        [ROW], "real v = at(x, N = (size(N) - index(N)) % size(N)) + 2 * at(x, N = (size(N) - 1 - index(N)) % size(N)); y = v * v * x;"),
    "and from the middle": ([ROW], "real v = at(x, N = (3 - index(N)) % size(N)) + at(x, N = (2 * size(N) + 1 - index(N)) % size(N)) + at(x, N = (-30 - index(N)) % size(N)); y = v * v * x;"),
    "a place within bounds": ([ROW], "y = x * at(x, N = clamp(2 * index(N) - 3, 0, size(N) - 1));"),
    "borders that reflect": (
        [X + 'outputs.y = "f64[M]"\naxes.M = { equals = "N + 4" }\n'],
        "auto a = abs(index(M) - 2); auto i = a < size(N) ? a : 2 * size(N) - 2 - a; real v = at(x, N = i); y = v * v * v;"),
    "borders that reflect, by a multiple": ([ROW], "y = at(x, N = 1 - 2 * max(index(N) - 4, 1 - index(N))) * x;"),
    "a place under a minus of a magnitude": ([ROW], "y = at(x, N = size(N) - 1 - abs(2 - index(N))) * x;"),
    "each element twice, and three times": (
        [X + f'outputs.y = "f64[M]"\naxes.M = {{ equals = "{n} * N + 1" }}\n' for n in (2, 3, 4)],
        "real v = at(x, N = index(M) / 2) + 2 * at(x, N = index(M) / 3) + 3 * at(x, N = (index(M) + 5) / 4); y = v * v;"),
    "places that share a lane": (
        ['inputs.x = "f64[A, B]"\noutputs.y = "f64[U, L]"\n'],
        "real v = at(x, A = index(U), B = index(L) + index(U) % 3) + at(x, A = index(U) / 3, B = 2 * index(L) + index(U) % 3 - 1); "
        "y = v * v;"),
    "unshuffled pixels": (
        ['inputs.x = "f64[C, P, Q]"\noutputs.y = "f64[O, H, W]"\n'],
        "real v = at(x, C = 4 * index(O) + index(H) % 2 * 2 + index(W) % 2, P = index(H) / 2, Q = index(W) / 2); y = v * v;"),
    "tiles, and blocks of a parameter": (
        ['inputs.x = "f64[X]"\ninputs.w = "f64[Y]"\noutputs.y = "f64[Y]"\nparams.g = 3\n'],
        "real v = at(x, X = index(Y) % 5) + 2 * at(x, X = index(Y) - index(Y) % g) * at(x, X = 4 - index(Y) / 2); y = v * v * w;"),
    "a transposed convolution by a parameter": (
        ['inputs.x = "f64[W]"\ninputs.w = "f64[I]"\noutputs.y = "f64[P]"\nparams.stride = 3\n'],
        "int t = index(P) + 1 - index(I); real v = sum(t % stride == 0 ? w * at(x, W = t / stride) : 0, I); y = v * v;"),
    "rotated halves": (
        [ROW], "real v = index(N) < size(N) / 2 ? -at(x, N = index(N) + size(N) / 2) : at(x, N = index(N) - size(N) / 2); "
        "y = v * v;"),
    "places that ints are computed of": (
        ['inputs.x = "f64[W]"\ninputs.w = "f64[I]"\noutputs.y = "f64[P]"\n'],
        "int p = 2 * index(P) - 1; int q = index(P) / 2; real v = sum(w * at(x, W = p + index(I)), I) * at(x, W = q); y = v * v;"),
    "borders that no lane of a mask asks about": (
        ['inputs.x = "f64[X]"\ninputs.w = "f64[Y]"\ninputs.v = "f64[Y, Z]"\noutputs.y = "f64[Y]"\n'],
        "y = w * at(x, X = index(Y) / 3) + sum(at(x, X = abs(min(index(Z), size(X) - 1))) * v, Z, where(index(Z) <= index(Y)));"),
    "shuffled pixels": (
        ['inputs.x = "f64[C, P, Q]"\noutputs.y = "f64[O, H, W]"\n'],
        "int i = index(O) / 2 % 2; int j = index(O) % 2; "
        "real v = at(x, C = index(O) / 4, P = 2 * index(H) + i, Q = 2 * index(W) + j); y = v * v;"),
    "places that parameters count by": (
        ['inputs.x = "f64[B, L]"\ninputs.w = "f64[K]"\noutputs.y = "f64[B, O]"\nparams.stride = 2\nparams.apart = 3\n'],
        "real v = sum(w * at(x, L = stride * index(O) + apart * index(K) - 1), K); y = v * v;"),
    "quotients by eight and by a parameter": (
        ['inputs.x = "f64[G]"\ninputs.a = "f64[N]"\noutputs.y = "f64[N]"\nparams.group = 5\n'],
        "real v = at(x, G = index(N) / group) + 2 * at(x, G = (index(N) + 9) / 8 - 1); y = v * v * a;"),
    "heads in groups": (
        ['inputs.x = "f64[H, D]"\ninputs.k = "f64[HK, D]"\noutputs.y = "f64[H]"\n'],
        'require(size(H) % size(HK) == 0, "groups"); int64_t group = size(H) / size(HK);\n'
        "real v = dot(x, at(k, HK = index(H) / group), D) + sum(at(k, HK = index(H) % size(HK)), D); y = v * v;"),
    "a quotient of sizes as the distance of blocks": (
        ['inputs.x = "f64[P, Q]"\ninputs.k = "f64[H]"\noutputs.y = "f64[P, Q]"\n'],
        "real v = x * at(k, H = index(P) * (size(H) / size(P)) + index(Q)); y = v * v;"),
    "first elements of blocks, and neighbours": (
        [ROW], "real v = at(x, N = index(N) - index(N) % 5) + at(x, N = index(N) & -4) * at(x, N = index(N) ^ 1); y = v * v;"),
    "quotients beside the index of a sum": (
        ['inputs.x = "f64[L]"\ninputs.w = "f64[K]"\noutputs.y = "f64[O]"\n'],
        "real v = sum(w * at(x, L = (index(O) >> 1) * 2 + index(K)), K); y = v * v;"),
    "ints that hold indices": (
        PLANE, "int i = index(M); int j = index(N); int before = j - 1; real v = at(x, M = i + 1, N = j) * "
        "(before >= 0 ? at(x, N = before) : 2); y = v * v + (i + 2 * j) * x;"),
    "quotients of what may be negative": ([ROW], "real v = at(x, N = (index(N) - 3) / 2); y = v * v * x;"),
    "halves in two directions": (
        ['inputs.x = "f64[H, W]"\noutputs.y = "f64[P, Q]"\naxes.P = { equals = "2 * H" }\naxes.Q = { equals = "2 * W" }\n'],
        "real v = at(x, H = index(P) / 2, W = min((index(Q) + 1) / 2, size(W) - 1)); y = v * v;"),
    "a transposed convolution": (
        ['inputs.x = "f64[C, H]"\ninputs.w = "f64[C, K]"\noutputs.y = "f64[Y]"\naxes.Y = { equals = "2 * H" }\naxes.K = 4\n',
         'inputs.x = "f64[C, H]"\ninputs.w = "f64[C, K]"\noutputs.y = "f64[Y]"\naxes.Y = { equals = "3 * H - 2" }\naxes.K = 3\n'],
        "auto t = index(Y) + 1 - index(K); real v = sum(t % 2 == 0 ? at(x, H = t / 2) * w : 0, C, K); y = v * v;"),
    "one that reads a third of its places": (
        [X + 'outputs.y = "f64[M]"\naxes.M = { equals = "3 * N" }\n'],
        "auto t = index(M) - 1; y = t % 3 == 1 ? at(x, N = t / 3) * at(x, N = t / 3 + 1) : 0;"),
    "a quotient of whole numbers": (WHOLE, "y = x * x * (7 / n);"),
    "a whole number in a function": ([p + "functions = 'real root(real v) { return pow(abs(v) + 1, real(1) / n); }'\n" for p in ANY],
                                     "y = root(x);"),
}
# Differentiated twice. Signs come together in these.
TWICE = {
    "a difference, divided": "y = (x - m) / s;",
    "one with a minus": "y = -(x - m) / s;",
    "by a negative one": "y = x / -s;",
    "by a square": "y = (m - x) / (s * s);",
    "an exponential": "y = -exp(-(x - m) / s);",
    "numbers without a sign under a minus": "y = -dot(x - m, 1.0f * (u % 7), C);",
    "signs upon signs": "real d = -x / s; real e = -d; y = d * -(-e) - m;",
}
PLANES = "".join(f'inputs.{name} = "f64[{axes}]"\n' for name, axes in (("x", "B, C"), ("m", "C"), ("s", "C"))) + \
    'inputs.u = "u64[B]"\noutputs.y = "f64[B, C]"\n'


def check(before, body, folder, twice=False):
    path = folder / "k.toml"
    path.write_text(f'kernel = "k"\n{before}' + ("" if "outputs." in before else ROW) + f"body = '''\n{body}\n'''\n")
    if twice:
        done = subprocess.run([KGEN, "grad", str(path), "-o", str(folder)], capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        path = folder / "k_backward.toml"
    done = subprocess.run([KGEN, "verify", "--grad", str(path), "--seeds", "1"], capture_output=True, text=True)
    return f"exit {done.returncode}: {done.stdout}{done.stderr}" if done.returncode else ""


def main():
    cases = [(name, before, body, False) for name, (befores, body) in CASES.items() for before in befores]
    cases += [(f"{name}, twice", PLANES, body, True) for name, body in TWICE.items()]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name, before, body, twice in cases:
            if problem := WORD in name and check(before, body, Path(folder), twice):
                wrong.append(f"{name}: {before}{body}\n{problem}")
    print("\n".join(wrong) or f"{len(cases)} kernels are right")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
