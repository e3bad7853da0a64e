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

} // namespace kgen
