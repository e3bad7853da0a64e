// Scratch lives across the ordered steps of the grid, so its scope lies outside of them.
#include "plan/index/scopes.h"

#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {

Scopes::Scopes(const Plan &plan) : plan_(plan) {
  for (const Phase &phase : plan.phases) {
    path_.push_back({nullptr, &phase.nodes});
    for (const PlanNode &node : phase.nodes)
      visit(node);
    path_.pop_back();
  }
  scopes_.resize(plan.kernel.vars.size());
  for (const auto &[var, path] : paths_) {
    Scope &scope = scopes_[var];
    scope.used = true;
    if (!path.empty())
      scope.list = path.back().list;
    for (const Step &step : path)
      if (step.node != nullptr && step.node->kind == PlanNode::Kind::loop) {
        if (step.node->parts == 0)
          scope.open |= AxisSet::of(step.node->axis);
        else
          scope.parts[step.node->axis] = step.node;
      }
  }
}

void Scopes::visit(const PlanNode &node) {
  for (ExprId id : expressions_of(node))
    walk(plan_.kernel, id, [&](ExprId at) {
      const Expr &e = plan_.kernel.expr(at);
      if (e.op == Op::read || e.op == Op::element)
        record(e.ref);
      return true;
    });
  if (node.target != kNone)
    record(node.target);
  if (node.partner != kNone)
    record(node.partner);
  for (const auto *list : {&node.body, &node.otherwise, &node.step}) {
    path_.push_back({&node, list});
    for (const PlanNode &child : *list)
      visit(child);
    path_.pop_back();
  }
}

void Scopes::record(VarId var) {
  Path path = path_;
  if (plan_.kernel.vars[var].kind == Var::Kind::scratch)
    for (size_t i = 0; i < path.size(); ++i)
      if (path[i].node != nullptr && path[i].node->kind == PlanNode::Kind::steps &&
          path[i].node->order == PlanNode::Order::ordered)
        path.resize(i);
  auto [it, fresh] = paths_.emplace(var, path);
  if (fresh)
    return;
  size_t common = 0;
  while (common < it->second.size() && common < path.size() && it->second[common] == path[common])
    ++common;
  it->second.resize(common);
}

} // namespace kgen
