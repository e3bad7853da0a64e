// The planner: a kernel's statements are placed, then the passes go over them. None may break what they say.
#include "plan/passes.h"
#include "plan/place/place.h"
#include "plan/plan.h"
#include "plan/verify/verify.h"
#include "support/check.h"

namespace kgen {

Plan make_plan(const Kernel &kernel, const Facts &facts, TargetKind target) {
  PlanVerifier verifier(kernel);
  const auto check = [&](const Plan &plan, const char *after) {
    if (const std::string wrong = verifier.check(plan); !wrong.empty())
      KGEN_UNREACHABLE((std::string("the plan of ") + kernel.name + " after " + after + ": " + wrong).c_str());
  };
  Plan plan = place(kernel, facts, target);
  check(plan, "place");
  for (const Pass &pass : passes())
    if (is_for(pass.targets, target)) {
      pass.apply(plan);
      check(plan, pass.name);
    }
  return plan;
}

} // namespace kgen
