"""What backward kernels say, and what is said of those that cannot be written.

texts.py KGEN [WORD]: only those with the word in their name
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KGEN = str(Path(sys.argv[1]).resolve())
WORD = sys.argv[2] if len(sys.argv) > 2 else ""

ROW = 'inputs.x = "f64[N]"\noutputs.y = "f64[N]"\n'
STE = """functions = '''
real ste(real v) { return round(v); }
real ste_derivative(real v) { return 1; }
'''
"""
# name: what comes before the body, the body, the exit code, what is said and what not (regular expressions)
CASES = {
    "the maximum that a softmax of segments is shifted by has no gradient": (
        'tables.seg = { type = "i32[N]", range = "R", sorted = true }\ninputs.b = "f64[R]"\n' + ROW,
        "real v = x + at(b, R = seg[index(N)]);\nreal m = max(v, N, where(seg[index(N)] == index(R)));\n"
        "real e = exp(v - at(m, R = seg[index(N)]));\nreal z = sum(e, N, where(seg[index(N)] == index(R)));\n"
        "y = e / at(z, R = seg[index(N)]);", 0, [r"real d_v = d_e \* e;"], ["count_holds", "holds"]),
    "but one that is shared by segments has": (
        'tables.seg = { type = "i32[N]", range = "R", sorted = true }\ninputs.b = "f64[R]"\n' + ROW,
        "real v = x + at(b, R = seg[index(N)]);\nreal m = max(v, N, where(seg[index(N)] == index(R)));\n"
        "real e = exp(v - at(m, R = max(seg[index(N)] - 1, 0)));\n"
        "real z = sum(e, N, where(seg[index(N)] == index(R)));\n"
        "y = e / at(z, R = seg[index(N)]);", 0, ["holds"], []),
    "a choice with an argument of its own is called as it was": (
        'params.act = ["leaky_relu", "elu", "relu"]\n' + ROW, "y = act(x);", 0,
        [r"d_x = d_y \* derivative\(act, x\);", r"real leaky_relu_derivative\(real v\)", r"real elu_derivative\(real v\)"], []),
    "functions that are not called are left out": (
        "functions = '''\n// Not called.\nreal unused(real v) { return v; }\n\n// Called by a choice.\n"
        "real half_of(real v) { return v / 2; }\nreal wave(real v) { return sin(v) * half_of(v); }\n'''\n"
        'params.act = ["wave", "tanh"]\n' + ROW, "y = act(x) * x;", 0,
        [r"// Called by a choice.\nreal half_of", "real wave_derivative"], ["unused", "Not called"]),
    "a derivative that is written counts where its function is called": (
        STE + ROW, "y = ste(x);", 0, [r"d_x = d_y \* derivative\(ste, x\);", r"real ste_derivative\(real v\)"],
        ["params"]),
    "and where a parameter has one choice": (
        STE + 'params.q = "ste"\n' + ROW, "y = q(x) * x;", 0,
        [r"derivative\(q, x\)", r'params\.q = "ste"', r"real ste\(real v\)"], []),
    "and by one of several arguments, beside one that is made": (
        "functions = '''\nreal gate(real a, real b) { return a * round(b); }\nreal gate_derivative_1(real a, real b) { return a; }\n"
        "'''\n" + ROW + 'inputs.w = "f64[N]"\n', "y = gate(x, w);", 0,
        [r"derivative\(gate, 0, x, w\)", r"derivative\(gate, 1, x, w\)", r"real gate_derivative_0\(real a, real b\)"], []),
    "a loop of too many rounds is refused where it stands": (
        ROW, "real v = x;\nfor (int i = 0; i < 5000; ++i) v = sin(v) + x;\ny = v;", 2,
        [r"k.toml:6:1\n", "give it a constant bound of at most 4096 rounds"], []),
    "one that keeps nothing is not": (
        ROW, "real v = x;\nfor (int i = 0; i < 5000; ++i) v = 0.5 * v + x;\ny = v;", 0, [r"for \(int"], []),
    "comments name the statement in a loop": (
        ROW, "real v = x;\nfor (int i = 1; i < 3; ++i) v = v * sin(v * x);\ny = v;", 0,
        [r"// Back through v = v \* sin\(v \* x\)\n"], [r"\+\+i"]),
    "what numbers make is computed": (
        ROW, "real v = 0;\nfor (int i = 0; i < 4; ++i) { real c = i; v += x * (c / 4); }\ny = v + max(abs(x), abs(real(-1)));", 0,
        [r"1\.5 \* d_y", r"abs_x > 1 "], [r"abs\(-?1", r"/ 4"]),
    "the slope of hypot is of its result": (
        ROW + 'inputs.w = "f64[N]"\n', "y = hypot(x, w);", 0,
        [r"bool holds_y = y == 0;", r"d_x = d_y \* \(holds_y \? 0 : x / y\);", r"d_w = .* w / y\);"], ["abs"]),
    "attention through the library reads what it gave": (
        "".join(f'inputs.{x} = "f32[{a}, D]"\n' for x, a in zip("qkv", "SRR")) + 'outputs.o = "f32[S, D]"\n',
        "auto m = index(R) <= index(S);\no = 2 * dot(softmax(dot(q, k, D), R, where(m)), v, R, where(m));", 0,
        [r"- dot\(d_o, o, D\);"], []),
    "a slice that is asked for again and again has a name": (
        "functions = '''\nreal area(real a, real b) { return a * b * b; }\n'''\nparams.measure = [\"area\", \"hypot\"]\n"
        'inputs.x = "f64[N, C=2]"\noutputs.y = "f64[N]"\noutputs.z = "f64[N]"\n',
        "y = measure(at(x, C = 0), at(x, C = 1));\nz = 2 * measure(at(x, C = 1), at(x, C = 0));", 0,
        [r"real x_0 = at\(x, C = 0\);\nreal x_1 = at\(x, C = 1\);", r"derivative\(measure, 0, x_0, x_1\)"], []),
    "one that is used twice is as short as a name": (
        'inputs.x = "f64[N, C=2]"\noutputs.y = "f64[N]"\n', "y = at(x, C = 0) * at(x, C = 1);", 0,
        [r"= d_y \* at\(x, C = 1\);"], []),
    "a term asks for itself whether what it reads is there": (
        ROW + 'inputs.w = { type = "f64[N]", optional = true }\n',
        "if (present(w) && size(N) > 3) { y = cumsum(x * w, N); } else { y = x * x; }", 0,
        [r"\(present\(w\) \? w \* running_d_y : 0\)"], [r"d_x = present\(w\) \? \("]),
    "one condition or its opposite always holds": (
        'inputs.x = "f64[M, N]"\ninputs.w = { type = "f64[N]", optional = true }\n'
        'outputs.y = "f64[M, N]"\noutputs.s = "f64[M]"\n',
        "y = present(w) && size(N) > 3 ? x * w : x * x;\ns = present(w) ? dot(w, x, N) : 0;", 0,
        [r"d_x = \(present\(w\) \? w \* given_s : 0\) \+",
         r"d_w = \(present\(w\) \? dot\(x, given_s, M\) : 0\) \+ "], [r"\|\|"]),
    "a coordinate from scratch does not differ along a batch, though scratch has its axis": (
        'batch.Batch = ["z"]\nscratch.r = "i32[]"\n'
        'inputs.g = { type = "f32[N, M]", block = ["squeeze", "whole"], index = ["j", 0] }\n'
        'outputs.z = { type = "f32[N, M]", block = ["squeeze", "whole"], index = ["i", 0] }\n'
        'grid.i = { size = "N", semantics = "parallel" }\ngrid.j = { size = "i + 1", semantics = "arbitrary" }\n',
        "if (first(j)) r = 1;\nr = max(r, int(2 * i));\nif (last(j)) z = inside(g, M = r) ? at(g, M = r) : g;", 0,
        [r'axes.j = { equals = "N" }', r"inside\(g, M = value_running\)\)\n    at\(d_g, M = value_running, N = j\)"],
        [r"\bany\("]),
    "entries of a table lie in its range": (
        'inputs.x = "f32[B, C]"\ntables.label = { type = "i32[B]", range = "C" }\noutputs.loss = "f32[]"\n',
        "real l = log_softmax(x, C);\nreal p = at(l, C = label[B]);\nloss = -mean(pow(1 - exp(p), 2) * p, B);", 0,
        [r"d_x = \(index\(C\) == label\[index\(B\)\] \? "], [r"label\[index\(B\)\] (>=|<)"]),
    "labels that are left out are asked for once": (
        'inputs.x = "f32[B, C]"\ntables.label = "i32[B]"\noutputs.loss = "f32[]"\n',
        "real l = log_softmax(x, C);\nauto keep = label[index(B)] >= 0;\nreal nll = keep ? -at(l, C = label[index(B)]) : 0;\n"
        "loss = sum(nll, B);", 0,
        [r"d_x = \(index\(C\) == label\[index\(B\)\] \? -d_loss : 0\)\n"], [r"(label\[index\(B\)\] >= 0.*){2}"]),
    "a gate of a cell: what several values have in common is computed once, and called for what it is": (
        'inputs.a = "f32[B, H]"\ninputs.r = "f32[B, H]"\ninputs.h = "f32[B, H]"\noutputs.y = "f32[B, H]"\n',
        "real z = sigmoid(a);\nreal n = tanh(r * h);\ny = (1 - z) * n + z * h;", 0,
        [r"real one_minus_z = 1 - z;", r"real d_n = d_y \* one_minus_z;", r"real slope_n = 1 - n \* n;",
         r"d_a = d_n \* z \* \(h - n\);", r"d_r = d_n \* h \* slope_n;"], ["scaled", "difference"]),
    "two sums over a product that has no name": (
        'inputs.x = "f32[M, K]"\ninputs.gate = "f32[K, N]"\ninputs.up = "f32[K, N]"\noutputs.y = "f32[M, N]"\n',
        "y = silu(dot(x, gate, K)) * dot(x, up, K);", 0,
        [r"d_gate = dot\((d_\w+), x, M\);", r"d_up = dot\((d_\w+), x, M\);", r"d_x = dot\(d_\w+, up, N\) \+ dot\(d_\w+, gate, N\);"], []),
    "a truth value keeps its name, and what has the other sign is the same with a minus": (
        'inputs.x = "f32[B, N]"\ninputs.t = "f32[B, N]"\ninputs.m = "i8[B, N]"\noutputs.loss = "f32[B]"\n',
        "real d = x - t;\nbool small = abs(d) < 1;\nbool valid = m != 0;\nloss = sum(small ? 0.5 * d * d : abs(d) - 0.5, N, where(valid));", 0,
        [r"bool valid = m != 0;", r"real d_d = valid \? d_loss \* \(small \? d : sign\(d\)\) : 0;", r"d_x = d_d;", r"d_t = -d_d;"], []),
    "a product and its opposite": (
        'inputs.x = "f32[N]"\ninputs.t = "f32[N]"\noutputs.loss = "f32[]"\n', "real e = x - t;\nloss = mean(e * e, N);", 0,
        [r"real d_e = .*;", r"d_x = d_e;", r"d_t = -d_e;"], []),
    "a power of what is computed is computed once": (
        'inputs.c = "f32[N]"\ninputs.o = "f32[N]"\noutputs.y = "f32[N]"\n', "y = o * tanh(c);", 0,
        [r"real tanh_c = tanh\(c\);", r"d_c = d_y \* o \* \(1 - tanh_c \* tanh_c\);", r"d_o = d_y \* tanh_c;"], []),
    "an exponential less one is an exponential again": (
        ROW, "y = x > 0 ? x : expm1(x);", 0, [r"d_x = d_y \* \(x > 0 \? 1 : exp\(x\)\);"], ["expm1"]),
    "what is read at a place that an array gives is called for it": (
        'inputs.h = "f32[N, F]"\ninputs.w = "f32[F]"\ninputs.src = "i32[E]"\noutputs.y = "f32[E]"\n',
        "y = dot(at(h, N = src), at(h, N = src), F) * dot(at(h, N = src), w, F);", 0, [r"real h_at_src = at\(h, N = src\);"], ["h_there"]),
    "what logsumexp asks of its greatest value is asked once, and not again by what that is made of": (
        'inputs.x = "f32[M, K]"\ninputs.w = "f32[K, V]"\noutputs.y = "f32[M]"\n', "real s = dot(x, w, K);\ny = logsumexp(s, V);", 0,
        [r"real d_s = isinf\(m\) \? 0 : ", r"d_x = dot\(d_s, w, V\);", r"d_w = dot\(d_s, x, M\);"], ["where"]),
    "but by what may be infinite where its inputs are not": (
        'inputs.x = "f32[M, V]"\noutputs.y = "f32[M]"\n', "y = logsumexp(log(x), V);", 0, [r"d_x = isinf\(m\) \? 0 : "], []),
    "through a table whose entries differ each lane stores": (
        'tables.p = { type = "i32[E]", range = "N", unique = true }\ninputs.x = "f32[N, F]"\ninputs.w = "f32[E, G, F]"\n'
        'outputs.y = "f32[E, G, F]"\n', "y = w > 0 ? at(x, N = p[index(E)]) * w : 0;", 0,
        [r"d_x = 0;", r"\nat\(d_x, N = p\[index\(E\)\]\) = dot\(d_y, w, G, where\(w > 0\)\);"], ["atomic", r"\+=", "KG0607"]),
    "but adds to what comes from elsewhere": (
        'tables.p = { type = "i32[E]", range = "N", unique = true }\ninputs.x = "f32[N]"\ninputs.w = "f32[E]"\n'
        'outputs.y = "f32[E]"\noutputs.z = "f32[N]"\n', "y = at(x, N = p[index(E)]) * w;\nz = x * x;", 0,
        ["atomic = true", r"at\(d_x, N = p\[index\(E\)\]\) \+= "], []),
    "what is scattered and read again: its gradient is that of all reads": (
        'inputs.x = "f32[E]"\ninputs.to = "i32[E]"\noutputs.h = { type = "f32[B]", atomic = true }\noutputs.y = "f32[B]"\n',
        "h = 0;\nat(h, B = to) += x * x;\ny = h / sqrt(1 + sum(h * h, B));", 0,
        [r"real d_h_total = \(present\(d_h\) \? d_h : 0\)", r"at\(d_h_total, B = to\)"], ["where"]),
    "what is scattered, read, and added to again must be kept": (
        'inputs.x = "f32[E]"\ninputs.to = "i32[E]"\noutputs.h = { type = "f32[B]", atomic = true }\noutputs.y = "f32[B]"\n',
        "h = 0;\nat(h, B = to) += x * x;\ny = h * h;\nat(h, B = to) += x;", 2,
        [r"error\[KG0601\]: a write at these places, which is read again", r"k.toml:\d+:1\n", "keep what it holds there in a further output"], []),
    "what one lane has is added up without a sum, beside what no lane differs in": (
        'inputs.x = "f32[B, C]"\ntables.label = { type = "i32[B]", range = "C" }\noutputs.loss = "f32[]"\n',
        "real l = log_softmax(x, C);\nloss = -mean(0.9 * at(l, C = label[B]) + 0.1 * mean(l, C), B);", 0,
        [r"real d_l = \(index\(C\) == label\[index\(B\)\] \? "], [r"sum\((?!exp_d, C)"]),
    "the greatest of what is computed is found anew: another kernel may have rounded it otherwise": (
        'inputs.x = "f32[M, N]"\ninputs.u = "f32[K, N]"\noutputs.y = "f32[M]"\n',
        "y = min(sum((x - u) * (x - u), N), K);", 0, [r"== (min\(|least_)"], [r"== y", r"inputs\.y"]),
    "a place that goes around goes around the other way": (
        ROW, "y = x * at(x, N = (index(N) + 1) % size(N));", 0,
        [r"at\(d_y, N = \(N \+ size\(N\) - 1\) % size\(N\)\);"], ["sum", "where"]),
    "a filter of any length is gone back by the filter, not by all pairs of positions": (
        'inputs.x = "f32[N]"\ninputs.h = "f32[K]"\noutputs.y = "f32[N]"\n', "y = dot(at(x, N = N - K), h, K);", 0,
        [r"d_x = dot\(h, at\(d_y, N = N \+ K\), K, where"], ["N_other"]),
    "of a product that is read at other places each factor is": (
        'inputs.x = "f32[N]"\ninputs.h = "f32[K]"\noutputs.y = "f32[N]"\n', "y = silu(dot(at(x, N = N - K), h, K));", 0,
        [r"d_sum_x_there = d_y \* sigmoid", r"d_x = dot\(h, at\(d_sum_x_there, N = N \+ K\), K, where"], ["h_scaled"]),
    "nobody is asked for what holds at each place": (
        'inputs.x = "f32[M, K]"\ninputs.w = "f32[K, (G N)]"\naxes.G = 2\noutputs.y = "f32[M, N]"\n',
        "real z = dot(x, w, K);\ny = at(z, G = 0) * at(z, G = 1);", 0,
        [r"d_x = dot\(d_z, w, G, N\);", r"d_w = dot\(d_z, x, M\);"], ["holds"]),
    "what is always added is added without a condition": (
        'tables.dst = { type = "i32[E]", range = "M", sorted = true }\ninputs.src = "i32[E]"\n'
        'inputs.h = "f32[N, F]"\noutputs.y = "f32[M, F]"\n',
        "y = sum(at(h, N = src), E, where(dst[index(E)] == index(M)));", 0,
        [r"\nat\(d_h, N = src\) \+= at\(d_y, M = dst\[index\(E\)\]\);"], [r"\nif"]),
    "places that are computed in floating numbers are added to": (
        'inputs.x = "f32[N]"\noutputs.y = "f32[M]"\n', "y = at(x, N = int64_t(real(index(M)) * 0.3));", 0,
        [r"at\(d_x, N = .*\) \+= d_y;"], [r"\bsum\("]),
    "what is gathered is computed where it is read, and its inputs are added to there": (
        'inputs.x = "f32[N, D]"\ninputs.w = "f32[D, E]"\ntables.idx = { type = "i32[M]", range = "N" }\n'
        'outputs.y = "f32[M, E]"\n',
        "real h = tanh(dot(x, w, D));\ny = at(h, N = idx[index(M)]);", 0,
        [r"real d_h_there_arg = d_y \* \(1 - y \* y\);", r"d_w = dot\(d_h_there_arg, at\(x, N = idx\[index\(M\)\]\), M\);",
         r"\nat\(d_x, N = idx\[index\(M\)\]\) \+= dot\(d_h_there_arg, w, E\);"], [r"\bd_h\b", "KG0612"]),
    "nobody asks whether a sum of nothing has lanes": (
        'inputs.x = "f32[N, D]"\ninputs.w = "f32[D, E]"\ntables.idx = { type = "i32[M]", range = "N" }\n'
        'outputs.y = "f32[M, E]"\n',
        "real h = cumsum(dot(x, w, D), N);\ny = at(h, N = idx[index(M)]);", 0,
        [r"KG0612", r"d_w = dot\(x, running_d_h, N\);"], [r"\bany\("]),
    "borders that stay add up their lanes apart": (
        ROW, "y = at(x, N = max(N - 1, 0)) + at(x, N = min(N + 1, size(N) - 1)) - 2 * x;", 0,
        [r"index\(N\) == 0 \? sum\(d_y, N, where\(index\(N\) <= 1\)\)", r"at\(d_y, N = N - 1\)", r"at\(d_y, N = N \+ 1\)"],
        ["N_other"]),
    "what rows have in common is summed over the rows": (
        'axes.N = { ragged = "start", over = "B" }\ntables.start = "i64[B + 1]"\ninputs.x = "f32[B, N]"\ninputs.w = "f32[P]"\n'
        'outputs.y = "f32[B, N]"\n', "y = x * at(w, P = index(N));", 0,
        [r"d_w = dot\(at\(x, N = P\), at\(d_y, N = P\), B, where\(index\(P\) < size\(N\)\)\);"], []),
    "a place that goes around backwards goes back": (
        ROW, "y = at(x, N = (size(N) - index(N)) % size(N));", 0, [r"\nd_x = at\(d_y, N = \(size\(N\) - N\) % size\(N\)\);"], []),
    "each lane of a quotient is read": (
        'inputs.x = "f64[N]"\noutputs.y = "f64[M]"\naxes.M = { equals = "2 * N" }\n', "y = at(x, N = index(M) / 2);", 0,
        [r"\nd_x = at\(d_y, M = 2 \* N\) \+ at\(d_y, M = 2 \* N \+ 1\);"], ["sum"]),
    "a convolution and its transpose": (
        'inputs.x = "f64[C, H]"\ninputs.w = "f64[C, K]"\noutputs.y = "f64[Y]"\naxes.Y = { equals = "2 * H" }\naxes.K = 4\n',
        "auto t = index(Y) + 1 - index(K);\ny = sum(t % 2 == 0 ? at(x, H = t / 2) * w : 0, C, K);", 0,
        [r"d_x = dot\(w, at\(d_y, Y = 2 \* H \+ K - 1\), K"], []),
    "steps over a grid read locals of their neighbours": (
        ROW, "real a = x;\nfor (int t = 0; t < 8; ++t)\n  a = tanh(at(a, N = N - 1) + a + at(a, N = N + 1));\ny = a;", 0,
        [r"real (d_a\w*) = at\((\w+), N = N - 1\) \+ \2 \+ at\(\2, N = N \+ 1\);"], [r"N [-+] 2"]),
    "conditions over steps are read at their neighbours": (
        'inputs.x = "f64[T=6, C]"\ntables.label = { type = "i32[N]", range = "C" }\noutputs.y = "f64[]"\n',
        "real a = index(N) < 2 ? at(x, T = 0, C = label[N]) : -inf;\n"
        "for (int t = 1; t < 6; ++t) {\n  real most = max(a, index(N) > 0 ? at(a, N = N - 1) : -inf);\n"
        "  a = most == -inf ? -inf : most + log(exp(a - most) + exp(at(a, N = N - 1) - most)) + at(x, T = t, C = label[N]);\n}\n"
        "y = logsumexp(a, N, where(index(N) >= size(N) - 2));", 0, [r"bool holds_\w+ = at\(holds_\w+, N = N \+ 1\);"], [r"N\)? \+ 2"]),
    "what is handed from step to step is added up step by step": (
        'inputs.x = "f64[T=5, N]"\noutputs.y = "f64[T=5, N]"\n',
        "real p = 1;\nreal out[5];\nfor (int t = 0; t < 5; ++t) { p += at(x, T = t) * p; out[t] = p; }\ny = out[index(T)];", 0,
        [r"real (d_p\w*) = d_p\w* \+ at\(d_y, T = 2\) \+ d_p\w* \* at\(x, T = 3\);"], [r"(at\(d_y.*){4}"]),
    "a sum of gradients that may be absent asks for them where it has a name": (
        'inputs.x = "f64[T=5, N]"\noutputs.y = "f64[T=5, N]"\noutputs.z = "f64[N]"\n',
        "real p = 1;\nreal out[5];\nfor (int t = 0; t < 5; ++t) { p += at(x, T = t) * p; out[t] = p; }\ny = out[index(T)];\nz = p * p;", 0,
        [r"present\(d_y\) \? at\(d_y, T = 3\) \+ at\(d_y, T = 4\) : 0;"], []),
    "whether it is the greatest is asked once: at other places its numbers may be rounded otherwise": (
        'inputs.q = "f32[S, D]"\ninputs.k = "f32[R, D]"\ninputs.b = "f32[P=S + R - 1]"\noutputs.y = "f32[S]"\n',
        "y = max(dot(q, k, D) + at(b, P = index(R) - index(S) + size(S) - 1), R);", 0,
        [r"bool holds_together_q = ", r"at\(holds_together_q, S = size\(S\) - 1 \+ R - P\)"], [r"dot\(at\("]),
    "the greatest of what is moved is what the forward kernel gives": (
        'inputs.x = "f32[M, N]"\noutputs.y = "f32[M]"\n', "y = max(x, N);", 0, [r"x == y"], []),
    "an output that is narrower than an input is computed again": (
        'inputs.x = "f32[M, N]"\noutputs.y = "bf16[M]"\noutputs.z = "f16[M, N]"\n', "y = max(x, N);\nz = tanh(x);",
        0, [r"x == max\(x, N\)", r"real tanh_x = tanh\(x\);"], [r"inputs\.[yz] "]),
    "one that is so for some choice of types, too": (
        'types.T = ["f32", "bf16"]\ninputs.x = "f32[M, N]"\noutputs.y = "T[M, N]"\n', "y = exp(x);",
        0, [r"exp\(x\)"], [r"inputs\.y"]),
    "one of the same type, or of a wider one, is read": (
        'types.T = ["f32", "bf16"]\ninputs.x = "T[M, N]"\noutputs.y = "T[M, N]"\noutputs.z = "f32[M, N]"\n',
        "y = exp(x);\nz = tanh(x);", 0, [r"inputs\.y", r"inputs\.z"], [r"exp\(x\)", r"tanh\(x\)"]),
    "what is added to a logarithm does not come in, lest a mask of infinities is a NaN": (
        'inputs.w = "f32[N, K]"\ninputs.b = "f32[N, K]"\noutputs.y = "f32[N, K]"\n', "y = log_softmax(w, K) + b;",
        0, [r"exp_d \* sum\(d_y, K\) / sum\(exp_d, K\)"], [r"exp\(y", r"- b"]),
    "a clamp to the axis that an index is in is none": (
        ROW, "y = at(x, N = clamp(index(N), 0, size(N) - 1));", 0, [r"d_x = d_y;"], []),
    "half of a clamp is an extreme": (
        ROW, "y = at(x, N = clamp(index(N) - 2, 0, size(N) - 1));", 0, [r"where\(index\(N\) <= 2\)"], ["clamp", "max"]),
    "coordinates and conditions are short": (
        ROW, "y = at(x, N = size(N) - N) * at(x, N = N - 2);", 0,
        [r"real x_there = at\(x, N = size\(N\) - N - 2\);", r"index\(N\) > 0 \? "],
        [r"- \(", r"size\(N\) - index\(N\) < size"]),
    "a division by ten is no division": (ROW, "y = 0.1 * x;", 0, [r"d_x = 0\.1 \* d_y;"], []),
    "a division by three is one": (ROW, "y = x / 3;", 0, [r"d_x = d_y / 3;"], []),
}


def check(before, body, code, said, unsaid, folder):
    path = folder / "k.toml"
    path.write_text(f"kernel = \"k\"\n{before}body = '''\n{body}\n'''\n")
    done = subprocess.run([KGEN, "grad", "k.toml", "-o", "out"], capture_output=True, text=True, cwd=folder)
    text = done.stderr + ((folder / "out/k_backward.toml").read_text() if done.returncode == 0 else "")
    out = [] if done.returncode == code else [f"exit {done.returncode}"]
    out += [f"no {part!r}" for part in said if not re.search(part, text)]
    out += [f"{part!r}" for part in unsaid if re.search(part, text)]
    return [f"{problem} in\n{text}" for problem in out]


wrong = []
for name, case in CASES.items():
    if WORD in name:
        with tempfile.TemporaryDirectory() as folder:
            wrong += [f"{name}: {problem}" for problem in check(*case, Path(folder))]
print("\n".join(wrong) or f"{len(CASES)} texts are right")
sys.exit(1 if wrong else 0)
