#include "plan/index/width.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ir/evaluate.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

constexpr int kPosition = 30;  // along one axis
constexpr int kPositions = 47; // along several at once: more bytes than memory has
constexpr int kUnknown = 64;
constexpr int kSmall = 16;

struct Width {
  enum class Kind { other, small, position };
  int bits = kUnknown;
  Kind kind = Kind::other; // a small constant; made of positions and sizes, that is, bounded by what memory can hold
};
using Kind = Width::Kind;

int of_constant(int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return magnitude == 0 ? 0 : static_cast<int>(std::bit_width(magnitude - 1));
}

int of_bounds(Bounds bounds) { return std::max(of_constant(bounds.low), of_constant(bounds.high)); }

int of_type(Type type) {
  if (is_floating(type))
    return kUnknown;
  return type == Type::boolean ? 0 : bits_of(type) - (is_unsigned(type) ? 0 : 1);
}

Width of_axis(const Kernel &kernel, AxisId axis) {
  const Size &size = kernel.axes[axis].size;
  return {size.is_integer() ? of_constant(size.value) : kPosition, Kind::position};
}

Width of(const Kernel &kernel, ExprId id);

// Of one of the arguments from `first` on.
Width largest(const std::vector<Width> &args, size_t first) {
  Width out{0, Kind::small};
  for (size_t i = first; i < args.size(); ++i) {
    out.bits = std::max(out.bits, args[i].bits);
    const bool other = out.kind == Kind::other || args[i].kind == Kind::other;
    out.kind = other ? Kind::other : std::max(out.kind, args[i].kind);
  }
  return out;
}

// What the operation makes, before its type limits it.
Width unlimited(const Kernel &kernel, const Expr &e) {
  std::vector<Width> args;
  for (ExprId arg : e.args)
    args.push_back(of(kernel, arg));
  switch (e.op) {
  case Op::constant: {
    const int bits = is_floating(e.type) ? kUnknown : of_constant(e.integer);
    return {bits, bits <= kSmall ? Kind::small : Kind::other};
  }
  case Op::read:
  case Op::element:
    return {of_type(kernel.vars[e.ref].type)};
  case Op::table:
    return {of_type(kernel.tables[e.ref].type)};
  case Op::index:
  case Op::size:
    return of_axis(kernel, e.axis);
  case Op::block:
  case Op::grid_index:
  case Op::grid_size:
    return {kPosition, Kind::position};
  case Op::cast:
    return args[0];
  case Op::choose:
    return largest(args, 1);
  case Op::add:
  case Op::sub: {
    const Width either = largest(args, 0);
    return {either.bits + 1, either.kind == Kind::position ? Kind::position : Kind::other};
  }
  case Op::mul: {
    const int bits = args[0].bits + args[1].bits;
    if (args[0].kind == Kind::position && args[1].kind == Kind::position)
      return {std::min(bits, kPositions), Kind::position};
    const bool position = largest(args, 0).kind == Kind::position && bits < kPositions;
    return {bits, position ? Kind::position : Kind::other};
  }
  case Op::neg:
  case Op::abs:
  case Op::min:
  case Op::max:
  case Op::clamp:
    return largest(args, 0);
  case Op::div:
  case Op::shr:
    return args[0];
  case Op::rem:
    return {std::min(args[0].bits, args[1].bits), args[0].kind};
  default:
    return {of_type(e.type)};
  }
}

Width of(const Kernel &kernel, ExprId id) {
  const Expr &e = kernel.expr(id);
  const Width found = unlimited(kernel, e);
  return {std::min({found.bits, of_type(e.type), of_bounds(e.bounds)}), found.kind};
}

bool fits(int width, Type type) { return width < of_type(type); }

bool is_signed(Type type) { return is_integer(type) && !is_unsigned(type); }

} // namespace

int width_of(const Kernel &kernel, ExprId id) { return of(kernel, id).bits; }

bool may_wrap(const Kernel &kernel, ExprId id) {
  const Expr &e = kernel.expr(id);
  const Type type = e.args.empty() ? e.type : kernel.expr(e.args[0]).type;
  if (!is_signed(type) || (e.type == type && is_bounded(e)))
    return false;
  const Width result = unlimited(kernel, e);
  return result.kind != Kind::position && !fits(result.bits, type);
}

bool total_may_wrap(const Kernel &kernel, const PlanNode &step) {
  const Type type = kernel.vars[step.target].type;
  if (!is_signed(type))
    return false;
  const bool scan = step.kind == PlanNode::Kind::scan_step;
  if ((scan ? monoid_of(step.scan) : step.monoid) == Monoid::product)
    return true;
  int count = 0;
  for (AxisId axis : (scan ? AxisSet::of(step.axis) : step.reduced).list())
    count += of_axis(kernel, axis).bits;
  return !fits(width_of(kernel, step.value) + std::min(count, kPosition), type);
}

} // namespace kgen
