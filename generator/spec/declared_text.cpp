#include "spec/declared_text.h"

#include <algorithm>

#include "support/text.h"

namespace kgen {

bool has_rest(const OperandDecl &operand) {
  return std::ranges::any_of(operand.dims, [](const DimDecl &dim) { return dim.kind == DimDecl::Kind::rest; });
}

std::string type_text(const TypeName &type) {
  return type.param.empty() ? std::string(type_row(type.type).name) : type.param;
}

std::string dim_text(const DimDecl &dim) {
  if (dim.kind == DimDecl::Kind::one)
    return "1";
  if (dim.kind == DimDecl::Kind::rest)
    return "...";
  const std::string axes = dim.axes.size() > 1 ? "(" + join(dim.axes, " ") + ")" : dim.axes.front();
  return dim.extent ? axes + "=" + to_string(*dim.extent) : axes;
}

std::string declared_text(const OperandDecl &operand) {
  std::vector<std::string> dims;
  for (const DimDecl &dim : operand.dims)
    dims.push_back(dim_text(dim));
  return type_text(operand.type) + "[" + join(dims, ", ") + "]";
}

std::string declared_text(const TableDecl &table) {
  std::vector<std::string> dims;
  for (const Size &dim : table.dims)
    dims.push_back(to_string(dim));
  return std::string(type_row(table.type).name) + "[" + join(dims, ", ") + "]";
}

} // namespace kgen
