#include "plan/tidy/narrow.h"

#include <map>

#include "plan/index/access.h"
#include "plan/index/lanes.h"

namespace kgen {
namespace {

class Narrowing {
public:
  explicit Narrowing(Plan &plan) : plan_(plan), lanes_(plan) {
    for (const Phase &phase : plan.phases)
      for (const PlanNode &root : phase.nodes)
        for_each_node(root, [&](const PlanNode &n) {
          for (VarId var : {n.target, n.partner})
            if (var != kNone)
              ++settings_[var];
        });
  }

  // Has one become narrower?
  bool run() {
    for (Phase &phase : plan_.phases)
      list(phase.nodes, AxisSet());
    return changed_;
  }

private:
  // `chosen`: the axes of conditions under which the statements stand. What lanes share is not set by some of them.
  void list(std::vector<PlanNode> &nodes, AxisSet chosen) {
    for (PlanNode &node : nodes) {
      if (node.kind == PlanNode::Kind::assign)
        narrow(node, chosen);
      const AxisSet inside = chosen | conditions_of(node);
      for (std::vector<PlanNode> *inner : {&node.body, &node.otherwise, &node.step})
        list(*inner, inside);
    }
  }

  // A loop's may be those of jumps out of it.
  static AxisSet conditions_of(const PlanNode &node) {
    AxisSet out;
    if (node.kind == PlanNode::Kind::branch)
      out = node.lanes;
    else if (node.kind == PlanNode::Kind::repeat)
      for_each_node(node, [&](const PlanNode &n) {
        if (is_composite(n))
          out |= n.lanes;
      });
    return out;
  }

  void narrow(PlanNode &node, AxisSet chosen) {
    Var &var = plan_.kernel.vars[node.target];
    if (var.kind != Var::Kind::local || plan_.storage[node.target].kind != Storage::Kind::scalar ||
        settings_[node.target] != 1 || !node.indices.empty())
      return;
    for (AxisId axis : (var.axes - chosen).list())
      if (!lanes_.varies(node.value, axis)) {
        var.axes -= AxisSet::of(axis);
        node.lanes -= AxisSet::of(axis);
        changed_ = true;
      }
  }

  Plan &plan_;
  const LaneAnalysis lanes_;
  std::map<VarId, int> settings_;
  bool changed_ = false;
};

} // namespace

void narrow_locals(Plan &plan) {
  while (Narrowing(plan).run()) { // what is made of narrower ones may be narrower
  }
}

} // namespace kgen
