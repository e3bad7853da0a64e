// What bodies become: types, conversions, weak literals, statements, builtins, functions.
#include <doctest/doctest.h>

#include "body_testing.h"

using namespace kgen;
using namespace kgen::body;

TEST_CASE("assignments and maths keep C++'s types") {
  CHECK(printed("o = x * 2 + alpha;") == "o = ((x * 2.0) + alpha)\n");
  CHECK(printed("auto i = w + 1; o = i;") == "i32 i = (i32'(w) + 1)\no = f32'(i)\n");
  CHECK(printed("int n = 0.7; bool b = x; o = b ? n : x;") ==
        "i32 n = i32'(0.7)\nbool b = bool'(x)\no = (b ? f32'(n) : x)\n");
  CHECK(printed("o = float(w) + (float)u + static_cast<float>(c) + int(x);") ==
        "o = (((f32(w) + f32(u)) + f32(c)) + f32'(i32(x)))\n");
  CHECK(printed("uint8_t b = 7; b <<= 2; o = b;") == "u8 b = 7:u8\nb <<= 2  // in i32\no = f32'(b)\n");
  CHECK(printed("o = -x + -0.5 + (!w ? ~c : +c);") == "o = ((-x + -0.5) + f32'((!bool'(w) ? ~c : c)))\n");
  CHECK(printed("o = 1u << w;") == "o = f32'((1:u32 << u32'(i32'(w))))\n");
}

TEST_CASE("an explicit cast has the place of the whole cast, however it is spelled") {
  for (const std::string cast : {"float(c)", "(float)c", "static_cast<float>(c)"}) {
    Diagnostics diags;
    const auto spec = load_spec("k.toml", kHead + "body = '''\no = x + " + cast + ";\n'''\n", {}, diags);
    REQUIRE(spec);
    const auto bodies = parse_body(*spec, variants_of(*spec), diags);
    REQUIRE(bodies);
    const Expr &sum = bodies->at(0).statements.at(0).value;
    REQUIRE(sum.args.size() == 2);
    CHECK_MESSAGE(sum.args[1].place.column == 9, cast);
    CHECK_MESSAGE(sum.args[1].place.length == static_cast<int>(cast.size()), cast);
  }
}

TEST_CASE("a type without a value is 0 of it") {
  CHECK(printed("o = x + float() + int();") == "o = ((x + 0.0:f32) + 0.0:f32)\n");
}

TEST_CASE("max, min and clamp take mixed types; integers stay integers") {
  CHECK(printed("o = max(x, 0) + clamp(x, -1, 1);") == "o = (max(x, 0.0) + clamp(x, -1.0, 1.0))\n");
  CHECK(printed("auto m = max(w, u); auto n = min(w, c); o = m + n;") ==
        "i8 m = max(w, u)\ni32 n = min(i32'(w), c)\no = f32'((i32'(m) + n))\n");
  CHECK(printed("auto a = exp(w); auto b = abs(w); o = a + b;") ==
        "f32 a = exp(f32'(w))\ni8 b = abs(w)\no = (a + f32'(i32'(b)))\n");
}

TEST_CASE("weak literals take the type they meet, with every digit") {
  const std::string head = "kernel = \"k\"\ntypes.T = [\"f32\", \"f64\"]\nparams.eps = 0.1\ninputs.x = \"T[N]\"\n"
                           "inputs.h = \"f32[N]\"\noutputs.o = \"T[N]\"\n";
  const Outcome out = parse_spec(head + "body = 'o = 0.1 * x + eps + h * 0.1 + exp(0.1) * x + -(0.1 + 2) * x;'\n");
  REQUIRE(out.bodies.size() == 2);
  CHECK(out.bodies[0] == "o = (((((0.1 * x) + 0.1) + (h * 0.1)) + (exp(0.1) * x)) + (-(0.1 + 2.0) * x))\n");
  CHECK(out.bodies[1] == "o = (((((0.1:f64 * x) + 0.1:f64) + f64'((h * 0.1))) + (exp(0.1:f64) * x)) + "
                         "(-(0.1:f64 + 2.0:f64) * x))\n");
}

TEST_CASE("auto of a constant is real, in double kernels too") {
  const std::string head = "kernel = \"k\"\ntypes.T = [\"f32\", \"f64\"]\ninputs.x = \"T[N]\"\noutputs.o = \"T[N]\"\n";
  const Outcome out = parse_spec(head + "functions = 'real f(real v) { const auto d = 0.3; return v * d; }'\n"
                                        "body = 'auto c = 0.1, d = 0.2; o = c * f(x) + d;'\n");
  REQUIRE(out.bodies.size() == 2);
  CHECK(out.bodies[0] == "f32 f#0(f32 v)\n  f32 d = 0.3\n  return (v * d)\nf32 c = 0.1\nf32 d = 0.2\n"
                         "o = ((c * f#0(x)) + d)\n");
  CHECK(out.bodies[1] == "f64 f#0(f64 v)\n  f64 d = 0.3:f64\n  return (v * d)\nf64 c = 0.1:f64\nf64 d = 0.2:f64\n"
                         "o = ((c * f#0(x)) + d)\n");
}

TEST_CASE("half types compute in f32") {
  const Outcome out = parse_spec("kernel = \"k\"\ntypes.T = [\"bf16\"]\ninputs.x = \"T[N]\"\noutputs.o = \"T[N]\"\n"
                                 "body = 'T a = x; real b = a; o = round_like(a + b, x);'\n");
  REQUIRE(out.bodies.size() == 1);
  CHECK(out.bodies[0] == "f32 a = x\nf32 b = a\no = round_like((a + b), x)\n");
}

TEST_CASE("compound assignments name the type they compute in") {
  CHECK(printed("c += w; c *= x; s -= 0.5; ++c; c--;") ==
        "c += i32'(w)  // in i32\nc *= x  // in f32\ns -= 0.5  // in f32\nc += 1  // in i32\nc -= 1  // in i32\n");
}

TEST_CASE("control flow") {
  CHECK(printed("int n = 0; while (n < 3) { if (x > n) break; else if (w) continue; ++n; } o = n;") ==
        "i32 n = 0\nwhile ((n < 3)) {\n  if ((x > f32'(n))) {\n    break\n  }\n  else {\n    if (bool'(w)) {\n"
        "      continue\n    }\n  }\n  n += 1  // in i32\n}\no = f32'(n)\n");
  CHECK(printed("for (int i = 0, j = 9; i < j; ++i, j -= 2) o = i; for (;;) break;") ==
        "i32 i = 0\ni32 j = 9\nwhile ((i < j)) {\n  o = f32'(i)\n}\nstep {\n  i += 1  // in i32\n"
        "  j -= 2  // in i32\n}\nwhile (true) {\n  break\n}\n");
  CHECK(printed("{ float a = x; o = a; } float a = 2; s = a;") == "{\n  f32 a = x\n  o = a\n}\nf32 a = 2.0\ns = a\n");
}

TEST_CASE("local arrays") {
  CHECK(printed("int t[2][bm] = {{1, 2}, {3}}; t[c][1] = t[0][w]; o = t[1][3];") ==
        "i32 t[2][4]\nt[0:i64][0:i64] = 1\nt[0:i64][1:i64] = 2\nt[1:i64][0:i64] = 3\n"
        "t[i64'(c)][1:i64] = t[0:i64][i64'(w)]\no = f32'(t[1:i64][3:i64])\n");
}

TEST_CASE("reductions and scans have the type of their accumulator") {
  CHECK(
      printed("auto a = sum(w, N); auto b = dot(w, u, N); auto d = sum(c, B); auto e = sum(x > 0, N); o = a+b+d+e;") ==
      "i32 a = sum(w, N)\ni32 b = dot(w, u, N)\ni64 d = sum(c, B)\ni64 e = sum((x > 0.0), N)\n"
      "o = f32'(((i64'((a + b)) + d) + e))\n");
  CHECK(printed("c = argmax(x, N); o = mean(w, N) + max(x, N, where(w > 0)) + any(x, N);") ==
        "c = i32'(argmax(x, N))\no = ((mean(f32'(w), N) + max(x, N, where((i32'(w) > 0)))) + "
        "f32'(i32'(any(bool'(x), N))))\n");
  CHECK(printed("o = cumsum_reverse_exclusive(x, N) + linrec(x, w, N) + cummax(x, B);") ==
        "o = ((cumsum_reverse_exclusive(x, N) + linrec(x, f32'(w), N)) + cummax(x, B))\n");
}

TEST_CASE("coordinates turn axes into indices") {
  CHECK(printed("o = at(x, N = 2*B + N - 1, B = max(B, 3) + k);") ==
        "o = at(x, N = (((2:i64 * index(B)) + index(N)) - 1:i64), B = (max(index(B), 3:i64) + k))\n");
  CHECK(printed("at(o, N = c) = x; at(c, B = row[index(B) + 1]) += 1; o = inside(x, N = w) ? 1 : 0;") ==
        "at(o, N = i64'(c)) = x\nat(c, B = i64'(row[(index(B) + 1:i64)])) += 1  // in i32\n"
        "o = f32'((inside(x, N = i64'(w)) ? 1 : 0))\n");
}

TEST_CASE("places, steps and the rest of the builtins") {
  CHECK(printed("if (first(k) && last(o)) o = index(N) + index(x, N) + size(N) + size(k) + block(N) + k;") ==
        "if ((first(k) && last(o))) {\n"
        "  o = f32'((((((index(N) + index(x, N)) + size(N)) + size(k)) + block(N)) + k))\n}\n");
  CHECK(printed("o = present(y) ? y : inf; assert(x > 0); c = bitcast<int>(x) + popcount(c);") ==
        "o = (present(y) ? y : inf)\nassert((x > 0.0))\nc = (bitcast<i32>(x) + popcount(c))\n");
  CHECK(printed("o = random(3, index(N)) + (random_bits(3, k) >> 3) + isnan(x);") ==
        "o = ((random(3:i64, index(N)) + f32'((random_bits(3:i64, k) >> 3:u32))) + f32'(i32'(isnan(x))))\n");
}

TEST_CASE("functions are instantiated once per set of types") {
  CHECK(printed("o = twice(x) + twice(w) + twice(s);", "template <class V> V twice(V v) { return v + v; }") ==
        "f32 twice#0(f32 v)\n  return (v + v)\ni8 twice#1(i8 v)\n  return i8'((i32'(v) + i32'(v)))\n"
        "o = ((twice#0(x) + f32'(i32'(twice#1(w)))) + twice#0(s))\n");
  CHECK(printed("o = f(x, B);",
                "constexpr real kHalf = 0.5;\n"
                "real f(real v, axis A, real by = 0.25) { v = sum(v, A); return v * by * kHalf * eps; }") ==
        "f32 f#0(f32 v, axis A, f32 by)\n  v = sum(v, A)\n  return (((v * by) * 0.5) * 1e-05)\n"
        "o = f#0(x, B, 0.25)\n");
}

TEST_CASE("a function of the spec goes before one of the library") {
  const Outcome own = parse_text("o = relu(x);", "real relu(real v) { return v > 1 ? v : 1; }");
  CHECK(own.messages == "15:6: `relu` takes the place of the library function\n");
  CHECK(own.bodies.at(0) == "f32 relu#0(f32 v)\n  return ((v > 1.0) ? v : 1.0)\no = relu#0(x)\n");
}

TEST_CASE("a param that names a function is called") {
  const Outcome out = parse_spec("kernel = \"k\"\nparams.act = [\"relu\", \"tanh\", \"own\"]\ninputs.x = \"f32[N]\"\n"
                                 "outputs.o = \"f32[N]\"\nfunctions = 'real own(real v) { return v; }'\n"
                                 "body = 'o = act(x);'\n");
  REQUIRE(out.bodies.size() == 3);
  CHECK(out.bodies[0] == "f32 relu#0(f32 v)\n  return max(v, 0.0)\no = relu#0(x)\n");
  CHECK(out.bodies[1] == "o = tanh(x)\n");
  CHECK(out.bodies[2] == "f32 own#0(f32 v)\n  return v\no = own#0(x)\n");
}

TEST_CASE("double arithmetic without f64 is a warning, once a statement") {
  CHECK(messages("double q = 0.1; o = q + q;") ==
        "15:8: warning: double arithmetic in a kernel without f64 | write `real` or `float`\n");
}
