// The window that operands with an axis share, and with it the shape of scratch. Only operands that the body uses at
// the current point along the axis count: one that is read through `at` alone may look elsewhere.
#include "ir/build.h"

#include <algorithm>

#include "support/text.h"

namespace kgen::build {

namespace {

struct Window {
  VarId var;
  const Dim *dim;
};

std::vector<Window> windows_along(const Build &build, AxisId axis, bool touched_only) {
  std::vector<Window> out;
  for (VarId id = 0; id < static_cast<VarId>(build.kernel.vars.size()); ++id) {
    const Var &var = build.kernel.vars[id];
    if (var.kind != Var::Kind::input && var.kind != Var::Kind::output)
      continue;
    if (touched_only && !build.touched.count({id, axis}))
      continue;
    for (const Dim &dim : var.dims)
      if (dim.axis == axis)
        out.push_back({id, &dim});
  }
  return out;
}

// A block and its description, for messages.
std::string describe(const Dim &dim) { return dim.whole ? "all " + to_string(dim.extent) : to_string(dim.block); }

// A block given by an expression has one element at least. That makes no difference beside a whole array of that size:
// where it has none, no lane is there.
bool same_block(const Dim &a, const Dim &b) {
  const auto raised = [](const Dim &dim) {
    return dim.whole ? Size::make(Size::Op::max, {dim.extent, Size::integer(1)}) : dim.block;
  };
  return a.block == b.block || (a.whole != b.whole && raised(a) == raised(b));
}

// Both arrays are seen whole: it is no matter of blocks.
void report_sizes(Build &build, const std::string &axis, const Var &a, const Dim &a_dim, const Var &b,
                  const Dim &b_dim) {
  auto shown = [&](const Dim &dim) {
    return dim.extent == Size::axis(axis) ? "any size" : "size " + to_string(dim.extent);
  };
  Diagnostic &d = build.diags.add(DiagId::axis_many_sizes, b.place, {axis, shown(b_dim), shown(a_dim)});
  d.labels.push_back({a.place, "there"});
  d.help = "give both arrays the same size along it, or one of them an axis of its own";
}

void settle_axis(Build &build, AxisId id) {
  Axis &axis = build.kernel.axes[id];
  std::vector<Window> windows = windows_along(build, id, true);
  bool touched = !windows.empty();
  if (!touched)
    windows = windows_along(build, id, false);
  if (windows.empty())
    return;
  const Window &first = windows[0];
  for (const Window &other : windows) {
    if (other.dim->start == first.dim->start && other.dim->block == first.dim->block)
      continue;
    axis.uniform = false;
    if (same_block(*other.dim, *first.dim) || !touched)
      continue;
    const Var &a = build.kernel.vars[first.var], &b = build.kernel.vars[other.var];
    if (first.dim->whole && other.dim->whole) {
      report_sizes(build, axis.name, a, *first.dim, b, *other.dim);
      break;
    }
    build.diags
        .add(DiagId::blocks_differ, b.place,
             {axis.name, ticked(a.name), describe(*first.dim), ticked(b.name), describe(*other.dim)})
        .help = "operands that share an axis need blocks of the same size along it; rename the axis of one of them, or "
                "read it through at(...)";
    break;
  }
  axis.block = first.dim->block;
  if (axis.uniform || axis.grid == kNone)
    axis.start = first.dim->start;
}

void settle_scratch(Build &build, VarId id) {
  Var &var = build.kernel.vars[id];
  for (Dim &dim : var.dims) {
    if (dim.axis == kNone)
      continue;
    const Axis &axis = build.kernel.axes[dim.axis];
    bool own = !(dim.extent == build.axis_size(dim.axis));
    if (!own)
      dim.extent = axis.block;
    else if (!(dim.extent == axis.block) && build.touched.count({id, dim.axis}))
      build.diags
          .add(DiagId::blocks_differ, var.place,
               {axis.name, "the grid", to_string(axis.block), ticked(var.name), describe(dim)})
          .help = "leave out the size: scratch holds one block";
    dim.block = dim.extent;
  }
}

} // namespace

void settle_windows(Build &build) {
  for (AxisId axis = 0; axis < static_cast<AxisId>(build.kernel.axes.size()); ++axis)
    settle_axis(build, axis);
  for (VarId id = 0; id < static_cast<VarId>(build.kernel.vars.size()); ++id)
    if (build.kernel.vars[id].kind == Var::Kind::scratch)
      settle_scratch(build, id);
}

std::set<GridId> moves_with(const Build &build, const Var &var) {
  std::set<GridId> out;
  auto add = [&](const Size &start) {
    for (GridId dim : grid_mentions(build, start))
      out.insert(dim);
  };
  for (const Dim &dim : var.dims) {
    add(dim.start);
    if (var.kind == Var::Kind::scratch && dim.axis != kNone)
      add(build.kernel.axes[dim.axis].start);
  }
  return out;
}

} // namespace kgen::build
