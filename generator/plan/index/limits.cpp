// The limits of statements, by what they read and write; a local has the lanes of what it was made from.
#include "plan/index/limits.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {

void Limits::find(const std::vector<PlanNode> &program) {
  of_locals_.clear();
  plain_.clear();
  for (const PlanNode &root : program)
    for_each_node(root, [&](const PlanNode &node) {
      if (node.kind == PlanNode::Kind::assign && node.context.empty())
        plain_.insert(node.target);
    });
  std::vector<const PlanNode *> conditions;
  while (spread(program, conditions)) {
  }
}

bool Limits::spread(const std::vector<PlanNode> &nodes, std::vector<const PlanNode *> &conditions) {
  bool changed = false;
  for (const PlanNode &node : nodes) {
    changed |= spread_to(node, conditions);
    const bool differs = !node.lanes.empty() && is_composite(node);
    if (differs)
      conditions.push_back(&node);
    for (const std::vector<PlanNode> *list : {&node.body, &node.otherwise, &node.step})
      changed |= spread(*list, conditions);
    if (differs)
      conditions.pop_back();
  }
  return changed;
}

// What is assigned under a condition leaves the other lanes as they were. A local that is only assigned so has the
// lanes of the conditions, too.
bool Limits::spread_to(const PlanNode &node, const std::vector<const PlanNode *> &conditions) {
  const bool conditional = node.kind == PlanNode::Kind::assign && !node.context.empty();
  if (conditional && plain_.count(node.target) != 0)
    return false;
  bool changed = false;
  for (VarId var : {node.target, node.partner}) {
    // Scratch is left out: it keeps what other steps wrote.
    if (var == kNone || kernel_.vars[var].kind != Var::Kind::local)
      continue;
    for (AxisId axis : kernel_.vars[var].axes.list()) {
      LimitList limits = of(node, axis);
      if (conditional)
        for (const PlanNode *condition : conditions)
          add_own(*condition, axis, limits);
      for (const auto &limit : limits)
        changed |= add(of_locals_[{var, axis}], limit);
    }
  }
  return changed;
}

bool Limits::add(LimitList &list, const std::pair<VarId, int> &limit) const {
  if (limit.first == kNone) {
    if (!list.empty() && list.front() == limit)
      return false;
    list.insert(list.begin(), limit);
    return true;
  }
  // Equal windows bound alike: one of them is enough.
  const Dim &dim = kernel_.vars[limit.first].dims[limit.second];
  for (const auto &other : list) {
    if (other.first == kNone)
      continue;
    const Dim &o = kernel_.vars[other.first].dims[other.second];
    if (o.start == dim.start && o.extent == dim.extent && o.block == dim.block)
      return false;
  }
  list.push_back(limit);
  std::sort(list.begin(), list.end());
  return true;
}

LimitList Limits::of(const PlanNode &root, AxisId axis) const {
  LimitList out;
  for_each_node(root, [&](const PlanNode &node) { add_own(node, axis, out); });
  return out;
}

void Limits::add_own(const PlanNode &node, AxisId axis, LimitList &out) const {
  for (const auto &limit : own_limits(kernel_, node, axis))
    add(out, limit);
  for (ExprId id : expressions_of(node))
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (ends_lanes(e))
        if (const auto known = of_locals_.find({e.ref, axis}); known != of_locals_.end())
          for (const auto &limit : known->second)
            add(out, limit);
      return true;
    });
}

bool Limits::ends_alike(const PlanNode &root, AxisId axis, const IsPrivate &is_private) const {
  const LimitList expected = of(root, axis);
  const std::function<bool(const PlanNode &, LimitList)> alike = [&](const PlanNode &node, LimitList around) {
    add_own(node, axis, around);
    const auto inside = [&](const PlanNode &child) { return alike(child, around); };
    if (is_composite(node))
      return std::all_of(node.body.begin(), node.body.end(), inside) &&
             std::all_of(node.otherwise.begin(), node.otherwise.end(), inside) &&
             std::all_of(node.step.begin(), node.step.end(), inside);
    return is_jump(node) || !node.lanes.contains(axis) || is_private(node.target) || around == expected;
  };
  return alike(root, {});
}

LimitList Limits::of_loop(const PlanNode &node, AxisId axis, const IsPrivate &is_private) const {
  if (!is_composite(node) || ends_alike(node, axis, is_private))
    return of(node, axis);
  LimitList out;
  add_own(node, axis, out);
  return out;
}

PlanNode Limits::guarded(PlanNode node, AxisId axis, const LimitList &around) {
  LimitList own = around;
  add_own(node, axis, own);
  for (std::vector<PlanNode> *list : {&node.body, &node.otherwise, &node.step})
    for (PlanNode &child : *list)
      child = guarded(std::move(child), axis, own);
  PlanNode guard;
  for (const auto &limit : own)
    if (std::find(around.begin(), around.end(), limit) == around.end()) {
      const ExprId within = lies_within(axis, limit);
      guard.condition =
          guard.condition == kNone ? within : make_op(kernel_, Op::both, Type::boolean, {guard.condition, within});
    }
  if (guard.condition == kNone)
    return node;
  guard.kind = PlanNode::Kind::branch;
  guard.lanes = AxisSet::of(axis);
  guard.place = node.place;
  if (jumps_out(node)) {
    PlanNode leave;
    leave.kind = PlanNode::Kind::leave;
    leave.place = node.place;
    guard.otherwise.push_back(std::move(leave));
  }
  guard.body.push_back(std::move(node));
  return guard;
}

// Is the current point a point of the window?
ExprId Limits::lies_within(AxisId axis, const std::pair<VarId, int> &limit) {
  const auto [var, d] = limit;
  Expr index, size;
  index.op = Op::index;
  size.op = Op::size;
  index.type = size.type = Type::i64;
  index.ref = size.ref = var;
  index.axis = size.axis = axis;
  index.axes = AxisSet::of(axis);
  const ExprId at = kernel_.add(std::move(index));
  const ExprId below = make_op(kernel_, Op::lt, Type::boolean, {at, kernel_.add(std::move(size))});
  if (var == kNone ? !sticks_out(kernel_, axis) : !kernel_.vars[var].dims[d].offset)
    return below;
  const ExprId begun = make_op(kernel_, Op::ge, Type::boolean, {at, make_constant(kernel_, Type::i64, 0, 0)});
  return make_op(kernel_, Op::both, Type::boolean, {begun, below});
}

} // namespace kgen
