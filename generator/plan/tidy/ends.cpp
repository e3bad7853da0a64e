#include "plan/tidy/ends.h"

#include <optional>
#include <set>

#include "plan/contract/contractions.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/index/needed.h"
#include "plan/index/scopes.h"

namespace kgen {
namespace {

class Ends {
public:
  explicit Ends(Plan &plan)
      : plan_(plan), limits_(limits_of(plan)), kernel_(plan.kernel), lanes_(plan),
        taken_(wants_lanes(plan.kernel) ? lanes_.choose() : std::set<const PlanNode *>()) {}

  // Roots are shared among workers by their lengths.
  void run() {
    if (limits_.empty())
      return;
    for (Phase &phase : plan_.phases)
      for (PlanNode &root : phase.nodes)
        inside(root);
  }

private:
  void visit(PlanNode &node) {
    if (node.kind == PlanNode::Kind::loop && node.order == PlanNode::Order::reduction && node.parts == 0)
      for (const Limit &limit : limits_)
        if (limit.axis == node.axis && node.end == kNone && node.table == kNone)
          end(node, limit);
    inside(node);
  }

  void inside(PlanNode &node) {
    if (node.contraction)
      return end_contraction(node);
    const AxisId outer = lane_;
    if (taken_.count(&node) != 0)
      lane_ = node.axis;
    for (std::vector<PlanNode> *list : {&node.body, &node.otherwise, &node.step})
      for (PlanNode &inner : *list)
        visit(inner);
    lane_ = outer;
  }

  void end(PlanNode &loop, const Limit &limit) {
    bool asked = false;
    for_each_node(loop, [&](const PlanNode &n) { asked = asked || asks(kernel_, n, limit); });
    if (!asked)
      return;
    const Scopes scopes(plan_);
    std::vector<PlanNode *> steps;
    AxisSet inside = AxisSet::of(loop.axis);
    std::set<VarId> changed;
    bool fits = true;
    for_each_node(loop, [&](PlanNode &n) {
      if (n.kind == PlanNode::Kind::loop)
        inside |= AxisSet::of(n.axis);
      for (VarId var : {n.target, n.partner})
        if (var != kNone)
          changed.insert(var);
      if (asks(kernel_, n, limit))
        steps.push_back(&n);
      else
        fits = fits && (n.kind == PlanNode::Kind::loop || is_of_one_round(plan_, scopes, n, loop) ||
                        sets_one_of(n, limit.locals));
    });
    if (!fits || steps.empty() || changes(kernel_, limit.end, inside, changed) ||
        (lane_ != kNone && lanes_.varies(limit.end, lane_)))
      return;
    loop.end = limit.end;
    for (PlanNode *step : steps)
      step->condition = kNone;
  }

  // Columns that nobody reads are left out, and steps that rows do not take.
  void end_contraction(PlanNode &nest) {
    PlanNode &columns = column_loop(nest);
    std::vector<PlanNode *> depth;
    for (PlanNode &n : columns.body)
      for (PlanNode *loop = &n; loop->kind == PlanNode::Kind::loop; loop = &loop->body.front())
        depth.push_back(loop);
    AxisSet inside = AxisSet::of(columns.axis);
    for (const PlanNode *loop : depth)
      inside |= AxisSet::of(loop->axis);
    PlanNode &step = depth.back()->body.back();
    for (const Limit &limit : limits_) {
      if (changes(kernel_, limit.end, inside, {}))
        continue;
      if (limit.axis == columns.axis && nest.contraction->columns == 1 && sets_only(columns, limit.locals))
        columns.end = limit.end;
      if (limit.axis == depth.back()->axis && depth.size() == 1 && asks(kernel_, step, limit)) {
        depth.back()->end = limit.end;
        step.condition = kNone;
      }
    }
  }

  // But for the fold's total.
  static bool sets_only(const PlanNode &columns, const std::set<VarId> &locals) {
    bool sets = false, others = false;
    for (const PlanNode &n : columns.body)
      if (n.kind == PlanNode::Kind::assign)
        (sets_one_of(n, locals) ? sets : others) = true;
      else
        others = others || (n.kind != PlanNode::Kind::loop && n.kind != PlanNode::Kind::fold_init);
    return sets && !others;
  }

  Plan &plan_;
  const std::vector<Limit> limits_; // which makes expressions
  const Kernel &kernel_;
  const LaneAnalysis lanes_;
  const std::set<const PlanNode *> taken_;
  AxisId lane_ = kNone; // all lanes go through a loop together
};

} // namespace

void end_folds(Plan &plan) { Ends(plan).run(); }

} // namespace kgen
