#include "ir/small_sizes.h"

#include <algorithm>

#include "ir/interpret.h"

namespace kgen {
namespace {

constexpr int64_t kLongest = 4096; // windows are not longer

// Few elements along each axis, unlike ones.
AxisSizes plain_sizes(const Kernel &kernel, const AxisSizes &given, int64_t base) {
  AxisSizes out = given;
  int64_t spread = 0;
  for (AxisId id : kernel.size_arguments) {
    const Axis &axis = kernel.axes[id];
    const auto fixed = kernel.fixed_axes.find(axis.name);
    const int64_t size = base == 1 ? 1 : base + spread++ % 3;
    out.emplace(axis.name, fixed != kernel.fixed_axes.end() ? fixed->second : fitting_size(axis, size));
  }
  return out;
}

// Have all axes so many elements, and the grid so many steps, as far as sizes alone tell? Those that no size changes
// have what they have.
bool has_elements(const Kernel &kernel, const AxisSizes &sizes, int64_t least) {
  RunInput input;
  input.sizes = sizes;
  const auto enough = [&](const Size &size) {
    const bool open = any_node(size, [](const Size &node) { return node.op == Size::Op::axis; });
    const bool known = !any_node(size, [](const Size &node) {
      return node.op == Size::Op::grid || node.op == Size::Op::grid_size || node.op == Size::Op::table;
    });
    return !open || !known || size_value(kernel, size, input).value_or(0) >= (size.op == Size::Op::axis ? 1 : least);
  };
  return std::all_of(kernel.axes.begin(), kernel.axes.end(),
                     [&](const Axis &axis) { return axis.ragged != kNone || enough(axis.size); }) &&
         std::all_of(kernel.grid.begin(), kernel.grid.end(), [&](const GridDim &grid) { return enough(grid.size); });
}

// These axes longer until there is something; then each as short as it may be.
std::optional<AxisSizes> longer_along(const Kernel &kernel, const OpenAxes &open, AxisSizes sizes, int64_t least) {
  const AxisSizes before = sizes;
  for (int64_t times = 2; !has_elements(kernel, sizes, least); times *= 2) {
    if (times > kLongest)
      return std::nullopt;
    for (const auto &[name, axis] : open)
      sizes[name] = before.at(name) * times;
  }
  for (const auto &[name, axis] : open)
    for (int64_t size = before.at(name), grown = sizes.at(name); size <= grown; size += axis->multiple_of) {
      sizes[name] = size;
      if (has_elements(kernel, sizes, least))
        break;
    }
  return sizes;
}

// All axes that are not given, or one of them alone: a window of so many elements may not grow with its array.
std::optional<AxisSizes> longer_sizes(const Kernel &kernel, const AxisSizes &given, const AxisSizes &sizes,
                                      int64_t least) {
  const OpenAxes open = open_axes(kernel, given);
  std::optional<AxisSizes> out = longer_along(kernel, open, sizes, least);
  for (auto one = open.begin(); one != open.end() && !out; ++one)
    out = longer_along(kernel, {*one}, sizes, least);
  return out;
}

} // namespace

std::optional<AxisSizes> small_sizes(const Kernel &kernel, const AxisSizes &given, int64_t base) {
  const AxisSizes plain = plain_sizes(kernel, given, base);
  if (has_elements(kernel, plain, 1))
    return plain;
  const auto several = base == 1 ? std::nullopt : longer_sizes(kernel, given, plain, 2); // windows that overlap
  return several ? several : longer_sizes(kernel, given, plain, 1);
}

} // namespace kgen
