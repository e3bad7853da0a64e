#include "plan/variants/flat_rows.h"

#include "plan/index/lanes.h"
#include "plan/variants/flatten.h"

namespace kgen {
namespace {

// The only ragged axis, if a call says how many rows and elements there are.
AxisId ragged_axis(const Kernel &kernel) {
  AxisId found = kNone;
  for (size_t id = 0; id < kernel.axes.size(); ++id)
    if (kernel.axes[id].ragged != kNone) {
      if (found != kNone)
        return kNone;
      found = static_cast<AxisId>(id);
    }
  const auto is_given = [&](const Axis &axis) { return axis.size.op == Size::Op::axis && !axis.derived; };
  const bool given = found != kNone && is_given(kernel.axes[found]) && is_given(kernel.axes[kernel.axes[found].over]);
  return given ? found : kNone;
}

} // namespace

std::string flat_rows_condition(const FlatRows &rows, std::string (*name)(const std::string &axis)) {
  const std::vector<Axis> &axes = rows.plan.kernel.axes;
  const Axis &along = axes[rows.along];
  return name(along.size.name) + " / " + std::to_string(rows.plan.decide(Decision::flat_row)) + " < " +
         name(axes[along.over].size.name);
}

std::string flat_rows_limit(const FlatRows &rows, std::string (*name)(const std::string &axis)) {
  const std::vector<Axis> &axes = rows.plan.kernel.axes;
  const Axis &along = axes[rows.along];
  return "longest_row(" + name(rows.starts) + ", " + name(axes[along.over].size.name) + ", " + name(along.size.name) +
         ") <= " + std::to_string(rows.plan.decide(Decision::flat_longest));
}

std::optional<FlatRows> plan_flat_rows(const Kernel &kernel, const Facts &facts, const Plan &plan) {
  const AxisId along = ragged_axis(kernel);
  if (along == kNone || !kernel.grid.empty() || !wants_lanes(kernel))
    return std::nullopt;
  Kernel known = kernel;
  mark_safe(known, facts);
  const std::optional<Kernel> flat =
      flatten_rows(known, along, plan.decide(Decision::flat_mean), plan.decide(Decision::flat_operations));
  if (!flat)
    return std::nullopt;
  return FlatRows{along, kernel.tables[kernel.axes[along].ragged].name, make_plan(*flat, facts, TargetKind::openmp)};
}

} // namespace kgen
