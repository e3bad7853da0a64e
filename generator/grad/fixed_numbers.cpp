#include "grad/fixed_numbers.h"

#include <algorithm>

namespace kgen::grad {
namespace {

class Fixing {
public:
  explicit Fixing(const Spec &spec) : spec_(spec) {}

  void fix(Size &size) const {
    size = rewrite(size, [&](const Size &node) -> std::optional<Size> {
      if (node.op != Size::Op::param)
        return std::nullopt;
      const auto param = std::ranges::find(spec_.params, node.name, &Param::name);
      return param->is_given() ? std::optional(Size::integer(std::get<int64_t>(param->choices.front()))) : std::nullopt;
    });
  }
  void fix(std::optional<Size> &size) const {
    if (size)
      fix(*size);
  }
  void fix(std::vector<Size> &sizes) const {
    for (Size &size : sizes)
      fix(size);
  }
  void fix(std::optional<std::vector<Size>> &sizes) const {
    if (sizes)
      fix(*sizes);
  }
  void fix(OperandDecl &operand) const {
    for (DimDecl &dim : operand.dims)
      fix(dim.extent);
    if (!operand.window)
      return;
    for (WindowDecl::Dim &dim : operand.window->block)
      fix(dim.block);
    fix(operand.window->index);
    fix(operand.window->offset);
  }

private:
  const Spec &spec_;
};

} // namespace

Spec with_fixed_numbers(Spec spec) {
  const Fixing fixing(spec);
  for (AxisDecl &axis : spec.axes)
    fixing.fix(axis.equals);
  for (OperandDecl &operand : spec.operands)
    fixing.fix(operand);
  for (TableDecl &table : spec.tables) {
    fixing.fix(table.dims);
    fixing.fix(table.range);
  }
  for (GridDecl &grid : spec.grid) {
    fixing.fix(grid.blocks);
    fixing.fix(grid.size);
    fixing.fix(grid.at_most);
  }
  return spec;
}

} // namespace kgen::grad
