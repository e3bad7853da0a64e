// Calls that want all optional outputs: a plan that asks nothing, where that changes the loops.
#include "analysis_harness.h"

#include <doctest/doctest.h>

#include "plan/variants/all_outputs.h"
#include "rewrite/canonicalize.h"
#include "rewrite/optional_outputs.h"

using namespace kgen;

namespace {

struct Plans {
  Plan asking;
  std::optional<Plan> all;
};

Plans plans_of(const std::string &body) {
  const test::Analysed a = test::analyse(R"(kernel = "k"
inputs.x = "f32[M, N]"
inputs.d = "f32[M, N]"
outputs.d_x = { type = "f32[M, N]", optional = true }
outputs.d_w = { type = "f32[N]", optional = true }
body = '''
)" + body + "\n'''\n");
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  const Kernel kernel = canonicalize(a.kernel, a.facts);
  const Plan asking = make_plan(guard_optional_outputs(kernel), a.facts, TargetKind::openmp);
  const std::optional<Kernel> all = with_all_outputs(kernel);
  REQUIRE(all);
  return {asking, plan_all_outputs(*all, a.facts, asking)};
}

size_t times(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_CASE("where questions part loops, calls that want both have a plan without any") {
  const Plans plans = plans_of("real s = sum(x, N);\nd_x = d * s;\nd_w = sum(d * s, M);");
  CHECK(times(print(plans.asking), "if present(d_x)") > 0);
  REQUIRE(plans.all);
  CHECK(times(print(*plans.all), "present(") == 0);
}

TEST_CASE("what is heavy and serves outputs one by one is computed for each that is wanted, in loops of its own") {
  const Plans plans = plans_of("real s = d * exp(x) * erf(x);\nd_x = s;\nd_w = sum(s, M);");
  REQUIRE(plans.all);
  CHECK(plans.asking.phases.size() == 2);
  CHECK(times(print(plans.asking), "for N") == 2);
}

TEST_CASE("where nothing is shared all calls have one plan") {
  const Plans plans = plans_of("d_x = d * x;\nd_w = 0;");
  CHECK(times(print(plans.asking), "if present(d_x)") == 1);
  CHECK(!plans.all);
}

TEST_CASE("the condition names all optional outputs") {
  const Plans plans = plans_of("d_x = d;\nd_w = 0;");
  CHECK(all_outputs_condition(plans.asking.kernel, [](const std::string &name) { return name; }) ==
        "d_x != nullptr && d_w != nullptr");
}
