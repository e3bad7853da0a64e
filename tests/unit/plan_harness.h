// Specs as text through all stages up to the plan, for tests.
#pragma once

#include "analysis_harness.h"

#include "plan/plan.h"
#include "rewrite/canonicalize.h"

namespace kgen::test {

inline Plan plan_of(const std::string &text, TargetKind target) {
  const Analysed a = analyse(text);
  INFO(a.errors);
  REQUIRE(a.built);
  REQUIRE(a.errors.empty());
  return make_plan(canonicalize(a.kernel, a.facts), a.facts, target);
}

} // namespace kgen::test
