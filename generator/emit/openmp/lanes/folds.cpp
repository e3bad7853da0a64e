#include "emit/openmp/lanes/folds.h"

#include <algorithm>

#include "emit/openmp/lanes/monoids.h"
#include "emit/openmp/lanes/numbers.h"
#include "emit/openmp/lanes/reads.h"
#include "emit/openmp/lanes/values.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "support/check.h"

namespace kgen {
namespace {

std::string total_type(LaneScope &lanes, const PlanNode &fold) {
  const LaneTotal &total = *fold.lane_total;
  const std::string type = lanes.lanes_type(total.type), arguments = type.substr(type.find('<'));
  switch (total.form) {
  case LaneTotal::Form::plain:
    return type;
  case LaneTotal::Form::turns:
    return lanes.helper("Sum") + arguments;
  case LaneTotal::Form::extreme:
    return lanes.helper("Extreme") + arguments;
  case LaneTotal::Form::best:
    return lanes.helper("Best") + "<" + Spelling::arithmetic(lanes.type(fold.partner)) + ", " +
           Spelling::arithmetic(total.type) + ", " + kLaneCount +
           (fold.monoid == Monoid::argmax ? ", true>" : ", false>");
  case LaneTotal::Form::words:
    return lanes.helper("ShortSum") + "<" + kLaneCount + ">";
  }
  KGEN_UNREACHABLE("form of a total");
}

// The lanes for which the condition of a fold holds; of folds with one condition side by side, by one name.
std::string chosen_lanes(LaneScope &lanes, LaneTotals &totals, const PlanNode &fold,
                         const std::vector<PlanNode> &siblings) {
  const bool is_first = &fold == siblings.data();
  const auto before = is_first ? totals.chosen.end() : totals.chosen.find(&fold - 1);
  if (before != totals.chosen.end() && same(lanes.kernel, before->first->condition, fold.condition))
    return totals.chosen[&fold] = before->second;
  const std::string name = lanes.names.claim("chosen");
  lanes.helper("active_mask");
  lanes.add("const auto " + name + " = " + lanes.masks.current() + " && " +
            at_least(on_lanes(lanes, fold.condition), binding::kAnd + 1) + ";");
  return totals.chosen[&fold] = name;
}

// Is it worth a question whether any lane takes part?
bool is_worth_skipping(const LaneScope &lanes, ExprId value) {
  bool reads_memory = false;
  walk(lanes.kernel, value, [&](ExprId at) {
    const Op op = lanes.expr(at).op;
    return !(reads_memory = reads_memory || op == Op::read || op == Op::element || op == Op::table);
  });
  return reads_memory || !is_light(lanes.kernel, value) || lanes.analysis.hazardous(value);
}

// The total of each lane takes a product in one operation.
void add_product(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &n) {
  const Expr &product = lanes.expr(n.value);
  const bool all = lanes.masks.is_whole(n.target);
  if (lanes.kind_of(n.target) == Storage::Kind::scalar && !all) {
    lanes.add(lanes.helper("add_product") + "(" + lanes.name(n.target) + ", " + lanes.masks.mask + ", " +
              factors(lanes, product) + ");");
    return;
  }
  std::string sum = multiply_add(lanes, product, loaded(lanes, n.target, {}));
  if (!all)
    sum = lanes.helper("keep") + "(" + lanes.masks.mask + ", " + sum + ", " + loaded(lanes, n.target, {}) + ")";
  lanes.masks.mask.clear();
  set_text(lanes, outputs, n.target, sum, true, {});
}

// argmax, argmin of each lane.
void select(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &n, const std::string &taking_part) {
  const Type type = lanes.type(n.partner);
  lanes.note(type);
  const std::string where = loaded(lanes, n.target, {}), best = loaded(lanes, n.partner, {}),
                    value = lanes.names.claim_one_of("value", {"", "_of_" + lanes.name(n.target)}),
                    better = lanes.names.claim_one_of("better", {"", "_" + lanes.name(n.target)}),
                    order = n.monoid == Monoid::argmax ? " > " : " < ";
  if (type == Type::boolean)
    lanes.helper("mask_order");
  lanes.add("const " + lanes.lanes_type(type) + " " + value + " = " + widened(lanes, n.value, type, 0) + ";");
  std::string test = where + " < 0 || " + value + order + best;
  if (is_floating(type))
    test += " || (" + value + " != " + value + " && " + best + " == " + best + ")";
  lanes.add("const auto " + better + " = " + (taking_part.empty() ? test : taking_part + " && (" + test + ")") + ";");
  set_text(lanes, outputs, n.partner, "choose(" + better + ", " + value + ", " + best + ")", true, {});
  set_text(lanes, outputs, n.target, "choose(" + better + ", " + on_lanes(lanes, n.second).text + ", " + where + ")",
           true, {});
}

} // namespace

std::vector<std::pair<const PlanNode *, std::string>> totals_of_lanes(LaneScope &lanes, const PlanNode &loop) {
  std::vector<std::pair<const PlanNode *, std::string>> out;
  for_each_node(loop, [&](const PlanNode &n) {
    if (folds_over(n, loop.axis))
      out.emplace_back(&n, lanes.names.claim(lanes.name(n.partner != kNone ? n.partner : n.target), "_lanes"));
  });
  return out;
}

// The lanes' results join what the loop found before.
void combine(LaneScope &lanes, const std::string &first, const PlanNode &step, const std::string &total) {
  const Type type = lanes.type(step.target), of_lanes = step.lane_total->type;
  const std::string place = lanes.name(step.target);
  if (step.partner != kNone) {
    const std::string best = Spelling::arithmetic(lanes.type(step.partner));
    const std::string order = lanes.helper(step.monoid == Monoid::argmax ? "above" : "below");
    lanes.add(lanes.helper("fold_best") + "(" + total + ", " + (of_lanes == type ? "0" : first) + ", " + place + ", " +
              lanes.name(step.partner) + ", " + order + "<" + best + ">);");
    return;
  }
  const std::string c = Spelling::arithmetic(of_lanes);
  const auto &[one, other] = lanes.names.pair();
  const std::string update = Spelling::update(step.monoid);
  // Vectors are combined by the same operators, and those of whole numbers wrap around.
  const bool as_vectors = is_floating(type) || !update.empty();
  const std::string pair = lanes.printer.spelling.combine(step.monoid, of_lanes, one, {other}, false).text;
  const std::string value =
      lanes.helper("across") + "(" + total + ", " + combiner(lanes, pair, one, other, as_vectors ? "auto" : c) + ")";
  if (is_floating(type) && !update.empty())
    lanes.add(place + update + value + ";");
  else
    lanes.add(place + " = " + lanes.printer.combined(step, place, {value}).text + ";");
}

// A fold along another axis: each lane has its own total.
void fold_step(LaneScope &lanes, LaneTotals &totals, const LaneOutputs &outputs, const PlanNode &n,
               const std::vector<PlanNode> &siblings) {
  const Type type = lanes.type(n.target);
  lanes.note(type);
  const std::string outer = lanes.masks.mask;
  const bool uniform_condition = n.condition != kNone && !lanes.varies(n.condition);
  const bool lane_condition = n.condition != kNone && !uniform_condition;
  const bool skips = lane_condition && is_worth_skipping(lanes, n.value);
  if (uniform_condition)
    lanes.add("if (" + Spelling::condition(lanes.scalar(n.condition).text) + ") {");
  if (lane_condition)
    lanes.masks.mask = chosen_lanes(lanes, totals, n, siblings);
  if (skips)
    lanes.add("if (" + lanes.helper("any_lane") + "(" + lanes.masks.mask + ")) {");
  if (const auto here = totals.in_registers.find(n.target); here != totals.in_registers.end()) {
    const std::string &total = here->second;
    std::string sum = lanes.printer.fuses(n) ? multiply_add(lanes, lanes.expr(n.value), total)
                                             : combined(lanes, n.monoid, type, total, widened(lanes, n.value, type));
    if (!lanes.masks.mask.empty())
      sum = lanes.helper("keep") + "(" + lanes.masks.mask + ", " + sum + ", " + total + ")";
    lanes.add(total + " = " + sum + ";");
  } else if (n.partner != kNone) {
    const std::string taking_part = std::exchange(lanes.masks.mask, ""); // what it notes is chosen by that already
    lanes.note(Type::i64);
    select(lanes, outputs, n, taking_part);
  } else if (lanes.printer.fuses(n)) {
    add_product(lanes, outputs, n);
  } else {
    std::string value = widened(lanes, n.value, type);
    if (!lanes.masks.is_whole(n.target))
      value =
          lanes.helper("keep") + "(" + lanes.masks.mask + ", " + value + ", " + lanes.identity(n.monoid, type) + ")";
    if (lanes.kind_of(n.target) != Storage::Kind::scalar) {
      lanes.masks.mask.clear();
      set_text(lanes, outputs, n.target, combined(lanes, n.monoid, type, loaded(lanes, n.target, {}), value), true, {});
    } else if (n.monoid == Monoid::sum) {
      lanes.add(lanes.name(n.target) + " += " + value + ";");
    } else {
      lanes.add(lanes.name(n.target) + " = " + combined(lanes, n.monoid, type, lanes.name(n.target), value) + ";");
    }
  }
  if (uniform_condition || skips)
    lanes.add("}");
  lanes.masks.mask = outer;
}

// A fold along the lanes: they are combined after the loop.
void fold_across(LaneScope &lanes, LaneTotals &totals, const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const std::string &place = std::find_if(totals.of_lanes.begin(), totals.of_lanes.end(), [&](const auto &one) {
                               return one.first == &n;
                             })->second;
  const LaneTotal &total = *n.lane_total;
  const bool narrow = total.type != lanes.type(n.target);
  lanes.note(total.type_of_lanes());
  const std::string outer = lanes.masks.mask;
  if (n.condition != kNone && lanes.varies(n.condition)) {
    lanes.masks.mask = chosen_lanes(lanes, totals, n, siblings);
    if (lanes.analysis.hazardous(n.value))
      lanes.add("if (" + lanes.helper("any_lane") + "(" + lanes.masks.mask + ")) {");
  } else if (n.condition != kNone) {
    lanes.add("if (" + Spelling::condition(lanes.scalar(n.condition).text) + ") {");
  }
  if (n.partner != kNone) {
    lanes.helper("active_mask");
    const std::string &point = lanes.printer.axis_name(lanes.axis);
    const std::string position = narrow ? lanes.helper("positions_as") + "<int32_t, " + kLaneCount + ">(" + point +
                                              (totals.first == "0" ? "" : " - " + totals.first) + ")"
                                        : on_lanes(lanes, n.second).text;
    const Type value = lanes.type(n.partner);
    lanes.note(value);
    if (value == Type::boolean)
      lanes.helper("mask_order");
    lanes.add(place + ".meet(mask_of(" + lanes.masks.current() + "), " + widened(lanes, n.value, value, 0) + ", " +
              position + ");");
  } else if (total.form == LaneTotal::Form::words) {
    const std::vector<ExprId> &factors = total.factors;
    lanes.add(place + ".add(" + lanes.helper("keep") + "(" + lanes.masks.current() + ", " +
              small_lanes(lanes, factors[0], Type::i16) + ", 0), " +
              (factors.size() > 1 ? small_lanes(lanes, factors[1], Type::i16) : "1") + ");");
  } else if (lanes.printer.fuses(n)) {
    lanes.add(lanes.helper("add_product") + "(" + place + ", " + lanes.masks.current() + ", " +
              factors(lanes, lanes.expr(n.value)) + ");");
  } else {
    const std::string each = narrow ? small_lanes(lanes, n.value, total.type) : widened(lanes, n.value, total.type, 0);
    const std::string value = lanes.helper("keep") + "(" + lanes.masks.current() + ", " + each + ", " +
                              lanes.identity(n.monoid, total.type) + ")";
    if (const std::string update = Spelling::update(n.monoid); !update.empty())
      lanes.add(place + update + value + ";");
    else
      lanes.add(place + " = " + combined(lanes, n.monoid, total.type, place, value) + ";");
  }
  if (n.condition != kNone && (!lanes.varies(n.condition) || lanes.analysis.hazardous(n.value)))
    lanes.add("}");
  lanes.masks.mask = outer;
}

void declare_total(LaneScope &lanes, const PlanNode &fold, const std::string &of_lanes) {
  const LaneTotal &total = *fold.lane_total;
  lanes.note(total.type_of_lanes());
  const std::string start = total.form == LaneTotal::Form::best ? "" : " = " + lanes.identity(fold.monoid, total.type);
  lanes.add(total_type(lanes, fold) + " " + of_lanes + start + ";");
}

} // namespace kgen
