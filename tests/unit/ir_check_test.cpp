// What the builder refuses on types, axes and structure alone: each message where it belongs, and near misses that
// pass.
#include "ir_build_test.h"

using namespace kgen;
using namespace kgen::test;

namespace {

// x and y over M and N, w over K; outputs z[M, N], s[M]; blocks by `extra`.
std::string spec(const std::string &body, const std::string &extra = "") {
  return "kernel = \"k\"\ninputs.x = \"f32[M, N]\"\ninputs.w = \"f32[K]\"\noutputs.z = \"f32[M, N]\"\n" + extra +
         "body = '''\n" + body + "\n'''\n";
}

std::string refused(const std::string &text) {
  Built built = build(text);
  return built.kernel ? "no error\n" + print(*built.kernel) : built.messages;
}

std::string warned(const std::string &text) {
  Built built = build(text);
  return built.kernel ? built.messages : "refused: " + built.messages;
}

} // namespace

TEST_CASE("sizes of axes") {
  CHECK_CONTAINS(refused("kernel = \"k\"\ninputs.x = \"f32[N=M+1]\"\noutputs.z = \"f32[N=M]\"\nbody = 'z = 0;'\n"),
                 "axis `N` has size M + 1 here and size M there");
  CHECK_CONTAINS(
      refused("kernel = \"k\"\naxes.P = { multiple_of = 8 }\noutputs.z = \"f32[M]\"\nbody = 'z = index(P);'\n"),
      "the size of axis `P` is not known");
  CHECK_CONTAINS(refused("kernel = \"k\"\ninputs.x = \"f32[N=K]\"\noutputs.z = \"f32[K=N]\"\nbody = 'z = 0;'\n"),
                 "depends on itself");
}

TEST_CASE("a sum that became one per element is warned of, but for one over the rounds of a loop") {
  CHECK_CONTAINS(warned(spec("real s = 0; s += x; z = s;")), "becomes one per element");
  CHECK(warned(spec("real s = 0; for (int i = 0; i < 3; ++i) s += x * i; z = s;")).empty());
}

TEST_CASE("a fold keeps the axes that a constant takes from its argument, and only those") {
  const auto with = [](const std::string &body, int use = 0) {
    return build(spec(body, "params.use = " + std::to_string(use) + "\noutputs.s = \"f32[M]\"\n")).messages;
  };
  for (const char *body : {
           "z = 0; s = sum(use ? x : 1, N);",
           "z = 0; s = sum(1, N, where(!use || x > 0));",
           "z = 0; s = float(any(use != 0 && x > 0, N)) + max(use ? x : 1, N);",
           "z = cumsum(use ? x : 1, N); s = 0;",
           "real v = use ? x : 2; z = 0; s = mean(v * 2, N);",
           "real v = 2; if (use) v = x; real u = v; z = 0; s = sum(u, N);",
       })
    for (const int use : {0, 1})
      CHECK_MESSAGE(with(body, use).empty(), body << ": " << with(body, use));
  CHECK_CONTAINS(with("z = 0; s = sum(use ? w : 1, N, K);"),
                 "sum along N and K, along which its argument does not differ");
  CHECK_CONTAINS(with("z = 0; s = sum(use ? 2 : 1, N);"), "sum along N, along which its argument does not differ");
  CHECK_CONTAINS(with("z = use ? x : 1; s = sum(1, N);"), "sum along N, along which its argument does not differ");
}

TEST_CASE("windows of operands that share an axis") {
  std::string head = "kernel = \"k\"\ngrid.i = { axis = \"M\", block = 4, semantics = \"parallel\" }\n";
  CHECK_CONTAINS(refused(head + "inputs.x = \"f32[M=64]\"\noutputs.z = \"f32[M]\"\nbody = 'z = x;'\n"),
                 "`x` has 64 along `M`, but the grid blocks M");
  CHECK_CONTAINS(
      refused(
          head +
          "inputs.x = { type = \"f32[M]\", block = [8], index = [\"i\"] }\noutputs.z = \"f32[M]\"\nbody = 'z = x;'\n"),
      "along `M` the block of `x` is 8, that of `z` is 4");
  CHECK_CONTAINS(refused(head + "inputs.x = { type = \"f32[M]\", block = [\"whole\"], index = [1] }\noutputs.z = "
                                "\"f32[M]\"\nbody = 'z = at(x, M = 0);'\n"),
                 "a whole dimension of `x` has index 1");
  // Read through at alone, the windows may differ.
  CHECK_CONTAINS(printed(head + "inputs.x = { type = \"f32[M]\", block = [\"whole\"] }\noutputs.z = \"f32[M]\"\nbody = "
                                "'z = at(x, M = M - 1);'\n"),
                 "z{M} = x[M = index(M) - 1]");
}

TEST_CASE("an index that is not one number") {
  std::string text =
      "kernel = \"k\"\ngrid.i = { axis = \"M\", block = 4, semantics = \"parallel\" }\n"
      "inputs.x = { type = \"f32[M]\", block = [4], index = [\"i / 2\"] }\noutputs.z = \"f32[M]\"\nbody = 'z = ";
  CHECK_CONTAINS(refused(text + "x + index(M);'\n"), "its index is not one number");
  CHECK_CONTAINS(printed(text + "x + index(x, M);'\n"), "z{M} = x + f32(index(x, M))");
}

TEST_CASE("values and conditions wider than their target") {
  CHECK_CONTAINS(refused(spec("z = x * w;")), "`z` has no axis K, along which this value differs");
  CHECK_CONTAINS(refused(spec("z = 0; if (w > 0) z = x;")), "`z` has no axis K, along which the condition");
  CHECK_CONTAINS(refused("kernel = \"k\"\ninputs.x = \"f32[M, N]\"\noutputs.z = \"f32[]\"\nbody = 'z = x;'\n"),
                 "`z` has no axis M and N");
  CHECK_CONTAINS(printed(spec("z = x * sum(w, K);")), "z{M, N} = x * sum.f32[K](w)");
}

TEST_CASE("reductions of what is not there, or under conditions") {
  CHECK_CONTAINS(refused(spec("z = sum(x, K);")), "sum along K, along which its argument does not differ");
  CHECK_CONTAINS(refused(spec("z = cumsum(w, N);")), "along N, along which its argument does not differ");
  CHECK_CONTAINS(refused(spec("z = 0; if (x > 0) z = sum(x, N);")),
                 "sum along N under a condition that differs along N");
  CHECK_CONTAINS(refused(spec("z = 0; if (x > 0) z = cumsum(x, N);")), "under a condition that differs along N");
  CHECK_CONTAINS(refused(spec("float a = x; while (sum(a, N) > 1) a *= x;")), "output `z` is never written");
  CHECK_CONTAINS(refused(spec("float a = x; z = 0; while (a > 1) { a *= 0.5; z = max(a, N); }")),
                 "max along N under a condition that differs along N");
  CHECK_CONTAINS(refused(spec("float a = x; z = 0; if (x > 0) z = at(a, N = N - 1);")),
                 "`a` is read elsewhere along N");
  // Along other axes it is fine.
  CHECK_CONTAINS(printed(spec("z = 0; if (sum(x, N) > 0) z = sum(x, N);")), "if {M} sum.f32[N](x) > 0.0");
  CHECK_CONTAINS(printed(spec("z = sum(1, K, where(w > 0));")), "sum.i64[K](1 where w > 0.0)");
}

TEST_CASE("coordinates") {
  CHECK_CONTAINS(refused(spec("float a = sum(x, N); z = at(a, N = 0);")), "`a` has no axis N");
  CHECK_CONTAINS(
      refused(
          "kernel = \"k\"\ninputs.x = \"f32[M]\"\noutputs.z = \"f32[M]\"\n"
          "functions = 'real f(real v, axis A, axis B) { return at(v, A = 0, B = 1); }'\nbody = 'z = f(x, M, M);'\n"),
      "two coordinates along `M`");
  CHECK_CONTAINS(refused("kernel = \"k\"\ninputs.x = \"f32[M]\"\noutputs.z = \"f32[M]\"\n"
                         "functions = 'real f(real v, axis A) { return at(v + 1, A = 0); }'\nbody = 'z = f(x, M);'\n"),
                 "`at`");
}

TEST_CASE("blocked reductions: means, results that leave the block, scans without a carry") {
  std::string k = "grid.k = { axis = \"K\", block = 4 }\n", n = "grid.n = { axis = \"N\", block = 4 }\n";
  CHECK_CONTAINS(refused(spec("z = 0; if (last(k)) z = mean(w, K);", k)), "mean along `K`, which the grid blocks");
  CHECK_CONTAINS(refused(spec("z = x * argmax(x, N);", n)), "argmax along `N`, which the grid blocks");
  CHECK_CONTAINS(refused(spec("real e = exp(x - max(x, N)); z = e / sum(e, N);", n)),
                 "a reduction along `N` sees one block of `n` only, and its result reaches `z`");
  CHECK_CONTAINS(refused(spec("a = dot(w, w, K); if (last(k)) z = a;", k + "scratch.a = \"f32[]\"\n")),
                 "its result reaches `a`");
  CHECK_CONTAINS(refused(spec("z = cumsum(x, N);", n)), "a running value along `N` starts anew in each block of `n`");
  // Through a local, as an update, under last, or where the target moves.
  CHECK_CONTAINS(printed(spec("if (first(k)) a = 0; real t = a + sum(w, K); a = t; if (last(k)) z = a;",
                              k + "scratch.a = \"f32[]\"\n")),
                 "a{} = t");
  CHECK_CONTAINS(
      printed("kernel = \"k\"\ninputs.w = \"f32[K]\"\noutputs.p = \"f32[C]\"\naxes.C = { equals = \"cdiv(K, 4)\" }\n"
              "grid.k = { axis = \"K\", block = 4 }\nbody = 'p = sum(w, K);'\n"),
      "sees one block of `k` only");
  CHECK_CONTAINS(printed("kernel = \"k\"\ninputs.w = \"f32[K]\"\naxes.C = { equals = \"cdiv(K, 4)\" }\n"
                         "outputs.p = { type = \"f32[C]\", block = [1], index = [\"k\"] }\n"
                         "grid.k = { axis = \"K\", block = 4 }\nbody = 'p = sum(w, K);'\n"),
                 "p{C} = sum.f32[K](w)");
  // Scratch that moves with the blocks carries nothing.
  CHECK_CONTAINS(
      refused(spec("if (first(k)) z = 0; a = 1; a += cumsum(w, K); z += sum(a, K);", k + "scratch.a = \"f32[K]\"\n")),
      "a running value along `K` starts anew");
}

TEST_CASE("the causal online softmax by hand passes") {
  std::string text = R"T(
kernel = "k"
inputs.s = "f32[S, R]"
inputs.v = "f32[R, D]"
outputs.o = "f32[S, D]"
scratch.m = "f32[S]"
scratch.l = "f32[S]"
scratch.acc = "f32[S, D]"
grid.j = { axis = "R", block = [64, 128], semantics = "arbitrary" }
body = '''
bool start = first(j);
if (start) { m = -inf; l = 0; acc = 0; }
real m_new = max(m, max(s, R));
real p = exp(s - m_new);
real fix = exp(m - m_new);
l = l * fix + sum(p, R);
acc = acc * fix + dot(p, v, R);
m = m_new;
if (!last(j)) { } else o = acc / l;
'''
)T";
  CHECK_CONTAINS(printed(text), "o{S, D} = acc / l");
}

TEST_CASE("writes that every step repeats") {
  std::string k = "grid.k = { axis = \"K\", block = 4, semantics = \"arbitrary\" }\n";
  CHECK_CONTAINS(refused(spec("z = x;", k)), "steps of `k` write the same window of `z`");
  CHECK_CONTAINS(printed(spec("if (first(k)) z = x;", k)), "z{M, N} = x");
  CHECK_CONTAINS(printed(spec("if (k == 0) z = x; else z += 1;", k)), "z{M, N} := z + 1.0");
  CHECK_CONTAINS(printed(spec("if (k == size(k) - 1) z = x;", k)), "z{M, N} = x");
  CHECK_CONTAINS(refused(spec("if (k == 1) z = x;", k)), "steps of `k` write");
  CHECK_CONTAINS(printed("kernel = \"k\"\noutputs.z = { type = \"f32[M]\", overwrite = true }\n"
                         "grid.k = { size = \"5\", semantics = \"arbitrary\" }\nbody = 'z = k;'\n"),
                 "z{M} = f32(k)");
  CHECK_CONTAINS(printed("kernel = \"k\"\noutputs.z = \"f32[M]\"\ngrid.k = { size = \"1\" }\nbody = 'z = k;'\n"),
                 "z{M} = f32(k)");
}

TEST_CASE("sums over steps in half precision") {
  std::string text = "kernel = \"k\"\ninputs.x = \"f32[M, K]\"\noutputs.z = \"bf16[M]\"\n"
                     "grid.k = { axis = \"K\", block = 4, semantics = \"arbitrary\" }\nbody = 'if (first(k)) z = 0; ";
  CHECK_CONTAINS(refused(text + "z += sum(x, K);'\n"), "`z` is bf16: what is accumulated in it over the steps of `k`");
  CHECK_CONTAINS(printed("kernel = \"k\"\ninputs.x = \"f32[M]\"\noutputs.z = \"bf16[M]\"\nbody = 'z = x; z += 1;'\n"),
                 "z{M} := z + 1.0");
}

TEST_CASE("questions about windows") {
  std::string k = "grid.k = { axis = \"K\", block = 4, semantics = \"arbitrary\" }\n";
  CHECK_CONTAINS(refused(spec("if (first(z)) z = 0;", k)), "first(z): the window of `z` never moves");
  CHECK_CONTAINS(
      refused(spec("if (first(k)) z = 0; z += sum(w, K) * k;", "grid.k = { axis = \"K\", block = [4, 8] }\n")),
      "the block of `k` is a list of choices");
  CHECK_CONTAINS(
      refused(spec("if (first(k)) z = 0; z += sum(w, K) * block(K);", "grid.k = { axis = \"K\", block = [4, 8] }\n")),
      "the block of `k` is a list of choices");
}

TEST_CASE("optional operands") {
  std::string head = "kernel = \"k\"\ninputs.x = \"f32[N]\"\ninputs.b = { type = \"f32[N]\", optional = true }\n"
                     "outputs.z = \"f32[N]\"\nbody = '";
  CHECK_CONTAINS(refused(head + "z = x + b;'\n"), "`b` may be absent here");
  CHECK_CONTAINS(refused(head + "z = present(b) ? x : b;'\n"), "`b` may be absent here");
  CHECK_CONTAINS(refused(head + "z = x; if (present(b) || x > 0) z = b;'\n"), "`b` may be absent here");
  CHECK_CONTAINS(printed(head + "z = present(b) && b > 0 ? b : x;'\n"), "present(b) && b > 0.0 ? b : x");
  CHECK_CONTAINS(printed(head + "if (!present(b)) { z = x; } else { z = b; }'\n"), "z{N} = b");
  CHECK_CONTAINS(printed(head + "z = sum(b, N, where(present(b)));'\n"), "sum.f32[N](b where present(b))");
}

TEST_CASE("reads before writes") {
  CHECK_CONTAINS(refused(spec("z += x;")), "`z` is read before it is written");
  CHECK_CONTAINS(refused(spec("z = a;", "scratch.a = \"f32[M]\"\n")), "`a` is read but never written");
  CHECK_CONTAINS(refused(spec("float a = sum(x, M, N);")), "output `z` is never written");
  CHECK_CONTAINS(refused("kernel = \"k\"\ninputs.x = \"f32[N]\"\noutputs.z = { type = \"f32[N]\", alias = \"x\" "
                         "}\nbody = 'z += 1;'\n"),
                 "`z` is read before it is written");
  CHECK_CONTAINS(refused(spec("float a; if (x > 0) a = 1; z = a;")), "`a`");
  CHECK_CONTAINS(printed(spec("float a; if (x > 0) a = 1; else a = 2; z = a;")), "z{M, N} = a");
  CHECK_CONTAINS(printed(spec("float a; while (true) { if (x > 0) { a = 1; break; } a = 2; break; } z = a;")),
                 "z{M, N} = a");
}

TEST_CASE("writes at other coordinates") {
  std::string head =
      "kernel = \"k\"\ninputs.i = \"i32[N]\"\ninputs.x = \"f32[N]\"\noutputs.c = \"i32[K=9]\"\n"
      "outputs.f = { type = \"f32[K=9]\", atomic = true }\noutputs.g = \"f32[K=9]\"\nbody = 'c = 0; f = 0; g = 0; ";
  CHECK_CONTAINS(printed(head + "at(c, K = i) += 1; at(f, K = i) += x;'\n"), "c[K = i64(i)]{N} += 1");
  CHECK_CONTAINS(refused(head + "at(g, K = i) += x;'\n"), "`g` is floating");
  CHECK_CONTAINS(refused(head + "at(c, K = i) *= 2;'\n"), "`*=` cannot be used at other coordinates");
  CHECK_CONTAINS(refused(head + "at(c, K = i) = at(c, K = i) + 1;'\n"), "whose value reads `c`");
  CHECK_CONTAINS(refused(head + "float t = x; at(t, N = i) = 1;'\n"), "needs an output");
  CHECK_CONTAINS(
      refused("kernel = \"k\"\ninputs.i = \"i32[N]\"\noutputs.z = \"i32[K]\"\n"
              "grid.k = { axis = \"K\", block = 4, semantics = \"parallel\" }\nbody = 'z = 0; at(z, K = i) = 1;'\n"),
      "`z` is blocked along `K`");
}

TEST_CASE("a constant that becomes one number per element") {
  CHECK_CONTAINS(warned(spec("float s = 0; s += x; z = s;")),
                 "`s` starts as one number and becomes one per element of M and N");
  CHECK_CONTAINS(warned(spec("float s = 0; s += x; z = s;")), "write sum(..., M, N)");
  CHECK(warned(spec("float s = 0; s += sum(x, M, N); z = s;")) == "");
  CHECK(warned(spec("int n = 0; while (n < x) ++n; z = n;")) == "");
}

TEST_CASE("rows of a ragged axis cannot go alone") {
  CHECK_CONTAINS(refused("kernel = \"k\"\naxes.N = { ragged = \"t\", over = \"B\" }\ntables.t = \"i64[B + 1]\"\n"
                         "inputs.x = \"f32[B, N]\"\noutputs.z = \"f32[B, N]\"\nbody = 'z = sum(x, B);'\n"),
                 "reducing over the rows B of the ragged axis `N`");
}

TEST_CASE("means of blocks that a window makes") {
  std::string text = "kernel = \"k\"\ninputs.x = { type = \"f32[W]\", block = [400], offset = [\"160 * f\"] }\n"
                     "axes.F = { equals = \"(W - 400) / 160 + 1\" }\n";
  CHECK_CONTAINS(
      printed(text + "outputs.e = \"f32[F]\"\ngrid.f = { axis = \"F\", block = 1 }\nbody = 'e = mean(x, W);'\n"),
      "e{F} = mean.f32[W](x)");
  CHECK_CONTAINS(refused(text + "outputs.e = \"f32[]\"\ngrid.f = { size = \"F\" }\n"
                                "body = 'if (first(f)) e = 0; e += mean(x, W);'\n"),
                 "mean along `W`, which the grid blocks");
}

TEST_CASE("steps over a ragged axis are not one number") {
  CHECK_CONTAINS(refused("kernel = \"k\"\naxes.N = { ragged = \"t\", over = \"B\" }\ntables.t = \"i64[B + 1]\"\n"
                         "inputs.x = \"f32[B, N]\"\noutputs.z = \"f32[B, N]\"\n"
                         "grid.n = { axis = \"N\", block = 4 }\nbody = 'z = x + size(n);'\n"),
                 "over the ragged axis `N`");
}

TEST_CASE("the batch cannot be blocked") {
  CHECK_CONTAINS(refused("kernel = \"k\"\nbatch.B = [\"x\", \"z\"]\ninputs.x = \"f32[N]\"\noutputs.z = \"f32[N]\"\n"
                         "grid.b = { axis = \"B\", block = 1 }\nbody = 'z = x;'\n"),
                 "`B`");
}

TEST_CASE("a value that is stored elsewhere may call functions that make locals") {
  std::string body = "z = 0; ";
  for (int i = 0; i < 40; ++i) {
    body += "at(z, M = M) = several(x); ";
    const std::string functions = "functions = 'float several(float v) { for (int i = 0; i < 2; ++i) v += i; "
                                  "float a = v; float b = a * 2; if (v < 1) a = b; return a + b; }'\n";
    CHECK(warned(spec(body, functions)).empty());
  }
}

TEST_CASE("what is stored elsewhere may come from the array itself, through a local or a condition") {
  const auto counts = [](const std::string &body) {
    return warned("kernel = \"k\"\ninputs.x = \"i32[N]\"\noutputs.c = \"i32[N]\"\nbody = '''\nc = x;\n" + body +
                  "\n'''\n");
  };
  CHECK(counts("auto old = c; at(c, N = size(N) - 1 - N) = old;").empty());
  CHECK(counts("bool many = sum(c, N) > 3; at(c, N = x) += many ? 1 : 2;").empty());
  CHECK(counts("int v = x; at(c, N = x) += v; v = c; c += v;").empty());
  CHECK_CONTAINS(counts("at(c, N = x) = at(c, N = x) + 1;"), "whose value reads `c`");
  CHECK_CONTAINS(counts("at(c, N = x) += c;"), "whose value reads `c`");
}

TEST_CASE("an output in half precision that is set anew in each step holds no sum, whatever a local becomes later") {
  const auto halves = [](const std::string &body) {
    return warned(
        "kernel = \"k\"\ninputs.x = { type = \"f32[K, N]\", block = [\"squeeze\", \"whole\"], index = [\"k\", "
        "0] }\noutputs.q = { type = \"f16[N]\", overwrite = true }\ngrid.k = { size = \"K\", semantics = "
        "\"arbitrary\" }\nbody = '''\n" +
        body + "\n'''\n");
  };
  CHECK(halves("real v = x; q = v; if (x <= q) v = v - q; q = 2 * x;").empty());
  CHECK_CONTAINS(halves("real v = x; if (!first(k)) v += q; q = v;"), "is rounded at each step");
  CHECK_CONTAINS(halves("real v = x; for (int i = 0; i < 2; ++i) { q = v; v += q; }"), "is rounded at each step");
}
