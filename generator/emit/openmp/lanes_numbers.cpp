// Whole numbers on lanes that need fewer bits than their type has, so that vectors can have more lanes.
#include "emit/openmp/lanes.h"
#include "plan/index/lane_numbers.h"

namespace kgen {
namespace {

std::string step_text(int64_t step) { return step == 1 ? "" : ", " + std::to_string(step); }

} // namespace

// first, first + step, ... of another type.
Code LanePrinter::positions_as(ExprId first, Type type, int64_t step) {
  return {helper("positions_as") + "<" + Spelling::arithmetic(type) + ", " + kLaneCount + step_text(step) + ">(" +
          printer_.expression(first).text + ")"};
}

// What is small as one of that type.
Code LanePrinter::small_number(ExprId id, Type type) {
  const Expr &e = kernel_.expr(id);
  note(type);
  if (e.op == Op::constant)
    return {printer_.spelling.constant(type, e.integer, 0)};
  const ExprId source = e.op == Op::cast ? e.args[0] : id;
  const Type from = kernel_.expr(source).type;
  if (!varies(id)) {
    const bool fits = !is_floating(from) && bytes_of(from) <= bytes_of(type);
    return printer_.spelling.cast(printer_.expression(fits ? source : id), fits ? from : e.type, type);
  }
  if (e.op == Op::index)
    return positions_as(id, type, 1);
  if (e.op == Op::cast)
    return bytes_of(from) <= bytes_of(type) ? cast(expression(source), from, type) : small_number(source, type);
  const LaneNumbers numbers(kernel_, analysis_);
  std::vector<Code> args;
  if (numbers.is_small_remainder(e, lane_)) // that of the first one, which is small, and what the others are further on
    args = {positions_as(id, type, *numbers.step(e.args[0], lane_)), small_number(e.args[1], type)};
  else
    for (ExprId arg : e.args)
      args.push_back(within([&] { return small_number(arg, type); }));
  return vector_operation(e.op, type, args);
}

// A number of 64 bits as one of another type; none: it has to be computed as it is.
std::optional<Code> LanePrinter::number_as(ExprId id, Type to) {
  const Expr &e = kernel_.expr(id);
  if (e.type != Type::i64 || to == Type::boolean || bytes_of(to) > 4)
    return std::nullopt;
  if (!varies(id))
    return printer_.spelling.cast(printer_.expression(id), Type::i64, to);
  const LaneNumbers numbers(kernel_, analysis_);
  if (const auto step = numbers.step(id, lane_))
    return positions_as(id, to, *step);
  if (numbers.fits(id, lane_, Type::i32))
    return cast(small_number(id, Type::i32), Type::i32, to);
  // These give one of what they are given, or its negative, which is rounded alike.
  if (!is_floating(to) || (e.op != Op::abs && e.op != Op::min && e.op != Op::max))
    return std::nullopt;
  std::vector<Code> args;
  for (ExprId arg : e.args) {
    const std::optional<Code> code = within([&] { return number_as(arg, to); });
    if (!code)
      return std::nullopt;
    args.push_back(*code);
  }
  return vector_operation(e.op, to, args);
}

// Positions that are compared with one number.
std::optional<Code> LanePrinter::compared(const Expr &e) {
  if (kernel_.expr(e.args[0]).type != Type::i64)
    return std::nullopt;
  const LaneNumbers numbers(kernel_, analysis_);
  const bool turned = !varies(e.args[0]);
  const ExprId of = e.args[turned ? 1 : 0], with = e.args[turned ? 0 : 1];
  const bool distances = kernel_.expr(of).op == Op::abs;
  const ExprId position = distances ? kernel_.expr(of).args[0] : of;
  const std::optional<int64_t> step = numbers.step(position, lane_);
  if (!step || varies(with)) {
    if (!numbers.fits(of, lane_, Type::i32) || !numbers.fits(with, lane_, Type::i32))
      return std::nullopt;
    std::vector<Code> args;
    for (ExprId arg : e.args)
      args.push_back(within([&] { return small_number(arg, Type::i32); }));
    return printer_.spelling.infix(e.op, args);
  }
  if (*step != 1 && *step != -1)
    note(Type::i32); // bytes do not hold how far lanes are apart
  std::string text =
      helper("Positions") + "<" + kLaneCount + step_text(*step) + ">{" + printer_.expression(position).text + "}";
  if (distances) {
    helper("Distances");
    text = "absolute(" + text + ")";
  }
  return printer_.spelling.infix(turned ? mirrored(e.op) : e.op, {{text}, printer_.expression(with)});
}

} // namespace kgen
