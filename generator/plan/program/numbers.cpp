#include "plan/program/numbers.h"

#include <map>

#include "plan/index/access.h"
#include "plan/program/prune.h"

namespace kgen {

void number_statements(const Kernel &kernel, std::vector<PlanNode> &program) {
  std::map<VarId, int> assignments;
  for (const PlanNode &root : program)
    for_each_node(root, [&](const PlanNode &node) {
      assignments[node.target] += node.kind == PlanNode::Kind::assign && !changes_nothing(kernel, node);
    });
  int next = 0;
  for (PlanNode &root : program)
    for_each_node(root, [&](PlanNode &node) {
      const bool adds = node.kind == PlanNode::Kind::fold_step || node.kind == PlanNode::Kind::scan_step;
      const bool is_alone = assignments[node.target] <= 1 && node.coords.empty() && node.indices.empty();
      const bool is_kept = kernel.vars[node.target].kind == Var::Kind::output && !is_alone;
      const bool lasts = node.kind == PlanNode::Kind::assign && (assignments[node.target] > 1 || is_kept);
      if (adds || lasts)
        node.origin = next++;
    });
}

} // namespace kgen
