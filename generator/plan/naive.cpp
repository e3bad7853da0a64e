#include "plan/naive.h"

#include "plan/place/storage.h"
#include "plan/program/lower.h"
#include "plan/program/prune.h"
#include "plan/tree/tree.h"

namespace kgen {

Plan make_naive_plan(const Kernel &kernel, const Facts &facts) {
  Plan plan;
  plan.kernel = kernel;
  mark_safe(plan.kernel, facts);
  plan.axis_order = memory_order(kernel);
  std::vector<PlanNode> program = lower(plan.kernel);
  prune(plan.kernel, program);
  Phase all;
  all.nodes = build_tree(plan.kernel, plan.axis_order, std::move(program), Fusion::none);
  plan.phases.push_back(std::move(all));
  place_variables(plan);
  return plan;
}

} // namespace kgen
