#include "plan/program/prune.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

class Pruning {
public:
  explicit Pruning(const Kernel &kernel) : kernel_(kernel), live_(kernel.vars.size(), false) {
    for (size_t v = 0; v < kernel.vars.size(); ++v)
      live_[v] = kernel.vars[v].kind == Var::Kind::output;
  }

  // What a live node reads is live, up to a fixpoint: loops feed their own beginning.
  void run(const std::vector<std::vector<PlanNode> *> &lists) {
    do {
      changed_ = false;
      for (const std::vector<PlanNode> *nodes : lists)
        visit(*nodes);
    } while (changed_);
    for (std::vector<PlanNode> *nodes : lists)
      sweep(*nodes);
  }

private:
  void sweep(std::vector<PlanNode> &nodes) const {
    for (PlanNode &node : nodes)
      for (auto *list : {&node.body, &node.otherwise, &node.step})
        sweep(*list);
    std::erase_if(nodes, [&](const PlanNode &node) {
      return node.kind == PlanNode::Kind::steps ? false : !has_effect(node) && !leaves(node);
    });
  }

  bool has_effect(const PlanNode &node) const {
    if (changes_nothing(kernel_, node))
      return false;
    if (node.target != kNone && live_[node.target])
      return true;
    if (node.partner != kNone && live_[node.partner])
      return true;
    return any_of_lists(node, [&](const PlanNode &child) { return has_effect(child); });
  }

  // A break or continue, which belongs to the loop around: gone only with that.
  static bool leaves(const PlanNode &node) {
    if (node.kind == PlanNode::Kind::leave || node.kind == PlanNode::Kind::next)
      return true;
    return node.kind != PlanNode::Kind::repeat && any_of_lists(node, leaves);
  }

  template <class Test> static bool any_of_lists(const PlanNode &node, Test test) {
    return std::any_of(node.body.begin(), node.body.end(), test) ||
           std::any_of(node.otherwise.begin(), node.otherwise.end(), test) ||
           std::any_of(node.step.begin(), node.step.end(), test);
  }

  void visit(const std::vector<PlanNode> &nodes) {
    for (const PlanNode &node : nodes) {
      if (!has_effect(node) && !leaves(node))
        continue;
      for (VarId var : {node.target, node.partner})
        if (var != kNone)
          keep(var);
      for (ExprId id : expressions_of(node))
        walk(kernel_, id, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          if (e.op == Op::read || e.op == Op::element)
            keep(e.ref);
          return true;
        });
      for (const auto *list : {&node.body, &node.otherwise, &node.step})
        visit(*list);
    }
  }

  void keep(VarId var) {
    changed_ = changed_ || !live_[var];
    live_[var] = true;
  }

  const Kernel &kernel_;
  std::vector<bool> live_;
  bool changed_ = false;
};

} // namespace

bool changes_nothing(const Kernel &kernel, const PlanNode &node) {
  if (node.kind != PlanNode::Kind::assign || !node.coords.empty() || !node.indices.empty())
    return false;
  const Expr &value = kernel.expr(node.value);
  return value.op == Op::read && value.ref == node.target && value.coords.empty();
}

void prune(const Kernel &kernel, std::vector<PlanNode> &program) { Pruning(kernel).run({&program}); }

void prune(Plan &plan) {
  std::vector<std::vector<PlanNode> *> lists;
  for (Phase &phase : plan.phases)
    lists.push_back(&phase.nodes);
  Pruning(plan.kernel).run(lists);
  std::erase_if(plan.phases, [](const Phase &phase) { return phase.nodes.empty(); });
}

} // namespace kgen
