// Only 64-bit arithmetic is followed, and such of 32 bits as does not wrap; and tables, whose declared ranges then
// count.
#include "analysis/coordinates.h"

#include <algorithm>
#include <map>

#include "analysis/flow.h"

namespace kgen::analysis {

std::optional<Size> index_count(const Kernel &kernel, AxisId axis, VarId var) {
  const Axis &a = kernel.axes[axis];
  const Size size = Size::axis(a.name);
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    const Var &operand = kernel.vars[v];
    if (operand.kind != Var::Kind::input && operand.kind != Var::Kind::output)
      continue;
    for (const Dim &dim : operand.dims) {
      if (dim.axis != axis || (var != kNone && var != static_cast<VarId>(v)))
        continue;
      if (dim.offset && operand.kind == Var::Kind::input)
        return std::nullopt;
      if (var != kNone)
        return dim.extent;
      if (!(dim.extent == size) && !(dim.extent == a.size))
        return std::nullopt;
    }
  }
  return size;
}

std::string index_name(const Kernel &kernel, AxisId axis, VarId var) {
  return "index(" + (var == kNone ? "" : kernel.vars[var].name + ", ") + kernel.axes[axis].name + ")";
}

Size Coordinates::index(AxisId axis, VarId var) {
  const std::string name = index_name(kernel_, axis, var);
  if (const auto count = index_count(kernel_, axis, var))
    symbols_.add_variable(name, *count, uint64_t{1} << axis);
  return Size::grid(name);
}

std::optional<Size> Coordinates::size(ExprId id) {
  static const std::map<Op, Size::Op> kOps = {{Op::add, Size::Op::add},      {Op::sub, Size::Op::subtract},
                                              {Op::mul, Size::Op::multiply}, {Op::neg, Size::Op::negate},
                                              {Op::min, Size::Op::min},      {Op::max, Size::Op::max},
                                              {Op::choose, Size::Op::choose}};
  static const std::map<Op, Size::Op> kComparisons = {{Op::lt, Size::Op::less},    {Op::le, Size::Op::less_equal},
                                                      {Op::gt, Size::Op::greater}, {Op::ge, Size::Op::greater_equal},
                                                      {Op::eq, Size::Op::equal},   {Op::ne, Size::Op::not_equal}};
  const Expr &expr = kernel_.expr(id);
  if (is_floating(expr.type))
    return std::nullopt;
  switch (expr.op) {
  case Op::constant:
    return Size::integer(expr.integer);
  case Op::index:
    return index(expr.axis, expr.ref);
  case Op::size:
    if (kernel_.axes[expr.axis].ragged != kNone || (expr.ref != kNone))
      return std::nullopt;
    return Size::axis(kernel_.axes[expr.axis].name);
  case Op::block:
    return kernel_.axes[expr.axis].block;
  case Op::grid_index:
    return Size::grid(kernel_.grid[expr.ref].name);
  case Op::grid_size:
    return kernel_.grid[expr.ref].size;
  case Op::cast:
    return keeps_value(expr) ? size(expr.args[0]) : std::nullopt;
  case Op::table: {
    Size out;
    out.op = Size::Op::table;
    out.name = kernel_.tables[expr.ref].name;
    for (ExprId arg : expr.args) {
      const auto inner = size(arg);
      if (!inner)
        return std::nullopt;
      out.args.push_back(*inner);
    }
    return out;
  }
  default:
    break;
  }
  if (expr.op == Op::div || expr.op == Op::rem)
    return quotient(expr);
  if (expr.op == Op::read) {
    const std::optional<Size> value = local(expr);
    return value ? value : at_this_moment(expr);
  }
  const auto comparison = kComparisons.find(expr.op), operation = kOps.find(expr.op);
  const bool compares = comparison != kComparisons.end();
  const bool exact = expr.type == Type::i64 || is_bounded(expr);
  if (!compares && ((operation == kOps.end() && expr.op != Op::clamp) || !exact))
    return std::nullopt;
  std::vector<Size> args;
  for (ExprId arg : expr.args) {
    const auto inner = size(arg);
    if (!inner)
      return std::nullopt;
    args.push_back(*inner);
  }
  if (expr.op == Op::clamp)
    return Size::make(Size::Op::min, {Size::make(Size::Op::max, {args[0], args[1]}), args[2]});
  return Size::make(compares ? comparison->second : operation->second, std::move(args));
}

// A cast whose type holds all that may be cast.
bool Coordinates::keeps_value(const Expr &cast) const {
  const Expr &from = kernel_.expr(cast.args[0]);
  const Bounds all = bounds_of(cast.type);
  return bytes_of(cast.type) >= bytes_of(from.type) || (from.bounds.low >= all.low && from.bounds.high <= all.high);
}

ExprId Coordinates::setting(const Kernel &kernel, const Expr &read) {
  const ExprId value = only_value(kernel, read);
  const bool whole = value != kNone && (kernel.expr(value).type == Type::i64 || kernel.expr(value).type == Type::i32);
  return whole ? value : kNone;
}

std::optional<Size> Coordinates::local(const Expr &read) {
  const ExprId set = setting(kernel_, read);
  if (set == kNone || !open_.insert(read.ref).second)
    return std::nullopt;
  const std::optional<Size> value = size(set);
  open_.erase(read.ref);
  return value;
}

std::optional<Size> Coordinates::at_this_moment(const Expr &read) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const Var &var = kernel_.vars[read.ref];
  const auto [low, high, below] = read.bounds;
  if (!one_moment_ || var.kind != Var::Kind::local || !var.array.empty() || !read.coords.empty() || !is_bounded(read))
    return std::nullopt;
  const std::string name = "value(" + std::to_string(read.ref) + ", " + std::to_string(low) + "..";
  if (low >= 0 && below != kNone)
    return changing(name + kernel_.axes[below].name + ")", Size::axis(kernel_.axes[below].name));
  if (low < -kMost || high > kMost)
    return std::nullopt;
  const Size value = changing(name + std::to_string(high) + ")", Size::integer(high - low + 1));
  return Size::make(Size::Op::add, {value, Size::integer(low)});
}

Size Coordinates::changing(const std::string &name, const Size &count) {
  symbols_.add_variable(name, count);
  changing_.emplace_back(name, count);
  return Size::grid(name);
}

// C++ truncates and sizes floor: the same where nothing is negative.
std::optional<Size> Coordinates::quotient(const Expr &expr) {
  const auto a = size(expr.args[0]), b = size(expr.args[1]);
  if (!a || !b || !symbols_.nonnegative(symbols_.polynomial(*a)) || !symbols_.positive(*b))
    return std::nullopt;
  return Size::make(expr.op == Op::div ? Size::Op::divide : Size::Op::modulo, {*a, *b});
}

bool Coordinates::inside(const Size &size, const Size &extent) {
  // Structurally; isl has nothing to add to what is read under no condition but derived axes, which are atoms here too.
  const Polynomial p = symbols_.polynomial(size);
  return symbols_.nonnegative(p) && symbols_.nonnegative(symbols_.polynomial(extent) - p - Polynomial::constant(1));
}

} // namespace kgen::analysis
