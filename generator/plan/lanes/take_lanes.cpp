#include "plan/lanes/take_lanes.h"

#include <map>
#include <set>

#include "plan/index/access.h"
#include "plan/index/uses.h"
#include "plan/lanes/ahead.h"
#include "plan/lanes/records.h"
#include "plan/lanes/totals.h"
#include "plan/lanes/turned.h"

namespace kgen {
namespace {

// Outputs that nothing reads, element by element or in whole records.
void find_streamed(const Plan &plan, const LaneAnalysis &analysis, const std::map<VarId, int> &uses, PlanNode &loop) {
  const auto is_written_only = [&](const PlanNode &n, int64_t times) {
    if (n.kind != PlanNode::Kind::assign)
      return false;
    const Var &var = plan.kernel.vars[n.target];
    return var.kind == Var::Kind::output && var.type != Type::boolean && uses.at(n.target) == times;
  };
  for (PlanNode &n : loop.body)
    n.streamed = n.coords.empty() && is_written_only(n, 1) &&
                 analysis.step_of(n.target, {}, loop.axis).kind == LaneStep::Kind::neighbour;
  for_each_node(loop, [&](PlanNode &n) {
    if (n.kind == PlanNode::Kind::assign && n.fields > 0)
      n.streamed = is_written_only(n, n.fields);
    else if (n.fields > 0)
      for (PlanNode &inside : n.body)
        inside.streamed = inside.field.has_value() && is_written_only(inside, 1);
  });
}

class Lanes {
public:
  explicit Lanes(const Plan &plan)
      : plan_(plan), analysis_(plan), taken_(analysis_.choose()), uses_(count_uses(plan)) {}

  void take(Phase &phase) const {
    take(phase.nodes, {});
    find_crossing(plan_, analysis_, phase);
    find_ahead(plan_, analysis_, phase);
  }

private:
  // `in_parts`: axes of which a loop around goes over parts, which are shorter than blocks.
  void take(std::vector<PlanNode> &nodes, AxisSet in_parts) const {
    for (PlanNode &n : nodes) {
      if (taken_.count(&n) != 0) {
        n.on_lanes.emplace();
        find_totals(plan_, analysis_, n, in_parts.contains(n.axis));
        find_records(plan_, analysis_, n, in_parts);
        find_streamed(plan_, analysis_, uses_, n);
      }
      for (auto *inner : {&n.body, &n.otherwise, &n.step})
        take(*inner, n.parts > 0 ? in_parts | AxisSet::of(n.axis) : in_parts);
    }
  }

  const Plan &plan_;
  const LaneAnalysis analysis_;
  const std::set<const PlanNode *> taken_;
  const std::map<VarId, int> uses_;
};

} // namespace

void take_lanes(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  const Lanes lanes(plan);
  for (Phase &phase : plan.phases)
    lanes.take(phase);
}

} // namespace kgen
