// Whole numbers of 64 bits of which nobody asks but for the low 32 are numbers of 32 bits; all others stay.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/low_bits.h"

using namespace kgen;

namespace {

// What the body is then.
std::string rewritten(const std::string &body) {
  const test::Analysed a = test::analyse(
      "kernel = \"k\"\ninputs.x = \"i32[M, K]\"\ninputs.w = \"i64[M, K]\"\ninputs.u = \"u32[M, K]\"\n"
      "outputs.y = \"i32[M, K]\"\noutputs.far = { type = \"i64[M]\", overwrite = true }\nbody = '''\nfar = 0;\n" +
      body + "\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = low_bits(a.kernel);
  CHECK(verify(kernel) == "");
  const std::string text = print(kernel);
  const size_t from = text.find('\n', text.find("  far{"));
  return text.substr(from + 1);
}

} // namespace

TEST_CASE("totals that end in 32 bits have 32 bits") {
  CHECK(rewritten("y = sum(x, K);") == "  y{M, K} = sum.i32[K](x)\n");
  CHECK(rewritten("y = sum(x > 0, K);") == "  y{M, K} = sum.i32[K](i32(x > 0))\n");
  CHECK(rewritten("y = cumsum(x, K);") == "  y{M, K} = cumsum.i32[K](x)\n");
  CHECK(rewritten("y = 3 * sum(x, K) - prod(x, M);") == "  y{M, K} = 3 * sum.i32[K](x) - prod.i32[M](x)\n");
  CHECK(rewritten("y = sum(u, K);") == "  y{M, K} = i32(sum.u32[K](u))\n");
}

TEST_CASE("locals of which 32 bits are read have 32 bits") {
  CHECK(rewritten("int64_t v = x;\ny = v * v + 1;") == "  v{M, K} = x\n  y{M, K} = v * v + 1\n");
  CHECK(rewritten("int64_t n = 0;\nfor (int i = 0; i < 3; ++i) n += x;\ny = n;").find("  n{M, K} := n + x\n") !=
        std::string::npos);
}

TEST_CASE("what somebody needs whole stays, and so does what is made of wide numbers") {
  for (const std::string body :
       {"y = sum(x, K) / 3;", "y = sum(x, K) > 9;", "y = max(sum(x, K), sum(x, M));", "far = sum(x, K); y = x;",
        "int64_t v = sum(x, K);\nfar = v;\ny = v;", "y = sum(w, K);", "y = float(sum(x, K));",
        "int64_t v = sum(x, K);\ny = at(x, K = v);", "y = sum(x, K) >> 2;", "int64_t v = x;\nv = w;\ny = v;",
        "int64_t v = x;\ny = at(v, K = 0);"}) {
    const std::string text = rewritten(body);
    CHECK_MESSAGE(text.find("i64") != std::string::npos, body << " is " << text);
  }
}
