// Small records that lanes write, one field a round of a loop inside: vectors of the fields are put together and stored
// whole.
#include "emit/lanes.h"

#include <algorithm>

#include "plan/access.h"
#include "plan/exprs.h"

namespace kgen {
namespace {

bool reads_any(const Kernel &kernel, const PlanNode &loop, VarId var) {
  bool found = false;
  for_each_node(loop, [&](const PlanNode &n) {
    for (ExprId id : expressions_of(n))
      found = found || reads(kernel, id, var);
  });
  return found;
}

} // namespace

// The number of fields, where all of them are met; else 0.
int64_t LanePrinter::fields_of(const PlanNode &loop) {
  constexpr int64_t kMostFields = 4;
  const std::optional<int64_t> most = most_positions(kernel_.axes[loop.axis]);
  if (loop.kind != PlanNode::Kind::loop || !mask_.empty() || loop.reversed || loop.parts > 0 || loop.share != kNone ||
      loop.end != kNone || !most || *most < 2 || *most > kMostFields)
    return 0;
  const Printer::Range range = printer_.range(loop);
  return range.begin == "0" && range.end == std::to_string(*most) ? *most : 0;
}

// Where the record begins that the statement writes a field of; empty: it is none.
std::string LanePrinter::record_of(const PlanNode &n, const PlanNode &loop, int64_t fields) {
  if (n.kind != PlanNode::Kind::assign || !n.coords.empty() || !n.indices.empty() || n.scatter_add)
    return "";
  const Var &var = kernel_.vars[n.target];
  if (printer_.plan.storage[n.target].kind != Storage::Kind::argument || var.strided || var.type == Type::boolean ||
      !analysis_.step_of(n.target, {}, lane_).stride.is_integer(fields) || reads_any(kernel_, loop, n.target))
    return "";
  const std::string element = printer_.element(n.target, {}, {}), field = " + " + printer_.axis_name(loop.axis) + "]";
  return element.ends_with(field) ? element.substr(0, element.size() - field.size()) + "]" : "";
}

// The loop with its records; false: it has none.
bool LanePrinter::records(const PlanNode &loop) {
  const int64_t fields = fields_of(loop);
  if (fields == 0 || !fields_.empty())
    return false;
  std::vector<std::string> stores;
  for (const PlanNode &n : loop.body) {
    const std::string first = record_of(n, loop, fields);
    if (first.empty() || fields_.count(n.target) != 0)
      continue;
    const Type type = kernel_.vars[n.target].type;
    note(type);
    const std::string name = names_.claim(printer_.name(n.target), "_fields");
    fields_[n.target] = name + "[" + printer_.axis_name(loop.axis) + "]";
    printer_.lines.add("Lanes<" + Spelling::c_type(type) + ", " + kLaneCount + "> " + name + "[" +
                       std::to_string(fields) + "];");
    stores.push_back(helper("store_fields") + "(&" + first + ", " + active_ + ", " + name + ");");
  }
  if (stores.empty())
    return false;
  printer_.loop(loop);
  for (const std::string &store : stores)
    printer_.lines.add(store);
  fields_.clear();
  return true;
}

// at(o, C = 1) = ...
bool LanePrinter::is_slice(const PlanNode &n, VarId target, int64_t field, int64_t fields) {
  if (n.kind != PlanNode::Kind::assign || n.target != target || n.scatter_add || !n.indices.empty())
    return false;
  const AxisId last = kernel_.vars[target].dims.back().axis;
  const Coordinate *at = find_coordinate(n.coords, last);
  if (at == nullptr || kernel_.expr(at->value).op != Op::constant || kernel_.expr(at->value).integer != field)
    return false;
  const LaneStep step = analysis_.step_of(target, n.coords, lane_);
  std::vector<std::pair<std::string, std::string>> checks;
  printer_.index_text(target, n.coords, &checks);
  return checks.empty() && step.kind == LaneStep::Kind::stride && step.stride.is_integer(fields) &&
         !reads(kernel_, n.value, target);
}

// Statements that follow each other and write all fields of a record, the first one first. False: this one is not one
// of them.
bool LanePrinter::slice(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  constexpr int64_t kMostFields = 4;
  const Var &var = kernel_.vars[n.target];
  if (!mask_.empty() || var.dims.empty() || !var.dims.back().extent.is_integer() || var.strided ||
      var.type == Type::boolean || printer_.plan.storage[n.target].kind != Storage::Kind::argument)
    return false;
  const int64_t fields = var.dims.back().extent.value;
  const auto here = std::ranges::find_if(siblings, [&](const PlanNode &other) { return &other == &n; });
  int64_t field = 0;
  while (field < fields && !is_slice(n, n.target, field, fields))
    ++field;
  if (fields < 2 || fields > kMostFields || field == fields || here - siblings.begin() < field ||
      siblings.end() - here < fields - field)
    return false;
  for (int64_t other = 0; other < fields; ++other)
    if (!is_slice(*(here - field + other), n.target, other, fields))
      return false;
  note(var.type);
  if (field == 0) {
    slices_ = names_.claim(printer_.name(n.target), "_fields");
    printer_.lines.add("Lanes<" + Spelling::c_type(var.type) + ", " + kLaneCount + "> " + slices_ + "[" +
                       std::to_string(fields) + "];");
  }
  printer_.lines.add(slices_ + "[" + std::to_string(field) + "] = " + stored_elsewhere(n) + ";");
  if (field + 1 == fields)
    printer_.lines.add(helper("store_fields") + "(&" + printer_.element(n.target, (here - field)->coords, {}) + ", " +
                       active_ + ", " + slices_ + ");");
  return true;
}

} // namespace kgen
