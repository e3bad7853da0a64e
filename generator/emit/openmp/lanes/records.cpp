#include "emit/openmp/lanes/records.h"

#include "emit/openmp/lanes/values.h"

namespace kgen {
namespace {

std::string stores_of(LaneScope &lanes, const LaneOutputs &outputs, VarId var, const std::string &place,
                      const std::string &fields) {
  const bool around = outputs.streamed.count(var) != 0;
  return lanes.helper("store_fields") + "(&" + place + ", " + lanes.masks.active + ", " + fields +
         (around ? ", " + outputs.around : "") + ");";
}

} // namespace

void store_record(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &first,
                  const std::vector<PlanNode> &siblings) {
  const Type type = lanes.kernel.vars[first.target].type;
  lanes.note(type);
  const auto at = static_cast<size_t>(&first - siblings.data()), count = static_cast<size_t>(first.fields);
  std::vector<const PlanNode *> fields(count);
  for (size_t i = at; i < at + count; ++i)
    fields[static_cast<size_t>(*siblings[i].field)] = &siblings[i];
  std::string values;
  for (const PlanNode *n : fields) {
    const Type from = lanes.kernel.expr(n->value).type;
    values += (values.empty() ? "" : ", ") + stored(lanes, {widened(lanes, n->value, from)}, from, type);
  }
  lanes.add(stores_of(lanes, outputs, first.target, lanes.printer.element(first.target, fields[0]->coords, {}),
                      "{" + values + "}"));
}

void loop_over_fields(LaneScope &lanes, LaneOutputs &outputs, const PlanNode &loop) {
  const std::string round = lanes.printer.axis_name(loop.axis);
  std::string stores;
  for (const PlanNode &n : loop.body) {
    if (!n.field || !n.coords.empty())
      continue;
    const Type type = lanes.kernel.vars[n.target].type;
    lanes.note(type);
    const std::string name = lanes.names.claim(lanes.printer.name(n.target), "_fields");
    outputs.fields[n.target] = name + "[" + round + "]";
    lanes.add("Lanes<" + Spelling::c_type(type) + ", " + kLaneCount + "> " + name + "[" + std::to_string(loop.fields) +
              "];");
    lanes.printer.rename_axis(loop.axis, "0");
    stores += stores_of(lanes, outputs, n.target, lanes.printer.element(n.target, {}, {}), name) + "\n";
    lanes.printer.rename_axis(loop.axis, round);
  }
  lanes.printer.loop(loop);
  lanes.printer.lines.append(stores);
  outputs.fields.clear();
}

} // namespace kgen
