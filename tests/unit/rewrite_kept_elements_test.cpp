// What is nothing to a fold where a condition does not hold is left out by it.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/kept_elements.h"

using namespace kgen;

namespace {

// What `s` is then.
std::string rewritten(const std::string &fold) {
  const test::Analysed a = test::analyse("kernel = \"k\"\ninputs.x = \"f32[M, K]\"\ninputs.c = \"bool[K]\"\n"
                                         "outputs.y = \"f32[M]\"\nbody = '''\nauto s = " +
                                         fold + ";\ny = s;\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = kept_elements(a.kernel);
  CHECK(verify(kernel) == "");
  const std::string text = print(kernel);
  const size_t from = text.find(" = ", text.find("  s{", text.find("\nbody\n"))) + 3;
  return text.substr(from, text.find('\n', from) - from);
}

} // namespace

TEST_CASE("elements that are nothing to the fold are left out") {
  CHECK(rewritten("sum(c ? x * x : 0, K)") == "sum.f32[K](x * x where c)");
  CHECK(rewritten("sum(c ? 0 : x, K)") == "sum.f32[K](x where !c)");
  CHECK(rewritten("prod(c ? x : 1, K)") == "prod.f32[K](x where c)");
  CHECK(rewritten("max(c ? x : -inf, K)") == "max.f32[K](x where c)");
  CHECK(rewritten("min(c ? x : inf, K)") == "min.f32[K](x where c)");
  CHECK(rewritten("any(c ? x > 0 : false, K)") == "any.bool[K](x > 0.0 where c)");
  CHECK(rewritten("all(c ? x > 0 : true, K)") == "all.bool[K](x > 0.0 where c)");
}

TEST_CASE("so are those that are widened first") {
  CHECK(rewritten("sum(c ? index(K) < 9 : false, K)") == "sum.i64[K](i64(index(K) < 9) where c)");
  CHECK(rewritten("sum(int64_t(uint32_t(c ? int(x) : 0)), K)").find("where") == std::string::npos);
  CHECK(rewritten("sum(c ? int(x) : 0, K)") == "sum.i64[K](i64(i32(x)) where c)");
}

TEST_CASE("they are left out beside those that `where` leaves out") {
  CHECK(rewritten("sum(c ? x : 0, K, where(x > 1))") == "sum.f32[K](x where x > 1.0 && c)");
}

TEST_CASE("elements that a fold takes up stay") {
  for (const std::string fold : {"sum(c ? x : 1, K)", "prod(c ? x : 0, K)", "max(c ? x : 0, K)", "mean(c ? x : 0, K)",
                                 "argmax(c ? x : -inf, K)", "any(c ? x > 0 : true, K)", "sum((c ? x : 0) + 1, K)"})
    CHECK_MESSAGE(rewritten(fold).find("where") == std::string::npos, fold);
}
