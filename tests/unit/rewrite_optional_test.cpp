// What serves optional outputs alone stands under the question whether they are there.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "rewrite/optional_outputs.h"

using namespace kgen;

namespace {

const std::string kOutputs = "inputs.x = \"f32[M, N]\"\noutputs.a = { type = \"f32[M]\", optional = true }\n"
                             "outputs.b = { type = \"f32[M]\", optional = true }\noutputs.c = \"f32[M]\"\n";

std::string guarded(const std::string &operands, const std::string &body) {
  const test::Analysed a = test::analyse("kernel = \"k\"\n" + operands + "body = '''\n" + body + "\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = guard_optional_outputs(a.kernel);
  CHECK(verify(kernel) == "");
  const std::string text = print(kernel);
  return text.substr(text.find("body\n") + 5);
}

} // namespace

TEST_CASE("an optional output is written where it is there") {
  CHECK(guarded(kOutputs, "a = sum(x, N);\nb = max(x, N);\nc = min(x, N);") ==
        "  if {} present(a)\n    a{M} = sum.f32[N](x)\n  if {} present(b)\n    b{M} = max.f32[N](x)\n  c{M} = "
        "min.f32[N](x)\n");
}

TEST_CASE("what serves two is computed where one is there, what serves another output always") {
  CHECK(guarded(kOutputs, "real s = sum(x, N);\nreal m = max(x, N);\na = s;\nb = s + 1;\nc = m;") ==
        "  if {} present(a) || present(b)\n    s{M} = sum.f32[N](x)\n  m{M} = max.f32[N](x)\n  if {} present(a)\n    "
        "a{M} = s\n"
        "  if {} present(b)\n    b{M} = s + 1.0\n  c{M} = m\n");
}

TEST_CASE("neighbours that serve the same stand under one question") {
  CHECK(
      guarded(kOutputs, "real s = sum(x, N);\na = s;\nb = 0;\nc = 0;") ==
      "  if {} present(a)\n    s{M} = sum.f32[N](x)\n    a{M} = s\n  if {} present(b)\n    b{M} = 0.0\n  c{M} = 0.0\n");
}

TEST_CASE("a kernel without optional outputs stays as it is") {
  const std::string plain = "inputs.x = \"f32[M]\"\noutputs.a = \"f32[M]\"\n";
  CHECK(guarded(plain, "a = x;") == "  a{M} = x\n");
}

TEST_CASE("an optional output may be written under its own question, and twice") {
  CHECK(guarded(kOutputs, "if (present(a)) a = 1;\nif (present(a)) a = 2;\nb = 0;\nc = 0;").find("b{M} = 0.0") !=
        std::string::npos);
}

TEST_CASE("where all outputs are optional what serves each of them is not asked about, as one is wanted") {
  const std::string both = kOutputs.substr(0, kOutputs.find("outputs.c"));
  CHECK(guarded(both, "real s = sum(x, N);\na = s;\nb = s + 1;") ==
        "  s{M} = sum.f32[N](x)\n  if {} present(a)\n    a{M} = s\n  if {} present(b)\n    b{M} = s + 1.0\n");
  CHECK(guarded("inputs.x = \"f32[M]\"\noutputs.a = { type = \"f32[M]\", optional = true }\n", "a = x;") ==
        "  if {} present(a)\n    a{M} = x\n");
}

TEST_CASE("under a condition each statement is asked about by itself") {
  CHECK(
      guarded(kOutputs, "a = 0;\nb = 0;\nc = 0;\nif (sum(x, N) > 0) {\n  real s = max(x, N);\n  a = s;\n  b = 1;\n}") ==
      "  if {} present(a)\n    a{M} = 0.0\n  if {} present(b)\n    b{M} = 0.0\n  c{M} = 0.0\n"
      "  if {} present(a) || present(b)\n    if {M} sum.f32[N](x) > 0.0\n      if {} present(a)\n"
      "        s{M} = max.f32[N](x)\n        a{M} = s\n      if {} present(b)\n        b{M} = 1.0\n");
}

TEST_CASE("in a loop what is written is asked about, and nothing else") {
  const std::string text =
      guarded(kOutputs, "a = 0;\nb = 0;\nc = 0;\nint i = 0;\nwhile (i < 3) { a = i; b = i + 1; ++i; }");
  CHECK(test::has(text, "if {} present(a)\n"));
  CHECK(test::has(text, "if {} present(b)\n"));
}
