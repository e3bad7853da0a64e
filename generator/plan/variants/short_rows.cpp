#include "plan/variants/short_rows.h"

#include <algorithm>
#include <set>

#include "plan/cut/share_lists.h"
#include "plan/index/access.h"
#include "plan/index/lanes.h"

namespace kgen {
namespace {

int64_t short_row(const Plan &plan) { return plan.decide(Decision::short_row); }

bool may_be_short(const Plan &plan, AxisId id) {
  const Axis &axis = plan.kernel.axes[id];
  return is_long_axis(axis, short_row(plan)) && axis.size.op == Size::Op::axis && !axis.derived && !axis.rest;
}

// Calls visit(loop, in_lanes) for the loops along rows: those that have further ones around them, of which one at least
// goes in any order. `in_lanes`: is one around it the lanes of vectors?
template <class Visit>
void for_each_row(const Plan &plan, const PlanNode &node, bool many, bool in_lanes, const Visit &visit) {
  if (node.kind == PlanNode::Kind::loop) {
    if (many)
      visit(node, in_lanes);
    many = many || (node.order == PlanNode::Order::parallel && !plan.shares.contains(node.axis) &&
                    is_long_axis(plan.kernel.axes[node.axis], short_row(plan)));
  }
  for (const auto *list : {&node.body, &node.otherwise, &node.step})
    for (const PlanNode &child : *list)
      for_each_row(plan, child, many, in_lanes || node.on_lanes, visit);
}

// Those of phases that are another way for few sizes do not count.
template <class Visit> void for_each_row(const Plan &plan, const Visit &visit) {
  for (const Phase &phase : plan.phases)
    for (const PlanNode &node : phase.nodes)
      if (!phase.unless)
        for_each_row(plan, node, false, false, visit);
}

// Of the loops that are lanes; at first of those whose lanes are folded.
AxisSet rows_on_lanes(const Plan &plan, bool folded) {
  AxisSet axes;
  for_each_row(plan, [&](const PlanNode &loop, bool) {
    const bool folds =
        std::any_of(loop.body.begin(), loop.body.end(), [&](const PlanNode &n) { return folds_over(n, loop.axis); });
    if (loop.on_lanes && (folds || !folded) && may_be_short(plan, loop.axis))
      axes |= AxisSet::of(loop.axis);
  });
  return axes;
}

// Do short rows go side by side?
bool has_rows_in_lanes_only(const Plan &plan) {
  bool all = true;
  for_each_row(plan, [&](const PlanNode &loop, bool in_lanes) {
    all = all && (in_lanes || plan.kernel.axes[loop.axis].most == 0);
  });
  return all;
}

// Is what is kept of a short row an array of its own, one element a position? Others would be laid out for longer rows.
bool keeps_rows_apart(const Plan &plan) {
  return std::none_of(plan.storage.begin(), plan.storage.end(), [&](const Storage &storage) {
    const bool short_row = std::any_of(storage.dims.begin(), storage.dims.end(),
                                       [&](AxisId axis) { return plan.kernel.axes[axis].most > 0; });
    return short_row && (storage.kind != Storage::Kind::array || storage.dims.size() > 1);
  });
}

// The one axis whose positions are lanes, if it is a size of the caller's and one axis is short.
AxisId axis_beside(const Plan &plan, AxisSet short_axes) {
  AxisSet lanes;
  for (const Phase &phase : plan.phases)
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &node) {
        if (node.on_lanes)
          lanes |= AxisSet::of(node.axis);
      });
  if (lanes.count() != 1 || short_axes.count() != 1)
    return kNone;
  const AxisId axis = lanes.list().front();
  const Axis &a = plan.kernel.axes[axis];
  const bool as_long =
      a.size.name == plan.kernel.axes[short_axes.list().front()].size.name; // [M, N=M]: never fewer rows
  return a.size.op == Size::Op::axis && !a.derived && a.ragged == kNone && !as_long ? axis : kNone;
}

} // namespace

std::string short_rows_condition(const ShortRows &rows, std::string (*name)(const std::string &axis)) {
  const std::vector<Axis> &axes = rows.plan.kernel.axes;
  std::string text;
  for (AxisId axis : rows.axes.list())
    text += (text.empty() ? "" : " && ") + name(axes[axis].size.name) + " <= " + std::to_string(short_row(rows.plan));
  if (rows.beside != kNone)
    text += " && " + name(axes[rows.axes.list().front()].size.name) + " <= " + name(axes[rows.beside].size.name);
  return text;
}

std::vector<ShortRows> plan_short_rows(const Kernel &kernel, const Facts &facts, const Plan &plan) {
  constexpr size_t kMostPlans = 2;
  std::vector<ShortRows> plans; // the most special one last
  if (!wants_lanes(kernel))
    return plans;
  Kernel known = kernel;
  AxisSet axes;
  while (plans.size() < kMostPlans) {
    const AxisSet more = rows_on_lanes(plans.empty() ? plan : plans.back().plan, plans.empty());
    if (more.empty())
      break;
    axes |= more;
    for (AxisId axis : more.list())
      known.axes[axis].most = short_row(plan);
    ShortRows rows{axes, kNone, make_plan(known, facts, TargetKind::openmp)};
    rows.beside = axis_beside(rows.plan, axes);
    if (!has_rows_in_lanes_only(rows.plan) || !keeps_rows_apart(rows.plan))
      break;
    plans.push_back(std::move(rows));
  }
  std::reverse(plans.begin(), plans.end());
  return plans;
}

} // namespace kgen
