#include "plan/index/lane_numbers.h"

#include <algorithm>

#include "ir/op_rows.h"
#include "plan/index/exprs.h"
#include "plan/index/width.h"

namespace kgen {
namespace {

constexpr int64_t kMostStep = 4096, kMostDivisor = int64_t(1) << 30;

} // namespace

std::optional<int64_t> LaneNumbers::step(ExprId id, AxisId lane) const {
  const std::optional<int64_t> found = analysis_.coefficient(id, lane);
  if (kernel_.expr(id).type != Type::i64 || !found || *found == 0 || *found < -kMostStep || *found > kMostStep ||
      may_wrap_around(id, lane))
    return std::nullopt;
  return found;
}

bool LaneNumbers::may_wrap_around(ExprId id, AxisId lane) const {
  const Expr &e = kernel_.expr(id);
  return may_wrap(kernel_, id) || std::any_of(e.args.begin(), e.args.end(), [&](ExprId arg) {
           return analysis_.varies(arg, lane) && may_wrap_around(arg, lane);
         });
}

bool LaneNumbers::is_never_negative(ExprId id) const {
  const Expr &e = kernel_.expr(id);
  const bool sum = (e.op == Op::add || e.op == Op::mul) && !may_wrap(kernel_, id);
  return e.bounds.low >= 0 ||
         (sum && std::all_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return is_never_negative(arg); }));
}

bool LaneNumbers::is_small_remainder(const Expr &e, AxisId lane) const {
  if (e.op != Op::rem || !divides_by_number(kernel_, e) || kernel_.expr(e.args[1]).integer > kMostDivisor)
    return false;
  const std::optional<int64_t> step = this->step(e.args[0], lane);
  return step && *step > 0 && is_never_negative(e.args[0]);
}

bool LaneNumbers::fits(ExprId id, AxisId lane, Type type) const {
  const Expr &e = kernel_.expr(id);
  const Bounds all = bounds_of(type);
  if (!is_integer(e.type) || is_unsigned(e.type))
    return false;
  if (type == Type::i32 && is_small_remainder(e, lane))
    return true;
  if (e.bounds.low < all.low || e.bounds.high > all.high)
    return false;
  if (!analysis_.varies(id, lane) || e.op == Op::index)
    return true;
  const auto small = [&](ExprId arg) { return fits(arg, lane, type); };
  switch (e.op) {
  case Op::cast: {
    const Type from = kernel_.expr(e.args[0]).type;
    if (from == Type::boolean) // as wide as what was compared
      return type == Type::i32;
    return !is_floating(from) && (bytes_of(from) <= bytes_of(type) || small(e.args[0]));
  }
  case Op::div:
  case Op::rem:
    return divides_by_number(kernel_, e) && small(e.args[0]) && small(e.args[1]);
  case Op::clamp: // takes no bounds of another type than its value's
    return false;
  default:
    return has(e.op, op::small) && std::all_of(e.args.begin(), e.args.end(), small);
  }
}

} // namespace kgen
