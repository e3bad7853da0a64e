#include "plan/program/numbers.h"

#include <algorithm>
#include <map>

#include "plan/index/access.h"
#include "plan/program/prune.h"

namespace kgen {

namespace {
// Set as a whole, to what it does not hold itself: whoever reads it may read the value instead.
bool stands_for_value(const Kernel &kernel, const PlanNode &node) {
  const std::vector<Access> own = own_accesses_of(kernel, node);
  const bool reads_itself = std::any_of(
      own.begin(), own.end(), [&](const Access &a) { return !a.write && a.memory == memory_of(kernel, node.target); });
  return node.coords.empty() && node.indices.empty() && !node.scatter_add && !reads_itself;
}
} // namespace

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
      const bool lasts = node.kind == PlanNode::Kind::assign &&
                         (assignments[node.target] > 1 ||
                          (kernel.vars[node.target].kind == Var::Kind::output && !stands_for_value(kernel, node)));
      if (adds || lasts)
        node.origin = next++;
    });
}

} // namespace kgen
