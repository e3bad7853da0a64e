#include "plan/index/uses.h"

#include <algorithm>
#include <set>

#include "plan/index/access.h"

namespace kgen {
namespace {

using Uses = std::map<VarId, int>;

void add(const Uses &more, Uses &uses) {
  for (const auto &[var, count] : more)
    uses[var] += count;
}

void take_larger(const Uses &other, Uses &uses) {
  for (const auto &[var, count] : other)
    uses[var] = std::max(uses[var], count);
}

Uses count(const Kernel &kernel, const std::vector<PlanNode> &list) {
  Uses uses;
  for (const PlanNode &node : list) {
    for (const Access &a : own_accesses_of(kernel, node))
      for (VarId touched : std::set<VarId>{a.memory, a.var})
        uses[touched] += a.write ? 1 : 2;
    Uses arms = count(kernel, node.body);
    add(count(kernel, node.step), arms);
    take_larger(count(kernel, node.otherwise), arms);
    add(arms, uses);
  }
  return uses;
}

} // namespace

std::map<VarId, int> count_uses(const Plan &plan) {
  Uses uses;
  std::map<ExprId, Uses> where, elsewhere;
  for (const Phase &phase : plan.phases)
    add(count(plan.kernel, phase.nodes), phase.when == kNone ? uses : (phase.unless ? elsewhere : where)[phase.when]);
  for (const auto &[when, counts] : elsewhere)
    take_larger(counts, where[when]);
  for (const auto &[when, counts] : where)
    add(counts, uses);
  return uses;
}

} // namespace kgen
