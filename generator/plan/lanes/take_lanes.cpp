#include "plan/lanes/take_lanes.h"

#include "plan/index/access.h"
#include "plan/lanes/totals.h"

namespace kgen {

void take_lanes(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  const LaneAnalysis analysis(plan);
  const std::set<const PlanNode *> taken = analysis.choose();
  for (Phase &phase : plan.phases)
    for (PlanNode &root : phase.nodes)
      for_each_node(root, [&](PlanNode &node) {
        if (taken.count(&node) == 0)
          return;
        node.on_lanes.emplace();
        find_totals(plan, analysis, node);
      });
}

} // namespace kgen
