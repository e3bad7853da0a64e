#include "emit/lanes.h"

#include <algorithm>

#include "emit/target_file.h"
#include "plan/access.h"
#include "plan/exprs.h"
#include "support/check.h"

namespace kgen {
namespace {

constexpr int64_t kBlock = 4096; // floating sums are taken over blocks of so many, so that errors stay small

// What the text of lanes calls by name.
constexpr const char *kHelpers[] = {"Lanes",       "Mask",      "AllLanes",  "FirstLanes", "LanesOf",      "VectorOf",
                                    "IntegerOf",   "for_lanes", "load",      "store",      "gather",       "load_every",
                                    "store_every", "keep",      "mask_of",   "any_lane",   "across",       "positions",
                                    "convert",     "each_lane", "fold_best", "choose",     "kVectorBytes", "kLanes8",
                                    "kLanes16",    "kLanes32",  "kLanes64"};

// Stands for the number of lanes until the widest type of the loop is known.
const char *const kCount = "kLanesOfThisLoop";

// Operations that have a vector form of the scalar's name, in templates/openmp/lanes.h; "" where operators do.
std::string vector_form(Op op) {
  switch (op) {
  case Op::add:
  case Op::sub:
  case Op::mul:
  case Op::neg:
  case Op::lt:
  case Op::le:
  case Op::gt:
  case Op::ge:
  case Op::eq:
  case Op::ne:
  case Op::bit_and:
  case Op::bit_or:
  case Op::bit_xor:
  case Op::bit_not:
  case Op::logical_not:
  case Op::div:
    return "operator";
  case Op::min:
    return "minimum";
  case Op::max:
    return "maximum";
  case Op::abs:
    return "absolute";
  case Op::isnan:
    return "is_nan";
  case Op::isinf:
    return "is_inf";
  case Op::clamp:
  case Op::sign:
  case Op::exp:
  case Op::exp2:
  case Op::expm1:
  case Op::log:
  case Op::log2:
  case Op::log1p:
  case Op::sqrt:
  case Op::rsqrt:
  case Op::cbrt:
  case Op::tanh:
  case Op::sinh:
  case Op::cosh:
  case Op::sigmoid:
  case Op::erf:
  case Op::erfinv:
  case Op::sin:
  case Op::cos:
  case Op::tan:
  case Op::atan2:
  case Op::pow:
  case Op::floor:
  case Op::ceil:
  case Op::round:
  case Op::trunc:
  case Op::fma:
    return std::string(op_name(op));
  default:
    return "";
  }
}

void replace_word(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

bool is_selection(Monoid monoid) { return monoid == Monoid::argmax || monoid == Monoid::argmin; }

Monoid monoid_of(ScanKind scan) {
  return scan == ScanKind::product ? Monoid::product : scan == ScanKind::max ? Monoid::max : Monoid::sum;
}

} // namespace

void reserve_lane_names(Names &names) {
  for (const char *name : kHelpers)
    names.reserve(name);
}

bool hides_lane_names(const Function &function) {
  return std::any_of(function.arguments.begin(), function.arguments.end(), [](const Argument &a) {
    return std::any_of(std::begin(kHelpers), std::end(kHelpers), [&](const char *name) { return a.name == name; });
  });
}

LanePrinter::LanePrinter(Printer &printer, Names &names)
    : printer_(printer), names_(names), kernel_(printer.kernel), analysis_(printer.plan), taken_(analysis_.choose()) {
  active_ = names.claim("active");
}

std::string LanePrinter::lanes_type(Type type) const {
  const std::string count = std::string(", ") + kCount + ">";
  return type == Type::boolean ? std::string("Mask<") + kCount + ">" : "Lanes<" + Spelling::arithmetic(type) + count;
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
                   n.partner == kNone ? "" : names_.claim(printer_.name(n.partner) + "_lanes")});
  });
  return out;
}

// Long floating sums end in the scalar every kBlock iterations.
bool LanePrinter::is_blocked(const PlanNode &loop) const {
  const Axis &axis = kernel_.axes[loop.axis];
  if (axis.uniform && axis.ragged == kNone && axis.block.is_integer() && axis.block.value <= kBlock)
    return false;
  bool sums = false;
  for_each_node(loop, [&](const PlanNode &n) {
    sums = sums || (folds_over(n, loop.axis) && (n.monoid == Monoid::sum || n.monoid == Monoid::mean) &&
                    is_floating(kernel_.vars[n.target].type));
  });
  return sums;
}

void LanePrinter::loop(const PlanNode &loop, const Printer::Range &whole) {
  lane_ = loop.axis;
  widest_ = 1;
  accumulators_ = accumulators(loop);
  Lines before;
  std::swap(before, printer_.lines);
  printer_.list(loop.body);
  std::string body = printer_.lines.text();
  std::swap(before, printer_.lines);

  Lines out;
  const std::string &v = printer_.axis_name(loop.axis);
  Printer::Range range = whole;
  const bool blocked = is_blocked(loop);
  if (blocked) {
    const std::string first = names_.claim(v + "_block");
    const std::string block = std::to_string(kBlock);
    out.add("for (int64_t " + first + " = " + range.begin + "; " + first + " < " + range.end + "; " + first +
            " += " + block + ") {");
    range = {first, helper("smaller") + "(" + first + " + " + block + ", " + range.end + ")"};
  }
  for (const Accumulator &a : accumulators_) {
    const Type type = kernel_.vars[a.step->target].type;
    note(type);
    out.add(lanes_type(type) + " " + a.lanes + " = " + printer_.spelling.identity(a.step->monoid, type) + ";");
    if (a.best.empty())
      continue;
    const Type best = kernel_.vars[a.step->partner].type;
    out.add(lanes_type(best) + " " + a.best + " = " + printer_.spelling.constant(best, 0, 0) + ";");
  }
  const std::string active = mentions_word(body, active_) ? "auto " + active_ : "auto";
  const std::string point = mentions_word(body, v) ? "int64_t " + v : "int64_t";
  out.add(helper("for_lanes") + "<" + kCount + ">(" + range.begin + ", " + range.end + ", [&](" + point + ", " +
          active + ") {");
  std::swap(out, printer_.lines);
  printer_.lines.add(body + "});");
  lane_ = kNone;
  for (const Accumulator &a : accumulators_)
    combine(a);
  if (blocked)
    printer_.lines.add("}");
  std::swap(out, printer_.lines);
  std::string text = out.text();
  replace_word(text, kCount, helper("kLanes" + std::to_string(8 * widest_)));
  printer_.lines.add(text);
  accumulators_.clear();
}

// The lanes' results join what the loop found before.
void LanePrinter::combine(const Accumulator &a) {
  const PlanNode &step = *a.step;
  const Type type = kernel_.vars[step.target].type;
  const std::string place = printer_.name(step.target);
  if (!a.best.empty()) {
    const std::string best = Spelling::arithmetic(kernel_.vars[step.partner].type);
    const std::string order = helper(step.monoid == Monoid::argmax ? "above" : "below");
    printer_.lines.add(helper("fold_best") + "(" + a.lanes + ", " + a.best + ", " + place + ", " +
                       printer_.name(step.partner) + ", " + order + "<" + best + ">);");
    return;
  }
  const std::string c = Spelling::arithmetic(type);
  const auto &[one, other] = names_.pair();
  const std::string pair = printer_.spelling.combine(step.monoid, type, one, {other}).text;
  const std::string value = helper("across") + "(" + a.lanes + ", [](" + c + " " + one + ", " + c + " " + other +
                            ") { return " + pair + "; })";
  if (step.monoid == Monoid::sum && is_floating(type))
    printer_.lines.add(place + " += " + value + ";");
  else
    printer_.lines.add(place + " = " + printer_.spelling.combine(step.monoid, type, place, {value}).text + ";");
}

// ---- statements -----------------------------------------------------------------------------------------------------

bool LanePrinter::node(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  if (lane_ == kNone) {
    if (!takes(n))
      return false;
    loop(n, printer_.range(n));
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
    if (!in_lanes(n.target))
      return false;
    const Type type = kernel_.vars[n.target].type;
    note(type);
    const std::string carry = loaded(n.target, {});
    std::string next;
    if (n.scan == ScanKind::linear)
      next = widened(n.value, type) + " * " + carry + " + " + at_least(expression(n.second), binding::kAdd + 1);
    else
      next = combined(monoid_of(n.scan), carry, widened(n.value, type));
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
  default:
    return false;
  }
}

void LanePrinter::branch(const PlanNode &n) {
  const std::string condition = names_.claim("chosen");
  printer_.lines.add("const auto " + condition + " = " + current() + " && " +
                     at_least(expression(n.condition), binding::kAnd + 1) + ";");
  helper("active_mask");
  if (!n.body.empty())
    masked(condition, n.body);
  if (n.otherwise.empty())
    return;
  const std::string rest = names_.claim("others");
  printer_.lines.add("const auto " + rest + " = " + current() + " && !" + condition + ";");
  masked(rest, n.otherwise);
}

void LanePrinter::masked(const std::string &mask, const std::vector<PlanNode> &nodes) {
  const std::string outer = mask_;
  mask_ = mask;
  printer_.lines.add("if (" + helper("any_lane") + "(" + mask + ")) {");
  printer_.list(nodes);
  printer_.lines.add("}");
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
  printer_.lines.add(helper(neighbours ? "store" : "store_every") + "(" + place + stride + ", " + active_ + ", " +
                     text + ");");
}

std::string LanePrinter::combined(Monoid monoid, const std::string &total, const std::string &value) {
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
    select(n, loaded(n.target, {}), loaded(n.partner, {}), mask_);
  } else {
    std::string value = widened(n.value, type);
    if (!mask_.empty() && unmasked_[n.target] != mask_)
      value = helper("keep") + "(" + mask_ + ", " + value + ", " + printer_.spelling.identity(n.monoid, type) + ")";
    if (printer_.plan.storage[n.target].kind != Storage::Kind::scalar) {
      mask_.clear();
      set_text(n.target, combined(n.monoid, loaded(n.target, {}), value), true, {});
    } else if (n.monoid == Monoid::sum) {
      printer_.lines.add(printer_.name(n.target) + " += " + value + ";");
    } else {
      printer_.lines.add(printer_.name(n.target) + " = " + combined(n.monoid, printer_.name(n.target), value) + ";");
    }
  }
  if (uniform_condition || lane_condition)
    printer_.lines.add("}");
  mask_ = outer;
}

// argmax, argmin.
void LanePrinter::select(const PlanNode &n, const std::string &where, const std::string &best,
                         const std::string &mask) {
  const Type type = kernel_.vars[n.partner].type;
  note(type);
  note(Type::i64);
  const std::string value = names_.claim("value"), better = names_.claim("better");
  const AxisId axis = n.reduced.list().front();
  const std::string at = axis == lane_ ? helper("positions") + "<" + kCount + ">(" + printer_.axis_name(axis) + ")"
                                       : printer_.axis_name(axis);
  const char *order = n.monoid == Monoid::argmax ? " > " : " < ";
  printer_.lines.add("const " + lanes_type(type) + " " + value + " = " + widened(n.value, type, 0) + ";");
  std::string test = where + " < 0 || " + value + order + best;
  if (is_floating(type))
    test += " || (" + value + " != " + value + " && " + best + " == " + best + ")";
  printer_.lines.add("const auto " + better + " = " + (mask.empty() ? test : mask + " && (" + test + ")") + ";");
  printer_.lines.add(best + " = choose(" + better + ", " + value + ", " + best + ");");
  printer_.lines.add(where + " = choose(" + better + ", " + at + ", " + where + ");");
}

// A fold along the lanes: they are combined after the loop.
void LanePrinter::fold_across(const PlanNode &n) {
  const Type type = kernel_.vars[n.target].type;
  note(type);
  const auto found =
      std::find_if(accumulators_.begin(), accumulators_.end(), [&](const Accumulator &a) { return a.step == &n; });
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
    select(n, found->lanes, found->best, "mask_of(" + current() + ")");
  } else {
    const std::string value = helper("keep") + "(" + current() + ", " + widened(n.value, type, 0) + ", " +
                              printer_.spelling.identity(n.monoid, type) + ")";
    if (n.monoid == Monoid::sum)
      printer_.lines.add(found->lanes + " += " + value + ";");
    else
      printer_.lines.add(found->lanes + " = " + combined(n.monoid, found->lanes, value) + ";");
  }
  if (n.condition != kNone && (!varies(n.condition) || analysis_.hazardous(n.value)))
    printer_.lines.add("}");
  mask_ = outer;
}

// ---- expressions ----------------------------------------------------------------------------------------------------

std::string LanePrinter::widened(ExprId id, Type type, int least) {
  note(type);
  if (varies(id))
    return at_least(expression(id), least);
  return lanes_type(type) + "(" + printer_.expression(id).text + ")";
}

Code LanePrinter::expression(ExprId id) {
  if (!varies(id))
    return printer_.expression(id);
  const Expr &e = kernel_.expr(id);
  note(e.type);
  switch (e.op) {
  case Op::read:
    return read(e, id);
  case Op::index: {
    Code at = printer_.expression(id);
    return {helper("positions") + "<" + kCount + ">(" + at.text + ")"};
  }
  case Op::cast: {
    const Type from = kernel_.expr(e.args[0]).type;
    return cast(expression(e.args[0]), from, e.type);
  }
  case Op::round_like:
    if (!is_half(e.element))
      return expression(e.args[0]);
    return {helper(e.element == Type::bf16 ? "from_bf16" : "from_f16") + "(" +
            stored(expression(e.args[0]), e.type, e.element) + ")"};
  case Op::choose:
    return choose(e, id);
  case Op::both:
  case Op::either:
    return logical(e, id);
  default:
    return operation(e, id);
  }
}

std::string LanePrinter::loaded(VarId var, const std::vector<Coordinate> &coords) {
  const Type type = kernel_.vars[var].type;
  note(type);
  if (printer_.plan.storage[var].kind == Storage::Kind::scalar)
    return printer_.name(var);
  const LaneStep step = analysis_.step_of(var, coords, lane_);
  const bool neighbours = step.kind == LaneStep::Kind::neighbour;
  const std::string element = printer_.element(var, coords, {});
  std::string text =
      neighbours ? helper("load") + "(&" + element + ", " + active_ + ")" : load_field(var, element, step);
  if (text.empty())
    text = helper("load_every") + "(&" + element + ", " + printer_.size_text(step.stride) + ", " + active_ + ")";
  if (!is_half(type))
    return text;
  helper(type == Type::bf16 ? "lanes_from_bf16" : "lanes_from_f16");
  return std::string(type == Type::bf16 ? "from_bf16(" : "from_f16(") + text + ")";
}

// Numbers of small records, all of which a few vectors hold: `pred[(b * N + n) * 4 + 3]`. Empty: it is no such place.
std::string LanePrinter::load_field(VarId var, const std::string &element, const LaneStep &step) {
  const Var &v = kernel_.vars[var];
  if (printer_.plan.storage[var].kind != Storage::Kind::argument || v.strided || v.dims.empty() ||
      v.type == Type::boolean)
    return "";
  const Size &fields = v.dims.back().extent;
  if (!(fields.is_integer(2) || fields.is_integer(4)) || !step.stride.is_integer(fields.value))
    return "";
  for (int64_t field = 0; field < fields.value; ++field) {
    const std::string end =
        " * " + std::to_string(fields.value) + (field > 0 ? " + " + std::to_string(field) : "") + "]";
    if (!element.ends_with(end))
      continue;
    const std::string first =
        element.substr(0, element.size() - end.size()) + " * " + std::to_string(fields.value) + "]";
    return helper("load_field") + "<" + std::to_string(fields.value) + ", " + std::to_string(field) + ">(&" + first +
           ", " + active_ + ")";
  }
  return "";
}

// A read that may leave its row at the lanes' ends: most groups lie inside and are loaded whole. Empty: it has another
// form.
std::string LanePrinter::load_inside(const Expr &e, const LaneStep &step) {
  const Var &var = kernel_.vars[e.ref];
  if (printer_.plan.storage[e.ref].kind != Storage::Kind::argument || var.strided ||
      (is_half(var.type) && var.outside != 0))
    return "";
  int moving = 0;
  std::optional<int64_t> moves;
  for (const Dim &dim : var.dims) {
    const auto given =
        std::find_if(e.coords.begin(), e.coords.end(), [&](const Coordinate &c) { return c.axis == dim.axis; });
    const bool by_itself = given == e.coords.end() ? dim.axis == lane_ : varies(given->value);
    if (!by_itself)
      continue;
    ++moving;
    moves = given == e.coords.end() ? std::optional<int64_t>(1) : analysis_.coefficient(given->value, lane_);
  }
  if (moving != 1 || !moves || *moves < 1 || !step.stride.is_integer(*moves))
    return "";
  std::vector<std::pair<std::string, std::string>> checks, fixed;
  const std::string index = printer_.index_text(e.ref, e.coords, &checks).text;
  std::string at, extent;
  for (const auto &check : checks) {
    if (!mentions_word(check.first, printer_.axis_name(lane_)))
      fixed.push_back(check);
    else
      at = check.first, extent = check.second;
  }
  if (at.empty() || checks.size() != fixed.size() + 1)
    return "";
  const std::string outside = printer_.spelling.constant(e.type, static_cast<int64_t>(var.outside), var.outside);
  std::string text = helper("load_inside") + "(&" + printer_.name(e.ref) + "[" + index + "], " + at + ", " +
                     std::to_string(*moves) + ", " + extent + ", " + active_ + ", " +
                     (is_half(var.type) ? "0" : outside) + ")";
  if (is_half(var.type)) {
    helper(var.type == Type::bf16 ? "lanes_from_bf16" : "lanes_from_f16");
    text = std::string(var.type == Type::bf16 ? "from_bf16(" : "from_f16(") + text + ")";
  }
  return fixed.empty() ? text : "(" + printer_.inside(fixed).text + " ? " + text + " : " + outside + ")";
}

Code LanePrinter::read(const Expr &e, ExprId id) {
  if (printer_.plan.storage[e.ref].kind == Storage::Kind::scalar)
    return {printer_.name(e.ref)};
  const LaneStep step = analysis_.step_of(e.ref, e.coords, lane_);
  if (step.kind != LaneStep::Kind::any && analysis_.guarded(e, lane_)) {
    note(kernel_.vars[e.ref].type);
    if (const std::string text = load_inside(e, step); !text.empty())
      return {text};
  }
  if (step.kind == LaneStep::Kind::any || analysis_.guarded(e, lane_))
    return gather(id);
  // Under a condition, other points may be proved inside by that condition only.
  if (!mask_.empty() && e.safe && analysis_.hazardous(id))
    return gather(id);
  const std::string guard = guard_of(e);
  const std::string value = loaded(e.ref, e.coords);
  if (guard.empty())
    return {value};
  return {guard + " ? " + value + " : " +
              printer_.spelling.constant(e.type, static_cast<int64_t>(kernel_.vars[e.ref].outside),
                                         kernel_.vars[e.ref].outside),
          binding::kChoose};
}

// The condition, the same for all lanes, under which what is read lies inside; empty: always.
std::string LanePrinter::guard_of(const Expr &e) {
  std::vector<std::pair<std::string, std::string>> checks;
  if (e.safe)
    return "";
  if (printer_.plan.storage[e.ref].kind == Storage::Kind::argument)
    printer_.index_text(e.ref, e.coords, &checks);
  else
    checks = printer_.buffer_checks(e.coords);
  return checks.empty() ? "" : printer_.inside(checks).text;
}

Code LanePrinter::gather(ExprId id) {
  const Expr &e = kernel_.expr(id);
  note(e.type);
  // Vectors are read at the lane's number.
  std::vector<std::pair<VarId, std::string>> renamed;
  walk(kernel_, id, [&](ExprId at) {
    const Expr &inner = kernel_.expr(at);
    if (inner.op != Op::read || !analysis_.is_vector(inner.ref, lane_))
      return true;
    if (std::any_of(renamed.begin(), renamed.end(), [&](const auto &r) { return r.first == inner.ref; }))
      return true;
    renamed.push_back({inner.ref, printer_.name(inner.ref)});
    return true;
  });
  const std::string lane = renamed.empty() ? "" : ", int lane";
  for (const auto &[var, name] : renamed)
    printer_.rename(var, name + "[lane]");
  const std::string text = printer_.expression(id).text;
  for (const auto &[var, name] : renamed)
    printer_.rename(var, name);
  const std::string &v = printer_.axis_name(lane_);
  const std::string point = mentions_word(text, v) ? " " + v : "";
  return {helper("gather") + "<" + Spelling::arithmetic(e.type) + ">(" + v + ", " + current() + ", [&](int64_t" +
          point + lane + ") { return " + text + "; })"};
}

Code LanePrinter::cast(const Code &value, Type from, Type to) {
  if (from == to)
    return value;
  note(to);
  if (to == Type::boolean)
    return {at_least(value, binding::kEqual + 1) + " != 0", binding::kEqual};
  if (is_floating(from) && is_integer(to)) {
    helper("saturate");
    helper("lanes_saturate");
    return {"saturate<" + Spelling::arithmetic(to) + ">(" + value.text + ")"};
  }
  return {helper("convert") + "<" + Spelling::arithmetic(to) + ">(" + value.text + ")"};
}

std::string LanePrinter::stored(const Code &value, Type from, Type to) {
  if (!is_half(to))
    return cast(value, from, to).text;
  const Code single = cast(value, from, Type::f32);
  const bool bf16 = to == Type::bf16;
  helper(bf16 ? "lanes_to_bf16" : "lanes_to_f16");
  helper(bf16 ? "lanes_from_bf16" : "lanes_from_f16");
  return std::string(bf16 ? "to_bf16(" : "to_f16(") + single.text + ")";
}

Code LanePrinter::choose(const Expr &e, ExprId id) {
  if (!varies(e.args[0])) {
    const Code condition = printer_.expression(e.args[0]);
    return {at_least(condition, binding::kChoose + 1) + " ? " + widened(e.args[1], e.type, binding::kChoose + 1) +
                " : " + widened(e.args[2], e.type, binding::kChoose + 1),
            binding::kChoose};
  }
  if (analysis_.hazardous(e.args[1]) || analysis_.hazardous(e.args[2]))
    return gather(id);
  const Code condition = expression(e.args[0]);
  auto arm = [&](ExprId at, bool wide) {
    return varies(at) ? expression(at).text : wide ? widened(at, e.type) : printer_.expression(at).text;
  };
  const bool none = !varies(e.args[1]) && !varies(e.args[2]);
  return {"choose(" + condition.text + ", " + arm(e.args[1], none) + ", " + arm(e.args[2], false) + ")"};
}

Code LanePrinter::logical(const Expr &e, ExprId id) {
  const bool both = e.op == Op::both;
  if (analysis_.hazardous(e.args[1])) {
    if (varies(e.args[0]))
      return gather(id);
    const std::string other = lanes_type(Type::boolean) + (both ? "(false)" : "(true)");
    const std::string condition = at_least(printer_.expression(e.args[0]), binding::kChoose + 1),
                      value = widened(e.args[1], Type::boolean);
    return {condition + " ? " + (both ? value + " : " + other : other + " : " + value), binding::kChoose};
  }
  return Spelling::logical(e.op, expression(e.args[0]), expression(e.args[1]));
}

Code LanePrinter::operation(const Expr &e, ExprId id) {
  const std::string form = vector_form(e.op);
  const Type type = e.args.empty() ? e.type : kernel_.expr(e.args[0]).type;
  const bool integer_division = e.op == Op::div && !is_floating(type);
  const bool real_of_integer = form != "operator" && !is_floating(type) && is_floating(e.type);
  if (form.empty() || integer_division || real_of_integer || !is_scalar_op(e.op))
    return gather(id);
  for (ExprId arg : e.args)
    note(kernel_.expr(arg).type);
  if (form == "operator") {
    std::vector<Code> args;
    for (ExprId arg : e.args)
      args.push_back(expression(arg));
    return printer_.spelling.infix(e.op, args);
  }
  helper(form == "minimum" || form == "maximum" ? "Lanes" : "lanes_" + form);
  const bool mixes = form == "minimum" || form == "maximum";
  std::string text = form + "(";
  for (size_t i = 0; i < e.args.size(); ++i)
    text += (i > 0 ? ", " : "") + (varies(e.args[i]) || mixes ? expression(e.args[i]).text : widened(e.args[i], type));
  return {text + ")"};
}

} // namespace kgen
