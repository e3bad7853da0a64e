#include "plan/index/needed.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/scopes.h"

namespace kgen {
namespace {

bool sets_one(const PlanNode &node) {
  const bool sets = node.kind == PlanNode::Kind::assign || node.kind == PlanNode::Kind::fold_init ||
                    node.kind == PlanNode::Kind::fold_step;
  return sets && node.partner == kNone;
}

// Is a whole number far from the greatest, so that the next one is one, too?
bool has_successor(const Kernel &kernel, ExprId id) {
  const Expr &e = kernel.expr(id);
  const auto all = [&] {
    return std::all_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return has_successor(kernel, arg); });
  };
  if (e.op == Op::index || e.op == Op::size || e.op == Op::grid_index)
    return true;
  if (e.op == Op::constant)
    return std::abs(e.integer) < INT32_MAX;
  if (e.op == Op::cast && is_integer(kernel.expr(e.args[0]).type) && bytes_of(kernel.expr(e.args[0]).type) < 8)
    return true;
  return (e.op == Op::add || e.op == Op::sub || e.op == Op::cast) && is_integer(e.type) && all();
}

ExprId successor(Kernel &kernel, ExprId id) {
  const Expr e = kernel.expr(id);
  return e.op == Op::constant ? make_constant(kernel, Type::i64, e.integer + 1, 0)
                              : make_op(kernel, Op::add, Type::i64, {id, make_constant(kernel, Type::i64, 1, 0)});
}

// `index(axis) < end`, `index(axis) <= end`, and the same the other way round.
std::optional<Limit> limit_of(Kernel &kernel, ExprId condition) {
  const Expr e = kernel.expr(condition);
  const bool below = e.op == Op::lt || e.op == Op::le, above = e.op == Op::gt || e.op == Op::ge;
  if (!below && !above)
    return std::nullopt;
  const Expr index = kernel.expr(e.args[below ? 0 : 1]);
  ExprId end = e.args[below ? 1 : 0];
  if (index.op != Op::index || index.ref != kNone)
    return std::nullopt;
  if (e.op == Op::le || e.op == Op::ge) {
    if (!has_successor(kernel, end))
      return std::nullopt;
    end = successor(kernel, end);
  }
  return Limit{{condition}, index.axis, end, {}};
}

// Takes away, as long as there are any, the locals that are read where the condition may not hold.
class Needed {
public:
  Needed(const Plan &plan, const Scopes &scopes, const Limit &limit)
      : plan_(plan), kernel_(plan.kernel), scopes_(scopes), limit_(limit) {}

  std::set<VarId> run() {
    for (size_t var = 0; var < kernel_.vars.size(); ++var)
      if (has_own_value_at_each_place(static_cast<VarId>(var)))
        locals_.insert(static_cast<VarId>(var));
    size_t before;
    do {
      before = locals_.size();
      for (const Phase &phase : plan_.phases)
        for (const PlanNode &root : phase.nodes)
          for_each_node(root, [&](const PlanNode &node) { visit(node); });
    } while (locals_.size() != before);
    return locals_;
  }

private:
  bool has_own_value_at_each_place(VarId id) const {
    const Var &var = kernel_.vars[id];
    if (var.kind != Var::Kind::local || !var.array.empty())
      return false;
    const AxisSet places = kernel_.expr(limit_.conditions.front()).axes;
    return var.axes.contains(places) ||
           (plan_.storage[id].kind == Storage::Kind::scalar && scopes_.of(id).open.contains(places));
  }

  void visit(const PlanNode &node) {
    if (sets_one_of(node, locals_)) {
      for (ExprId id : expressions_of(node))
        reads_at_place(id);
      return;
    }
    if (!asks(kernel_, node, limit_)) {
      for (ExprId id : expressions_of(node))
        reads(id);
      return;
    }
    reads(*condition_of(node));
    reads_at_place(node.value);
  }

  void reads(ExprId id) {
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op == Op::read || e.op == Op::element || e.op == Op::inside)
        locals_.erase(e.ref);
      return true;
    });
  }

  void reads_at_place(ExprId id) {
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op == Op::element || e.op == Op::inside || (e.op == Op::read && !e.coords.empty()))
        locals_.erase(e.ref);
      return true;
    });
  }

  const Plan &plan_;
  const Kernel &kernel_;
  const Scopes &scopes_;
  const Limit &limit_;
  std::set<VarId> locals_;
};

} // namespace

bool is_of_one_round(const Plan &plan, const Scopes &scopes, const PlanNode &node, const PlanNode &loop) {
  return sets_one(node) && plan.storage[node.target].kind == Storage::Kind::scalar &&
         scopes.of(node.target).open.contains(loop.axis);
}

bool changes(const Kernel &kernel, ExprId id, AxisSet inside, const std::set<VarId> &changed) {
  return any_node(kernel, id, [&](const Expr &e) {
    const bool reads = e.op == Op::read || e.op == Op::element;
    return !(e.axes & inside).empty() || (reads && changed.count(e.ref) != 0);
  });
}

bool sets_one_of(const PlanNode &node, const std::set<VarId> &locals) {
  return sets_one(node) && node.coords.empty() && node.indices.empty() && locals.count(node.target) != 0;
}

std::optional<ExprId> condition_of(const PlanNode &step) {
  const bool asks = step.kind == PlanNode::Kind::fold_step && step.partner == kNone && step.condition != kNone;
  return asks ? std::optional(step.condition) : std::nullopt;
}

bool asks(const Kernel &kernel, const PlanNode &step, const Limit &limit) {
  const std::optional<ExprId> own = condition_of(step);
  return own && std::any_of(limit.conditions.begin(), limit.conditions.end(),
                            [&](ExprId condition) { return same(kernel, *own, condition); });
}

std::vector<Limit> limits_of(Plan &plan) {
  std::vector<ExprId> conditions;
  for (const Phase &phase : plan.phases)
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &node) {
        if (const std::optional<ExprId> own = condition_of(node))
          conditions.push_back(*own);
      });
  std::vector<Limit> limits;
  for (ExprId condition : conditions) {
    const std::optional<Limit> limit = limit_of(plan.kernel, condition);
    if (!limit)
      continue;
    const auto known = std::find_if(limits.begin(), limits.end(), [&](const Limit &other) {
      return other.axis == limit->axis && same(plan.kernel, other.end, limit->end);
    });
    if (known == limits.end())
      limits.push_back(*limit);
    else
      known->conditions.push_back(condition);
  }
  const Scopes scopes(plan);
  for (Limit &limit : limits)
    limit.locals = Needed(plan, scopes, limit).run();
  return limits;
}

} // namespace kgen
