// Which windows end the lanes of a statement. Where arrays end at different positions of an axis, the statements of one
// loop may end at different positions too.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace kgen {

using LimitList = std::vector<std::pair<VarId, int>>; // (operand, its dimension); {kNone, 0}: the axis itself

// Is the variable used in the statement at hand only? What is assigned to it may then lack some limits.
using IsPrivate = std::function<bool(VarId)>;

class Limits {
public:
  explicit Limits(Kernel &kernel) : kernel_(kernel) {}

  void find(const std::vector<PlanNode> &program);

  // Of the node and all below.
  LimitList of(const PlanNode &root, AxisId axis) const;
  // Of a loop around the node: those of all its parts if these end alike, else its own; the parts are then guarded.
  LimitList of_loop(const PlanNode &node, AxisId axis, const IsPrivate &is_private) const;
  bool ends_alike(const PlanNode &node, AxisId axis, const IsPrivate &is_private) const;
  // Adds those of the node itself.
  void add_own(const PlanNode &node, AxisId axis, LimitList &out) const;

  // The node with a condition around each part that ends before `around` does. Where a condition has no lane, a
  // `break` or `continue` under it ends the loop.
  PlanNode guarded(PlanNode node, AxisId axis, const LimitList &around);

private:
  bool spread(const std::vector<PlanNode> &nodes, std::vector<const PlanNode *> &conditions);
  bool spread_to(const PlanNode &node, const std::vector<const PlanNode *> &conditions);
  bool add(LimitList &list, const std::pair<VarId, int> &limit) const;
  ExprId lies_within(AxisId axis, const std::pair<VarId, int> &limit);

  Kernel &kernel_;
  std::map<std::pair<VarId, AxisId>, LimitList> of_locals_;
  std::set<VarId> plain_; // locals that are assigned outside of conditions, too
};

} // namespace kgen
