// The new axis is added behind the others; the two it is made of stay for their sizes, without lanes.
#include "rewrite/coalesce.h"

#include <algorithm>

#include "ir/statements.h"

namespace kgen {
namespace {

constexpr size_t kMostAxes = 64; // an AxisSet has so many

class Coalescing {
public:
  explicit Coalescing(const Kernel &kernel) : out_(kernel) {}

  Kernel run() {
    while (const auto pair = find())
      join(pair->first, pair->second);
    return std::move(out_);
  }

  std::optional<std::pair<AxisId, AxisId>> find() const {
    if (out_.axes.size() >= kMostAxes)
      return std::nullopt;
    for (const Var &var : out_.vars)
      for (size_t d = 0; d + 1 < var.dims.size(); ++d) {
        const AxisId outer = var.dims[d].axis, inner = var.dims[d + 1].axis;
        if (outer != kNone && inner != kNone && are_joined(outer, inner))
          return std::pair(outer, inner);
      }
    return std::nullopt;
  }

private:
  bool are_joined(AxisId outer, AxisId inner) const {
    return is_plain(outer) && is_plain(inner) &&
           std::all_of(
               out_.vars.begin(), out_.vars.end(),
               [&](const Var &var) { return has_both(var.axes, outer, inner) && lies_joined(var, outer, inner); }) &&
           std::all_of(out_.exprs.begin(), out_.exprs.end(), [&](const Expr &e) { return fits(e, outer, inner); }) &&
           fit(out_.statements, outer, inner);
  }

  bool is_plain(AxisId axis) const {
    const Axis &a = out_.axes[axis];
    const bool is_over = std::any_of(out_.axes.begin(), out_.axes.end(), [&](const Axis &o) { return o.over == axis; });
    return a.uniform && a.ragged == kNone && a.grid == kNone && !is_over && a.start.is_integer(0) &&
           is_size_of(a, a.block);
  }

  // Both or neither.
  static bool has_both(AxisSet axes, AxisId outer, AxisId inner) {
    return axes.contains(outer) == axes.contains(inner);
  }

  // Is the array without the axes, or one range of memory along both?
  bool lies_joined(const Var &var, AxisId outer, AxisId inner) const {
    auto whole = [&](const Dim &dim) {
      return dim.whole && !dim.offset && !dim.may_miss && is_size_of(out_.axes[dim.axis], dim.extent);
    };
    for (size_t d = 0; d < var.dims.size(); ++d) {
      const Dim &dim = var.dims[d];
      const bool follows = d > 0 && var.dims[d - 1].axis == outer;
      if ((dim.axis == inner) != follows || (dim.axis == outer && d + 1 == var.dims.size()))
        return false;
      if ((dim.axis == inner || dim.axis == outer) && (!whole(dim) || var.strided))
        return false;
    }
    return true;
  }

  static bool names(const std::vector<Coordinate> &coords, AxisId outer, AxisId inner) {
    return std::any_of(coords.begin(), coords.end(),
                       [&](const Coordinate &c) { return c.axis == outer || c.axis == inner; });
  }

  static bool fits(const Expr &e, AxisId outer, AxisId inner) {
    return has_both(e.axes, outer, inner) && has_both(e.reduced, outer, inner) && e.axis != outer && e.axis != inner &&
           !names(e.coords, outer, inner);
  }

  static bool fit(const std::vector<Stmt> &list, AxisId outer, AxisId inner) {
    return std::all_of(list.begin(), list.end(), [&](const Stmt &s) {
      return has_both(s.axes, outer, inner) && has_both(s.context, outer, inner) && !names(s.coords, outer, inner) &&
             fit(s.body, outer, inner) && fit(s.otherwise, outer, inner) && fit(s.step, outer, inner);
    });
  }

  void join(AxisId outer, AxisId inner) {
    const AxisId joined = static_cast<AxisId>(out_.axes.size());
    out_.axes.push_back(joined_axis(out_.axes[outer], out_.axes[inner]));
    auto rename = [&](AxisSet &axes) {
      if (axes.contains(outer))
        axes = (axes - AxisSet::of(outer) - AxisSet::of(inner)) | AxisSet::of(joined);
    };
    for (Var &var : out_.vars) {
      rename(var.axes);
      for (Dim &dim : var.dims)
        if (dim.axis == outer) {
          dim.axis = joined;
          dim.extent = dim.block = out_.axes[joined].size;
        }
      std::erase_if(var.dims, [&](const Dim &dim) { return dim.axis == inner; });
    }
    for (Expr &e : out_.exprs) {
      rename(e.axes);
      rename(e.reduced);
    }
    for_each(out_.statements, [&](Stmt &s) {
      rename(s.axes);
      rename(s.context);
    });
  }

  Axis joined_axis(const Axis &outer, const Axis &inner) const {
    Axis axis;
    axis.name = outer.name + "*" + inner.name;
    axis.size = axis.block = Size::make(Size::Op::multiply, {size_of(outer), size_of(inner)});
    axis.start = Size::integer(0);
    axis.multiple_of = outer.multiple_of * inner.multiple_of;
    axis.place = outer.place;
    return axis;
  }

  // A derived axis has a formula, and is called by its name; but a number is one, however it is written.
  static Size size_of(const Axis &axis) {
    return axis.derived && !axis.size.is_integer() ? Size::axis(axis.name) : axis.size;
  }

  Kernel out_;
};

} // namespace

Kernel coalesce(const Kernel &kernel) { return Coalescing(kernel).run(); }

std::optional<std::pair<AxisId, AxisId>> joined_axes(const Kernel &kernel) { return Coalescing(kernel).find(); }

} // namespace kgen
