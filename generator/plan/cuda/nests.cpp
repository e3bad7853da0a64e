#include "plan/cuda/nests.h"

#include <algorithm>

#include "plan/cuda/packs.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

namespace kgen {

constexpr int64_t kUnknownLength = 2048; // of loops whose length the host does not know

Nest nest_of(const Plan &plan, const PlanNode &root, PlanNode::Order order, int most) {
  Nest nest;
  const PlanNode *node = &root;
  for (int i = 0; i < most; ++i) {
    const bool loop = node->kind == PlanNode::Kind::loop || node->kind == PlanNode::Kind::steps;
    if (!loop || node->order != order || depends_on(plan.kernel, *node, nest))
      break;
    nest.push_back(node);
    if (node->body.size() != 1)
      break;
    node = &node->body.front();
  }
  return nest;
}

Nest items_of(const Plan &plan, const Phase &phase) {
  return nest_of(plan, phase.nodes.front(), PlanNode::Order::parallel, phase.split);
}

const Phase *phase_behind(const Plan &plan, size_t chunked) {
  const bool serial = chunked + 1 < plan.phases.size() && plan.phases[chunked + 1].kind == Phase::Kind::serial;
  return serial && plan.phases[chunked].kind == Phase::Kind::chunked ? &plan.phases[chunked + 1] : nullptr;
}

AxisSet axes_of(const Nest &nest) {
  AxisSet axes;
  for (const PlanNode *node : nest)
    if (node->kind == PlanNode::Kind::loop)
      axes |= AxisSet::of(node->axis);
  return axes;
}

bool same_axes(const Nest &a, const Nest &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PlanNode *one, const PlanNode *other) { return one->axis == other->axis; });
}

bool counted_by_arrays(const Kernel &kernel, const Nest &nest) {
  const AxisSet axes = axes_of(nest);
  return nest.size() == 1 || std::any_of(kernel.vars.begin(), kernel.vars.end(), [&](const Var &var) {
           return (var.kind == Var::Kind::input || var.kind == Var::Kind::output) && var.axes.contains(axes);
         });
}

std::optional<Size> turns_of(const Kernel &kernel, const PlanNode &loop) {
  if (loop.kind != PlanNode::Kind::loop)
    return Size::integer(1);
  const Axis &axis = kernel.axes[loop.axis];
  Size turns = extent_of(kernel, loop.axis);
  if (loop.share != kNone)
    turns = Size::make(Size::Op::cdiv, {std::move(turns), kernel.axes[loop.share].block});
  if (axis.ragged != kNone)
    turns = Size::make(Size::Op::cdiv,
                       {axis.size, Size::make(Size::Op::max, {kernel.axes[axis.over].size, Size::integer(1)})});
  const bool unknown = any_node(turns, [](const Size &s) {
    return s.op == Size::Op::grid || s.op == Size::Op::grid_size || s.op == Size::Op::table;
  });
  return unknown ? std::nullopt : std::optional(turns);
}

std::vector<std::vector<Size>> lengths_of(const Kernel &kernel, const std::vector<Nest> &nests) {
  std::vector<std::vector<Size>> out;
  for (const Nest &nest : nests) {
    std::vector<Size> length;
    if (!host_counts(kernel, nest))
      length = {Size::integer(kUnknownLength)};
    else
      for (const PlanNode *loop : nest)
        length.push_back(*turns_of(kernel, *loop));
    if (std::ranges::find(out, length) == out.end())
      out.push_back(std::move(length));
  }
  return out;
}

bool host_counts(const Kernel &kernel, const Nest &nest) {
  return std::all_of(nest.begin(), nest.end(), [&](const PlanNode *loop) { return turns_of(kernel, *loop); });
}

bool asks_tables(const Kernel &kernel, const Nest &nest) {
  const auto is_entry = [](const Size &s) { return s.op == Size::Op::table; };
  return std::any_of(nest.begin(), nest.end(), [&](const PlanNode *loop) {
    if (loop->kind != PlanNode::Kind::loop)
      return any_node(kernel.grid[loop->grid].size, is_entry);
    const LoopBounds bounds = bounds_of(kernel, *loop);
    return bounds.to_row || any_node(bounds.begin, is_entry) || any_node(bounds.end, is_entry);
  });
}

bool makes_doubles(const Kernel &kernel, const std::vector<PlanNode> &list) {
  bool found = false;
  for (const PlanNode &root : list)
    for_each_node(root, [&](const PlanNode &n) {
      for (VarId var : {n.target, n.partner})
        found = found || (var != kNone && kernel.vars[var].type == Type::f64);
      for (ExprId id : expressions_of(n))
        found = found || any_node(kernel, id, [](const Expr &e) { return e.op == Op::cast && e.type == Type::f64; });
    });
  return found;
}

namespace {

bool begins_with_access(const Plan &plan, const Nest &nest) {
  const PlanNode &loop = *nest.back();
  return loop.share == kNone ? bounds_of(plan.kernel, loop).begin.is_integer(0)
                             : nest.size() == 1 && loop.share_step % kMostTogether == 0;
}

} // namespace

int positions_of(const Plan &plan, const Nest &nest) {
  const bool loops =
      std::all_of(nest.begin(), nest.end(), [](const PlanNode *node) { return node->kind == PlanNode::Kind::loop; });
  if (!loops || !counted_by_arrays(plan.kernel, nest) || !begins_with_access(plan, nest))
    return 1;
  const std::vector<Access> accesses = accesses_of(plan.kernel, *nest.back());
  const bool apart =
      std::any_of(accesses.begin(), accesses.end(), [&](const Access &a) { return plan.kernel.vars[a.var].strided; });
  return apart ? 1 : positions_together(plan, *nest.back());
}

int fewer_positions(int one, int other) {
  return std::min(one, other) > 1 ? std::min(one, other) : std::max(one, other);
}

int positions_shared(const Plan &plan, const std::vector<PlanNode> &list) {
  int fewest = 1;
  for (const PlanNode &node : list) {
    if (node.kind == PlanNode::Kind::loop) {
      const int most = node.order == PlanNode::Order::ordered ? 1 : kMostNested;
      fewest = fewer_positions(fewest, positions_of(plan, nest_of(plan, node, node.order, most)));
    } else if (is_composite(node)) {
      for (const auto *inner : {&node.body, &node.otherwise, &node.step})
        fewest = fewer_positions(fewest, positions_shared(plan, *inner));
    }
  }
  return fewest;
}

bool goes_by_groups(const Plan &plan, const Nest &nest, int together) {
  return nest.size() > 1 && together > 1 && positions_of(plan, nest) > 1;
}

bool in_memory(const Plan &plan, VarId var) {
  return plan.storage[var].kind != Storage::Kind::scalar && plan.storage[var].kind != Storage::Kind::array;
}

bool sets_elements(const Plan &plan, const std::vector<PlanNode> &list) {
  bool found = false;
  for (const PlanNode &root : list)
    for_each_node(root, [&](const PlanNode &n) {
      const bool writes = n.kind == PlanNode::Kind::assign || n.kind == PlanNode::Kind::scan_step;
      found = found || (writes && ((n.target != kNone && in_memory(plan, n.target)) ||
                                   (n.partner != kNone && in_memory(plan, n.partner))));
    });
  return found;
}

bool uses_buffers(const Plan &plan, const PlanNode &node) {
  const std::vector<Access> accesses = accesses_of(plan.kernel, node);
  return std::any_of(accesses.begin(), accesses.end(),
                     [&](const Access &a) { return plan.storage[a.var].kind == Storage::Kind::worker; });
}

bool uses_buffers(const Plan &plan, const std::vector<PlanNode> &list) { return !used_buffers(plan, list).empty(); }

std::vector<VarId> used_buffers(const Plan &plan, const std::vector<PlanNode> &list) {
  std::set<VarId> found;
  for (const PlanNode &node : list)
    for (const Access &a : accesses_of(plan.kernel, node))
      if (plan.storage[a.var].kind == Storage::Kind::worker)
        found.insert(a.var);
  return {found.begin(), found.end()};
}

} // namespace kgen
