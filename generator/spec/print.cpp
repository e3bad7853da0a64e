// A Spec as text, one line a declaration: what kgen understood, in the words of the file.
#include <charconv>

#include "spec/declared_text.h"
#include "support/text.h"

namespace kgen {

namespace {

std::string number_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

std::string value_text(const ParamValue &value) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  if (const auto *number = std::get_if<double>(&value))
    return number_text(*number);
  return std::get<std::string>(value);
}

template <class List, class Text>
std::string list_text(const List &list, const Text &text, std::string_view separator) {
  std::vector<std::string> parts;
  for (const auto &item : list)
    parts.push_back(text(item));
  return join(parts, separator);
}

std::string sizes_text(const std::vector<Size> &sizes) {
  return list_text(sizes, [](const Size &size) { return to_string(size); }, ", ");
}

std::string window_text(const WindowDecl &window) {
  const auto block = [](const WindowDecl::Dim &dim) {
    return dim.kind == WindowDecl::Kind::whole     ? std::string("whole")
           : dim.kind == WindowDecl::Kind::squeeze ? std::string("squeeze")
                                                   : to_string(dim.block);
  };
  std::string out = " block [" + list_text(window.block, block, ", ") + "]";
  if (window.index)
    out += " index [" + sizes_text(*window.index) + "]";
  if (window.offset)
    out += " offset [" + sizes_text(*window.offset) + "]";
  return out;
}

std::string operand_text(const OperandDecl &operand) {
  constexpr std::string_view kRoles[] = {"input", "output", "scratch"};
  std::string out =
      std::string(kRoles[static_cast<size_t>(operand.role)]) + " " + operand.name + ": " + declared_text(operand);
  if (operand.outside)
    out += " outside " + number_text(*operand.outside);
  if (!operand.alias.empty())
    out += " alias " + operand.alias;
  constexpr std::pair<bool OperandDecl::*, std::string_view> kFlags[] = {{&OperandDecl::strided, " strided"},
                                                                         {&OperandDecl::optional, " optional"},
                                                                         {&OperandDecl::partial, " partial"},
                                                                         {&OperandDecl::overwrite, " overwrite"},
                                                                         {&OperandDecl::atomic, " atomic"}};
  for (const auto &[flag, text] : kFlags)
    if (operand.*flag)
      out += text;
  return operand.window ? out + window_text(*operand.window) : out;
}

std::string axis_text(const AxisDecl &axis) {
  std::string out = "axis " + axis.name;
  if (!axis.fixed.empty())
    out += " = " + list_text(axis.fixed, [](int64_t size) { return std::to_string(size); }, " | ");
  if (axis.multiple_of != 1)
    out += " multiple of " + std::to_string(axis.multiple_of);
  if (axis.equals)
    out += " equals " + to_string(*axis.equals);
  if (!axis.ragged.empty())
    out += " ragged by " + axis.ragged + " over " + axis.over;
  return out;
}

std::string table_text(const TableDecl &table) {
  std::string out = "table " + table.name + ": " + declared_text(table);
  out += table.sorted ? " sorted" : "";
  out += table.unique ? " unique" : "";
  out += table.range ? " range " + to_string(*table.range) : "";
  return out + (table.on_host ? " on host" : "");
}

std::string grid_text(const GridDecl &grid) {
  std::string out = "grid " + grid.name + ": ";
  if (grid.size)
    out += "size " + to_string(*grid.size);
  else
    out += "axis " + grid.axis + " block " +
           list_text(grid.blocks, [](const Size &block) { return to_string(block); }, " | ");
  if (grid.at_most)
    out += " at most " + to_string(*grid.at_most);
  if (grid.semantics)
    out += grid.semantics == Semantics::parallel ? " parallel" : " arbitrary";
  return out;
}

std::string argument_text(const Spec &spec, const ArgumentRef &argument) {
  const size_t index = static_cast<size_t>(argument.index);
  switch (argument.kind) {
  case ArgumentRef::Kind::operand:
    return spec.operands[index].name;
  case ArgumentRef::Kind::scalar:
    return spec.scalars[index].name;
  case ArgumentRef::Kind::table:
    break;
  }
  return spec.tables[index].name;
}

std::string indented(const std::string &text) {
  std::string out;
  for (const std::string &line : split(text, '\n'))
    out += line.empty() ? "\n" : "  " + line + "\n";
  while (out.ends_with("\n\n"))
    out.pop_back();
  return out;
}

} // namespace

std::string print(const Spec &spec) {
  std::vector<std::string> lines = {"kernel " + spec.kernel};
  const auto type_name = [](Type type) { return std::string(type_row(type).name); };
  for (const TypeParam &type : spec.types)
    lines.push_back("type " + type.name + " = " + list_text(type.choices, type_name, " | "));
  for (const std::vector<Type> &row : spec.only)
    lines.push_back("only " + list_text(row, type_name, " "));
  for (const Param &param : spec.params)
    lines.push_back(std::string(param.is_list ? "params " : "param ") + param.name + " = " +
                    list_text(param.choices, value_text, " | "));
  for (const AxisDecl &axis : spec.axes)
    lines.push_back(axis_text(axis));
  for (const OperandDecl &operand : spec.operands)
    lines.push_back(operand_text(operand));
  for (const Scalar &scalar : spec.scalars)
    lines.push_back("scalar " + scalar.name + ": " + type_text(scalar.type));
  for (const TableDecl &table : spec.tables)
    lines.push_back(table_text(table));
  for (const GridDecl &grid : spec.grid)
    lines.push_back(grid_text(grid));
  for (const BatchDecl &batch : spec.batch)
    lines.push_back("batch " + batch.axis + ": " + join(batch.operands, " "));
  for (const ScheduleEntry &entry : spec.schedule)
    lines.push_back("schedule " + entry.target + "." + entry.key + " = " + value_text(entry.value));
  lines.push_back("axes " + join(spec.axis_order, " "));
  lines.push_back("arguments " +
                  list_text(spec.arguments, [&](const ArgumentRef &a) { return argument_text(spec, a); }, " "));
  std::string out = join(lines, "\n") + "\n";
  if (spec.functions.given())
    out += "functions\n" + indented(spec.functions.text);
  return out + "body\n" + indented(spec.body.text);
}

} // namespace kgen
