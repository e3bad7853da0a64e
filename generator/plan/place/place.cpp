#include "plan/place/place.h"

#include <set>

#include "plan/place/storage.h"
#include "plan/program/elsewhere.h"
#include "plan/program/lower.h"
#include "plan/program/prune.h"
#include "plan/tidy/products.h"
#include "plan/tree/phases.h"
#include "plan/tree/tree.h"

namespace kgen {
namespace {

constexpr int kPlacementRounds = 8;

// The phases with their loops, each variable where it belongs. What `recomputing` names is stored in any case.
Plan place(const Kernel &kernel, const Facts &facts, TargetKind target, Recomputing &recomputing) {
  Plan plan;
  plan.target = target;
  plan.decisions = Decisions(kernel.pins, target);
  plan.kernel = kernel;
  mark_safe(plan.kernel, facts);
  if (target == TargetKind::openmp)
    mark_fused(plan.kernel);
  plan.axis_order = memory_order(kernel);
  std::vector<PlanNode> program = lower(plan.kernel);
  compute_elsewhere(plan, program);
  int rounds = 0;
  do {
    prune(plan.kernel, program);
    plan.phases =
        make_phases(plan.kernel, build_tree(plan.kernel, plan.axis_order, program, Fusion::greedy, target), target);
    place_variables(plan);
  } while (++rounds < kPlacementRounds && recompute_cheap_locals(plan, program, recomputing) && // makes new variables
           !recomputing.has_too_many());
  return plan;
}

} // namespace

Plan place(const Kernel &kernel, const Facts &facts, TargetKind target) {
  Recomputing recomputing;
  Plan plan = place(kernel, facts, target, recomputing);
  if (recomputing.has_too_many()) {
    recomputing = {{}, true, {}};
    plan = place(kernel, facts, target, recomputing);
  }
  const std::set<VarId> in_vain = computed_again_in_vain(plan, recomputing);
  if (!in_vain.empty()) {
    recomputing = {in_vain, recomputing.only_light, {}};
    plan = place(kernel, facts, target, recomputing);
  }
  merge_copies(plan, recomputing);
  return plan;
}

} // namespace kgen
