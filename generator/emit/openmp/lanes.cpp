#include "emit/openmp/lanes.h"

#include <algorithm>

#include "emit/print/pass_words.h"
#include "emit/target_file.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

void replace_word(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

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
    : printer_(printer), names_(names), kernel_(printer.kernel), analysis_(printer.plan) {
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

// The variables around a loop that its body changes, and arrays. What else it uses is copied into the function that is
// called for each group: as references, pointers and sizes would be read again for each, since the stores might have
// changed them for all that the compiler knows.
std::vector<std::string> LanePrinter::changed_from_outside(const PlanNode &loop) {
  std::set<VarId> totals;
  std::vector<std::string> names;
  for (const Accumulator &a : accumulators_) {
    totals.insert({a.step->target, a.step->partner});
    names.push_back(a.lanes);
  }
  std::set<VarId> seen;
  for (const Access &access : accesses_of(kernel_, loop)) {
    const Storage::Kind kind = printer_.plan.storage[access.var].kind;
    const bool changed = kind == Storage::Kind::array || (kind == Storage::Kind::scalar && access.write);
    if (changed && totals.count(access.var) == 0 && printer_.is_declared(access.var) && seen.insert(access.var).second)
      names.push_back(printer_.name(access.var));
  }
  for (const auto &[element, tile] : turned_)
    names.push_back(tile.substr(0, tile.find('[')));
  return names;
}

void LanePrinter::loop(const PlanNode &loop, const Printer::Range &whole) {
  lane_ = loop.axis;
  widest_ = 1;
  accumulators_ = accumulators(loop);
  const std::string &v = printer_.axis_name(loop.axis);
  const int64_t block = printer_.in_part(loop.axis) ? 0 : loop.on_lanes->block; // a part is shorter
  const std::string first = block > 0 ? names_.claim(v, "_block") : whole.begin;
  first_ = first;
  const std::vector<std::string> outer = changed_from_outside(loop);
  const Printer::WalkedRows rows = printer_.walked_rows();
  std::string totals, sums; // of rows that are walked: in registers, and where they lie
  for (const PlanNode &n : loop.body)
    if (!rows.row.empty() && n.kind == PlanNode::Kind::fold_step) {
      in_registers_[n.target] = printer_.name_beside(n.target, "_here");
      totals += ", auto& " + in_registers_[n.target];
      sums += ", " + printer_.name(n.target);
    }
  Lines before;
  std::swap(before, printer_.lines);
  printer_.list(loop.body);
  std::string body = printer_.lines.text();
  std::swap(before, printer_.lines);

  Lines out;
  out.append(pass_words(printer_, loop));
  Printer::Range range = whole;
  if (block > 0) {
    const std::string length = std::to_string(block);
    out.add("for (int64_t " + first + " = " + range.begin + "; " + first + " < " + range.end + "; " + first +
            " += " + length + ") {");
    range = {first, helper("smaller") + "(" + first + " + " + length + ", " + range.end + ")"};
  }
  if (looked_up_ != kNone)
    out.add("int64_t " + near_row_ + " = " + printer_.row_of(looked_up_, range.begin).text + ";");
  for (const Accumulator &a : accumulators_) {
    const LaneTotal &total = *a.step->lane_total;
    note(total.type_of_lanes());
    const std::string start =
        total.form == LaneTotal::Form::best ? "" : " = " + printer_.spelling.identity(a.step->monoid, total.type);
    out.add(total_type(*a.step) + " " + a.lanes + start + ";");
  }
  if (const auto ahead = ahead_.find(&loop); ahead != ahead_.end())
    body = ahead->second + body;
  std::string references;
  for (const std::string &name : outer)
    if (mentions_word(body, name))
      references += ", &" + name;
  if (std::exchange(looked_up_, kNone) != kNone)
    references += ", &" + near_row_;
  const std::string active = mentions_word(body, active_) ? "auto " + active_ : "auto";
  const std::string point = mentions_word(body, v) ? "int64_t " + v : "int64_t";
  helper("for_lanes");
  const std::string lines = rows.row.empty() ? lines_of(loop, range.begin) : rows.arguments;
  out.add(helper(!rows.row.empty() ? "for_rows"
                 : loop.reversed   ? "for_lanes_down"
                 : lines.empty()   ? "for_lanes"
                                   : "for_lines") +
          "<" + kLaneCount + ">(" + lines + range.begin + ", " + range.end + ", [=" + references + "](" +
          (rows.row.empty() ? "" : "int64_t " + rows.row + ", ") + point + ", " + active + totals + ") IN_SET {");
  std::swap(out, printer_.lines);
  printer_.lines.add(body + "}" + sums + ");");
  in_registers_.clear();
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
  chosen_.clear();
}

// Where outputs go around the caches by whole lines, groups begin with those of the widest one, wherever it lies: what
// says so and where, for the call. Empty: they must not, as the groups decide what is added up with what.
std::string LanePrinter::lines_of(const PlanNode &loop, const std::string &begin) {
  const bool regroups = std::any_of(loop.body.begin(), loop.body.end(), [&](const PlanNode &n) {
    return n.kind == PlanNode::Kind::scan_step && n.axis == loop.axis;
  });
  if (!accumulators_.empty() || regroups || loop.reversed || contains_loop(loop.body))
    return "";
  VarId widest = kNone;
  for (const PlanNode &n : loop.body)
    if (n.kind == PlanNode::Kind::assign && n.coords.empty() && streamed_.count(n.target) != 0 &&
        (widest == kNone || bytes_of(kernel_.vars[n.target].type) > bytes_of(kernel_.vars[widest].type)))
      widest = n.target;
  if (widest == kNone)
    return "";
  const std::string point = printer_.axis_name(loop.axis);
  printer_.rename_axis(loop.axis, begin);
  const std::string first = printer_.element(widest, {}, {});
  printer_.rename_axis(loop.axis, point);
  return around_ + ", &" + first + ", ";
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
  gathered_.clear();
  switch (n.kind) {
  case PlanNode::Kind::assign:
    if (!in_lanes(n.target))
      return false;
    if (written_.count(&n) != 0 || placed(Standing::within, [&] { return record(n, siblings); }))
      return true;
    return placed(analysis_.is_vector(n.target, lane_) ? Standing::named : Standing::alone, [&] {
      const bool moves =
          std::any_of(n.coords.begin(), n.coords.end(), [&](const Coordinate &c) { return !is_identity(kernel_, c); });
      if (moves || n.scatter_add)
        store_elsewhere(n);
      else
        set(n, siblings);
      return true;
    });
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
    if (!folds_over(n, lane_) && !in_lanes(n.target))
      return false;
    return placed(Standing::within, [&] {
      folds_over(n, lane_) ? fold_across(n, siblings) : fold_step(n, siblings);
      return true;
    });
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
    if (printer_.fuses(n)) {
      helper("lanes_multiply_add");
      next = "multiply_add(" + widened(n.value, type, 0) + ", " + carry + ", " + expression(n.second).text + ")";
    } else if (n.scan == ScanKind::linear) {
      next = widened(n.value, type) + " * " + carry + " + " + at_least(expression(n.second), binding::kAdd + 1);
    } else {
      next = combined(monoid_of(n.scan), type, carry, widened(n.value, type));
    }
    const bool wanted = n.partner != kNone; // or only the total
    if (wanted && n.exclusive)
      set_text(n.partner, carry, true, siblings);
    set_text(n.target, next, false, siblings);
    if (wanted && !n.exclusive)
      set_text(n.partner, carry, true, siblings);
    return true;
  }
  case PlanNode::Kind::loop:
    return records(n);
  case PlanNode::Kind::branch:
    if (!varies(n.condition))
      return false;
    branch(n);
    return true;
  case PlanNode::Kind::repeat:
    if (mask_.empty() && !analysis_.ends_by_lane(n, lane_))
      return false;
    repeat(n, siblings);
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

// The numbers that nobody reads after the loop, nor when it is entered again. A lane that has left it stays out: they
// may go on changing there. (Whole numbers might overflow.)
std::vector<VarId> LanePrinter::own_numbers(const PlanNode &loop, const std::vector<PlanNode> &siblings) {
  std::map<VarId, int> reads;
  const auto count = [&](const PlanNode &node, int sign) {
    for (const Access &a : accesses_of(kernel_, node))
      if (!a.write)
        reads[a.var] += sign;
  };
  count(loop, -1);
  std::vector<VarId> out;
  for (const PlanNode &before : siblings) {
    if (&before == &loop)
      break;
    const VarId var = before.kind == PlanNode::Kind::assign && before.coords.empty() ? before.target : kNone;
    if (var != kNone && is_floating(kernel_.vars[var].type) && printer_.plan.storage[var].kind == Storage::Kind::scalar)
      out.push_back(var);
  }
  if (out.empty())
    return out;
  for (const Phase &phase : printer_.plan.phases)
    for (const PlanNode &root : phase.nodes)
      count(root, 1);
  out.erase(std::remove_if(out.begin(), out.end(), [&](VarId var) { return reads[var] != 0; }), out.end());
  return out;
}

// Goes on until no lane is left in it.
void LanePrinter::repeat(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  helper("active_mask");
  const std::string live = names_.claim("live"), mask = std::exchange(mask_, live);
  const std::string outer_live = std::exchange(live_, live), outer_round = std::exchange(round_, "");
  const std::vector<std::string> outer_branches = std::exchange(branches_, {});
  const std::map<VarId, std::string> outer_unmasked = unmasked_;
  for (VarId var : own_numbers(n, siblings))
    unmasked_[var] = live;
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
  unmasked_ = outer_unmasked;
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

void LanePrinter::set(const PlanNode &n, const std::vector<PlanNode> &siblings) {
  const VarId var = n.target;
  const ExprId value = n.value;
  const Var &v = kernel_.vars[var];
  const Expr &e = kernel_.expr(value);
  const bool scalar = printer_.plan.storage[var].kind == Storage::Kind::scalar;
  note(v.type);
  if (const std::string symbol = printer_.updating(n);
      !symbol.empty() && n.indices.empty() && scalar && is_whole(var) && !printer_.starts_here(var, siblings)) {
    const Code by = expression(e.args[1]);
    return printer_.lines.add(printer_.name(var) + symbol + by.text + ";");
  }
  std::string text = scalar || analysis_.is_vector(var, lane_) ? "" : unconverted(value, v.type);
  if (text.empty() && !varies(value)) {
    text = printer_.spelling.stored(printer_.expression(value), e.type, v.type);
    if (scalar && is_half(v.type))
      text = printer_.spelling.loaded(text, v.type).text;
  } else if (text.empty()) {
    text = stored(expression(value), e.type, v.type);
    if (scalar)
      text = widened_half(text, v.type);
  }
  if (n.indices.empty())
    return set_text(var, text, varies(value), siblings);
  const auto checks = printer_.array_checks(var, n.indices);
  const std::string statement = replaced(var, printer_.element(var, {}, n.indices), text);
  printer_.lines.add(printer_.where_inside(checks, statement));
}

// Does nobody want what the lanes have in it that take no part here?
bool LanePrinter::is_whole(VarId var) const {
  const auto born = unmasked_.find(var);
  return mask_.empty() || (born != unmasked_.end() && born->second == mask_);
}

// In the lanes that take part.
std::string LanePrinter::replaced(VarId var, const std::string &place, const std::string &value) {
  if (is_whole(var))
    return place + " = " + value + ";";
  return place + " = choose(" + mask_ + ", " + value + ", " + place + ");";
}

// At a place that depends on values which all lanes share.
void LanePrinter::store_elsewhere(const PlanNode &n) {
  const Type type = kernel_.vars[n.target].type, from = kernel_.expr(n.value).type;
  note(type);
  if (const std::string bits = n.scatter_add ? "" : unconverted(n.value, type); !bits.empty())
    return store_at(n.target, n.coords, bits, false);
  Code value = varies(n.value) ? expression(n.value) : Code{widened(n.value, from)};
  if (n.scatter_add)
    value = {loaded(n.target, n.coords) + " + " + at_least(value, binding::kMultiply), binding::kAdd};
  store_at(n.target, n.coords, stored(value, from, type), false);
}

// What is stored keeps its old value in the lanes that take no part.
void LanePrinter::store_at(VarId var, const std::vector<Coordinate> &coords, const std::string &value,
                           bool may_stream) {
  const LaneStep step = analysis_.step_of(var, coords, lane_);
  const std::string place = "&" + printer_.element(var, coords, {});
  const bool neighbours = step.kind == LaneStep::Kind::neighbour;
  const std::string stride = neighbours ? "" : ", " + printer_.size_text(step.stride);
  std::string text = value;
  if (!mask_.empty()) {
    const std::string old = helper(neighbours ? "load" : "load_every") + "(" + place + stride + ", " + active_ + ")";
    text = "choose(" + mask_ + ", " + value + ", " + old + ")";
  }
  const bool around = may_stream && neighbours && mask_.empty() && streamed_.count(var) != 0;
  const std::string statement = helper(around       ? "store_around"
                                       : neighbours ? "store"
                                                    : "store_every") +
                                "(" + place + stride + ", " + active_ + ", " + text + (around ? ", " + around_ : "") +
                                ");";
  std::vector<std::pair<std::string, std::string>> checks;
  if (printer_.plan.storage[var].kind == Storage::Kind::argument)
    printer_.index_text(var, coords, &checks);
  printer_.lines.add(printer_.where_inside(checks, statement));
}

// `is_lanes`: the text has the type of the variable, so that `auto` will do.
void LanePrinter::set_text(VarId var, const std::string &value, bool is_lanes, const std::vector<PlanNode> &siblings) {
  if (analysis_.is_vector(var, lane_)) {
    if (!printer_.starts_here(var, siblings))
      return printer_.lines.add(replaced(var, printer_.element(var, {}, {}), value));
    printer_.declared_[var] = true;
    unmasked_[var] = mask_;
    const bool constant = printer_.assignments_[var] == 1;
    printer_.lines.add(
        (constant && is_lanes ? "const auto" : (constant ? "const " : "") + lanes_type(kernel_.vars[var].type)) + " " +
        printer_.name(var) + " = " + value + ";");
    return;
  }
  if (const auto field = fields_.find(var); field != fields_.end())
    return printer_.lines.add(field->second + " = " + value + ";");
  store_at(var, {}, value, true);
}

} // namespace kgen
