// Conversions follow C++ as Clang found them; what is folded here is only what keeps more digits or says the same
// shorter.
#include "body/exprs.h"

#include <algorithm>
#include <limits>

namespace kgen::body {
namespace {

constexpr int kFailed = -2;

// The same weak value, computed in a wider floating type from its leaves up.
Expr retype(Expr value, Type type) {
  if (!value.weak || !is_floating(value.type))
    return cast(std::move(value), type, true);
  if (value.kind == Expr::Kind::conditional) {
    value.args[1] = retype(std::move(value.args[1]), type);
    value.args[2] = retype(std::move(value.args[2]), type);
  } else {
    for (Expr &arg : value.args)
      arg = retype(std::move(arg), type);
  }
  value.type = type;
  return value;
}

bool fits(int64_t value, Type type) {
  const int bits = type_row(type).significand_bits; // without the sign of signed types
  if (bits == 64)
    return value >= 0;
  const int64_t limit = bits == 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
  return value <= limit && value >= (is_unsigned(type) ? 0 : -limit - 1);
}

// nullopt: leave the conversion to be done.
std::optional<Expr> fold(const Expr &literal, Type type) {
  Expr out = literal;
  out.type = type;
  if (is_floating(literal.type))
    return std::nullopt;
  if (is_floating(type)) {
    out.number = literal.type == Type::u64 ? static_cast<double>(static_cast<uint64_t>(literal.integer))
                                           : static_cast<double>(literal.integer);
    out.integer = 0;
    return out;
  }
  if (type == Type::boolean) {
    out.integer = literal.integer != 0 ? 1 : 0;
    return out;
  }
  if (literal.type == Type::u64 && literal.integer < 0)
    return std::nullopt;
  return fits(literal.integer, type) ? std::optional(out) : std::nullopt;
}

} // namespace

Expr integer_literal(int64_t value, Type type, const Place &place) {
  Expr out;
  out.kind = Expr::Kind::literal;
  out.type = type;
  out.integer = value;
  out.place = place;
  return out;
}

Expr failed_expr(const Place &place) {
  Expr out = integer_literal(0, Type::i32, place); // folds into every other type
  out.local = kFailed;
  return out;
}

bool is_failed(const Expr &e) { return e.kind == Expr::Kind::literal && e.local == kFailed; }
bool any_failed(const std::vector<Expr> &list) { return std::ranges::any_of(list, is_failed); }

Expr float_literal(double value, Type type, const Place &place) {
  Expr out;
  out.kind = Expr::Kind::literal;
  out.type = type;
  out.number = value;
  out.place = place;
  return out;
}

Expr cast(Expr value, Type type, bool implicit) {
  if (value.weak && is_floating(value.type) && is_floating(type)) {
    Expr out = value.type == type ? std::move(value) : retype(std::move(value), type);
    out.weak = implicit;
    return out;
  }
  if (value.type == type) {
    value.weak = value.weak && implicit;
    return value;
  }
  if (value.kind == Expr::Kind::literal)
    if (std::optional<Expr> folded = fold(value, type)) {
      folded->weak = folded->weak && implicit;
      return *std::move(folded);
    }
  Expr out;
  out.kind = Expr::Kind::cast;
  out.type = type;
  out.implicit = implicit;
  out.place = value.place;
  out.args.push_back(std::move(value));
  return out;
}

bool may_be_negative(const Expr &e) {
  const auto among = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, e.name) != names.end();
  };
  if (!is_integer(e.type) || is_unsigned(e.type))
    return false;
  switch (e.kind) {
  case Expr::Kind::literal:
    return e.integer < 0;
  case Expr::Kind::cast:
    return may_be_negative(e.args[0]);
  case Expr::Kind::binary:
    if (among({"&"}))
      return std::ranges::all_of(e.args, may_be_negative);
    return among({"-", "~"}) || std::ranges::any_of(e.args, may_be_negative);
  case Expr::Kind::conditional:
    return may_be_negative(e.args[1]) || may_be_negative(e.args[2]);
  case Expr::Kind::builtin:
    if (among({"max", "abs"}))
      return e.name == "max" && std::ranges::all_of(e.args, may_be_negative);
    return !among({"index", "size", "block", "popcount"});
  case Expr::Kind::operand:
  case Expr::Kind::table:
  case Expr::Kind::unary:
    return true;
  default:
    return false;
  }
}

Expr unary(std::string op, Expr value, Type type, const Place &place) {
  const bool literal = value.kind == Expr::Kind::literal && op == "-" && value.param.empty(); // a parameter stays one
  if (literal && is_floating(type)) {
    value.number = -value.number;
    value.place = place;
    return value;
  }
  if (literal && !is_unsigned(type) && value.integer > 0) {
    value.integer = -value.integer;
    value.place = place;
    return value;
  }
  Expr out;
  out.kind = Expr::Kind::unary;
  out.type = type;
  out.name = std::move(op);
  out.weak = value.weak;
  out.place = place;
  out.args.push_back(std::move(value));
  return out;
}

} // namespace kgen::body
