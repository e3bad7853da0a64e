// Expressions on lane groups: vector loads where neighbours are read, gathers elsewhere, selects in place of branches.
#include "emit/openmp/lanes.h"

#include <algorithm>
#include <optional>
#include <set>

#include "emit/target_file.h"
#include "ir/evaluate.h"
#include "ir/op_rows.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/width.h"
#include "plan/tidy/products.h"
#include "support/check.h"

namespace kgen {
namespace {

// The name of its form on vectors, in templates/openmp; "" where operators do.
std::string vector_form(Op op) {
  if (!has(op, op::lanes))
    return "";
  const OpRow &row = op_row(op);
  if (row.binds > 0)
    return op == Op::shl || op == Op::shr ? std::string(row.whole) : "operator";
  return std::string(row.cpp[0] == '=' ? row.cpp.substr(1) : row.name);
}

} // namespace

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
  case Op::element:
    return element(e, id);
  case Op::index: {
    Code at = printer_.expression(id);
    return {helper("positions") + "<" + kLaneCount + ">(" + at.text + ")"};
  }
  case Op::cast:
    if (const std::optional<Code> code = number_as(e.args[0], e.type))
      return *code;
    return cast(expression(e.args[0]), kernel_.expr(e.args[0]).type, e.type);
  case Op::round_like:
    if (is_rounded(e)) // as all products of lanes are
      return expression(e.args[0]);
    return {widened_half(stored(expression(e.args[0]), e.type, e.element), e.element)};
  case Op::choose:
    return choose(e, id);
  case Op::both:
  case Op::either:
    return logical(e, id);
  case Op::inside:
    return inside(e, id);
  case Op::row_of:
    return row_of(e, id);
  default:
    if (const std::optional<Code> code = is_comparison(e.op) ? compared(e) : std::nullopt)
      return *code;
    return operation(e, id);
  }
}

std::string LanePrinter::loaded(VarId var, const std::vector<Coordinate> &coords) {
  const Type type = kernel_.vars[var].type;
  note(type);
  if (printer_.plan.storage[var].kind == Storage::Kind::scalar || analysis_.is_vector(var, lane_))
    return printer_.element(var, coords, {});
  const LaneStep step = analysis_.step_of(var, coords, lane_);
  std::string element = printer_.element(var, coords, {});
  const auto turned = turned_.find(element);
  if (turned != turned_.end())
    element = turned->second;
  const bool neighbours = step.kind == LaneStep::Kind::neighbour || turned != turned_.end();
  const bool once = place_ == Standing::named && type != Type::boolean;
  std::string text = neighbours ? helper(once ? "load_once" : "load") + "(&" + element + ", " + active_ + ")"
                                : load_field(var, element, step);
  if (text.empty())
    text = helper("load_every") + "(&" + element + ", " + printer_.size_text(step.stride) + ", " + active_ + ")";
  return widened_half(text, type);
}

// An element that is stored as the half type which it has, as it lies. Empty: it is computed.
std::string LanePrinter::unconverted(ExprId value, Type to) {
  const Expr &e = kernel_.expr(value);
  if (!printer_.is_moved(value, to) || analysis_.is_vector(e.ref, lane_))
    return "";
  if (!varies(value))
    return printer_.unconverted(value, to)->text;
  as_bits_ = true;
  const std::string text = read(e, value).text;
  as_bits_ = false;
  return text;
}

// The f32 of bits of half types; of other types what is given.
std::string LanePrinter::widened_half(const std::string &text, Type type) {
  if (!is_half(type) || as_bits_)
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
  if (!(fields.is_integer(2) || fields.is_integer(3) || fields.is_integer(4)) || !step.stride.is_integer(fields.value))
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

// The index of the first lane's element, before anybody has asked whether it lies inside: a coordinate that may be any
// number must not take the sum out of 64 bits.
std::string LanePrinter::first_index(VarId var, const std::vector<Coordinate> &coords,
                                     std::vector<std::pair<std::string, std::string>> *checks) {
  const std::string index = printer_.index_text(var, coords, checks).text;
  for (const Coordinate &c : coords) {
    if (!varies(c.value) || width_of(kernel_, c.value) < bits_of(Type::i64) - 2)
      continue;
    const Code at = printer_.expression(c.value);
    const std::string end = " + " + at_least(at, binding::kAdd);
    if (index.ends_with(end))
      return printer_.spelling.operation(Op::add, Type::i64, {{index.substr(0, index.size() - end.size())}, at}).text;
  }
  return index;
}

// Whether what is read or asked for lies inside, where one dimension only moves with the lanes, and evenly.
std::optional<LanePrinter::Border> LanePrinter::border(const Expr &e) {
  constexpr int64_t kFar = 4096; // from where on the elements of a group have nothing to do with each other
  Border found;
  int moving = 0;
  auto move = [&](std::optional<int64_t> by) {
    ++moving;
    found.step = by.value_or(0);
  };
  const bool argument = printer_.plan.storage[e.ref].kind == Storage::Kind::argument;
  if (argument) {
    for (const Dim &dim : kernel_.vars[e.ref].dims)
      if (const Coordinate *const given = find_coordinate(e.coords, dim.axis); given == nullptr && dim.axis == lane_)
        move(1);
      else if (given != nullptr && varies(given->value))
        move(analysis_.coefficient(given->value, lane_));
  } else {
    for (const Coordinate &c : e.coords)
      if (varies(c.value))
        move(analysis_.coefficient(c.value, lane_));
  }
  if (moving != 1 || found.step < 1 || found.step > kFar)
    return std::nullopt;
  std::vector<std::pair<std::string, std::string>> checks;
  if (argument)
    found.index = first_index(e.ref, e.coords, &checks);
  else
    checks = printer_.buffer_checks(e.ref, e.coords);
  const std::string &lane = printer_.axis_name(lane_);
  for (const auto &check : checks) {
    if (mentions_word(check.second, lane))
      return std::nullopt;
    if (!mentions_word(check.first, lane))
      found.fixed.push_back(check);
    else
      found.at = check.first, found.extent = check.second;
  }
  if (found.at.empty() || checks.size() != found.fixed.size() + 1)
    return std::nullopt;
  return found;
}

Code LanePrinter::inside(const Expr &e, ExprId id) {
  const std::optional<Border> border = this->border(e);
  if (!border)
    return gather(id);
  helper("lanes_inside");
  const std::string text =
      "inside<" + std::to_string(border->step) + ">(" + border->at + ", " + border->extent + ", " + active_ + ")";
  if (border->fixed.empty())
    return {text};
  return {printer_.inside(border->fixed).text + " ? " + text + " : " + lanes_type(Type::boolean) + "(false)",
          binding::kChoose};
}

// What says which rows neighbouring elements are of: `box_start, B, packed, row`. Empty: they are no neighbours.
std::string LanePrinter::rows_of(const Expr &e) {
  if (e.op != Op::row_of || analysis_.coefficient(e.args[0], lane_) != 1)
    return "";
  const Axis &along = kernel_.axes[e.axis];
  const std::string table = c_name(kernel_.tables[along.ragged].name),
                    rows = printer_.size_text(kernel_.axes[along.over].size);
  if (near_row_.empty())
    near_row_ = names_.claim_one_of("row", {"", "_near"});
  looked_up_ = e.axis;
  return table + ", " + rows + ", " + printer_.expression(e.args[0]).text + ", " + near_row_;
}

Code LanePrinter::row_of(const Expr &e, ExprId id) {
  const std::string rows = rows_of(e);
  if (rows.empty())
    return gather(id);
  return {helper("rows_of") + "<" + kLaneCount + ">(" + rows + ")"};
}

// What rows have, for neighbouring elements of them. Empty: it has another form.
std::string LanePrinter::load_by_row(const Expr &e) {
  const Var &var = kernel_.vars[e.ref];
  if (e.coords.size() != 1 || !e.safe || var.strided || var.type == Type::boolean || var.axes.count() != 1)
    return "";
  const std::string rows = rows_of(kernel_.expr(e.coords[0].value));
  if (rows.empty() || (var.kind != Var::Kind::local && var.dims.size() != 1))
    return "";
  note(var.type);
  return widened_half(helper("load_by_row") + "<" + kLaneCount + ">(" + printer_.name(e.ref) + ", " + rows + ")",
                      var.type);
}

// A read that may leave its row at the lanes' ends: most groups lie inside and are loaded whole. Empty: it has another
// form.
std::string LanePrinter::load_inside(const Expr &e, const LaneStep &step) {
  const Var &var = kernel_.vars[e.ref];
  if (printer_.plan.storage[e.ref].kind != Storage::Kind::argument || var.strided ||
      (is_half(var.type) && var.outside != 0))
    return "";
  const std::optional<Border> border = this->border(e);
  if (!border || !step.stride.is_integer(border->step))
    return "";
  const std::string outside = as_bits_
                                  ? printer_.bits_of_half(var.outside, var.type)
                                  : printer_.spelling.constant(e.type, static_cast<int64_t>(var.outside), var.outside);
  std::string text = helper("load_inside") + "<" + std::to_string(border->step) + ">(" + printer_.name(e.ref) + ", " +
                     border->index + ", " + border->at + ", " + border->extent + ", " + active_ + ", " +
                     (is_half(var.type) ? "0" : outside) + ")";
  text = widened_half(text, var.type);
  return border->fixed.empty() ? text
                               : "(" + printer_.inside(border->fixed).text + " ? " + text + " : " + outside + ")";
}

Code LanePrinter::load_nearest(const Expr &e, const LaneAnalysis::Nearest &nearest) {
  const Var &var = kernel_.vars[e.ref];
  note(var.type);
  std::vector<Coordinate> coords = e.coords;
  for (Coordinate &c : coords)
    if (c.axis == nearest.axis)
      c.value = nearest.at;
  const auto extent =
      std::find_if(var.dims.begin(), var.dims.end(), [&](const Dim &d) { return d.axis == nearest.axis; });
  const std::string least = nearest.least == kNone ? "0" : printer_.expression(nearest.least).text;
  std::string most = nearest.most == kNone
                         ? printer_.size_text(Size::make(Size::Op::subtract, {extent->extent, Size::integer(1)}))
                         : printer_.expression(nearest.most).text;
  if (nearest.least_wins)
    most = helper("larger") + "(" + least + ", " + most + ")";
  const std::string text = helper("load_nearest") + "(" + printer_.name(e.ref) + ", " +
                           first_index(e.ref, coords, nullptr) + ", " + printer_.expression(nearest.at).text + ", " +
                           least + ", " + most + ", " + active_ + ")";
  return {widened_half(text, var.type)};
}

Code LanePrinter::read(const Expr &e, ExprId id) {
  if (printer_.plan.storage[e.ref].kind == Storage::Kind::scalar)
    return {printer_.name(e.ref)};
  if (const std::string text = load_by_row(e); !text.empty())
    return {text};
  const LaneStep step = analysis_.step_of(e.ref, e.coords, lane_);
  if (step.kind != LaneStep::Kind::any && analysis_.guarded(e, lane_)) {
    note(kernel_.vars[e.ref].type);
    if (const std::string text = load_inside(e, step); !text.empty())
      return {text};
  }
  if (mask_.empty())
    if (const auto nearest = analysis_.nearest(e, lane_))
      return load_nearest(e, *nearest);
  if (step.kind == LaneStep::Kind::any || analysis_.guarded(e, lane_))
    return gather(id);
  // Under a condition, points may be inside by that condition only.
  if (!mask_.empty() && analysis_.may_leave(e))
    return gather(id);
  const Var &var = kernel_.vars[e.ref];
  const std::string guard = guard_of(e);
  const std::string value = loaded(e.ref, e.coords);
  if (guard.empty())
    return {value};
  return {guard + " ? " + value + " : " +
              (as_bits_ ? printer_.bits_of_half(var.outside, var.type)
                        : printer_.spelling.constant(e.type, static_cast<int64_t>(var.outside), var.outside)),
          binding::kChoose};
}

Code LanePrinter::element(const Expr &e, ExprId id) {
  if (!analysis_.is_vector(e.ref, lane_) || !analysis_.is_one_element(e.args, lane_))
    return gather(id);
  const auto checks = printer_.array_checks(e.ref, e.args);
  const std::string value = printer_.element(e.ref, {}, e.args);
  if (checks.empty())
    return {value};
  return {printer_.inside(checks).text + " ? " + value + " : " + lanes_type(e.type) + "(0)", binding::kChoose};
}

// The condition, the same for all lanes, under which what is read lies inside; empty: always.
std::string LanePrinter::guard_of(const Expr &e) {
  std::vector<std::pair<std::string, std::string>> checks;
  if (e.safe)
    return "";
  if (printer_.plan.storage[e.ref].kind == Storage::Kind::argument)
    printer_.index_text(e.ref, e.coords, &checks);
  else
    checks = printer_.buffer_checks(e.ref, e.coords);
  return checks.empty() ? "" : printer_.inside(checks).text;
}

Code LanePrinter::gather(ExprId id) {
  const Expr &e = kernel_.expr(id);
  note(e.type);
  std::set<VarId> vectors;
  walk(kernel_, id, [&](ExprId at) {
    const Expr &inner = kernel_.expr(at);
    if ((inner.op == Op::read || inner.op == Op::element) && analysis_.is_vector(inner.ref, lane_))
      vectors.insert(inner.ref);
    return true;
  });
  const std::string lane = vectors.empty() ? "" : ", int lane";
  const std::string first = printer_.axis_name(lane_);
  std::string &own = one_of_[lane_]; // not the name of the first: products are compiled with -Wshadow
  if (own.empty())
    own = names_.claim(first, "_at");
  printer_.rename_axis(lane_, own);
  std::swap(printer_.by_lane, vectors);
  const std::string text =
      as_bits_ ? printer_.unconverted(id, kernel_.vars[e.ref].type)->text : printer_.expression(id).text;
  std::swap(printer_.by_lane, vectors);
  printer_.rename_axis(lane_, first);
  const std::string point = mentions_word(text, own) ? " " + own : "";
  const std::string value = helper("gather") + "<" + (as_bits_ ? "uint16_t" : Spelling::arithmetic(e.type)) + ">(" +
                            first + ", " + current() + ", [&](int64_t" + point + lane + ") IN_SET { return " + text +
                            "; })";
  return {place_ == Standing::within ? name_of_gathered(value, e) : value};
}

std::string LanePrinter::name_of_gathered(const std::string &text, const Expr &e) {
  std::string &name = gathered_[text];
  if (name.empty()) {
    name =
        e.op == Op::read || e.op == Op::element ? names_.claim(printer_.name(e.ref), "_at") : names_.claim("by_lane");
    printer_.lines.add("const auto " + name + " = " + text + ";");
  }
  return name;
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
  std::string form = "convert";
  if (is_integer(from) && is_integer(to) && bytes_of(from) <= 2 && bytes_of(to) > bytes_of(from))
    form = bytes_of(from) == 1 ? "widened_bytes" : "widened";
  return {helper(form) + "<" + Spelling::arithmetic(to) + ">(" + value.text + ")"};
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
    return placed(Standing::elsewhere, [&]() -> Code {
      return {at_least(condition, binding::kChoose + 1) + " ? " + widened(e.args[1], e.type, binding::kChoose + 1) +
                  " : " + widened(e.args[2], e.type, binding::kChoose + 1),
              binding::kChoose};
    });
  }
  if (analysis_.hazardous(e.args[1]) || analysis_.hazardous(e.args[2]))
    return gather(id);
  auto arm = [&](ExprId at, bool wide) {
    return varies(at) ? expression(at).text : wide ? widened(at, e.type) : printer_.expression(at).text;
  };
  const bool none = !varies(e.args[1]) && !varies(e.args[2]);
  return within([&]() -> Code {
    const Code condition = expression(e.args[0]);
    return {"choose(" + condition.text + ", " + arm(e.args[1], none) + ", " + arm(e.args[2], false) + ")"};
  });
}

Code LanePrinter::logical(const Expr &e, ExprId id) {
  const bool both = e.op == Op::both;
  if (analysis_.hazardous(e.args[1])) {
    if (varies(e.args[0]))
      return gather(id);
    const std::string other = lanes_type(Type::boolean) + (both ? "(false)" : "(true)");
    const std::string condition = at_least(printer_.expression(e.args[0]), binding::kChoose + 1),
                      value = placed(Standing::elsewhere, [&] { return widened(e.args[1], Type::boolean); });
    return {condition + " ? " + (both ? value + " : " + other : other + " : " + value), binding::kChoose};
  }
  return within([&] { return Spelling::logical(e.op, expression(e.args[0]), expression(e.args[1])); });
}

// Of a product that joins a sum. The first one varies, or is made to.
std::string LanePrinter::factors(const Expr &e) {
  const bool turned = !varies(e.args[0]) && varies(e.args[1]);
  const std::string first = widened(e.args[turned ? 1 : 0], e.type, 0);
  return first + ", " + expression(e.args[turned ? 0 : 1]).text;
}

std::string LanePrinter::multiply_add(const Expr &product, const std::string &sum) {
  helper("lanes_multiply_add");
  return "multiply_add(" + factors(product) + ", " + sum + ")";
}

Code LanePrinter::operation(const Expr &e, ExprId id) {
  if (is_multiply_add(e))
    return within([&]() -> Code { return {multiply_add(e, expression(e.args[2]).text)}; });
  const std::string form = vector_form(e.op);
  const Type type = e.args.empty() ? e.type : kernel_.expr(e.args[0]).type;
  const bool integer_division =
      (e.op == Op::div || e.op == Op::rem) && !is_floating(type) && !divides_by_number(kernel_, e);
  const bool real_of_integer = form != "operator" && !is_floating(type) && is_floating(e.type);
  if (form.empty() || integer_division || real_of_integer || !is_scalar_op(e.op))
    return gather(id);
  for (ExprId arg : e.args)
    note(kernel_.expr(arg).type);
  if (e.op == Op::div && is_floating(type) && varies(e.args[0]) && !varies(e.args[1]))
    return within([&]() -> Code {
      return {helper("quotient") + "(" + expression(e.args[0]).text + ", " + expression(e.args[1]).text + ")"};
    });
  const bool extreme = e.op == Op::min || e.op == Op::max,
             clamps = e.op == Op::clamp && !varies(e.args[1]) && !varies(e.args[2]),
             in_place = form == "operator" || extreme || clamps;
  std::vector<Code> args;
  for (ExprId arg : e.args)
    args.push_back(
        within([&]() -> Code { return varies(arg) || in_place ? expression(arg) : Code{widened(arg, type)}; }));
  const bool loose = extreme && e.nan_shows && varies(e.args[0]) && varies(e.args[1]);
  return vector_operation(e.op, e.type, args, loose);
}

// `loose`: which extreme a NaN gives does not matter.
Code LanePrinter::vector_operation(Op op, Type type, const std::vector<Code> &args, bool loose) {
  const std::string form = vector_form(op);
  if (form == "operator") {
    if (op == Op::rem)
      helper("lanes_remainder");
    return printer_.spelling.infix(op, args);
  }
  const char *width = !is_a(op, op::Kind::function) ? "" : type == Type::f64 ? "_f64" : "_f32";
  helper(op == Op::min || op == Op::max ? "extremes" : "lanes_" + form + width);
  std::string text = (!loose ? form : op == Op::min ? "lesser" : "greater") + "(";
  for (size_t i = 0; i < args.size(); ++i)
    text += (i > 0 ? ", " : "") + args[i].text;
  return {text + ")"};
}

} // namespace kgen
