// Folds and scans on lanes. A fold along the lanes has a vector of totals, which joins the total after the loop; one
// along another axis keeps a total a lane. Long sums end in the total block by block, so that errors stay small.
#include "emit/openmp/lanes.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "support/check.h"

namespace kgen {
namespace {

bool is_selection(Monoid monoid) { return monoid == Monoid::argmax || monoid == Monoid::argmin; }

} // namespace

std::vector<LanePrinter::Accumulator> LanePrinter::accumulators(const PlanNode &loop) {
  std::vector<Accumulator> out;
  for_each_node(loop, [&](const PlanNode &n) {
    if (folds_over(n, loop.axis))
      out.push_back({&n, names_.claim(printer_.name(n.partner != kNone ? n.partner : n.target), "_lanes")});
  });
  return out;
}

std::string LanePrinter::total_type(const PlanNode &fold) {
  const LaneTotal &total = *fold.lane_total;
  const std::string type = lanes_type(total.type), arguments = type.substr(type.find('<'));
  switch (total.form) {
  case LaneTotal::Form::plain:
    return type;
  case LaneTotal::Form::turns:
    return helper("Sum") + arguments;
  case LaneTotal::Form::extreme:
    return helper("Extreme") + arguments;
  case LaneTotal::Form::best:
    return helper("Best") + "<" + Spelling::arithmetic(kernel_.vars[fold.partner].type) + ", " +
           Spelling::arithmetic(total.type) + ", " + kLaneCount +
           (fold.monoid == Monoid::argmax ? ", true>" : ", false>");
  case LaneTotal::Form::words:
    return helper("ShortSum") + "<" + kLaneCount + ">";
  }
  KGEN_UNREACHABLE("form of a total");
}

// The lanes' results join what the loop found before.
void LanePrinter::combine(const Accumulator &a) {
  const PlanNode &step = *a.step;
  const Type type = kernel_.vars[step.target].type, of_lanes = step.lane_total->type;
  const std::string place = printer_.name(step.target);
  if (step.partner != kNone) {
    const std::string best = Spelling::arithmetic(kernel_.vars[step.partner].type);
    const std::string order = helper(step.monoid == Monoid::argmax ? "above" : "below");
    printer_.lines.add(helper("fold_best") + "(" + a.lanes + ", " + (of_lanes == type ? "0" : first_) + ", " + place +
                       ", " + printer_.name(step.partner) + ", " + order + "<" + best + ">);");
    return;
  }
  const std::string c = Spelling::arithmetic(of_lanes);
  const auto &[one, other] = names_.pair();
  const std::string update = Spelling::update(step.monoid);
  // Vectors are combined by the same operators, and those of whole numbers wrap around.
  const bool as_vectors = is_floating(type) || !update.empty();
  const std::string pair = printer_.spelling.combine(step.monoid, of_lanes, one, {other}, false).text;
  const std::string value =
      helper("across") + "(" + a.lanes + ", " + combiner(pair, one, other, as_vectors ? "auto" : c) + ")";
  if (is_floating(type) && !update.empty())
    printer_.lines.add(place + update + value + ";");
  else
    printer_.lines.add(place + " = " + printer_.combined(step, place, {value}).text + ";");
}

// What combines two values, or two vectors of them, as the text does.
std::string LanePrinter::combiner(const std::string &text, const std::string &one, const std::string &other,
                                  const std::string &type) {
  const std::string named = type == "auto" ? printer_.spelling.combiner(text, one, other) : "";
  return !named.empty() ? named
                        : "[](" + type + " " + one + ", " + type + " " + other + ") IN_SET { return " + text + "; }";
}

std::string LanePrinter::combined(Monoid monoid, Type type, const std::string &total, const std::string &value) {
  if (monoid == Monoid::min || monoid == Monoid::max)
    helper(type == Type::boolean ? "mask_order" : "extremes");
  switch (monoid) {
  case Monoid::sum:
  case Monoid::mean:
    return total + " + " + value;
  case Monoid::product:
    return total + " * " + at_least(code_of(value), binding::kMultiply + 1);
  case Monoid::min:
    return "minimum(" + total + ", " + value + ")";
  case Monoid::max:
    return "maximum(" + total + ", " + value + ")";
  case Monoid::all:
    return total + " && " + value;
  case Monoid::any:
    return total + " || " + value;
  case Monoid::argmax:
  case Monoid::argmin:
    break;
  }
  KGEN_UNREACHABLE("monoid");
}

// The lanes for which the condition of a fold holds; of folds with one condition side by side, by one name.
std::string LanePrinter::chosen_lanes(const PlanNode &fold, const std::vector<PlanNode> &siblings) {
  const bool is_first = &fold == siblings.data();
  const auto before = is_first ? chosen_.end() : chosen_.find(&fold - 1);
  if (before != chosen_.end() && same(kernel_, before->first->condition, fold.condition))
    return chosen_[&fold] = before->second;
  const std::string name = names_.claim("chosen");
  helper("active_mask");
  printer_.lines.add("const auto " + name + " = " + current() + " && " +
                     at_least(expression(fold.condition), binding::kAnd + 1) + ";");
  return chosen_[&fold] = name;
}

// Is it worth a question whether any lane takes part?
bool LanePrinter::is_worth_skipping(ExprId value) const {
  bool reads_memory = false;
  walk(kernel_, value, [&](ExprId at) {
    const Op op = kernel_.expr(at).op;
    return !(reads_memory = reads_memory || op == Op::read || op == Op::element || op == Op::table);
  });
  return reads_memory || !is_light(kernel_, value) || analysis_.hazardous(value);
}

// The total of each lane takes a product in one operation.
void LanePrinter::add_product(const PlanNode &n) {
  const Expr &product = kernel_.expr(n.value);
  const bool all = mask_.empty() || unmasked_[n.target] == mask_;
  if (printer_.plan.storage[n.target].kind == Storage::Kind::scalar && !all) {
    printer_.lines.add(helper("add_product") + "(" + printer_.name(n.target) + ", " + mask_ + ", " + factors(product) +
                       ");");
    return;
  }
  std::string sum = multiply_add(product, loaded(n.target, {}));
  if (!all)
    sum = helper("keep") + "(" + mask_ + ", " + sum + ", " + loaded(n.target, {}) + ")";
  mask_.clear();
  set_text(n.target, sum, true, {});
}

// A fold along another axis: each lane has its own total.
void LanePrinter::fold_step(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const Type type = kernel_.vars[n.target].type;
  note(type);
  const std::string outer = mask_;
  const bool uniform_condition = n.condition != kNone && !varies(n.condition);
  const bool lane_condition = n.condition != kNone && !uniform_condition;
  const bool skips = lane_condition && is_worth_skipping(n.value);
  if (uniform_condition)
    printer_.lines.add("if (" + Spelling::condition(printer_.expression(n.condition).text) + ") {");
  if (lane_condition)
    mask_ = chosen_lanes(n, siblings);
  if (skips)
    printer_.lines.add("if (" + helper("any_lane") + "(" + mask_ + ")) {");
  if (const auto here = in_registers_.find(n.target); here != in_registers_.end()) {
    const std::string &total = here->second;
    std::string sum = printer_.fuses(n) ? multiply_add(kernel_.expr(n.value), total)
                                        : combined(n.monoid, type, total, widened(n.value, type));
    if (!mask_.empty())
      sum = helper("keep") + "(" + mask_ + ", " + sum + ", " + total + ")";
    printer_.lines.add(total + " = " + sum + ";");
  } else if (is_selection(n.monoid)) {
    const std::string taking_part = std::exchange(mask_, ""); // what it notes is chosen by that already
    note(Type::i64);
    select(n, taking_part);
  } else if (printer_.fuses(n)) {
    add_product(n);
  } else {
    std::string value = widened(n.value, type);
    if (!mask_.empty() && unmasked_[n.target] != mask_)
      value = helper("keep") + "(" + mask_ + ", " + value + ", " + printer_.spelling.identity(n.monoid, type) + ")";
    if (printer_.plan.storage[n.target].kind != Storage::Kind::scalar) {
      mask_.clear();
      set_text(n.target, combined(n.monoid, type, loaded(n.target, {}), value), true, {});
    } else if (n.monoid == Monoid::sum) {
      printer_.lines.add(printer_.name(n.target) + " += " + value + ";");
    } else {
      printer_.lines.add(printer_.name(n.target) + " = " + combined(n.monoid, type, printer_.name(n.target), value) +
                         ";");
    }
  }
  if (uniform_condition || skips)
    printer_.lines.add("}");
  mask_ = outer;
}

// A scan along the lanes: lanes that take no part leave the carry as it is.
void LanePrinter::scan_along(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const Type type = kernel_.vars[n.target].type;
  note(type);
  const Monoid monoid = monoid_of(n.scan);
  const std::string carry = printer_.name(n.target), step = n.reverse ? "-1" : "1";
  const auto kept = [&](ExprId id, const std::string &other) {
    return helper("keep") + "(" + current() + ", " + widened(id, type, 0) + ", " + other + ")";
  };
  std::string running;
  if (analysis_.regroups(n)) {
    const std::string identity = printer_.spelling.identity(monoid, type);
    const auto &[one, other] = names_.pair();
    if (monoid == Monoid::max && is_floating(type))
      printer_.spelling.helper("maximum"); // of the carries
    running = helper(n.exclusive ? "scan_before" : "scan_lanes") + "<" + step + ">(" + carry + ", " +
              kept(n.value, identity) + ", " + identity + ", " +
              combiner(combined(monoid, type, one, other), one, other, "auto") + ")";
  } else {
    const bool linear = n.scan == ScanKind::linear;
    const std::string one = printer_.spelling.identity(Monoid::product, type);
    running = helper(linear ? "scan_linear" : "scan_products") + "<" + step + (n.exclusive ? ", true>(" : ", false>(") +
              carry + ", " + kept(n.value, one) +
              (linear ? ", " + kept(n.second, printer_.spelling.identity(Monoid::sum, type)) : "") + ")";
  }
  if (n.partner != kNone)
    set_text(n.partner, running, true, siblings);
  else // only the total is wanted
    printer_.lines.add(running + ";");
}

// argmax, argmin of each lane.
void LanePrinter::select(const PlanNode &n, const std::string &taking_part) {
  const Type type = kernel_.vars[n.partner].type;
  note(type);
  const std::string where = loaded(n.target, {}), best = loaded(n.partner, {}),
                    value = names_.claim_one_of("value", {"", "_of_" + printer_.name(n.target)}),
                    better = names_.claim_one_of("better", {"", "_" + printer_.name(n.target)}),
                    order = n.monoid == Monoid::argmax ? " > " : " < ";
  if (type == Type::boolean)
    helper("mask_order");
  printer_.lines.add("const " + lanes_type(type) + " " + value + " = " + widened(n.value, type, 0) + ";");
  std::string test = where + " < 0 || " + value + order + best;
  if (is_floating(type))
    test += " || (" + value + " != " + value + " && " + best + " == " + best + ")";
  printer_.lines.add("const auto " + better + " = " +
                     (taking_part.empty() ? test : taking_part + " && (" + test + ")") + ";");
  set_text(n.partner, "choose(" + better + ", " + value + ", " + best + ")", true, {});
  set_text(n.target, "choose(" + better + ", " + expression(n.second).text + ", " + where + ")", true, {});
}

// Small numbers as a vector.
std::string LanePrinter::small_lanes(ExprId id, Type type) {
  const std::string text = small_number(id, type).text;
  return varies(id) ? text : lanes_type(type) + "(" + text + ")";
}

// A fold along the lanes: they are combined after the loop.
void LanePrinter::fold_across(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const std::string lanes = std::find_if(accumulators_.begin(), accumulators_.end(), [&](const Accumulator &a) {
                              return a.step == &n;
                            })->lanes;
  const LaneTotal &total = *n.lane_total;
  const bool narrow = total.type != kernel_.vars[n.target].type;
  note(total.type_of_lanes());
  const std::string outer = mask_;
  if (n.condition != kNone && varies(n.condition)) {
    mask_ = chosen_lanes(n, siblings);
    if (analysis_.hazardous(n.value))
      printer_.lines.add("if (" + helper("any_lane") + "(" + mask_ + ")) {");
  } else if (n.condition != kNone) {
    printer_.lines.add("if (" + Spelling::condition(printer_.expression(n.condition).text) + ") {");
  }
  if (is_selection(n.monoid)) {
    helper("active_mask");
    const std::string &point = printer_.axis_name(lane_);
    const std::string position = narrow ? helper("positions_as") + "<int32_t, " + kLaneCount + ">(" + point +
                                              (first_ == "0" ? "" : " - " + first_) + ")"
                                        : expression(n.second).text;
    const Type value = kernel_.vars[n.partner].type;
    note(value);
    if (value == Type::boolean)
      helper("mask_order");
    printer_.lines.add(lanes + ".meet(mask_of(" + current() + "), " + widened(n.value, value, 0) + ", " + position +
                       ");");
  } else if (total.form == LaneTotal::Form::words) {
    const std::vector<ExprId> &factors = total.factors;
    printer_.lines.add(lanes + ".add(" + helper("keep") + "(" + current() + ", " + small_lanes(factors[0], Type::i16) +
                       ", 0), " + (factors.size() > 1 ? small_lanes(factors[1], Type::i16) : "1") + ");");
  } else if (printer_.fuses(n)) {
    printer_.lines.add(helper("add_product") + "(" + lanes + ", " + current() + ", " + factors(kernel_.expr(n.value)) +
                       ");");
  } else {
    const std::string each = narrow ? small_lanes(n.value, total.type) : widened(n.value, total.type, 0);
    const std::string value =
        helper("keep") + "(" + current() + ", " + each + ", " + printer_.spelling.identity(n.monoid, total.type) + ")";
    if (const std::string update = Spelling::update(n.monoid); !update.empty())
      printer_.lines.add(lanes + update + value + ";");
    else
      printer_.lines.add(lanes + " = " + combined(n.monoid, total.type, lanes, value) + ";");
  }
  if (n.condition != kNone && (!varies(n.condition) || analysis_.hazardous(n.value)))
    printer_.lines.add("}");
  mask_ = outer;
}

} // namespace kgen
