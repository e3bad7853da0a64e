"""All that a spec can declare, as small kernels with calls whose results NumPy gives: what each binding is tested by.

A case is a spec with calls; a call has the arguments in the order of the contract, as NumPy arrays, and the outputs
that it gives, in file order. Bindings turn the arrays into those of their framework. Behind the kernels that are written
here stand those that are put together of features, so that each two of these meet.
"""
import dataclasses

import ml_dtypes
import numpy as np

bf16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = {"f32": np.dtype("f4"), "f64": np.dtype("f8"), "bf16": bf16, "f16": np.dtype("f2")}

# Products of two arrays with strides, each of which may be what a gradient is wanted of.
PRODUCT = """kernel = "product"
types.T = ["f32", "f64"]
batch.B = ["x", "z"]
inputs.x = { type = "T[M, K]", layout = "strided" }
inputs.y = { type = "T[K, N]", layout = "strided" }
outputs.z = "T[M, N]"
body = 'z = dot(x, y, K);'
"""


@dataclasses.dataclass
class Call:
    arguments: list
    keywords: dict
    outputs: list
    # Of an argument: in which dimension another extent disagrees with which other argument.
    disagrees: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Case:
    name: str  # of the kernel
    spec: str
    calls: list


def numbers(*shape, dtype="f4", seed=1):
    """Small whole numbers, which all types hold and whose sums are exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def case(name, declarations, *calls):
    return Case(name, f'kernel = "{name}"\n{declarations}\n', list(calls))


def call(*arguments, gives, disagrees=None, **keywords):
    return Call(list(arguments), keywords, list(gives), disagrees or {})


def types():
    x = {name: numbers(2, 3, 5, dtype=dtype) for name, dtype in FLOATS.items()}
    return case("types_of_arrays", """
types.T = ["f32", "f64", "bf16", "f16"]
inputs.x = "T[..., N]"
inputs.w = "real[N]"
outputs.y = "T[..., N]"
body = 'y = 2 * x + w;'
""", *(call(a, (w := numbers(5, dtype="f8" if name == "f64" else "f4", seed=2)), gives=[(2 * a + w).astype(a.dtype)],
            disagrees={1: (0, 0)}) for name, a in x.items()),
                call(x["f32"][0, 0], numbers(5, seed=2), gives=[2 * x["f32"][0, 0] + numbers(5, seed=2)]),
                call(x["f32"][:0], numbers(5, seed=2), gives=[np.zeros((0, 3, 5), "f4")]))


def whole_types():
    names = {"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
             "bool": "?"}
    return case("whole_types", f"""
types.T = {list(names)}
inputs.x = "T[M, N]"
outputs.y = "T[N, M]"
body = 'y = x;'
""", *(call(abs(numbers(2, 3)).astype(t), gives=[abs(numbers(2, 3)).astype(t).T]) for t in names.values()))


def only():
    x = numbers(4)
    return case("types_only", """
types.T = ["f32", "i8"]
types.U = ["f32", "f16", "bf16"]
types.only = [["f32", "f16"], ["f32", "bf16"], ["i8", "f32"]]
inputs.x = "T[N]"
outputs.y = "U[N]"
body = 'y = x;'
""", call(x, gives=[x.astype("f2")]), call(x, U="bf16", gives=[x.astype(bf16)]),
                call(x.astype("i1"), gives=[x]), call(x.astype("i1"), U="f32", gives=[x]))


def chosen():
    x = numbers(4, 2)
    return case("chosen", """
types.T = ["f32", "f64"]
params.act = ["relu", "square"]
params.r = [2, 3]
inputs.x = "f32[N, J=r]"
outputs.y = "T[N, K=r]"
body = 'y = act(at(x, J = index(K)));'
""", call(x, gives=[np.maximum(x, 0)]), call(x, act="square", T="f64", gives=[(x * x).astype("f8")]),
                call(numbers(4, 3), r=3, gives=[np.maximum(numbers(4, 3), 0)]))


def optional():
    x, w = numbers(3, 4), numbers(4, seed=2)
    return case("optional", """
inputs.x = "f32[M, N]"
inputs.w = { type = "f32[N]", optional = true }
inputs.b = { type = "f32[M]", optional = true }
outputs.y = "f32[M, N]"
outputs.total = { type = "f32[M]", optional = true }
body = '''
y = x * (present(w) ? w : 1) + (present(b) ? b : 0);
total = sum(y, N);
'''
""", call(x, gives=[x, x.sum(1)]), call(x, w, gives=[x * w, (x * w).sum(1)], disagrees={1: (0, 0)}),
                call(x, None, numbers(3), gives=[x + numbers(3)[:, None], (x + numbers(3)[:, None]).sum(1)],
                     disagrees={2: (0, 0)}))


def optional_then_required():
    x, w = numbers(3), numbers(3, seed=2)
    return case("optional_then_required", """
scalars.a = "f32"
inputs.w = { type = "f32[N]", optional = true }
inputs.x = "f32[N]"
outputs.y = "f32[N]"
body = 'y = a * x + (present(w) ? w : 0);'
""", call(None, x, 2.0, gives=[2 * x]), call(w, x, 0.5, gives=[x / 2 + w], disagrees={0: (0, 1)}))


def all_optional():
    x = numbers(3)
    return case("all_optional", """
inputs.a = { type = "f32[N]", optional = true }
inputs.b = { type = "f32[N]", optional = true }
outputs.y = "f32[N]"
body = 'y = (present(a) ? a : 0) + (present(b) ? b : 1);'
""", call(x, None, N=3, gives=[x + 1]), call(None, None, N=2, gives=[np.ones(2, "f4")]))


def partial():
    """What is left unwritten is 0."""
    x = np.array([3, -1, 0, 2, -5], "f4")
    return case("partial", """
types.T = ["f32", "f64"]
inputs.x = "T[N]"
outputs.kept = { type = "T[N]", partial = true }
outputs.count = "i64[]"
body = '''
bool keep = x > 0;
int64_t place = cumsum_exclusive(int64_t(keep), N);
if (keep) at(kept, N = place) = x;
count = sum(int64_t(keep), N);
'''
""", *(call(v, gives=[np.array([3, 2, 0, 0, 0], v.dtype), np.array(2, "i8")]) for v in (x, x.astype("f8"))))


def names_beside_others():
    """Of arrays, as the names that bindings make of an output."""
    x, w = numbers(3), numbers(3, seed=2)
    return case("names_beside_others", """
inputs.new_y = "f32[N]"
inputs.y_given = "f32[N]"
inputs.y_new = "f32[N]"
outputs.y = "f32[N]"
body = 'y = new_y + 2 * y_given + 3 * y_new;'
""", call(x, w, x, gives=[4 * x + 2 * w], disagrees={1: (0, 0)}))


def scalars():
    x = numbers(3, dtype="f8")
    return case("scalars", """
scalars.a = "f32"
scalars.b = "f64"
scalars.c = "f16"
scalars.i = "i32"
scalars.j = "i64"
scalars.k = "u8"
scalars.on = "bool"
inputs.x = "f64[N]"
outputs.y = "f64[N]"
body = 'y = on ? x * a * b * c + i + double(j) + k : 0;'
""", call(x, 0.5, 3.0, 2.0, -7, 2**40, 200, True, gives=[x * 3 - 7 + 2**40 + 200]),
                call(x, 0.5, 3.0, 2.0, -7, 2**40, 200, False, gives=[x * 0]))


def aliased_first():
    """The first array that has `...` is one whose memory an output takes."""
    old, step = numbers(2, 3), numbers(2, 3, seed=2)
    return case("aliased_first", """
inputs.old = "f32[...]"
inputs.step = "f32[...]"
outputs.moved = { type = "f32[...]", alias = "old" }
body = 'moved = old - step;'""", call(old, step, gives=[old - step]))


def unused_types():
    """Types that no row of types.only has."""
    x = numbers(5, dtype="f8")
    return case("unused_types", """
types.T = ["f32", "f64", "bf16", "bool"]
types.only = [["f32"], ["f64"]]
inputs.x = "T[N]"
outputs.y = "T[N]"
body = 'y = 2 * x;'""", call(x, gives=[2 * x]))


def aliased():
    w, v, g = numbers(2, 3), numbers(2, 3, seed=2), numbers(2, 3, seed=3)
    return case("aliased", """
scalars.rate = "f32"
inputs.old_w = "f32[M, N]"
inputs.old_v = "f32[M, N]"
inputs.g = "f32[M, N]"
outputs.w = { type = "f32[M, N]", alias = "old_w" }
outputs.v = { type = "f32[M, N]", alias = "old_v" }
body = '''
v = 2 * old_v + g;
w = old_w - rate * v;
'''
""", call(w, v, g, 2.0, gives=[w - 2 * (2 * v + g), 2 * v + g], disagrees={1: (0, 0), 2: (1, 0)}))


def strided():
    x = numbers(4, 6, 5)
    spec = """
inputs.x = { type = "f32[..., N]", layout = "strided" }
inputs.w = { type = "f32[N]", layout = "strided" }
outputs.y = { type = "f32[..., N]", layout = "strided" }
body = 'y = x * w;'
"""
    w = numbers(10, seed=2)[::2]
    return case("strided", spec, *(call(a, v, gives=[a * v], disagrees={1: (0, 0)}) for a, v in (
        (x, w), (x[:, ::2], w), (x[::2, 1], w), (x.transpose(1, 0, 2), w), (x[0].T[:, :5].copy().T, w[:1].repeat(5)),
        (x, np.broadcast_to(w[:1], 5)), (x[1:1], w))))


def ragged():
    start, x = np.array([0, 2, 2, 5], "i8"), numbers(5)
    return case("ragged", """
axes.N = { ragged = "start", over = "B" }
tables.start = "i64[B + 1]"
inputs.x = "f32[B, N]"
outputs.total = "f32[B]"
outputs.y = "f32[B, N]"
body = '''
total = sum(x, N);
y = 2 * x;
'''
""", call(start, x, gives=[np.array([x[:2].sum(), 0, x[2:].sum()], "f4"), 2 * x]),
                call(np.array([0], "i8"), x[:0], gives=[np.zeros(0, "f4"), x[:0]]))


def tables():
    picks, x = np.array([2, 0, 2], "i4"), numbers(3, 4)
    return case("tables", """
tables.pick = { type = "i32[S]", range = "K" }
tables.pairs = { type = "i64[S, 2]", range = "K", where = "host" }
inputs.x = "f32[K, N]"
outputs.y = "f32[S, N]"
body = 'y = at(x, K = pick[index(S)]) + at(x, K = pairs[index(S)][1]);'
""", call(picks, np.stack([picks, picks[::-1]], 1).astype("i8"), x, gives=[x[picks] + x[picks[::-1]]],
          disagrees={1: (0, 0)}))


def sizes_of_outputs():
    return case("sizes_of_outputs", """
inputs.x = "f32[N]"
outputs.y = "f32[M, N]"
outputs.z = "i32[P]"
body = '''
y = x + index(M);
z = index(P);
'''
""", call(numbers(3), M=2, P=4, gives=[numbers(3) + np.array([[0], [1]], "f4"), np.arange(4, dtype="i4")]))


def no_inputs():
    return case("no_inputs", """
types.T = ["i32", "f64"]
outputs.z = "T[M, N]"
body = 'z = index(M) * 10 + index(N);'
""", *(call(M=2, N=3, gives=[(np.arange(2)[:, None] * 10 + np.arange(3)).astype(t)], **k)
       for t, k in (("i4", {}), ("f8", {"T": "f64"}))))


def derived():
    x = numbers(2, 7)
    return case("derived", """
axes.P = { equals = "(N - 3) / 2 + 1" }
inputs.x = "f32[M, N]"
inputs.w = "f32[K=2 * M + 1]"
outputs.y = "f32[M, P]"
body = 'y = at(x, N = 2 * P) + at(x, N = 2 * P + 1) + at(x, N = 2 * P + 2) + at(w, K = 2 * M + 1 - 1);'
""", call(x, numbers(5), gives=[x[:, :-2:2] + x[:, 1:-1:2] + x[:, 2::2] + numbers(5)[[0, 2]][:, None]],
          disagrees={1: (0, 0)}))


def split():
    x, w = numbers(2, 6), numbers(6, seed=2)
    return case("split", """
inputs.x = "f32[B, (G C)]"
inputs.w = "f32[(G C)]"
outputs.y = "f32[B, (G C)]"
body = 'y = (x - max(x, C)) * w;'
""", call(x, w, G=2, gives=[(x - x.reshape(2, 2, 3).max(2).repeat(3).reshape(2, 6)) * w], disagrees={1: (0, 0)}))


def specialised():
    return case("specialised", """
axes.D = [4, 8]
axes.E = { multiple_of = 2 }
inputs.x = "f32[E, D]"
outputs.y = "f32[E]"
body = 'y = sum(x, D);'
""", call(numbers(6, 4), gives=[numbers(6, 4).sum(1)]), call(numbers(2, 8), gives=[numbers(2, 8).sum(1)]))


def values():
    x = numbers(3)
    return case("single_values", """
inputs.x = "f32[N]"
inputs.shift = "f32[]"
outputs.total = "f32[]"
outputs.square = "f32[M=N, N]"
outputs.one = "f32[N, 1]"
body = '''
total = sum(x, N) + shift;
square = x * at(x, N = index(M));
one = x;
'''
""", call(x, np.array(2, "f4"), gives=[np.array(x.sum() + 2, "f4"), x[:, None] * x, x[:, None]]))


def batch():
    x, y = numbers(3, 2, 4), numbers(4, 5)
    return case("batched", """
batch.B = ["x", "z"]
inputs.x = "f32[M, K]"
inputs.y = "f32[K, N]"
outputs.z = "f32[M, N]"
body = 'z = dot(x, y, K);'
""", call(x, y, gives=[x @ y], disagrees={1: (0, 0)}))


def names():
    x = numbers(3)
    return case("names", """
scalars.lambda = "f32"
inputs.np = "f32[len]"
inputs.self = "f32[len]"
outputs.out = "f32[len]"
outputs.type = "f32[in]"
body = '''
out = lambda * np + self;
type = index(in);
'''
""", call(x, x, 2.0, in_=2, gives=[3 * x, np.arange(2, dtype="f4")], disagrees={1: (0, 0)}))


FEATURES = ("types", "list", "scalar", "optional", "table", "alias", "strided", "ragged", "size", "derived")


def combinations():
    """Sets of features such that each two of them are together in one, apart in two, and both missing in another."""
    pairs = {(a, b, on_a, on_b) for i, a in enumerate(FEATURES) for b in FEATURES[:i]
             for on_a in (False, True) for on_b in (False, True)}
    chosen = [frozenset(feature for bit, feature in enumerate(FEATURES) if number >> bit & 1)
              for number in range(2 ** len(FEATURES))]
    meets = {features: {pair for pair in pairs if (pair[0] in features, pair[1] in features) == pair[2:]}
             for features in chosen}
    while pairs:
        best = max(chosen, key=lambda features: len(meets[features] & pairs))
        pairs -= meets[best]
        yield best


def combined(name, features):
    """A kernel that has these features, each of which adds a term or an output."""
    has = lambda feature, text: [text] if feature in features else []
    declarations = [
        *has("types", 'types.T = ["f32", "f64"]'),
        *has("list", 'params.act = ["identity", "relu"]'),
        *has("scalar", 'scalars.a = "f32"'),
        *has("ragged", 'axes.N = { ragged = "start", over = "B" }\ntables.start = "i64[B + 1]"'),
        *has("derived", 'axes.P = { equals = "2 * B + 1" }'),
        *has("table", 'tables.pick = { type = "i32[B]", range = "K" }\ninputs.v = "T[K]"'),
        'inputs.x = "T[B, N]"',
        *has("optional", 'inputs.bias = { type = "T[B]", optional = true }'),
        *has("strided", 'inputs.s = { type = "T[B, J]", layout = "strided" }'),
        *has("alias", 'inputs.old = "T[B, N]"'),
        'outputs.y = { type = "T[B, N]", alias = "old" }' if "alias" in features else 'outputs.y = "T[B, N]"',
        'outputs.total = "T[B]"',
        *has("size", 'outputs.z = "i32[M]"'),
        *has("derived", 'outputs.p = "i32[P]"'),
    ]
    terms = ["x", *has("table", "at(v, K = pick[index(B)])"), *has("optional", "(present(bias) ? bias : 0)"),
             *has("strided", "sum(s, J)"), *has("alias", "old")]
    value = " + ".join(terms)
    value = f"a * ({value})" if "scalar" in features else value
    body = [f"real value = {f'act({value})' if 'list' in features else value};", "total = sum(value, N);", "y = value;",
            *has("size", "z = index(M);"), *has("derived", "p = 3 * index(P);")]
    text = "\n".join([*declarations, "body = '''", *body, "'''"])
    text = text if "types" in features else text.replace('"T[', '"f32[')
    choices = [("f4", False), ("f8" if "types" in features else "f4", True)]
    return case(name, text, *(combined_call(features, dtype, other) for dtype, other in choices))


def combined_call(features, dtype, other):
    """`other`: with what is optional, and the second choice."""
    start = np.array([0, 2, 2, 5], "i8") if "ragged" in features else np.array([0, 4, 8, 12], "i8")
    row = np.repeat(np.arange(3), np.diff(start))
    lies = lambda array: array if "ragged" in features else array.reshape(3, 4)
    x, old = numbers(len(row), dtype=dtype, seed=3), numbers(len(row), dtype=dtype, seed=4)
    v, bias, s = (numbers(*shape, dtype=dtype, seed=5) for shape in ((2,), (3,), (3, 4)))
    pick = np.array([1, 0, 1], "i4")
    value = np.copy(x)
    arguments, keywords = [], {}
    if "ragged" in features:
        arguments += [start]
    if "table" in features:
        arguments, value = arguments + [pick, v], value + v[pick][row]
    arguments += [lies(x)]
    if "optional" in features:
        arguments, value = arguments + [bias if other else None], value + (bias[row] if other else 0)
    if "strided" in features:
        arguments, value = arguments + [s[:, ::2]], value + s[:, ::2].sum(1)[row]
    if "alias" in features:
        arguments, value = arguments + [lies(old)], value + old
    if "scalar" in features:
        arguments, value = arguments + [2.0], 2 * value
    if "list" in features and other:
        keywords, value = {"act": "relu"}, np.maximum(value, 0)
    total = np.array([value[row == b].sum() for b in range(3)], dtype)
    outputs = [lies(value.astype(dtype)), total]
    if "size" in features:
        keywords, outputs = keywords | {"M": 4}, outputs + [np.arange(4, dtype="i4")]
    if "derived" in features:
        outputs += [3 * np.arange(7, dtype="i4")]
    return call(*arguments, gives=outputs, **keywords)


CASES = [make() for make in (types, whole_types, only, chosen, optional, optional_then_required, all_optional, scalars,
                             aliased, aliased_first, unused_types, strided, ragged, tables, sizes_of_outputs, no_inputs,
                             partial, derived, split, specialised, values, batch, names, names_beside_others)]
CASES += [combined(f"combined_{number}", features) for number, features in enumerate(combinations())]
