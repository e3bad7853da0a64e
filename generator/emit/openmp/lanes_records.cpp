// Small records that lanes write, one field a round of a loop inside, or one a statement: vectors of the fields are put
// together and stored whole.
#include "emit/openmp/lanes.h"

#include <algorithm>
#include <optional>

#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

constexpr int64_t kMostFields = 4;

bool reads_any(const Kernel &kernel, const PlanNode &node, VarId var) {
  bool found = false;
  for_each_node(node, [&](const PlanNode &n) {
    for (ExprId id : expressions_of(n))
      found = found || reads(kernel, id, var);
  });
  return found;
}

} // namespace

// The number of fields, where all of them are met; else 0.
int64_t LanePrinter::fields_of(const PlanNode &loop) {
  const std::optional<int64_t> most = most_positions(kernel_.axes[loop.axis]);
  if (loop.kind != PlanNode::Kind::loop || !mask_.empty() || loop.reversed || loop.parts > 0 || loop.share != kNone ||
      loop.end != kNone || loop.table != kNone || !most || *most < 2 || *most > kMostFields)
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

// Which field of its records the statement writes: `at(o, C = 1) = v`.
std::optional<int64_t> LanePrinter::field_of(const PlanNode &n) {
  if (n.kind != PlanNode::Kind::assign || n.coords.empty() || !n.indices.empty() || n.scatter_add)
    return std::nullopt;
  const Var &var = kernel_.vars[n.target];
  if (printer_.plan.storage[n.target].kind != Storage::Kind::argument || var.strided || var.alias != kNone ||
      var.type == Type::boolean || var.dims.empty())
    return std::nullopt;
  const Coordinate *given = find_coordinate(n.coords, var.dims.back().axis);
  std::vector<std::pair<std::string, std::string>> checks;
  printer_.index_text(n.target, n.coords, &checks);
  if (given == nullptr || kernel_.expr(given->value).op != Op::constant || !checks.empty())
    return std::nullopt;
  const Expr &at = kernel_.expr(given->value);
  const Size &fields = var.dims.back().extent;
  const bool fits = fields.is_integer() && fields.value >= 2 && fields.value <= kMostFields && at.integer >= 0 &&
                    at.integer < fields.value && analysis_.step_of(n.target, n.coords, lane_).stride == fields;
  return fits ? std::optional(at.integer) : std::nullopt;
}

// Do both write records at the same places?
bool LanePrinter::have_one_place(const PlanNode &a, const PlanNode &b) const {
  const AxisId field = kernel_.vars[a.target].dims.back().axis;
  return a.target == b.target && a.coords.size() == b.coords.size() &&
         std::all_of(a.coords.begin(), a.coords.end(), [&](const Coordinate &c) {
           const Coordinate *other = find_coordinate(b.coords, c.axis);
           return c.axis == field || (other != nullptr && same(kernel_, c.value, other->value));
         });
}

// The statements from this one on, by the field that they write, where they write all of a record.
std::vector<const PlanNode *> LanePrinter::fields_from(const PlanNode &first, const std::vector<PlanNode> &siblings) {
  if (!mask_.empty() || !field_of(first))
    return {};
  const auto count = static_cast<size_t>(kernel_.vars[first.target].dims.back().extent.value);
  std::vector<const PlanNode *> fields(count);
  const auto at = static_cast<size_t>(&first - siblings.data());
  if (at + count > siblings.size())
    return {};
  for (size_t i = at; i < at + count; ++i) {
    const PlanNode &n = siblings[i];
    const std::optional<int64_t> field =
        n.target == first.target && have_one_place(first, n) ? field_of(n) : std::nullopt;
    if (!field || fields[static_cast<size_t>(*field)] != nullptr || reads_any(kernel_, n, n.target))
      return {};
    fields[static_cast<size_t>(*field)] = &n;
  }
  return fields;
}

// The statement and those behind it that write a record; false: they write none.
bool LanePrinter::record(const PlanNode &first, const std::vector<PlanNode> &siblings) {
  const std::vector<const PlanNode *> fields = fields_from(first, siblings);
  if (fields.empty())
    return false;
  const Type type = kernel_.vars[first.target].type;
  note(type);
  std::string values;
  for (const PlanNode *n : fields) {
    values += (values.empty() ? "" : ", ") +
              stored({widened(n->value, kernel_.expr(n->value).type)}, kernel_.expr(n->value).type, type);
    if (n != &first)
      written_.insert(n);
  }
  printer_.lines.add(helper("store_fields") + "(&" + printer_.element(first.target, fields[0]->coords, {}) + ", " +
                     active_ + ", {" + values + "});");
  return true;
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

} // namespace kgen
