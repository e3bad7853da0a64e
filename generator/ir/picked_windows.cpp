#include "ir/picked_windows.h"

namespace kgen {
namespace {

bool picks_by(const Size &start, const std::string &grid) {
  return any_node(start,
                  [&](const Size &node) { return node.op == Size::Op::table && mentions(node, Size::Op::grid, grid); });
}

} // namespace

bool counts_own_row(const Kernel &kernel, GridId grid) {
  const GridDim &dim = kernel.grid[grid];
  return dim.axis != kNone && kernel.axes[dim.axis].ragged != kNone &&
         any_node(dim.size, [](const Size &node) { return node.op == Size::Op::table; });
}

Size length_along(const Kernel &kernel, GridId grid) {
  const Axis &axis = kernel.axes[kernel.grid[grid].axis];
  if (!counts_own_row(kernel, grid))
    return axis.size;
  const Size row = Size::grid(kernel.grid[kernel.axes[axis.over].grid].name);
  Size begin;
  begin.op = Size::Op::table;
  begin.name = kernel.tables[axis.ragged].name;
  begin.args = {row};
  Size end = begin;
  end.args = {Size::make(Size::Op::add, {row, Size::integer(1)})};
  return Size::make(Size::Op::subtract, {end, begin});
}

std::vector<Size> lengths_needed(const Kernel &kernel, const Size &start) {
  std::vector<Size> out;
  for (size_t g = 0; g < kernel.grid.size(); ++g) {
    const GridDim &dim = kernel.grid[g];
    const bool may_be_empty = dim.axis != kNone && dim.semantics == Semantics::arbitrary;
    if (may_be_empty && picks_by(start, dim.name))
      out.push_back(length_along(kernel, static_cast<GridId>(g)));
  }
  return out;
}

Size where_it_exists(const Kernel &kernel, const Size &start, Size value, const Size &otherwise) {
  for (const Size &length : lengths_needed(kernel, start))
    value = Size::make(Size::Op::choose, {Size::make(Size::Op::greater, {length, Size::integer(0)}), value, otherwise});
  return value;
}

} // namespace kgen
