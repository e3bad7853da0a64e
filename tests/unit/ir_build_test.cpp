// From a spec's text to its kernel: sizes, windows, types and accumulators, axes, as the printed kernel shows them.
#include "ir_build_test.h"

using namespace kgen;
using namespace kgen::test;

TEST_CASE("sizes: arguments in order of mention, fixed and computed axes are none") {
  std::string text = printed(R"T(
kernel = "k"
axes.D = [64, 128]
axes.F = 3
axes.P = { equals = "(H - F) / 2 + 1" }
tables.t = "i32[S + 1]"
inputs.x = "f32[A, D, (G C), E=4, Q=A]"
inputs.w = "f32[H, F]"
outputs.z = "f32[..., P]"
body = 'z = sum(x, A, D, G, C, E, Q) * sum(w, H, F);'
)T");
  CHECK_CONTAINS(text, "arguments t, x, w, z, S, A, D, G, C, H, rows\n");
  CHECK_CONTAINS(text, "D: size 64, specialised");
  CHECK_CONTAINS(text, "F: size 3,");
  CHECK_CONTAINS(text, "E: size 4,");
  CHECK_CONTAINS(text, "Q: size A,");
  CHECK_CONTAINS(text, "P: size (H - 3) / 2 + 1, derived");
  CHECK_CONTAINS(text, "input x: f32[A, D=64, (G C), E=4, Q=A]");
}

TEST_CASE("a plain mention makes the size an argument, other arrays may differ") {
  std::string text = printed(R"T(
kernel = "k"
grid.s = { size = "2", semantics = "parallel" }
inputs.a = { type = "f32[S, M=64]", block = ["squeeze", "whole"], index = ["s", 0] }
outputs.z = { type = "f32[M]", block = [64], index = ["s"] }
body = 'z = a;'
)T");
  CHECK_CONTAINS(text, "arguments a, z, S, M\n");
  CHECK_CONTAINS(text, "input a: f32[-=S: s + [1], M=64]");
  CHECK_CONTAINS(text, "M: size M, windows differ");
}

TEST_CASE("a square matrix needs one size") {
  CHECK_CONTAINS(printed(R"T(
kernel = "k"
inputs.x = "f32[N, K=N]"
outputs.z = "f32[N]"
body = 'z = sum(x, K);'
)T"),
                 "arguments x, z, N\n");
}

TEST_CASE("the grid blocks every operand with the axis; arbitrary dimensions have at least one step") {
  std::string text = printed(R"T(
kernel = "k"
params.bm = 0
inputs.x = "f32[M, K]"
outputs.z = "f32[M]"
scratch.acc = "f32[M]"
grid.i = { axis = "M", block = "bm", semantics = "parallel" }
grid.k = { axis = "K", block = "cdiv(K, 3)", semantics = "arbitrary" }
body = '''
if (first(k)) acc = 0;
acc += sum(x, K);
if (last(k)) z = acc;
'''
)T");
  CHECK_CONTAINS(text, "input x: f32[M: i + [1], K: k * max(cdiv(K, 3), 1) + [max(cdiv(K, 3), 1)]]");
  CHECK_CONTAINS(text, "scratch acc: f32[M=1]");
  CHECK_CONTAINS(text, "k: max(1, cdiv(K, max(cdiv(K, 3), 1))) steps");
  CHECK_CONTAINS(text, "i: M steps, M by 1, parallel");
}

TEST_CASE("a batch leads operands, outputs and the scratch that it reaches") {
  std::string text = printed(R"T(
kernel = "k"
batch.B = ["x", "z"]
inputs.x = "f32[N]"
inputs.y = "f32[N]"
outputs.z = "f32[]"
scratch.a = "f32[]"
scratch.b = "f32[]"
body = '''
a = sum(x, N);
b = sum(y, N);
z = a + b;
'''
)T");
  CHECK_CONTAINS(text, "arguments x, y, z, B, N\n");
  CHECK_CONTAINS(text, "input x: f32[B, N]");
  CHECK_CONTAINS(text, "input y: f32[N]");
  CHECK_CONTAINS(text, "scratch a: f32[B]");
  CHECK_CONTAINS(text, "scratch b: f32[]");
  CHECK_CONTAINS(text, "z{B} = a + b");
}

TEST_CASE("accumulators go by the operands before promotion") {
  auto accumulator = [](const std::string &types, const std::string &expression) {
    std::string text = "kernel = \"k\"\ninputs.x = \"" + types.substr(0, types.find(' ')) + "[N]\"\ninputs.y = \"" +
                       types.substr(types.find(' ') + 1) + "[N]\"\noutputs.z = \"f64[]\"\nbody = 'z = " + expression +
                       ";'\n";
    std::string out = statements(text);
    size_t at = out.find('.');
    return at == std::string::npos ? out : out.substr(at + 1, out.find('[') - at - 1);
  };
  CHECK(accumulator("i8 i8", "dot(x, y, N)") == "i32");
  CHECK(accumulator("i8 i8", "sum(x * y, N)") == "i32");
  CHECK(accumulator("i8 u8", "dot(x, y, N)") == "i32");
  CHECK(accumulator("u8 u16", "dot(x, y, N)") == "u32");
  CHECK(accumulator("u8 u16", "sum(x * y, N)") == "u32");
  CHECK(accumulator("i16 u16", "dot(x, y, N)") == "i32");
  CHECK(accumulator("u16 i16", "sum(x * y, N)") == "i32");
  CHECK(accumulator("i32 u32", "sum(x * y, N)") == "u64");
  CHECK(accumulator("u8 u8", "sum(x, N)") == "u32");
  CHECK(accumulator("i32 i8", "sum(x * y, N)") == "i64");
  CHECK(accumulator("i8 i8", "sum(2 * x + 1, N)") == "i32");
  CHECK(accumulator("i8 i8", "sum((int64_t)x * y, N)") == "i64");
  CHECK(accumulator("u32 u32", "sum(x, N)") == "u64");
  CHECK(accumulator("bool bool", "sum(x, N)") == "i64");
  CHECK(accumulator("bool i8", "dot(x, y, N)") == "i32");
  CHECK(accumulator("bool bool", "sum(x && y, N)") == "i64");
  CHECK(accumulator("i8 i8", "sum(x > 0, N)") == "i64");
  CHECK(accumulator("f16 bf16", "dot(x, y, N)") == "f32");
  CHECK(accumulator("f32 f64", "sum(x, N)") == "f32");
  CHECK(accumulator("f32 f64", "dot(x, y, N)") == "f64");
  CHECK(accumulator("f64 f32", "max(linrec(x, y, N), N)") == "f64");
  CHECK(accumulator("f32 f64", "max(linrec(x, y, N), N)") == "f64");
  CHECK(accumulator("f32 f32", "max(linrec(x, y, N), N)") == "f32");
  CHECK(accumulator("i8 i8", "prod(x, N)") == "i32");
  CHECK(accumulator("i8 i8", "mean(x, N)") == "f32");
  CHECK(accumulator("i8 i8", "max(x, N)") == "i8");
  CHECK(accumulator("i32 i32", "sum(x + 1 > 3 ? 1 : 0, N)") == "i64");
}

TEST_CASE("half types are f32 in the body and round at the store") {
  std::string text = printed(R"T(
kernel = "k"
inputs.x = "bf16[N]"
inputs.y = "f16[N]"
outputs.z = "bf16[N]"
body = '''
real a = x * y;
z = round_like(a, y) + round_like(a, z) + round_like(a, a);
'''
)T");
  CHECK_CONTAINS(text, "a: f32 {N}");
  CHECK_CONTAINS(text, "z{N} = round.f16(a) + round.bf16(a) + a");
}

TEST_CASE("literals are weak and exact") {
  CHECK(statements(R"T(
kernel = "k"
params.eps = 0.1
inputs.x = "f64[N]"
outputs.z = "f64[N]"
body = 'z = x * 0.3 + eps - 0.1f;'
)T") == "  z{N} = x * 0.3 + 0.1 - 0.10000000149011612\n");
}

TEST_CASE("conversions at stores, compound assignments in C++'s type") {
  CHECK(statements(R"T(
kernel = "k"
inputs.x = "f32[N]"
inputs.c = "i8[N]"
outputs.z = "i8[N]"
outputs.b = "bool[N]"
body = '''
z = x;
z += c;
z *= 0.5;
b = c;
'''
)T") == "  z{N} = i8(x)\n"
        "  z{N} := i8(i32(z) + i32(c))\n"
        "  z{N} := i8(f32(z) * 0.5)\n"
        "  b{N} = bool(c)\n");
}

TEST_CASE("axes of a local: values, conditions and loops, by a fixpoint") {
  std::string text = printed(R"T(
kernel = "k"
inputs.x = "f32[M]"
inputs.n = "i32[N]"
inputs.w = "f32[K]"
outputs.z = "f32[M, N, K]"
body = '''
float a = 0, b = 0, c = 0;
for (int i = 0; i < n; ++i) {
  b = a;
  a = c;
  c = x;
}
float d = 0;
if (w > 0) d = 1;
z = b + d;
'''
)T");
  CHECK_CONTAINS(text, "  c: f32 {M, N}");
  CHECK_CONTAINS(text, "  a: f32 {M, N}");
  CHECK_CONTAINS(text, "  b: f32 {M, N}");
  CHECK_CONTAINS(text, "  i: i32 {N}");
  CHECK_CONTAINS(text, "  d: f32 {K}");
}

TEST_CASE("break under a condition makes the rest of the loop conditional") {
  std::string text = printed(R"T(
kernel = "k"
inputs.x = "f32[M]"
outputs.z = "f32[M]"
body = '''
float a = 0;
int n = 0;
while (true) {
  n = n + 1;
  if (x * n > 10) break;
}
z = n;
'''
)T");
  CHECK_CONTAINS(text, "  n: i32 {M}");
  CHECK_CONTAINS(text, "  a: f32 {}");
  CHECK_CONTAINS(text, "while {M} true");
}

TEST_CASE("continue under a condition leaves the step to all elements") {
  std::string text = printed(R"T(
kernel = "k"
inputs.x = "f32[M]"
outputs.z = "f32[M]"
body = '''
float a = 0;
for (int i = 0; i < 4; ++i) {
  if (x > i) continue;
  a = a + i;
}
z = a;
'''
)T");
  CHECK_CONTAINS(text, "  i: i32 {}");
  CHECK_CONTAINS(text, "  a: f32 {M}");
  CHECK_CONTAINS(text, "while {M} i < 4");
}

TEST_CASE("ragged axes come with the axis of their rows") {
  std::string text = printed(R"T(
kernel = "k"
axes.N = { ragged = "start", over = "B" }
tables.start = "i64[B + 1]"
inputs.x = "f32[B, N, C]"
outputs.s = "i64[B]"
outputs.n = "i64[B]"
outputs.t = "f32[C]"
body = '''
s = sum(index(N), N);
n = size(N);
t = sum(x, B, N);
'''
)T");
  CHECK_CONTAINS(text, "input x: f32[(B N), C]");
  CHECK_CONTAINS(text, "s{B} = sum.i64[N](index(N))");
  CHECK_CONTAINS(text, "n{B} = size(N)");
}

TEST_CASE("scans, where, argmax and the windows of convolutions") {
  CHECK(statements(R"T(
kernel = "k"
axes.I = 3
inputs.x = "f32[N]"
inputs.a = "f32[N]"
outputs.y = "f32[N]"
outputs.i = "i64[]"
outputs.h = "f32[N]"
body = '''
y = cumsum_reverse_exclusive(x, N) + sum(at(x, N = N + I - 1), I, where(inside(x, N = N + I - 1)));
i = argmax(x, N, where(a > 0));
h = linrec(a, x, N);
'''
)T") == "  y{N} = cumsum_reverse_exclusive.f32[N](x) + sum.f32[I](x[N = index(N) + index(I) - 1] where inside(x[N = "
        "index(N) + index(I) - 1]))\n"
        "  i{} = argmax.f32[N](x where a > 0.0)\n"
        "  h{N} = linrec.f32[N](a, x)\n");
}

TEST_CASE("constant conditions choose at generation") {
  CHECK(statements(R"T(
kernel = "k"
params.mode = 2
inputs.x = "f32[N]"
outputs.z = "f32[N]"
body = '''
if (mode == 1) z = x; else z = mode > 1 && true ? -x : 0;
'''
)T") == "  z{N} = -x\n");
}
