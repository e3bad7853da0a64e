// Types of expressions: conversions, exact weak literals, constants folded, and the accumulators of reductions, which
// go by the operands before promotion.
#include "ir/lowering.h"

#include <cmath>
#include <limits>

#include "ir/op_rows.h"
#include "support/check.h"

namespace kgen::build {

namespace {

int64_t wrap(int64_t value, Type type) {
  switch (type) {
  case Type::i8:
    return static_cast<int8_t>(value);
  case Type::i16:
    return static_cast<int16_t>(value);
  case Type::i32:
    return static_cast<int32_t>(value);
  case Type::u8:
    return static_cast<uint8_t>(value);
  case Type::u16:
    return static_cast<uint16_t>(value);
  case Type::u32:
    return static_cast<uint32_t>(value);
  case Type::boolean:
    return value != 0;
  default:
    return value;
  }
}

// Float to integer saturates, NaN gives 0.
int64_t saturate(double value, Type type) {
  if (std::isnan(value))
    return 0;
  int bits = 8 * bytes_of(type) - (is_unsigned(type) ? 0 : 1);
  double above = std::ldexp(1.0, bits);
  if (value >= above)
    return type == Type::u64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1);
  double below = is_unsigned(type) ? 0 : -above;
  if (value <= below)
    return is_unsigned(type) ? 0 : static_cast<int64_t>(-(uint64_t{1} << (bits - 1)) * 2);
  return type == Type::u64 ? static_cast<int64_t>(static_cast<uint64_t>(value)) : static_cast<int64_t>(value);
}

double to_double(int64_t value, Type type) {
  return type == Type::u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

template <class T> std::optional<bool> compare(Op op, T a, T b) {
  switch (op) {
  case Op::lt:
    return a < b;
  case Op::le:
    return a <= b;
  case Op::gt:
    return a > b;
  case Op::ge:
    return a >= b;
  case Op::eq:
    return a == b;
  case Op::ne:
    return a != b;
  default:
    return std::nullopt;
  }
}

std::optional<double> arithmetic(Op op, double a, double b) {
  switch (op) {
  case Op::add:
    return a + b;
  case Op::sub:
    return a - b;
  case Op::mul:
    return a * b;
  case Op::div:
    return a / b;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> arithmetic(Op op, int64_t a, int64_t b) {
  uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
  case Op::add:
    return static_cast<int64_t>(x + y);
  case Op::sub:
    return static_cast<int64_t>(x - y);
  case Op::mul:
    return static_cast<int64_t>(x * y);
  default:
    return std::nullopt;
  }
}

// Bits, signedness and bool-ness of two operands together. A product of bools counts as an 8-bit factor.
std::optional<Type> join(std::optional<Type> a, std::optional<Type> b, bool logical) {
  if (!a || !b)
    return a ? a : b;
  if (*a == Type::boolean && *b == Type::boolean)
    return logical ? Type::boolean : Type::i8;
  if (*a == Type::boolean || *b == Type::boolean)
    return *a == Type::boolean ? b : a;
  if (bytes_of(*a) != bytes_of(*b))
    a = bytes_of(*a) > bytes_of(*b) ? a : b, b = a;
  bool small =
      bytes_of(*a) <= 2; // of equal width: unsigned only when both are, as promotion has it; else as C++ has it
  return is_unsigned(*a) == small ? b : a;
}

} // namespace

ExprId Lowering::node(Op op, Type type, const Place &place, int ref, AxisId axis) {
  Expr e;
  e.op = op;
  e.type = type;
  e.ref = ref;
  e.axis = axis;
  e.place = here(place);
  return kernel_.add(std::move(e));
}

ExprId Lowering::number(Type type, double value, bool weak, const Place &place) {
  ExprId id = node(Op::constant, type, place);
  kernel_.exprs[id].number = weak || type == Type::f64 ? value : static_cast<float>(value);
  if (weak)
    weak_.insert(id);
  return id;
}

ExprId Lowering::integer(Type type, int64_t value, const Place &place) {
  ExprId id = node(Op::constant, type, place);
  kernel_.exprs[id].integer = wrap(value, type);
  return id;
}

ExprId Lowering::as(ExprId id, Type type, bool implicit) {
  type = type_row(type).arithmetic;
  const Expr &from = kernel_.exprs[id];
  if (from.type == type)
    return id;
  bool weak = weak_.count(id) != 0;
  if (from.op == Op::constant) {
    bool floating = is_floating(from.type);
    if (is_floating(type))
      return number(type, floating ? from.number : to_double(from.integer, from.type), weak, from.place);
    if (type == Type::boolean)
      return integer(type, floating ? from.number != 0 : from.integer != 0, from.place);
    return integer(type, floating ? saturate(from.number, type) : from.integer, from.place);
  }
  Expr e;
  e.op = Op::cast;
  e.type = type;
  e.args = {id};
  e.place = from.place;
  ExprId out = kernel_.add(std::move(e));
  if (implicit)
    implicit_.insert(out);
  return out;
}

ExprId Lowering::fold_constants(Op op, Type type, const std::vector<ExprId> &args, const Place &place) {
  for (ExprId arg : args)
    if (!is_constant(arg))
      return kNone;
  const Expr &a = kernel_.exprs[args[0]];
  bool floating = is_floating(a.type);
  if (op == Op::logical_not)
    return integer(Type::boolean, a.integer == 0, place);
  if (op == Op::neg)
    return floating ? number(type, -a.number, weak_.count(args[0]) != 0, place)
                    : integer(type, static_cast<int64_t>(-static_cast<uint64_t>(a.integer)), place);
  if (args.size() != 2)
    return kNone;
  const Expr &b = kernel_.exprs[args[1]];
  if (is_comparison(op)) {
    if (a.type == Type::u64)
      return kNone;
    auto result = floating ? compare(op, a.number, b.number) : compare(op, a.integer, b.integer);
    return integer(Type::boolean, *result, place);
  }
  if (floating) { // only weak literals: the others round as C++ does, at run time
    auto result = arithmetic(op, a.number, b.number);
    return result && weak_.count(args[0]) && weak_.count(args[1]) ? number(type, *result, true, place) : kNone;
  }
  auto result = arithmetic(op, a.integer, b.integer);
  return result ? integer(type, *result, place) : kNone;
}

ExprId Lowering::make(Op op, Type type, std::vector<ExprId> args, const Place &place) {
  if (is_scalar_op(op))
    if (ExprId folded = fold_constants(op, type, args, place); folded != kNone)
      return folded;
  if (type == Type::i64 && op == Op::add && is_constant(args[1])) { // places that functions are given steps from
    const int64_t by = kernel_.exprs[args[1]].integer;
    if (by == 0)
      return args[0];
    if (by < 0 && by != INT64_MIN)
      return make(Op::sub, type, {args[0], integer(type, -by, place)}, place);
  }
  ExprId id = node(op, type, place);
  kernel_.exprs[id].args = std::move(args);
  return id;
}

// The usual arithmetic conversions of C++.
Type Lowering::common_type(Type a, Type b) const {
  a = type_row(a).arithmetic, b = type_row(b).arithmetic;
  if (is_floating(a) || is_floating(b))
    return a == Type::f64 || b == Type::f64 ? Type::f64 : Type::f32;
  auto promoted = [](Type t) { return bytes_of(t) < 4 ? Type::i32 : t; };
  a = promoted(a), b = promoted(b);
  if (bytes_of(a) != bytes_of(b))
    return bytes_of(a) > bytes_of(b) ? a : b;
  return is_unsigned(a) ? a : b;
}

std::optional<Type> Lowering::natural(ExprId id) const {
  const Expr &e = kernel_.exprs[id];
  auto joined = [&](size_t from, bool logical) {
    std::optional<Type> out;
    for (size_t i = from; i < e.args.size(); ++i)
      out = i == from ? natural(e.args[i]) : join(out, natural(e.args[i]), logical);
    return out;
  };
  switch (e.op) {
  case Op::constant:
    return std::nullopt;
  case Op::cast:
    if (!implicit_.count(id) || is_floating(type(e.args[0])))
      return e.type;
    return natural(e.args[0]);
  case Op::choose:
    return joined(1, true);
  case Op::kept:
    return natural(e.args[0]);
  case Op::shl:
  case Op::shr:
    return natural(e.args[0]);
  case Op::bit_and:
  case Op::bit_or:
  case Op::bit_xor:
  case Op::min:
  case Op::max:
  case Op::clamp:
    return joined(0, true);
  case Op::add:
  case Op::sub:
  case Op::mul:
  case Op::div:
  case Op::rem:
  case Op::neg:
  case Op::abs:
  case Op::bit_not:
    return joined(0, false);
  default:
    return e.type;
  }
}

Type Lowering::sum_accumulator(ExprId element) const {
  Type own = type(element);
  return accumulator_of(is_floating(own) ? own : natural(element).value_or(own));
}

} // namespace kgen::build
