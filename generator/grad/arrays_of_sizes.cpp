#include "grad/arrays_of_sizes.h"

#include <algorithm>
#include <vector>

namespace kgen::grad {
namespace {

bool declares_size(const Spec &forward, const std::string &axis) {
  return std::any_of(forward.axes.begin(), forward.axes.end(), [&](const AxisDecl &decl) {
    return decl.name == axis && (!decl.fixed.empty() || decl.equals || !decl.ragged.empty());
  });
}

void use_arrays_in(const Size &formula, const Spec &forward, Document &document) {
  any_node(formula, [&](const Size &node) {
    if (node.op == Size::Op::axis && !declares_size(forward, node.name))
      use_array_along(node.name, forward, document);
    return false;
  });
}

bool stands(const std::string &name, const Document &document) {
  const auto &given = document.differentiated;
  return document.used.count(name) != 0 || std::find(given.begin(), given.end(), name) != given.end() ||
         std::any_of(document.outputs.begin(), document.outputs.end(),
                     [&](const GradientOutput &output) { return output.of == name; });
}

bool names(const DimDecl &dim, const std::string &axis) {
  return dim.extent ? mentions(*dim.extent, Size::Op::axis, axis)
                    : std::find(dim.axes.begin(), dim.axes.end(), axis) != dim.axes.end();
}

} // namespace

void use_arrays_of_sizes(const Spec &forward, Document &document) {
  for (size_t before = document.used.size() + 1; before != document.used.size();) {
    before = document.used.size();
    for (const auto &[axis, size] : document.body_axes)
      if (!size.is_integer() && size == Size::axis(axis))
        use_array_along(axis, forward, document);
    for (const auto &[axis, size] : document.made_axes)
      use_arrays_in(size, forward, document);
    for (const TableDecl &table : forward.tables)
      if (table.range && document.used.count(table.name) != 0)
        use_arrays_in(*table.range, forward, document);
  }
}

void use_array_along(const std::string &axis, const Spec &forward, Document &document) {
  std::vector<std::string> having;
  for (const OperandDecl &operand : forward.operands)
    if (operand.role != Role::scratch &&
        std::any_of(operand.dims.begin(), operand.dims.end(), [&](const DimDecl &dim) { return names(dim, axis); }))
      having.push_back(operand.name);
  for (const TableDecl &table : forward.tables)
    if (std::find(table.dims.begin(), table.dims.end(), Size::axis(axis)) != table.dims.end())
      having.push_back(table.name);
  if (!having.empty() &&
      std::none_of(having.begin(), having.end(), [&](const std::string &name) { return stands(name, document); }))
    document.used.insert(having.front());
}

} // namespace kgen::grad
