#include "emit/openmp/lanes/numbers.h"

#include "emit/openmp/lanes/values.h"
#include "ir/op_rows.h"
#include "plan/index/lane_numbers.h"

namespace kgen {
namespace {

std::string step_text(int64_t step) { return step == 1 ? "" : ", " + std::to_string(step); }

// first, first + step, ... of another type.
Code positions_as(LaneScope &lanes, ExprId first, Type type, int64_t step) {
  return {lanes.helper("positions_as") + "<" + Spelling::arithmetic(type) + ", " + kLaneCount + step_text(step) + ">(" +
          lanes.scalar(first).text + ")"};
}

// What is small as one of that type.
Code small_number(LaneScope &lanes, ExprId id, Type type) {
  const Expr &e = lanes.expr(id);
  lanes.note(type);
  if (e.op == Op::constant)
    return {lanes.printer.spelling.constant(type, e.integer, 0)};
  const ExprId source = e.op == Op::cast ? e.args[0] : id;
  const Type from = lanes.expr(source).type;
  if (!lanes.varies(id)) {
    const bool fits = !is_floating(from) && bytes_of(from) <= bytes_of(type);
    return lanes.printer.spelling.cast(lanes.scalar(fits ? source : id), fits ? from : e.type, type);
  }
  if (e.op == Op::index)
    return positions_as(lanes, id, type, 1);
  if (e.op == Op::cast)
    return bytes_of(from) <= bytes_of(type) ? cast_lanes(lanes, on_lanes(lanes, source), from, type)
                                            : small_number(lanes, source, type);
  const LaneNumbers numbers(lanes.kernel, lanes.analysis);
  std::vector<Code> args;
  // That of the first one, which is small, and what the others are further on.
  if (numbers.is_small_remainder(e, lanes.axis))
    args = {positions_as(lanes, id, type, *numbers.step(e.args[0], lanes.axis)), small_number(lanes, e.args[1], type)};
  else
    for (ExprId arg : e.args)
      args.push_back(lanes.within([&] { return small_number(lanes, arg, type); }));
  return vector_operation(lanes, e.op, type, args);
}

} // namespace

std::string small_lanes(LaneScope &lanes, ExprId id, Type type) {
  const std::string text = small_number(lanes, id, type).text;
  return lanes.varies(id) ? text : lanes.lanes_type(type) + "(" + text + ")";
}

std::optional<Code> number_as(LaneScope &lanes, ExprId id, Type to) {
  const Expr &e = lanes.expr(id);
  if (e.type != Type::i64 || to == Type::boolean || bytes_of(to) > 4)
    return std::nullopt;
  if (!lanes.varies(id))
    return lanes.printer.spelling.cast(lanes.scalar(id), Type::i64, to);
  const LaneNumbers numbers(lanes.kernel, lanes.analysis);
  if (const auto step = numbers.step(id, lanes.axis))
    return positions_as(lanes, id, to, *step);
  if (numbers.fits(id, lanes.axis, Type::i32))
    return cast_lanes(lanes, small_number(lanes, id, Type::i32), Type::i32, to);
  // These give one of what they are given, or its negative, which is rounded alike.
  if (!is_floating(to) || (e.op != Op::abs && e.op != Op::min && e.op != Op::max))
    return std::nullopt;
  std::vector<Code> args;
  for (ExprId arg : e.args) {
    const std::optional<Code> code = lanes.within([&] { return number_as(lanes, arg, to); });
    if (!code)
      return std::nullopt;
    args.push_back(*code);
  }
  return vector_operation(lanes, e.op, to, args);
}

std::optional<Code> compared(LaneScope &lanes, const Expr &e) {
  if (lanes.expr(e.args[0]).type != Type::i64)
    return std::nullopt;
  const LaneNumbers numbers(lanes.kernel, lanes.analysis);
  const bool turned = !lanes.varies(e.args[0]);
  const ExprId of = e.args[turned ? 1 : 0], with = e.args[turned ? 0 : 1];
  const bool distances = lanes.expr(of).op == Op::abs;
  const ExprId position = distances ? lanes.expr(of).args[0] : of;
  const std::optional<int64_t> step = numbers.step(position, lanes.axis);
  if (!step || lanes.varies(with)) {
    if (!numbers.fits(of, lanes.axis, Type::i32) || !numbers.fits(with, lanes.axis, Type::i32))
      return std::nullopt;
    std::vector<Code> args;
    for (ExprId arg : e.args)
      args.push_back(lanes.within([&] { return small_number(lanes, arg, Type::i32); }));
    return lanes.printer.spelling.infix(e.op, args);
  }
  if (*step != 1 && *step != -1)
    lanes.note(Type::i32); // bytes do not hold how far lanes are apart
  std::string text =
      lanes.helper("Positions") + "<" + kLaneCount + step_text(*step) + ">{" + lanes.scalar(position).text + "}";
  if (distances) {
    lanes.helper("Distances");
    text = "absolute(" + text + ")";
  }
  return lanes.printer.spelling.infix(turned ? mirrored(e.op) : e.op, {{text}, lanes.scalar(with)});
}

} // namespace kgen
