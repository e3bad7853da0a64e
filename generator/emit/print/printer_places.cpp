// Where values lie: the element of an array or buffer at the current point or at coordinates, and what must hold for it
// to be inside.
#include <algorithm>
#include <cctype>

#include "emit/interface/interface.h"
#include "emit/print/printer.h"
#include "emit/target_file.h"
#include "ir/evaluate.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"
#include "plan/index/width.h"
#include "support/check.h"

namespace kgen {

Code Printer::position(AxisId axis) {
  const Size start = origin_of(kernel, axis);
  if (start.is_integer(0))
    return {axis_names_[axis]};
  return {axis_names_[axis] + " - " + at_least(size(start), binding::kAdd + 1), binding::kAdd};
}

Size Printer::room_of(AxisId axis) const {
  const int64_t most = kernel.axes[axis].most;
  return most > 0 ? Size::integer(most) : extent_of(kernel, axis);
}

Code Printer::room_text(AxisId axis) {
  for (const PlanNode *loop : open_)
    if (loop->kind == PlanNode::Kind::loop && loop->axis == axis && loop->parts > 0)
      return {part_length(loop->parts, loop->kept)};
  return size(room_of(axis));
}

Code Printer::coordinate(const Dim &dim) {
  if (dim.axis == kNone)
    return size(dim.start);
  const Size start = origin_of(kernel, dim.axis);
  if (dim.start == start)
    return {axis_names_[dim.axis]};
  const Code pos = position(dim.axis);
  if (dim.start.is_integer(0))
    return pos;
  return {at_least(size(dim.start), binding::kAdd) + " + " + at_least(pos, binding::kAdd), binding::kAdd};
}

// The coordinate in an operand's dimension: the current point, or what `at` says.
std::string Printer::coordinate_text(const Dim &dim, const std::vector<Coordinate> &coords) {
  const Coordinate *given = find_coordinate(coords, dim.axis);
  return given != nullptr ? expression(given->value).text : coordinate(dim).text;
}

bool Printer::given_elsewhere(const Dim &dim, const std::vector<Coordinate> &coords) const {
  const Coordinate *given = find_coordinate(coords, dim.axis);
  return given != nullptr && !is_identity(kernel, *given);
}

// Where a packed row begins. Nothing has checked a table in device memory, so its entries are kept within the array.
std::string Printer::row_start(AxisId axis, const std::string &row) {
  const Axis &a = kernel.axes[axis];
  const Table &table = kernel.tables[a.ragged];
  std::string text = c_name(table.name) + "[" + row + "]";
  if (spelling.target() == TargetKind::cuda && !table.on_host)
    text = spelling.helper("row_at") + "(" + c_name(table.name) + ", " + row + ", " + size_text(a.size) + ")";
  const auto it = named.find(text);
  return it == named.end() ? text : it->second;
}

Code Printer::row_of(AxisId axis, const std::string &element) {
  const Axis &along = kernel.axes[axis];
  return {spelling.helper("entries_after") + "(" + c_name(kernel.tables[along.ragged].name) + ", 1, " +
              size_text(kernel.axes[along.over].size) + ", " + element + ") - 1",
          binding::kAdd};
}

Code Printer::row_length(AxisId axis, const std::string &row) {
  const std::string text = row_start(axis, row + " + 1") + " - " + row_start(axis, row);
  const auto it = named.find(text);
  return it == named.end() ? Code{text, binding::kAdd} : Code{it->second};
}

// The linear index of an operand's element; notes the coordinates that must be checked to lie inside.
Code Printer::index_text(VarId id, const std::vector<Coordinate> &coords,
                         std::vector<std::pair<std::string, std::string>> *checks) {
  const Var &var = kernel.vars[id];
  Code linear{""};
  auto horner = [&](const Size &extent, const Code &coord) {
    if (linear.text.empty() || linear.text == "0") {
      linear = coord;
      return;
    }
    linear = {at_least(linear, binding::kMultiply) + " * " + at_least(size(extent), binding::kUnary),
              binding::kMultiply};
    if (coord.text != "0")
      linear = {linear.text + " + " + at_least(coord, binding::kAdd), binding::kAdd};
  };
  std::string strided;
  for (size_t d = 0; d < var.dims.size(); ++d) {
    const Dim &dim = var.dims[d];
    Code coord = coordinate(dim);
    const Coordinate *given = find_coordinate(coords, dim.axis);
    const bool identity = given != nullptr && is_identity(kernel, *given);
    if (given != nullptr && !identity)
      coord = expression(given->value);
    const AxisId axis = dim.axis;
    const bool packed_row = is_packed_row(kernel, var, d);
    const std::string row = packed_row ? coordinate_text(var.dims[d - 1], coords) : "";
    const bool elsewhere = (given != nullptr && !identity) || (packed_row && given_elsewhere(var.dims[d - 1], coords));
    if (checks != nullptr && may_be_outside(kernel, var, d, coords)) {
      if (packed_row)
        checks->push_back({coord.text, row_length(axis, row).text});
      else if (elsewhere && var.kind == Var::Kind::output && !dim.whole) // other points of the block, not of the array
        checks->push_back(within(coord, given, dim.start, dim.block, dim.extent));
      else
        checks->push_back({coord.text, size_text(dim.extent)});
    }
    if (packed_row) {
      // The row's start takes the place of the outer coordinate. `linear` ends with that of `over`.
      const std::string packed = row_start(axis, row) + " + " + at_least(coord, binding::kAdd);
      linear = {""};
      for (size_t before = 0; before + 1 < d && !var.strided; ++before) {
        const Coordinate *c = find_coordinate(coords, var.dims[before].axis);
        horner(var.dims[before].extent, c != nullptr ? expression(c->value) : coordinate(var.dims[before]));
      }
      horner(kernel.axes[axis].size, {packed, binding::kAdd});
    } else if (var.strided) {
      // Split dimensions share one stride.
      const bool inner_of_split = d > 0 && var.dims[d - 1].array_dim == dim.array_dim;
      if (!inner_of_split)
        linear = {""};
      horner(dim.extent, coord);
      if (d + 1 < var.dims.size() && var.dims[d + 1].array_dim == dim.array_dim)
        continue;
    } else {
      horner(dim.extent, coord);
    }
    if (var.strided)
      strided += (strided.empty() ? "" : " + ") + at_least(linear, binding::kMultiply) + " * " +
                 stride_name(kernel, var, dim.array_dim);
  }
  if (var.strided)
    return {strided.empty() ? "0" : strided, binding::kAdd};
  return linear.text.empty() ? Code{"0"} : linear;
}

std::string Printer::argument_element(VarId id, const Code &index) const {
  const std::string text = var_names_[id] + "[" + index.text + "]";
  const auto it = held.find(text);
  return it == held.end() ? text : it->second;
}

std::string Printer::guard(VarId var, const std::vector<Coordinate> &coords) {
  const std::vector<std::pair<std::string, std::string>> checks = place_checks(var, coords);
  return checks.empty() ? "" : inside(checks).text;
}

// Of an argument, or of what the kernel keeps.
std::vector<std::pair<std::string, std::string>> Printer::place_checks(VarId var,
                                                                       const std::vector<Coordinate> &coords) {
  if (plan.storage[var].kind != Storage::Kind::argument)
    return buffer_checks(var, coords);
  std::vector<std::pair<std::string, std::string>> checks;
  index_text(var, coords, &checks);
  return checks;
}

std::string Printer::element(VarId id, const std::vector<Coordinate> &coords, const std::vector<ExprId> &indices) {
  const Var &var = kernel.vars[id];
  const Storage &storage = plan.storage[id];
  if (kind_of(id) == Storage::Kind::argument)
    return argument_element(id, index_text(id, coords, nullptr));
  if (kind_of(id) == Storage::Kind::scalar)
    return var_names_[id] + lane_of(id);
  Code linear{""};
  const auto is_number = [](const std::string &text) {
    return text.size() < 6 && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
  };
  auto horner = [&](const std::string &extent, const Code &coord) {
    if (linear.text.empty())
      linear = coord;
    else if (is_number(linear.text) && is_number(extent) && is_number(coord.text))
      linear = {std::to_string(std::stoi(linear.text) * std::stoi(extent) + std::stoi(coord.text))};
    else
      linear = {at_least(linear, binding::kMultiply) + " * " + extent + " + " + at_least(coord, binding::kAdd),
                binding::kAdd};
  };
  for (AxisId axis : storage.dims) {
    const Coordinate *given = find_coordinate(coords, axis);
    const bool in_part = axis == storage.in_parts;
    Code coord = in_part ? Code{axis_names_[axis] + " - " + parts_.at(axis).begin, binding::kAdd} : position(axis);
    if (given != nullptr && !is_identity(kernel, *given)) {
      coord = expression(given->value);
      if (const Size start = origin_of(kernel, axis); !start.is_integer(0))
        coord = {at_least(coord, binding::kAdd) + " - " + at_least(size(start), binding::kAdd + 1), binding::kAdd};
    }
    horner(in_part ? parts_.at(axis).length : at_least(size(room_of(axis)), binding::kUnary), coord);
  }
  for (size_t i = 0; i < indices.size(); ++i)
    horner(std::to_string(var.array[i]), array_index(id, indices[i]));
  const std::string text = var_names_[id] + "[" + (linear.text.empty() ? "0" : linear.text) + "]" + lane_of(id);
  const auto it = held.find(text);
  return it == held.end() ? text : it->second;
}

// Small numbers need not be wide.
Code Printer::array_index(VarId var, ExprId id) {
  const Expr &e = kernel.expr(id);
  int64_t elements = 1;
  for (int64_t extent : kernel.vars[var].array)
    elements *= extent;
  const bool widens = e.op == Op::cast && is_integer(kernel.expr(e.args[0]).type) && is_within(e, elements);
  return expression(widens && elements <= INT32_MAX ? e.args[0] : id);
}

// What must be asked before an element of a local array is touched: the index, and how many there are.
std::vector<std::pair<std::string, std::string>> Printer::array_checks(VarId var, const std::vector<ExprId> &indices) {
  std::vector<std::pair<std::string, std::string>> checks;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t extent = kernel.vars[var].array[i];
    if (!is_within(kernel.expr(indices[i]), extent))
      checks.push_back({expression(indices[i]).text, std::to_string(extent)});
  }
  return checks;
}

std::string Printer::buffer_elements(VarId id) {
  const Storage &storage = plan.storage[id];
  std::string text;
  auto times = [&](const Code &code) { text += (text.empty() ? "" : " * ") + at_least(code, binding::kMultiply); };
  for (AxisId axis : storage.dims)
    times(axis == storage.in_parts ? Code{part_length(storage.part, storage.kept)} : size(room_of(axis)));
  for (int64_t extent : kernel.vars[id].array)
    times({std::to_string(extent)});
  return text.empty() ? "1" : text;
}

Code Printer::inside(const std::vector<std::pair<std::string, std::string>> &checks) {
  Code all{""};
  for (const auto &[coord, extent] : checks) {
    const std::string one = spelling.helper("inside") + "(" + coord + ", " + extent + ")";
    all = all.text.empty() ? Code{one} : Code{all.text + " && " + one, binding::kAnd};
  }
  return all.text.empty() ? Code{"true"} : all;
}

std::string Printer::where_inside(const std::vector<std::pair<std::string, std::string>> &checks,
                                  const std::string &statement) {
  return checks.empty() ? statement : "if (" + inside(checks).text + ") " + statement;
}

// What must be inside for a coordinate to lie in a window and in the array: the position, and how many there are.
std::pair<std::string, std::string> Printer::within(const Code &coordinate, const Coordinate *given, const Size &start,
                                                    const Size &block, const Size &extent) {
  if (start.is_integer(0))
    return {coordinate.text, size_text(block == extent ? block : Size::make(Size::Op::min, {block, extent}))};
  const Size rest = Size::make(Size::Op::subtract, {extent, start});
  const bool far = given != nullptr && width_of(kernel, given->value) >= bits_of(Type::i64) - 2;
  const bool narrow = far && spelling.target() == TargetKind::cuda; // indices may have 32 bits there
  const Code begin = narrow ? Code{"int64_t(" + size_text(start) + ")"} : size(start);
  return {spelling.operation(Op::sub, Type::i64, {coordinate, begin}, far).text,
          size_text(block == extent ? block : Size::make(Size::Op::min, {block, rest}))};
}

// A local or scratch holds the positions of this step, or of a row; beyond them there is nothing. Whether there is such
// a row is asked first.
std::vector<std::pair<std::string, std::string>> Printer::buffer_checks(VarId var,
                                                                        const std::vector<Coordinate> &coords) {
  std::vector<std::pair<std::string, std::string>> checks, in_rows;
  for (AxisId id : kernel.vars[var].axes.list()) {
    const Axis &axis = kernel.axes[id];
    const Coordinate *const given = moved(kernel, coords, id), *const row = axis.ragged == kNone
                                                                                ? nullptr
                                                                                : moved(kernel, coords, axis.over);
    if (given == nullptr && row == nullptr)
      continue;
    const Code at = given != nullptr ? expression(given->value) : Code{axis_names_[id]};
    const Size extent = extent_of(kernel, id);
    if (axis.ragged != kNone)
      in_rows.emplace_back(at.text,
                           row_length(id, row != nullptr ? expression(row->value).text : axis_names_[axis.over]).text);
    else
      checks.push_back(within(at, given, origin_of(kernel, id), extent, axis.uniform ? axis.size : extent));
  }
  checks.insert(checks.end(), in_rows.begin(), in_rows.end());
  return checks;
}

const std::string &Printer::counter(const PlanNode &loop) const {
  return loop.kind == PlanNode::Kind::steps ? grid_names_[loop.grid] : axis_names_[loop.axis];
}

Printer::Range Printer::counted_range(const PlanNode &loop) {
  return loop.kind == PlanNode::Kind::steps ? Range{"0", steps_text(loop.grid)} : range(loop);
}

Code Printer::trips(const PlanNode &loop) {
  if (loop.kind == PlanNode::Kind::steps)
    return size(grid_steps(kernel, loop.grid));
  const Range r = range(loop);
  return r.begin == "0" ? code_of(r.end)
                        : Code{r.end + " - " + at_least(code_of(r.begin), binding::kMultiply), binding::kAdd};
}

void Printer::open(const PlanNode &loop) {
  const Range r = counted_range(loop);
  const std::string &v = counter(loop);
  lines.add("for (int64_t " + v + " = " + r.begin + "; " + v + " < " + r.end + "; ++" + v + ") {");
}

} // namespace kgen
