#include "emit/openmp/lanes/stores.h"

#include "emit/openmp/lanes/reads.h"
#include "emit/openmp/lanes/values.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

// In the lanes that take part.
std::string replaced(const LaneScope &lanes, VarId var, const std::string &place, const std::string &value) {
  if (lanes.masks.is_whole(var))
    return place + " = " + value + ";";
  return place + " = choose(" + lanes.masks.mask + ", " + value + ", " + place + ");";
}

// What is stored keeps its old value in the lanes that take no part.
void store_at(LaneScope &lanes, const LaneOutputs &outputs, VarId var, const std::vector<Coordinate> &coords,
              const std::string &value, bool may_stream) {
  const LaneStep step = lanes.step_of(var, coords);
  const std::string place = "&" + lanes.element(var, coords);
  const bool neighbours = step.kind == LaneStep::Kind::neighbour;
  const std::string stride = neighbours ? "" : ", " + lanes.printer.size_text(step.stride);
  std::string text = value;
  if (!lanes.masks.mask.empty()) {
    const std::string old =
        lanes.helper(neighbours ? "load" : "load_every") + "(" + place + stride + ", " + lanes.masks.active + ")";
    text = "choose(" + lanes.masks.mask + ", " + value + ", " + old + ")";
  }
  const bool around = may_stream && neighbours && lanes.masks.mask.empty() && outputs.streamed.count(var) != 0;
  const std::string statement = lanes.helper(around       ? "store_around"
                                             : neighbours ? "store"
                                                          : "store_every") +
                                "(" + place + stride + ", " + lanes.masks.active + ", " + text +
                                (around ? ", " + outputs.around : "") + ");";
  std::vector<std::pair<std::string, std::string>> checks;
  if (lanes.kind_of(var) == Storage::Kind::argument)
    lanes.printer.index_text(var, coords, &checks);
  lanes.add(lanes.printer.where_inside(checks, statement));
}

} // namespace

void assign_lanes(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &n,
                  const std::vector<PlanNode> &siblings) {
  const VarId var = n.target;
  const ExprId value = n.value;
  const Var &v = lanes.kernel.vars[var];
  const Expr &e = lanes.expr(value);
  const bool scalar = lanes.kind_of(var) == Storage::Kind::scalar;
  lanes.note(v.type);
  if (const std::string symbol = lanes.printer.updating(n); !symbol.empty() && n.indices.empty() && scalar &&
                                                            lanes.masks.is_whole(var) &&
                                                            !lanes.printer.starts_here(var, siblings)) {
    const Code by = on_lanes(lanes, e.args[1]);
    return lanes.add(lanes.name(var) + symbol + by.text + ";");
  }
  std::string text = scalar || lanes.is_vector(var) ? "" : unconverted(lanes, value, v.type);
  if (text.empty() && !lanes.varies(value)) {
    text = lanes.printer.spelling.stored(lanes.scalar(value), e.type, v.type);
    if (scalar && is_half(v.type))
      text = lanes.printer.spelling.loaded(text, v.type).text;
  } else if (text.empty()) {
    text = stored(lanes, on_lanes(lanes, value), e.type, v.type);
    if (scalar)
      text = widened_half(lanes, text, v.type);
  }
  if (n.indices.empty())
    return set_text(lanes, outputs, var, text, lanes.varies(value), siblings);
  const auto checks = lanes.printer.array_checks(var, n.indices);
  const std::string statement = replaced(lanes, var, lanes.element(var, {}, n.indices), text);
  lanes.add(lanes.printer.where_inside(checks, statement));
}

void store_elsewhere(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &n) {
  const Type type = lanes.type(n.target), from = lanes.expr(n.value).type;
  lanes.note(type);
  if (const std::string bits = n.scatter_add ? "" : unconverted(lanes, n.value, type); !bits.empty())
    return store_at(lanes, outputs, n.target, n.coords, bits, false);
  Code value = lanes.varies(n.value) ? on_lanes(lanes, n.value) : Code{widened(lanes, n.value, from)};
  if (n.scatter_add)
    value = {loaded(lanes, n.target, n.coords) + " + " + at_least(value, binding::kMultiply), binding::kAdd};
  store_at(lanes, outputs, n.target, n.coords, stored(lanes, value, from, type), false);
}

void set_text(LaneScope &lanes, const LaneOutputs &outputs, VarId var, const std::string &value, bool is_lanes,
              const std::vector<PlanNode> &siblings) {
  if (lanes.is_vector(var)) {
    if (!lanes.printer.starts_here(var, siblings))
      return lanes.add(replaced(lanes, var, lanes.element(var, {}), value));
    lanes.printer.mark_declared(var);
    lanes.masks.unmasked[var] = lanes.masks.mask;
    const bool constant = lanes.printer.is_constant(var);
    lanes.add((constant && is_lanes ? "const auto" : (constant ? "const " : "") + lanes.lanes_type(lanes.type(var))) +
              " " + lanes.name(var) + " = " + value + ";");
    return;
  }
  if (const auto field = outputs.fields.find(var); field != outputs.fields.end())
    return lanes.add(replaced(lanes, var, field->second, value));
  store_at(lanes, outputs, var, {}, value, true);
}

} // namespace kgen
