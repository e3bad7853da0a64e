// A loop that counts through an axis and adds up is a fold along the axis; one of which a round needs more stays a
// loop.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/choices.h"
#include "rewrite/folds_of_loops.h"

using namespace kgen;

namespace {

// What the statements are then, from the one that sets `s` on.
std::string rewritten(const std::string &body, const std::string &axes = "") {
  const test::Analysed a = test::analyse("kernel = \"k\"\n" + axes +
                                         "inputs.x = \"f32[M, K]\"\ninputs.z = \"f32[K]\"\ninputs.n = \"i32[M]\"\n"
                                         "outputs.y = \"f32[M, K]\"\nbody = '''\nfloat s = 0;\n" +
                                         body + "\ny = s;\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = folds_of_loops(branches_as_choices(a.kernel));
  CHECK(verify(kernel) == "");
  const std::string text = print(kernel);
  const size_t from = text.find("  s{", text.find("\nbody\n"));
  return text.substr(from, text.find("  y{") - from);
}

bool stays(const std::string &body, const std::string &axes = "") {
  return rewritten(body, axes).find("while") != std::string::npos;
}

std::string folded(const std::string &round, const std::string &head = "for (int k = 0; k < size(K); ++k)") {
  const std::string text = rewritten(head + " { " + round + " }");
  CHECK(text.find("while") == std::string::npos);
  return text.substr(text.find('\n') + 1);
}

} // namespace

TEST_CASE("what rounds add up is a fold") {
  CHECK(folded("s += at(x, K = k) * at(z, K = k);") == "  s{M} := s + sum.f32[K](x * z)\n");
  CHECK(folded("s -= at(x, K = k);") == "  s{M} := s + sum.f32[K](-x)\n");
  CHECK(folded("s *= at(x, K = k);") == "  s{M} := s * prod.f32[K](x)\n");
  CHECK(folded("s = max(at(x, K = k), s);") == "  s{M} = max(s, max.f32[K](x))\n");
  CHECK(folded("s = fma(at(x, K = k), at(z, K = k), s);") == "  s{M} = s + sum.f32[K](x * z)\n");
  CHECK(folded("s += at(x, K = k) * k;") == "  s{M} := s + sum.f32[K](x * f32(i32(index(K))))\n");
  CHECK(folded("if (at(x, K = k) > 0) s += at(z, K = k);") == "  s{M} = s + sum.f32[K](z where x > 0.0)\n");
  CHECK(folded("s += at(z, K = k);", "for (int64_t k = 0; k != size(K); k++)") == "  s{} := s + sum.f32[K](z)\n");
}

TEST_CASE("several totals may stand under one condition") {
  const std::string text = rewritten("int r = 0;\nfor (int k = 0; k < size(K); ++k)\n"
                                     "  if (at(x, K = k) > 0) { s += at(z, K = k); ++r; }\ns += r;");
  CHECK(text.find("  s{M} = s + sum.f32[K](z where x > 0.0)\n  r{M} = r + sum.i32[K](1 where x > 0.0)\n") !=
        std::string::npos);
}

TEST_CASE("locals that each round sets for itself are statements along the axis") {
  CHECK(folded("float d = at(x, K = k) - at(z, K = k); s += d * d;") ==
        "  d{M, K} = x - z\n  s{M} := s + sum.f32[K](d * d)\n");
}

TEST_CASE("the best of all rounds, and where it was, leave out what is no number") {
  const std::string best = "  greatest_v{M} = max.f32[K](v == v ? v : -inf)\n";
  CHECK(folded("float v = at(x, K = k); if (v > s) s = v;") ==
        "  v{M, K} = x\n" + best + "  s{M} = greatest_v > s ? greatest_v : s\n");
  const std::string both = rewritten("int p = 0;\nfor (int k = 0; k < size(K); ++k) {\n  float v = at(x, K = k);\n"
                                     "  if (v > s) { s = v; p = k; }\n}\ns += p;");
  CHECK(both.find("  p{M} = greatest_v > s ? i32(argmax.f32[K](v == v ? v : -inf)) : p\n") != std::string::npos);
  CHECK(stays("int p = 0;\nfor (int k = 0; k < size(K); ++k) {\n  float v = at(x, K = k);\n"
              "  if (v >= s) { s = v; p = k; }\n}\ns += p;"));
}

TEST_CASE("of a part of the axis, the positions to which it counts") {
  CHECK(folded("s += at(x, K = k);", "for (int k = 1; k < size(K); ++k)") ==
        "  s{M} := s + sum.f32[K](x where index(K) >= i64(1))\n");
  CHECK(folded("s += at(x, K = k);", "for (int k = 0; k < size(K) - 2; ++k)") ==
        "  s{M} := s + sum.f32[K](x where index(K) < size(K) - 2)\n");
  CHECK(stays("for (int k = 0; k < size(K) + 1; ++k) s += at(x, K = k);"));
  CHECK(stays("for (int k = 0; k < n; ++k) s += at(x, K = k);"));
  CHECK(stays("for (int k = -1; k < size(K); ++k) s += at(x, K = k);"));
}

TEST_CASE("where the point has a place along the axis, the rounds have an axis of their own") {
  CHECK(folded("s += at(x, K = k) * x;") == "  s{M, K} := s + sum.f32[K_k](x[K = index(K_k)] * x)\n");
  CHECK(folded("s += at(z, K = k);", "for (int k = 0; k <= index(K); ++k)") ==
        "  s{K} := s + sum.f32[K_k](z[K = index(K_k)] where index(K_k) <= index(K))\n");
}

TEST_CASE("a loop stays where a round needs more of those before, or somebody looks at one round") {
  for (const std::string round :
       {"s = s / 2 + at(x, K = k);", "s = at(x, K = k) - s;", "if (s > 9) break; s += at(x, K = k);",
        "if (at(x, K = k) > 9) continue; s += at(x, K = k);", "s += at(x, K = k); s *= at(z, K = k);",
        "s += at(x, K = k); s -= at(z, K = k);", "float v = at(x, K = k); s += v / sum(v, M);",
        "s += at(x, K = k) * s;", "if (s > 3) s += at(x, K = k);", "s += 1;"})
    CHECK_MESSAGE(stays("for (int k = 0; k < size(K); ++k) { " + round + " }"), round);
  CHECK(stays(
      "float before = 0;\nfor (int k = 0; k < size(K); ++k) { s += before * at(x, K = k); before = at(x, K = k); }"));
  CHECK(stays(
      "float before = 0;\nfor (int k = 0; k < size(K); ++k) { before = at(x, K = k); s += before; }\ns += before;"));
  CHECK(stays("int k = 0;\nfor (k = 0; k < size(K); ++k) s += at(x, K = k);\ns += k;"));
  CHECK(stays("for (int k = 0; k < size(K); ++k) { s += at(x, K = k); ++k; }"));
  CHECK(stays("for (int k = 0; k < size(K); k += 2) s += at(x, K = k);"));
  CHECK(stays("int e = size(K);\nfor (int k = 0; k < e; ++k) { s += at(x, K = k); e -= 1; }"));
  CHECK(stays("for (int k = 0; k < size(K); ++k) s += at(x, K = k);", "axes.K = 4\n")); // compilers write it out
}
