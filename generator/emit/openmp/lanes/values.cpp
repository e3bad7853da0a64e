#include "emit/openmp/lanes/values.h"

#include "emit/openmp/lanes/numbers.h"
#include "emit/openmp/lanes/reads.h"
#include "ir/evaluate.h"
#include "ir/op_rows.h"
#include "plan/index/exprs.h"
#include "plan/tidy/products.h"

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

Code choose_lanes(LaneScope &lanes, const Expr &e, ExprId id) {
  if (!lanes.varies(e.args[0])) {
    const Code condition = lanes.scalar(e.args[0]);
    return lanes.placed(Standing::elsewhere, [&]() -> Code {
      return {at_least(condition, binding::kChoose + 1) + " ? " +
                  widened(lanes, e.args[1], e.type, binding::kChoose + 1) + " : " +
                  widened(lanes, e.args[2], e.type, binding::kChoose + 1),
              binding::kChoose};
    });
  }
  if (lanes.analysis.hazardous(e.args[1]) || lanes.analysis.hazardous(e.args[2]))
    return gather(lanes, id);
  auto arm = [&](ExprId at, bool wide) {
    return lanes.varies(at) ? on_lanes(lanes, at).text : wide ? widened(lanes, at, e.type) : lanes.scalar(at).text;
  };
  const bool none = !lanes.varies(e.args[1]) && !lanes.varies(e.args[2]);
  return lanes.within([&]() -> Code {
    const Code condition = on_lanes(lanes, e.args[0]);
    return {"choose(" + condition.text + ", " + arm(e.args[1], none) + ", " + arm(e.args[2], false) + ")"};
  });
}

Code logical(LaneScope &lanes, const Expr &e, ExprId id) {
  const bool both = e.op == Op::both;
  if (lanes.analysis.hazardous(e.args[1])) {
    if (lanes.varies(e.args[0]))
      return gather(lanes, id);
    const std::string other = lanes.lanes_type(Type::boolean) + (both ? "(false)" : "(true)");
    const std::string condition = at_least(lanes.scalar(e.args[0]), binding::kChoose + 1),
                      value =
                          lanes.placed(Standing::elsewhere, [&] { return widened(lanes, e.args[1], Type::boolean); });
    return {condition + " ? " + (both ? value + " : " + other : other + " : " + value), binding::kChoose};
  }
  return lanes.within([&] { return Spelling::logical(e.op, on_lanes(lanes, e.args[0]), on_lanes(lanes, e.args[1])); });
}

Code operation(LaneScope &lanes, const Expr &e, ExprId id) {
  if (is_multiply_add(e))
    return lanes.within([&]() -> Code { return {multiply_add(lanes, e, on_lanes(lanes, e.args[2]).text)}; });
  const std::string form = vector_form(e.op);
  const Type type = e.args.empty() ? e.type : lanes.expr(e.args[0]).type;
  if (!has_vector_form(lanes.kernel, e))
    return gather(lanes, id);
  for (ExprId arg : e.args)
    lanes.note(lanes.expr(arg).type);
  if (e.op == Op::div && is_floating(type) && lanes.varies(e.args[0]) && !lanes.varies(e.args[1]))
    return lanes.within([&]() -> Code {
      return {lanes.helper("quotient") + "(" + on_lanes(lanes, e.args[0]).text + ", " +
              on_lanes(lanes, e.args[1]).text + ")"};
    });
  const bool extreme = e.op == Op::min || e.op == Op::max,
             clamps = e.op == Op::clamp && !lanes.varies(e.args[1]) && !lanes.varies(e.args[2]),
             in_place = form == "operator" || extreme || clamps;
  std::vector<Code> args;
  for (ExprId arg : e.args)
    args.push_back(lanes.within([&]() -> Code {
      return lanes.varies(arg) || in_place ? on_lanes(lanes, arg) : Code{widened(lanes, arg, type)};
    }));
  const bool loose = extreme && e.nan_shows && lanes.varies(e.args[0]) && lanes.varies(e.args[1]);
  return vector_operation(lanes, e.op, e.type, args, loose);
}

} // namespace

Code on_lanes(LaneScope &lanes, ExprId id) {
  if (!lanes.varies(id))
    return lanes.scalar(id);
  const Expr &e = lanes.expr(id);
  lanes.note(e.type);
  switch (e.op) {
  case Op::read:
    return read_on_lanes(lanes, e, id);
  case Op::element:
    return element_on_lanes(lanes, e, id);
  case Op::index: {
    Code at = lanes.scalar(id);
    return {lanes.helper("positions") + "<" + kLaneCount + ">(" + at.text + ")"};
  }
  case Op::cast:
    if (const std::optional<Code> code = number_as(lanes, e.args[0], e.type))
      return *code;
    return cast_lanes(lanes, on_lanes(lanes, e.args[0]), lanes.expr(e.args[0]).type, e.type);
  case Op::round_like:
    if (is_rounded(e)) // as all products of lanes are
      return on_lanes(lanes, e.args[0]);
    return {widened_half(lanes, stored(lanes, on_lanes(lanes, e.args[0]), e.type, e.element), e.element)};
  case Op::choose:
    return choose_lanes(lanes, e, id);
  case Op::both:
  case Op::either:
    return logical(lanes, e, id);
  case Op::inside:
    return inside_lanes(lanes, e, id);
  case Op::row_of:
    return row_of(lanes, e, id);
  default:
    if (const std::optional<Code> code = is_comparison(e.op) ? compared(lanes, e) : std::nullopt)
      return *code;
    return operation(lanes, e, id);
  }
}

std::string widened(LaneScope &lanes, ExprId id, Type type, int least) {
  lanes.note(type);
  if (lanes.varies(id))
    return at_least(on_lanes(lanes, id), least);
  return lanes.lanes_type(type) + "(" + lanes.scalar(id).text + ")";
}

Code cast_lanes(LaneScope &lanes, const Code &value, Type from, Type to) {
  if (from == to)
    return value;
  lanes.note(to);
  if (to == Type::boolean)
    return {at_least(value, binding::kEqual + 1) + " != 0", binding::kEqual};
  if (is_floating(from) && is_integer(to)) {
    lanes.helper("saturate");
    lanes.helper("lanes_saturate");
    return {"saturate<" + Spelling::arithmetic(to) + ">(" + value.text + ")"};
  }
  std::string form = "convert";
  if (is_integer(from) && is_integer(to) && bytes_of(from) <= 2 && bytes_of(to) > bytes_of(from))
    form = bytes_of(from) == 1 ? "widened_bytes" : "widened";
  return {lanes.helper(form) + "<" + Spelling::arithmetic(to) + ">(" + value.text + ")"};
}

std::string stored(LaneScope &lanes, const Code &value, Type from, Type to) {
  if (!is_half(to))
    return cast_lanes(lanes, value, from, to).text;
  const Code single = cast_lanes(lanes, value, from, Type::f32);
  const bool bf16 = to == Type::bf16;
  lanes.helper(bf16 ? "lanes_to_bf16" : "lanes_to_f16");
  lanes.helper(bf16 ? "lanes_from_bf16" : "lanes_from_f16");
  return std::string(bf16 ? "to_bf16(" : "to_f16(") + single.text + ")";
}

// Of a product that joins a sum. The first one varies, or is made to.
std::string factors(LaneScope &lanes, const Expr &e) {
  const bool turned = !lanes.varies(e.args[0]) && lanes.varies(e.args[1]);
  const std::string first = widened(lanes, e.args[turned ? 1 : 0], e.type, 0);
  return first + ", " + on_lanes(lanes, e.args[turned ? 0 : 1]).text;
}

std::string multiply_add(LaneScope &lanes, const Expr &product, const std::string &sum) {
  lanes.helper("lanes_multiply_add");
  return "multiply_add(" + factors(lanes, product) + ", " + sum + ")";
}

Code vector_operation(LaneScope &lanes, Op op, Type type, const std::vector<Code> &args, bool loose) {
  const std::string form = vector_form(op);
  if (form == "operator") {
    if (op == Op::rem)
      lanes.helper("lanes_remainder");
    return lanes.printer.spelling.infix(op, args);
  }
  const char *width = !is_a(op, op::Kind::function) ? "" : type == Type::f64 ? "_f64" : "_f32";
  lanes.helper(op == Op::min || op == Op::max ? "extremes" : "lanes_" + form + width);
  std::string text = (!loose ? form : op == Op::min ? "lesser" : "greater") + "(";
  for (size_t i = 0; i < args.size(); ++i)
    text += (i > 0 ? ", " : "") + args[i].text;
  return {text + ")"};
}

} // namespace kgen
