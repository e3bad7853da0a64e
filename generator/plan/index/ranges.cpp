#include "plan/index/ranges.h"

#include <algorithm>

#include "analysis/facts.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {

Size extent_of(const Kernel &kernel, AxisId axis) {
  const Axis &a = kernel.axes[axis];
  if (a.uniform)
    return a.block;
  for (const Var &var : kernel.vars)
    for (const Dim &dim : var.dims)
      if (dim.axis == axis)
        return dim.block;
  return a.size;
}

Size origin_of(const Kernel &kernel, AxisId axis) {
  const Axis &a = kernel.axes[axis];
  return a.uniform ? a.start : Size::integer(0);
}

LoopBounds bounds_of(const Kernel &kernel, const PlanNode &loop) {
  const Axis &a = kernel.axes[loop.axis];
  const Size start = origin_of(kernel, loop.axis);
  if (a.ragged != kNone)
    return {start, Size::make(Size::Op::add, {start, a.block}), true};
  const Size block = extent_of(kernel, loop.axis), stop = Size::make(Size::Op::add, {start, block});
  // Whole windows end with the array; blocks where the array or the block ends.
  Size end = !a.uniform || is_size_of(a, block) || has_other_ends(kernel, loop.axis)
                 ? stop
                 : Size::make(Size::Op::min, {stop, a.size});
  Size begin = start;
  for (const auto &[var, d] : loop.limits) {
    if (var == kNone) {
      end = Size::make(Size::Op::min, {end, a.size});
      if (sticks_out(kernel, loop.axis))
        begin = Size::make(Size::Op::max, {begin, Size::integer(0)});
      continue;
    }
    const Dim &dim = kernel.vars[var].dims[d];
    const Size shift = Size::make(Size::Op::subtract, {start, dim.start});
    end = Size::make(Size::Op::min, {end, Size::make(Size::Op::add, {dim.extent, shift})});
    if (dim.offset)
      begin = Size::make(Size::Op::max, {begin, shift});
  }
  return {begin, end};
}

bool depends_on(const Kernel &kernel, const PlanNode &loop, const std::vector<const PlanNode *> &outer) {
  LoopBounds bounds;
  if (loop.kind == PlanNode::Kind::steps)
    bounds = {Size::integer(0), grid_steps(kernel, loop.grid)};
  else
    bounds = bounds_of(kernel, loop);
  const auto mentioned = [&](GridId grid) {
    const std::string &name = kernel.grid[grid].name;
    return mentions(bounds.begin, Size::Op::grid, name) || mentions(bounds.end, Size::Op::grid, name);
  };
  return std::any_of(outer.begin(), outer.end(), [&](const PlanNode *o) {
    return o->kind == PlanNode::Kind::steps ? mentioned(o->grid)
                                            : bounds.to_row && kernel.axes[loop.axis].over == o->axis;
  });
}

bool is_packed_row(const Kernel &kernel, const Var &var, size_t d) {
  const AxisId axis = var.dims[d].axis;
  return axis != kNone && d > 0 && is_ragged_over(kernel.axes[axis], var.dims[d - 1].axis);
}

bool may_be_outside(const Kernel &kernel, const Var &var, size_t d, const std::vector<Coordinate> &coords) {
  const auto elsewhere = [&](const Dim &dim) {
    const Coordinate *given = find_coordinate(coords, dim.axis);
    return given != nullptr && !is_identity(kernel, *given);
  };
  const Dim &dim = var.dims[d];
  const Coordinate *given = find_coordinate(coords, dim.axis);
  const bool packed_row = is_packed_row(kernel, var, d);
  if (given != nullptr && !packed_row && dim.whole && is_within(kernel, kernel.expr(given->value), dim.extent))
    return false;
  return elsewhere(dim) || (packed_row && elsewhere(var.dims[d - 1])) || (dim.offset && var.kind == Var::Kind::input) ||
         dim.may_miss;
}

bool may_be_outside(const Kernel &kernel, const Var &var, const std::vector<Coordinate> &coords) {
  for (size_t d = 0; d < var.dims.size(); ++d)
    if (may_be_outside(kernel, var, d, coords))
      return true;
  return false;
}

bool may_leave_along(const Kernel &kernel, const Var &var, const std::vector<Coordinate> &coords, AxisId axis) {
  const auto moves = [&](const Dim &dim) {
    const Coordinate *given = find_coordinate(coords, dim.axis);
    return given != nullptr && !is_identity(kernel, *given) ? kernel.expr(given->value).axes.contains(axis)
                                                            : dim.axis == axis;
  };
  for (size_t d = 0; d < var.dims.size(); ++d)
    if (may_be_outside(kernel, var, d, coords) &&
        (moves(var.dims[d]) || (is_packed_row(kernel, var, d) && moves(var.dims[d - 1]))))
      return true;
  return false;
}

} // namespace kgen
