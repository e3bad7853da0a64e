// A fold that is asked for several times is found once, where it has one value.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/share.h"

using namespace kgen;

namespace {

const std::string kRows = "inputs.x = \"f32[M, N]\"\noutputs.a = \"f32[M]\"\noutputs.b = \"f32[M]\"\n";

// The statements after it, as they print.
std::string shared(const std::string &operands, const std::string &body) {
  const test::Analysed a = test::analyse("kernel = \"k\"\n" + operands + "body = '''\n" + body + "\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = share_folds(a.kernel);
  CHECK(verify(kernel) == "");
  const std::string text = print(kernel);
  return text.substr(text.find("body\n") + 5);
}

} // namespace

TEST_CASE("a mean that is written twice is found once") {
  CHECK(shared(kRows, "real d = x - mean(x, N);\na = mean(x, N);\nb = mean(d * d, N);") ==
        "  mean_x{M} = mean.f32[N](x)\n  d{M, N} = x - mean_x\n  a{M} = mean_x\n  b{M} = mean.f32[N](d * d)\n");
}

TEST_CASE("an inner fold comes before the one around it") {
  CHECK(shared(kRows, "a = log(sum(exp(x - max(x, N)), N));\nb = sum(exp(x - max(x, N)), N) + max(x, N);") ==
        "  greatest_x{M} = max.f32[N](x)\n  sum_exp_x{M} = sum.f32[N](exp(x - greatest_x))\n  a{M} = log(sum_exp_x)\n"
        "  b{M} = sum_exp_x + greatest_x\n");
}

TEST_CASE("one statement may ask for it several times, within another fold, too") {
  CHECK(shared(kRows, "a = log(sum(exp(x - max(x, N)), N)) + max(x, N);\nb = 0;") ==
        "  greatest_x{M} = max.f32[N](x)\n  a{M} = log(sum.f32[N](exp(x - greatest_x))) + greatest_x\n  b{M} = 0.0\n");
}

TEST_CASE("a fold of locals is found once where each of them is set once") {
  CHECK(shared(kRows, "real e = exp(x);\na = log(sum(e, N));\nb = 1 / sum(e, N);") ==
        "  e{M, N} = exp(x)\n  sum_e{M} = sum.f32[N](e)\n  a{M} = log(sum_e)\n  b{M} = 1.0 / sum_e\n");
  const auto unchanged = [](const std::string &body) { return shared(kRows, body).find("sum{") == std::string::npos; };
  CHECK(unchanged("real e = exp(x);\na = sum(e, N);\ne = e + 1;\nb = sum(e, N);"));
  CHECK(unchanged("real e = exp(x);\nif (index(M) > 3) e = 0;\na = sum(e, N);\nb = sum(e, N);"));
  CHECK(unchanged("a = 0;\nb = 0;\nif (index(M) > 3) { real e = exp(x); a = sum(e, N); }\n"
                  "if (index(M) < 2) { real e = x; b = sum(e, N); }"));
}

TEST_CASE("what differs, may change or may never be computed is not shared") {
  const auto unchanged = [](const std::string &operands, const std::string &body) {
    return shared(operands, body).find("sum{") == std::string::npos;
  };
  CHECK(unchanged(kRows, "a = sum(x, N);\nb = sum(x * 2, N);"));
  CHECK(unchanged(kRows, "a = 0;\nif (index(M) > 3) a = sum(x, N);\nb = sum(x, N);"));
  CHECK(unchanged(kRows, "a = index(M) > 3 ? sum(x, N) : 0;\nb = sum(x, N);"));
  const std::string in_place = "inputs.x = \"f32[N]\"\noutputs.y = { type = \"f32[N]\", alias = \"x\" }\n"
                               "outputs.a = \"f32[]\"\noutputs.b = \"f32[]\"\n";
  CHECK(unchanged(in_place, "a = sum(x, N);\ny = x;\nb = sum(y, N);"));
}
