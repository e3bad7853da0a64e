#include "plan/ends.h"

#include <limits>
#include <optional>
#include <set>

#include "plan/access.h"
#include "plan/exprs.h"
#include "plan/lanes.h"
#include "plan/scopes.h"

namespace kgen {
namespace {

class Ends {
public:
  explicit Ends(Plan &plan)
      : plan_(plan), kernel_(plan.kernel), lanes_(plan),
        taken_(wants_lanes(plan.kernel) ? lanes_.choose() : std::set<const PlanNode *>()) {}

  // Roots are shared among workers by their lengths.
  void run() {
    for (Phase &phase : plan_.phases)
      for (PlanNode &root : phase.nodes)
        inside(root);
  }

private:
  void visit(PlanNode &node) {
    if (node.kind == PlanNode::Kind::loop && node.order == PlanNode::Order::reduction && node.parts == 0)
      end(node);
    inside(node);
  }

  void inside(PlanNode &node) {
    if (node.contraction)
      return;
    const AxisId outer = lane_;
    if (taken_.count(&node) != 0)
      lane_ = node.axis;
    for (std::vector<PlanNode> *list : {&node.body, &node.otherwise, &node.step})
      for (PlanNode &inner : *list)
        visit(inner);
    lane_ = outer;
  }

  void end(PlanNode &loop) {
    bool may_end = false;
    for_each_node(loop, [&](const PlanNode &n) { may_end = may_end || end_of(n, loop.axis); });
    if (!may_end)
      return;
    const Scopes scopes(plan_);
    std::vector<PlanNode *> steps;
    std::optional<ExprId> end;
    AxisSet inside = AxisSet::of(loop.axis);
    std::set<VarId> changed;
    bool fits = true;
    for_each_node(loop, [&](PlanNode &n) {
      if (n.kind == PlanNode::Kind::loop)
        inside |= AxisSet::of(n.axis);
      for (VarId var : {n.target, n.partner})
        if (var != kNone)
          changed.insert(var);
      if (n.kind == PlanNode::Kind::loop || is_of_one_round(n, loop, scopes))
        return;
      const std::optional<ExprId> own = end_of(n, loop.axis);
      fits = fits && own && (!end || same(kernel_, *end, *own));
      end = own;
      steps.push_back(&n);
    });
    if (!fits || !end || changes(*end, inside, changed) || (lane_ != kNone && lanes_.varies(*end, lane_)))
      return;
    loop.end = *end;
    for (PlanNode *step : steps)
      drop_condition(*step);
  }

  // Nobody asks for it after the round.
  bool is_of_one_round(const PlanNode &n, const PlanNode &loop, const Scopes &scopes) const {
    const bool sets =
        n.kind == PlanNode::Kind::assign || n.kind == PlanNode::Kind::fold_init || n.kind == PlanNode::Kind::fold_step;
    return sets && n.partner == kNone && plan_.storage[n.target].kind == Storage::Kind::scalar &&
           scopes.of(n.target).open.contains(loop.axis);
  }

  bool changes(ExprId id, AxisSet inside, const std::set<VarId> &changed) const {
    bool found = false;
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      const bool reads = e.op == Op::read || e.op == Op::element;
      found = found || !(e.axes - (e.axes - inside)).empty() || (reads && changed.count(e.ref) != 0);
      return !found;
    });
    return found;
  }

  // `index(axis) < end`, in what the fold asks or in its value, which is what folds start from elsewhere.
  std::optional<ExprId> end_of(const PlanNode &step, AxisId axis) const {
    if (step.kind != PlanNode::Kind::fold_step)
      return std::nullopt;
    const Expr &value = kernel_.expr(step.value);
    const bool chooses = step.condition == kNone && value.op == Op::choose && is_start(value.args[2], step.monoid);
    const ExprId condition = chooses ? value.args[0] : step.condition;
    if (condition == kNone || step.partner != kNone)
      return std::nullopt;
    const Expr &e = kernel_.expr(condition);
    if (e.op != Op::lt && e.op != Op::gt)
      return std::nullopt;
    const Expr &index = kernel_.expr(e.args[e.op == Op::lt ? 0 : 1]);
    const bool fits = index.op == Op::index && index.axis == axis && index.ref == kNone;
    return fits ? std::optional(e.args[e.op == Op::lt ? 1 : 0]) : std::nullopt;
  }

  bool is_start(ExprId id, Monoid monoid) const {
    const Expr &e = kernel_.expr(id);
    if (e.op != Op::constant)
      return false;
    const double number = is_floating(e.type) ? e.number : static_cast<double>(e.integer);
    const double infinity = std::numeric_limits<double>::infinity();
    return monoid == Monoid::sum                          ? number == 0
           : monoid == Monoid::max && is_floating(e.type) ? number == -infinity
           : monoid == Monoid::min && is_floating(e.type) ? number == infinity
                                                          : false;
  }

  void drop_condition(PlanNode &step) const {
    if (step.condition == kNone)
      step.value = kernel_.expr(step.value).args[1];
    step.condition = kNone;
  }

  Plan &plan_;
  const Kernel &kernel_;
  const LaneAnalysis lanes_;
  const std::set<const PlanNode *> taken_;
  AxisId lane_ = kNone; // all lanes go through a loop together
};

} // namespace

void end_folds(Plan &plan) { Ends(plan).run(); }

} // namespace kgen
