#include "ir/required_sizes.h"

#include <algorithm>
#include <cstdlib>

#include "ir/evaluate.h"
#include "ir/interpret.h"
#include "ir/op_rows.h"

namespace kgen {
namespace {

constexpr int64_t kLongest = 4096, kLongestOfTwo = 48;

class Condition {
public:
  Condition(const Kernel &kernel, const AxisSizes &sizes) : kernel_(kernel) { input_.sizes = sizes; }

  // What does not depend on sizes alone is unknown, and taken to hold.
  bool may_hold(ExprId id) {
    const std::optional<Value> holds = value(id);
    return !holds || holds->integer != 0;
  }

private:
  std::optional<Value> value(ExprId id) {
    const Expr &e = kernel_.expr(id);
    switch (e.op) {
    case Op::constant:
      return is_floating(e.type) ? number_value(e.number) : integer_value(e.integer);
    case Op::size:
      return e.ref == kNone && kernel_.axes[e.axis].ragged == kNone ? size(e.axis) : std::nullopt;
    case Op::cast: {
      const std::optional<Value> inner = value(e.args[0]);
      return inner ? std::optional(convert(*inner, kernel_.expr(e.args[0]).type, e.type)) : std::nullopt;
    }
    case Op::choose: {
      const std::optional<Value> condition = value(e.args[0]);
      return condition ? value(e.args[condition->integer != 0 ? 1 : 2]) : std::nullopt;
    }
    case Op::both:
    case Op::either: {
      const std::optional<Value> first = value(e.args[0]);
      const bool decides = first && (first->integer != 0) == (e.op == Op::either);
      return decides || !first ? first : value(e.args[1]);
    }
    default:
      return std::ranges::count(op_rows(), e.op, &OpRow::op) != 0 ? operation(e) : std::nullopt;
    }
  }

  std::optional<Value> size(AxisId axis) {
    const std::optional<int64_t> size = size_value(kernel_, kernel_.axes[axis].size, input_);
    return size ? std::optional(integer_value(*size)) : std::nullopt;
  }

  std::optional<Value> operation(const Expr &e) {
    std::vector<Value> args;
    for (const ExprId arg : e.args) {
      const std::optional<Value> known = value(arg);
      if (!known)
        return std::nullopt;
      args.push_back(*known);
    }
    return evaluate(e.op, e.type, kernel_.expr(e.args[0]).type, args.data());
  }

  const Kernel &kernel_;
  RunInput input_;
};

// Other sizes of an axis, the nearest first.
std::vector<int64_t> others(const Axis &axis, int64_t size, int64_t least, int64_t longest) {
  std::vector<int64_t> out;
  for (int64_t other = fitting_size(axis, least); other <= longest; other += axis.multiple_of)
    out.push_back(other);
  std::ranges::stable_sort(out, {}, [&](int64_t other) { return std::abs(other - size); });
  return out;
}

int64_t distance(const AxisSizes &a, const AxisSizes &b) {
  int64_t out = 0;
  for (const auto &[name, size] : a)
    out += std::abs(size - b.at(name));
  return out;
}

bool sizes_meet(const std::vector<const Kernel *> &kernels, const AxisSizes &sizes) {
  return std::ranges::all_of(kernels, [&](const Kernel *kernel) {
    return std::ranges::all_of(kernel->requirements,
                               [&](const Requirement &r) { return Condition(*kernel, sizes).may_hold(r.condition); });
  });
}

} // namespace

OpenAxes open_axes(const Kernel &kernel, const AxisSizes &given) {
  OpenAxes out;
  for (const AxisId id : kernel.size_arguments)
    if (const Axis &axis = kernel.axes[id]; given.count(axis.name) == 0 && kernel.fixed_axes.count(axis.name) == 0)
      out[axis.name] = &axis;
  return out;
}

std::optional<AxisSizes> required_sizes(const std::vector<const Kernel *> &kernels, const AxisSizes &sizes,
                                        const AxisSizes &given, int64_t least) {
  if (sizes_meet(kernels, sizes))
    return sizes;
  std::vector<const Axis *> open;
  for (const auto &[name, axis] : open_axes(*kernels.front(), given))
    if (sizes.count(name) != 0)
      open.push_back(axis);
  std::optional<AxisSizes> best;
  const auto nearest_along = [&](const Axis &axis, AxisSizes tried, int64_t longest) {
    for (const int64_t size : others(axis, sizes.at(axis.name), least, longest)) {
      tried[axis.name] = size;
      if (best && distance(tried, sizes) >= distance(*best, sizes))
        return;
      if (sizes_meet(kernels, tried)) {
        best = tried;
        return;
      }
    }
  };
  for (const Axis *axis : open)
    nearest_along(*axis, sizes, kLongest);
  for (size_t i = 0; i < open.size() && !best; ++i)
    for (size_t k = 0; k < i; ++k)
      for (const int64_t size : others(*open[i], sizes.at(open[i]->name), least, kLongestOfTwo)) {
        AxisSizes tried = sizes;
        tried[open[i]->name] = size;
        nearest_along(*open[k], tried, kLongestOfTwo);
      }
  return best;
}

} // namespace kgen
