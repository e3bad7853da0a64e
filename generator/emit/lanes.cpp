#include "emit/lanes.h"

#include <algorithm>

#include "emit/target_file.h"
#include "plan/access.h"
#include "plan/exprs.h"
#include "plan/width.h"
#include "support/check.h"

namespace kgen {
namespace {

constexpr int64_t kBlock = 4096;        // floating sums are taken over blocks of so many, so that errors stay small
constexpr int64_t kNarrowBlock = 65536; // and counts and positions of so many fit 32 bits

void replace_word(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

bool is_selection(Monoid monoid) { return monoid == Monoid::argmax || monoid == Monoid::argmin; }

bool is_jumping_branch(const PlanNode &n) { return n.kind == PlanNode::Kind::branch && jumps_out(n); }

// Does a statement go on with the next round of the loop around it?
bool has_next(const PlanNode &n) {
  if (n.kind == PlanNode::Kind::repeat)
    return false;
  return n.kind == PlanNode::Kind::next || std::any_of(n.body.begin(), n.body.end(), has_next) ||
         std::any_of(n.otherwise.begin(), n.otherwise.end(), has_next);
}

} // namespace

LanePrinter::LanePrinter(Printer &printer, Names &names)
    : printer_(printer), names_(names), kernel_(printer.kernel), analysis_(printer.plan), taken_(analysis_.choose()) {
  active_ = names.claim("active");
}

std::string LanePrinter::lanes_type(Type type) const {
  const std::string count = std::string(", ") + kLaneCount + ">";
  return type == Type::boolean ? std::string("Mask<") + kLaneCount + ">"
                               : "Lanes<" + Spelling::arithmetic(type) + count;
}

std::string LanePrinter::type_of(VarId var) {
  if (lane_ == kNone || !analysis_.is_vector(var, lane_))
    return "";
  note(kernel_.vars[var].type);
  return lanes_type(kernel_.vars[var].type);
}

void LanePrinter::note(Type type) {
  if (type != Type::boolean)
    widest_ = std::max(widest_, bytes_of(type_row(type).arithmetic));
}

// ---- loops ----------------------------------------------------------------------------------------------------------

std::vector<LanePrinter::Accumulator> LanePrinter::accumulators(const PlanNode &loop) {
  std::vector<Accumulator> out;
  for_each_node(loop, [&](const PlanNode &n) {
    if (!folds_over(n, loop.axis))
      return;
    out.push_back({&n, names_.claim(printer_.name(n.target) + "_lanes"),
                   n.partner == kNone ? "" : names_.claim(printer_.name(n.partner) + "_lanes"),
                   is_narrow(n, loop.axis) ? Type::i32 : kernel_.vars[n.target].type});
  });
  return out;
}

// Does what a lane finds in a block fit 32 bits: a position along the loop, or a sum of small numbers?
bool LanePrinter::is_narrow(const PlanNode &fold, AxisId axis) const {
  if (is_selection(fold.monoid)) {
    const Expr &noted = kernel_.expr(fold.second);
    return noted.op == Op::index && noted.axis == axis && noted.ref == kNone;
  }
  if (fold.monoid != Monoid::sum || kernel_.vars[fold.target].type != Type::i64)
    return false;
  const Expr &value = kernel_.expr(fold.value);
  if (value.op == Op::constant)
    return std::abs(value.integer) <= INT16_MAX;
  return value.op == Op::cast && !is_floating(kernel_.expr(value.args[0]).type) &&
         bytes_of(kernel_.expr(value.args[0]).type) <= 2;
}

// Long floating sums end in the scalar every kBlock iterations, narrow numbers in wide ones; 0: there are none.
int64_t LanePrinter::block_of(const PlanNode &loop) const {
  int64_t block = 0;
  for (const Accumulator &a : accumulators_) {
    const bool sums = a.step->monoid == Monoid::sum || a.step->monoid == Monoid::mean;
    if (sums && is_floating(a.type))
      block = kBlock;
    else if (a.type != kernel_.vars[a.step->target].type && block == 0)
      block = kNarrowBlock;
  }
  const Axis &axis = kernel_.axes[loop.axis];
  const bool is_short = axis.uniform && axis.ragged == kNone && axis.block.is_integer() && axis.block.value <= block;
  return is_short || printer_.in_part(loop.axis) ? 0 : block;
}

void LanePrinter::loop(const PlanNode &loop, const Printer::Range &whole) {
  lane_ = loop.axis;
  widest_ = 1;
  accumulators_ = accumulators(loop);
  const std::string &v = printer_.axis_name(loop.axis);
  const int64_t block = block_of(loop);
  const std::string first = block > 0 ? names_.claim(v + "_block") : whole.begin;
  first_ = first;
  Lines before;
  std::swap(before, printer_.lines);
  printer_.list(loop.body);
  std::string body = printer_.lines.text();
  std::swap(before, printer_.lines);

  Lines out;
  Printer::Range range = whole;
  if (block > 0) {
    const std::string length = std::to_string(block);
    out.add("for (int64_t " + first + " = " + range.begin + "; " + first + " < " + range.end + "; " + first +
            " += " + length + ") {");
    range = {first, helper("smaller") + "(" + first + " + " + length + ", " + range.end + ")"};
  }
  for (const Accumulator &a : accumulators_) {
    const Type type = a.type;
    note(type);
    out.add(accumulator_type(a) + " " + a.lanes + " = " + printer_.spelling.identity(a.step->monoid, type) + ";");
    if (a.best.empty())
      continue;
    const Type best = kernel_.vars[a.step->partner].type;
    out.add(lanes_type(best) + " " + a.best + " = " + printer_.spelling.constant(best, 0, 0) + ";");
  }
  if (const auto ahead = ahead_.find(&loop); ahead != ahead_.end())
    body = ahead->second + body;
  const std::string active = mentions_word(body, active_) ? "auto " + active_ : "auto";
  const std::string point = mentions_word(body, v) ? "int64_t " + v : "int64_t";
  helper("for_lanes");
  out.add(helper(loop.reversed ? "for_lanes_down" : "for_lanes") + "<" + kLaneCount + ">(" + range.begin + ", " +
          range.end + ", [&](" + point + ", " + active + ") {");
  std::swap(out, printer_.lines);
  printer_.lines.add(body + "});");
  lane_ = kNone;
  for (const Accumulator &a : accumulators_)
    combine(a);
  if (block > 0)
    printer_.lines.add("}");
  std::swap(out, printer_.lines);
  std::string text = out.text();
  replace_word(text, kLaneCount, helper("kLanes" + std::to_string(8 * widest_)));
  printer_.lines.append(text);
  accumulators_.clear();
}

// Sums of floats wait for each addition, unless other work is enough to fill the time; and registers are few.
std::string LanePrinter::accumulator_type(const Accumulator &a) {
  constexpr size_t kMostChains = 4;
  const Monoid monoid = a.step->monoid;
  const std::string type = lanes_type(a.type), arguments = type.substr(type.find('<'));
  if (is_floating(a.type) && (monoid == Monoid::max || monoid == Monoid::min))
    return helper("Extreme") + arguments;
  if (is_floating(a.type) && monoid == Monoid::sum && accumulators_.size() <= kMostChains &&
      is_light(kernel_, a.step->value))
    return helper("Sum") + arguments;
  return type;
}

// The lanes' results join what the loop found before.
void LanePrinter::combine(const Accumulator &a) {
  const PlanNode &step = *a.step;
  const Type type = kernel_.vars[step.target].type;
  const std::string place = printer_.name(step.target);
  if (!a.best.empty()) {
    const std::string best = Spelling::arithmetic(kernel_.vars[step.partner].type);
    const std::string order = helper(step.monoid == Monoid::argmax ? "above" : "below");
    printer_.lines.add(helper("fold_best") + "(" + a.lanes + ", " + a.best + ", " + (a.type == type ? "0" : first_) +
                       ", " + place + ", " + printer_.name(step.partner) + ", " + order + "<" + best + ">);");
    return;
  }
  const std::string c = Spelling::arithmetic(a.type);
  const auto &[one, other] = names_.pair();
  const bool wraps = a.type == type && total_may_wrap(kernel_, step); // narrow totals fit
  const std::string pair = printer_.spelling.combine(step.monoid, a.type, one, {other}, wraps).text;
  const std::string parameter = is_floating(type) ? "auto " : c + " "; // vectors are combined by the same operators
  const std::string value = helper("across") + "(" + a.lanes + ", [](" + parameter + one + ", " + parameter + other +
                            ") { return " + pair + "; })";
  if (step.monoid == Monoid::sum && is_floating(type))
    printer_.lines.add(place + " += " + value + ";");
  else
    printer_.lines.add(place + " = " + printer_.combined(step, place, {value}).text + ";");
}

// ---- statements -----------------------------------------------------------------------------------------------------

bool LanePrinter::node(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  if (lane_ == kNone) {
    if (!takes(n))
      return false;
    loop(n, printer_.declared_range(n));
    return true;
  }
  auto in_lanes = [&](VarId var) {
    return var != kNone &&
           (analysis_.is_vector(var, lane_) || analysis_.step_of(var, n.coords, lane_).kind != LaneStep::Kind::none);
  };
  switch (n.kind) {
  case PlanNode::Kind::assign:
    if (!in_lanes(n.target))
      return false;
    if (std::any_of(n.coords.begin(), n.coords.end(), [&](const Coordinate &c) { return !is_identity(kernel_, c); }))
      store_elsewhere(n);
    else
      set(n.target, n.value, siblings);
    return true;
  case PlanNode::Kind::fold_init: {
    if (!in_lanes(n.target))
      return false;
    const Type type = kernel_.vars[n.target].type;
    note(type);
    set_text(n.target, printer_.spelling.identity(n.monoid, type), false, siblings);
    if (n.partner == kNone)
      return true;
    const Type best = kernel_.vars[n.partner].type;
    note(best);
    set_text(n.partner, printer_.spelling.constant(best, 0, 0), false, siblings);
    return true;
  }
  case PlanNode::Kind::scan_init: {
    if (!in_lanes(n.target))
      return false;
    const Type type = kernel_.vars[n.target].type;
    note(type);
    set_text(n.target, printer_.spelling.identity(monoid_of(n.scan), type), false, siblings);
    return true;
  }
  case PlanNode::Kind::fold_step:
    if (folds_over(n, lane_)) {
      fold_across(n);
      return true;
    }
    if (!in_lanes(n.target))
      return false;
    fold_step(n);
    return true;
  case PlanNode::Kind::scan_step: {
    if (n.axis == lane_) {
      scan_along(n, siblings);
      return true;
    }
    if (!in_lanes(n.target))
      return false;
    const Type type = kernel_.vars[n.target].type;
    note(type);
    const std::string carry = loaded(n.target, {});
    std::string next;
    if (n.scan == ScanKind::linear)
      next = widened(n.value, type) + " * " + carry + " + " + at_least(expression(n.second), binding::kAdd + 1);
    else
      next = combined(monoid_of(n.scan), type, carry, widened(n.value, type));
    if (n.exclusive)
      set_text(n.partner, carry, true, siblings);
    set_text(n.target, next, false, siblings);
    if (!n.exclusive)
      set_text(n.partner, carry, true, siblings);
    return true;
  }
  case PlanNode::Kind::branch:
    if (!varies(n.condition))
      return false;
    branch(n);
    return true;
  case PlanNode::Kind::repeat:
    if (mask_.empty() && !analysis_.ends_by_lane(n, lane_))
      return false;
    repeat(n);
    return true;
  case PlanNode::Kind::leave:
  case PlanNode::Kind::next:
    if (live_.empty())
      return false;
    jump(n);
    return true;
  default:
    return false;
  }
}

void LanePrinter::branch(const PlanNode &n) {
  const bool only_jumps = n.body.size() == 1 && is_jump(n.body[0]) && n.otherwise.empty();
  if (only_jumps && jump_masks(n.body[0]) == std::vector<std::string>{current()}) {
    const std::string condition = at_least(expression(n.condition), binding::kUnary);
    printer_.lines.add(current() + " = " + current() + " && !" + condition + ";");
    return;
  }
  const std::string condition = names_.claim("chosen");
  // A jump inside a branch within it takes lanes away.
  const bool loses_lanes = std::any_of(n.body.begin(), n.body.end(), is_jumping_branch) ||
                           std::any_of(n.otherwise.begin(), n.otherwise.end(), is_jumping_branch);
  const std::string type = loses_lanes ? "auto " : "const auto ";
  printer_.lines.add(type + condition + " = " + current() + " && " +
                     at_least(expression(n.condition), binding::kAnd + 1) + ";");
  helper("active_mask");
  if (!n.body.empty())
    masked(condition, n.body);
  if (n.otherwise.empty())
    return;
  const std::string rest = names_.claim("others");
  printer_.lines.add(type + rest + " = " + current() + " && !" + condition + ";");
  masked(rest, n.otherwise);
}

// Goes on until no lane is left in it.
void LanePrinter::repeat(const PlanNode &n) {
  helper("active_mask");
  const std::string live = names_.claim("live"), mask = std::exchange(mask_, live);
  const std::string outer_live = std::exchange(live_, live), outer_round = std::exchange(round_, "");
  const std::vector<std::string> outer_branches = std::exchange(branches_, {});
  printer_.lines.add("auto " + live + " = mask_of(" + (mask.empty() ? active_ : mask) + ");");
  const std::string test =
      n.condition == kNone ? live : live + " = " + live + " && " + at_least(expression(n.condition), binding::kAnd + 1);
  printer_.lines.add("while (" + helper("any_lane") + "(" + test + ")) {");
  if (std::any_of(n.body.begin(), n.body.end(), has_next)) {
    round_ = mask_ = names_.claim("going_on");
    printer_.lines.add("auto " + round_ + " = " + live + ";");
  }
  printer_.list(n.body);
  mask_ = live;
  printer_.list(n.step);
  printer_.lines.add("}");
  mask_ = mask;
  live_ = outer_live;
  round_ = outer_round;
  branches_ = outer_branches;
}

// The masks of what follows a jump.
std::vector<std::string> LanePrinter::jump_masks(const PlanNode &jump) const {
  std::vector<std::string> masks = branches_;
  if (!round_.empty())
    masks.push_back(round_);
  if (jump.kind == PlanNode::Kind::leave)
    masks.push_back(live_);
  return masks;
}

void LanePrinter::jump(const PlanNode &n) {
  for (const std::string &mask : jump_masks(n))
    if (mask != mask_)
      printer_.lines.add(mask + " = " + mask + " && !" + mask_ + ";");
  if (mask_ == live_ || mask_ == round_)
    printer_.lines.add(mask_ + " = false;");
}

void LanePrinter::masked(const std::string &mask, const std::vector<PlanNode> &nodes) {
  const std::string outer = mask_;
  mask_ = mask;
  if (std::any_of(nodes.begin(), nodes.end(), is_jumping_branch))
    branches_.push_back(mask);
  printer_.lines.add("if (" + helper("any_lane") + "(" + mask + ")) {");
  printer_.list(nodes);
  printer_.lines.add("}");
  if (!branches_.empty() && branches_.back() == mask)
    branches_.pop_back();
  mask_ = outer;
}

void LanePrinter::set(VarId var, ExprId value, const std::vector<PlanNode> &siblings) {
  const Var &v = kernel_.vars[var];
  const Expr &e = kernel_.expr(value);
  const bool scalar = printer_.plan.storage[var].kind == Storage::Kind::scalar;
  note(v.type);
  const Code code = varies(value) ? expression(value) : printer_.expression(value);
  std::string text;
  if (!varies(value)) {
    text = printer_.spelling.stored(code, e.type, v.type);
    if (scalar && is_half(v.type))
      text = printer_.spelling.loaded(text, v.type).text;
  } else {
    text = stored(code, e.type, v.type);
    if (scalar && is_half(v.type))
      text = helper(v.type == Type::bf16 ? "from_bf16" : "from_f16") + "(" + text + ")";
  }
  set_text(var, text, varies(value), siblings);
}

// At a place that hangs on values which all lanes share.
void LanePrinter::store_elsewhere(const PlanNode &n) {
  const Type type = kernel_.vars[n.target].type, from = kernel_.expr(n.value).type;
  note(type);
  std::string value = widened(n.value, from);
  if (n.scatter_add)
    value = loaded(n.target, n.coords) + " + " + value;
  std::vector<std::pair<std::string, std::string>> checks;
  if (printer_.plan.storage[n.target].kind == Storage::Kind::argument)
    printer_.index_text(n.target, n.coords, &checks);
  const std::string statement = helper("store") + "(&" + printer_.element(n.target, n.coords, {}) + ", " + active_ +
                                ", " + stored({value, n.scatter_add ? binding::kAdd : binding::kMultiply}, from, type) +
                                ");";
  printer_.lines.add(checks.empty() ? statement : "if (" + printer_.inside(checks).text + ") " + statement);
}

// `is_lanes`: the text has the type of the variable, so that `auto` will do.
void LanePrinter::set_text(VarId var, const std::string &value, bool is_lanes, const std::vector<PlanNode> &siblings) {
  const std::string &name = printer_.name(var);
  const Type type = kernel_.vars[var].type;
  if (printer_.plan.storage[var].kind == Storage::Kind::scalar) {
    if (printer_.starts_here(var, siblings)) {
      printer_.declared_[var] = true;
      unmasked_[var] = mask_;
      const bool constant = printer_.assignments_[var] == 1;
      printer_.lines.add((constant && is_lanes ? "const auto" : (constant ? "const " : "") + lanes_type(type)) + " " +
                         name + " = " + value + ";");
    } else if (mask_.empty() || unmasked_[var] == mask_) {
      printer_.lines.add(name + " = " + value + ";");
    } else {
      printer_.lines.add(name + " = choose(" + mask_ + ", " + value + ", " + name + ");");
    }
    return;
  }
  const LaneStep step = analysis_.step_of(var, {}, lane_);
  const std::string place = "&" + printer_.element(var, {}, {});
  const bool neighbours = step.kind == LaneStep::Kind::neighbour;
  const std::string stride = neighbours ? "" : ", " + printer_.size_text(step.stride);
  std::string text = value;
  if (!mask_.empty()) {
    const std::string old = helper(neighbours ? "load" : "load_every") + "(" + place + stride + ", " + active_ + ")";
    text = "choose(" + mask_ + ", " + value + ", " + old + ")";
  }
  const bool around = neighbours && mask_.empty() && streamed_.count(var) != 0;
  const std::string statement = helper(around       ? "store_around"
                                       : neighbours ? "store"
                                                    : "store_every") +
                                "(" + place + stride + ", " + active_ + ", " + text + (around ? ", " + around_ : "") +
                                ");";
  std::vector<std::pair<std::string, std::string>> checks;
  if (printer_.plan.storage[var].kind == Storage::Kind::argument)
    printer_.index_text(var, {}, &checks);
  printer_.lines.add(checks.empty() ? statement : "if (" + printer_.inside(checks).text + ") " + statement);
}

std::string LanePrinter::combined(Monoid monoid, Type type, const std::string &total, const std::string &value) {
  if (type == Type::boolean && (monoid == Monoid::min || monoid == Monoid::max))
    helper("mask_order");
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

// A fold along another axis: each lane has its own total.
void LanePrinter::fold_step(const PlanNode &n) {
  const Type type = kernel_.vars[n.target].type;
  note(type);
  const std::string outer = mask_;
  const bool uniform_condition = n.condition != kNone && !varies(n.condition);
  const bool lane_condition = n.condition != kNone && !uniform_condition;
  if (uniform_condition)
    printer_.lines.add("if (" + printer_.expression(n.condition).text + ") {");
  if (lane_condition) {
    const std::string chosen = names_.claim("chosen");
    helper("active_mask");
    printer_.lines.add("const auto " + chosen + " = " + current() + " && " +
                       at_least(expression(n.condition), binding::kAnd + 1) + ";");
    mask_ = chosen;
    printer_.lines.add("if (" + helper("any_lane") + "(" + mask_ + ")) {");
  }
  if (is_selection(n.monoid)) {
    const std::string taking_part = std::exchange(mask_, ""); // what it notes is chosen by that already
    note(Type::i64);
    select(n, loaded(n.target, {}), loaded(n.partner, {}), expression(n.second).text, taking_part,
           [&](VarId var, const std::string &text) { set_text(var, text, true, {}); });
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
  if (uniform_condition || lane_condition)
    printer_.lines.add("}");
  mask_ = outer;
}

// A scan along the lanes: lanes that take no part leave the carry as it is.
void LanePrinter::scan_along(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const Type type = kernel_.vars[n.target].type;
  note(type);
  const Monoid monoid = monoid_of(n.scan);
  const std::string identity = printer_.spelling.identity(monoid, type);
  const auto &[one, other] = names_.pair();
  if (monoid == Monoid::max && is_floating(type))
    printer_.spelling.helper("maximum"); // of the carries
  const std::string value = helper("keep") + "(" + current() + ", " + widened(n.value, type, 0) + ", " + identity + ")";
  set_text(n.partner,
           helper(n.exclusive ? "scan_before" : "scan_lanes") + "<" + (n.reverse ? "-1" : "1") + ">(" +
               printer_.name(n.target) + ", " + value + ", " + identity + ", [](auto " + one + ", auto " + other +
               ") { return " + combined(monoid, type, one, other) + "; })",
           true, siblings);
}

// argmax, argmin.
void LanePrinter::select(const PlanNode &n, const std::string &where, const std::string &best,
                         const std::string &position, const std::string &mask,
                         const std::function<void(VarId, const std::string &)> &keep) {
  const Type type = kernel_.vars[n.partner].type;
  note(type);
  const std::string value = names_.claim("value"), better = names_.claim("better");
  const char *order = n.monoid == Monoid::argmax ? " > " : " < ";
  if (type == Type::boolean)
    helper("mask_order");
  printer_.lines.add("const " + lanes_type(type) + " " + value + " = " + widened(n.value, type, 0) + ";");
  std::string test = where + " < 0 || " + value + order + best;
  if (is_floating(type))
    test += " || (" + value + " != " + value + " && " + best + " == " + best + ")";
  printer_.lines.add("const auto " + better + " = " + (mask.empty() ? test : mask + " && (" + test + ")") + ";");
  keep(n.partner, "choose(" + better + ", " + value + ", " + best + ")");
  keep(n.target, "choose(" + better + ", " + position + ", " + where + ")");
}

// A fold along the lanes: they are combined after the loop.
void LanePrinter::fold_across(const PlanNode &n) {
  const auto found =
      std::find_if(accumulators_.begin(), accumulators_.end(), [&](const Accumulator &a) { return a.step == &n; });
  const Type type = found->type;
  const bool narrow = type != kernel_.vars[n.target].type;
  note(type);
  const std::string outer = mask_;
  if (n.condition != kNone && varies(n.condition)) {
    const std::string chosen = names_.claim("chosen");
    helper("active_mask");
    printer_.lines.add("const auto " + chosen + " = " + current() + " && " +
                       at_least(expression(n.condition), binding::kAnd + 1) + ";");
    mask_ = chosen;
    if (analysis_.hazardous(n.value))
      printer_.lines.add("if (" + helper("any_lane") + "(" + chosen + ")) {");
  } else if (n.condition != kNone) {
    printer_.lines.add("if (" + printer_.expression(n.condition).text + ") {");
  }
  if (is_selection(n.monoid)) {
    helper("active_mask");
    const std::string &point = printer_.axis_name(lane_);
    const std::string position = narrow ? helper("positions_as") + "<int32_t, " + kLaneCount + ">(" + point +
                                              (first_ == "0" ? "" : " - " + first_) + ")"
                                        : expression(n.second).text;
    select(n, found->lanes, found->best, position, "mask_of(" + current() + ")",
           [&](VarId var, const std::string &text) {
             printer_.lines.add((var == n.target ? found->lanes : found->best) + " = " + text + ";");
           });
  } else {
    const bool counts = narrow && varies(n.value);
    const std::string each =
        counts ? cast(expression(kernel_.expr(n.value).args[0]), kernel_.expr(kernel_.expr(n.value).args[0]).type, type)
                     .text
               : widened(n.value, type, 0);
    const std::string value =
        helper("keep") + "(" + current() + ", " + each + ", " + printer_.spelling.identity(n.monoid, type) + ")";
    if (n.monoid == Monoid::sum)
      printer_.lines.add(found->lanes + " += " + value + ";");
    else
      printer_.lines.add(found->lanes + " = " + combined(n.monoid, type, found->lanes, value) + ";");
  }
  if (n.condition != kNone && (!varies(n.condition) || analysis_.hazardous(n.value)))
    printer_.lines.add("}");
  mask_ = outer;
}

} // namespace kgen
