// The digits are added behind the other axes; the axis that they are of stays for its size, without lanes.
#include "rewrite/split_axes.h"

#include <algorithm>

#include "ir/axes_of_values.h"
#include "ir/rebuild.h"
#include "rewrite/quotients.h"

namespace kgen {
namespace {

constexpr size_t kMostAxes = 64;                     // an AxisSet has so many
constexpr int64_t kMostFields = 4, kFullVectors = 8; // low digits that are fields of vectors, and that fill some

class Splitting {
public:
  explicit Splitting(const Kernel &kernel) : out_(kernel) {}

  Kernel run() {
    for (const Var &var : std::vector<Var>(out_.vars))
      if (var.kind == Var::Kind::output && !var.dims.empty() && var.dims.back().axis != kNone)
        split(var.dims.back().axis);
    return std::move(out_);
  }

private:
  void split(AxisId axis) {
    const std::optional<int64_t> digits = common_divisor(axis);
    if (!digits || out_.axes.size() + 2 > kMostAxes || !is_plain(axis) || !may_be_split(axis))
      return;
    const std::optional<Size> high = quotient(out_.axes[axis].size, *digits);
    if (high && !(high->is_integer() && high->value < kFullVectors)) // or it is a record of few fields itself
      replace(axis, *digits, *high);
  }

  static bool is_index(const Kernel &kernel, ExprId id, AxisId axis) {
    const Expr &e = kernel.exprs[id];
    return e.op == Op::index && e.axis == axis && e.ref == kNone;
  }

  // Is it a quotient or a remainder of the index?
  static bool is_digit(const Kernel &kernel, const Expr &e, AxisId axis) {
    return (is_quotient(e) || is_remainder(e)) && is_index(kernel, e.args[0], axis);
  }

  // By what the body divides the index, if it is always the same.
  std::optional<int64_t> common_divisor(AxisId axis) const {
    std::optional<int64_t> found;
    for (const Expr &e : out_.exprs)
      if (is_digit(out_, e, axis)) {
        const int64_t by = divisor_of(out_, e);
        if (found && *found != by)
          return std::nullopt;
        found = by;
      }
    const bool fits = found && is_place(axis) &&
                      ((*found > 1 && *found <= kMostFields) || (*found > 0 && *found % kFullVectors == 0));
    return fits ? found : std::nullopt;
  }

  // Does something stand at places that differ along the axis?
  bool is_place(AxisId axis) const {
    return std::ranges::any_of(out_.exprs, [&](const Expr &e) {
      return std::ranges::any_of(e.coords,
                                 [&](const Coordinate &c) { return out_.exprs[c.value].axes.contains(axis); });
    });
  }

  bool is_plain(AxisId axis) const {
    const Axis &a = out_.axes[axis];
    const bool is_over = std::any_of(out_.axes.begin(), out_.axes.end(), [&](const Axis &o) { return o.over == axis; });
    return a.uniform && a.ragged == kNone && a.grid == kNone && !a.rest && !is_over && a.start.is_integer(0) &&
           is_size_of(a, a.block);
  }

  bool may_be_split(AxisId axis) const {
    const auto is_whole = [&](const Dim &dim) {
      return dim.axis != axis || (dim.whole && !dim.offset && !dim.may_miss && is_size_of(out_.axes[axis], dim.extent));
    };
    return std::all_of(out_.vars.begin(), out_.vars.end(),
                       [&](const Var &var) {
                         return !var.axes.contains(axis) ||
                                (!var.strided && std::all_of(var.dims.begin(), var.dims.end(), is_whole));
                       }) &&
           std::all_of(out_.exprs.begin(), out_.exprs.end(), [&](const Expr &e) { return fits(e, axis); }) &&
           std::none_of(out_.requirements.begin(), out_.requirements.end(),
                        [&](const Requirement &r) { return out_.exprs[r.condition].axes.contains(axis); }) &&
           fit(out_.statements, axis);
  }

  static bool names(const std::vector<Coordinate> &coords, AxisId axis) {
    return find_coordinate(coords, axis) != nullptr;
  }

  // Nothing is folded along the axis, goes along it in order, or stands at a place of it.
  static bool fits(const Expr &e, AxisId axis) {
    const bool asks = (e.op == Op::index || e.op == Op::size) && e.ref == kNone;
    return !names(e.coords, axis) && (e.axis != axis || asks) && !e.reduced.contains(axis);
  }

  static bool fit(const std::vector<Stmt> &list, AxisId axis) {
    return std::all_of(list.begin(), list.end(), [&](const Stmt &s) {
      return !names(s.coords, axis) && fit(s.body, axis) && fit(s.otherwise, axis) && fit(s.step, axis);
    });
  }

  // The size divided by a number, where nothing remains of any such size.
  std::optional<Size> quotient(const Size &size, int64_t by) const {
    if (size.is_integer())
      return size.value % by == 0 ? std::optional(Size::integer(size.value / by)) : std::nullopt;
    if (size.op == Size::Op::multiply)
      for (size_t i : {0, 1})
        if (std::optional<Size> part = quotient(size.args[i], by))
          return Size::make(Size::Op::multiply, {*part, size.args[1 - i]});
    if (size.op != Size::Op::axis)
      return std::nullopt;
    const auto axis =
        std::find_if(out_.axes.begin(), out_.axes.end(), [&](const Axis &a) { return a.name == size.name; });
    if (axis == out_.axes.end())
      return std::nullopt;
    if (axis->multiple_of % by == 0)
      return Size::make(Size::Op::divide, {size, Size::integer(by)});
    return axis->size == size ? std::nullopt : quotient(axis->size, by);
  }

  void replace(AxisId axis, int64_t digits, const Size &count) {
    const AxisId high = add_axis(axis, "_by_", digits, count),
                 low = add_axis(axis, "_of_", digits, Size::integer(digits));
    for (Var &var : out_.vars) {
      if (!var.axes.contains(axis))
        continue;
      var.axes -= AxisSet::of(axis); // a local's are found again
      if (var.kind != Var::Kind::local)
        var.axes |= AxisSet::of(high) | AxisSet::of(low);
      split_dim(var, axis, high, low);
    }
    split_indices(axis, digits, high, low);
    find_axes_of_values(out_);
  }

  void split_dim(Var &var, AxisId axis, AxisId high, AxisId low) const {
    for (size_t d = 0; d < var.dims.size(); ++d)
      if (var.dims[d].axis == axis) {
        Dim inner = var.dims[d];
        var.dims[d].axis = high;
        var.dims[d].extent = var.dims[d].block = out_.axes[high].size;
        inner.axis = low;
        inner.extent = inner.block = out_.axes[low].size;
        var.dims.insert(var.dims.begin() + static_cast<std::ptrdiff_t>(d) + 1, inner);
        return;
      }
  }

  void split_indices(AxisId axis, int64_t digits, AxisId high, AxisId low) {
    Rebuild rebuild(out_);
    rebuild.run([&](ExprId id) {
      const Expr &e = rebuild.before.expr(id);
      if (is_digit(rebuild.before, e, axis))
        return out_.add(index_of(is_quotient(e) ? high : low));
      return is_index(rebuild.before, id, axis) ? joined(digits, high, low) : kNone;
    });
  }

  static Expr index_of(AxisId axis) {
    Expr e;
    e.op = Op::index;
    e.type = Type::i64;
    e.axis = axis;
    return e;
  }

  ExprId joined(int64_t digits, AxisId high, AxisId low) {
    Expr number;
    number.type = Type::i64;
    number.integer = digits;
    const ExprId count = out_.add(number);
    Expr product;
    product.op = Op::mul;
    product.type = Type::i64;
    product.args = {out_.add(index_of(high)), count};
    Expr sum;
    sum.op = Op::add;
    sum.type = Type::i64;
    sum.args = {out_.add(product)};
    sum.args.push_back(out_.add(index_of(low)));
    return out_.add(sum);
  }

  AxisId add_axis(AxisId of, const std::string &word, int64_t digits, const Size &size) {
    Axis axis;
    axis.name = out_.axes[of].name + word + std::to_string(digits);
    axis.size = axis.block = size;
    axis.start = Size::integer(0);
    axis.place = out_.axes[of].place;
    out_.axes.push_back(axis);
    return static_cast<AxisId>(out_.axes.size()) - 1;
  }

  Kernel out_;
};

} // namespace

Kernel split_axes(const Kernel &kernel) { return Splitting(kernel).run(); }

} // namespace kgen
