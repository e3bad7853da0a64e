// Making nodes of the body tree: literals and conversions. Weak values (unsuffixed literals, float params and what is
// made of them) take the type that they meet, with every digit that was written.
#pragma once

#include "body/body.h"

namespace kgen::body {

Expr integer_literal(int64_t value, Type type, const Place &place);
Expr float_literal(double value, Type type, const Place &place);
// As a cast in C++ would, but that a weak value is retyped and a literal folded where that is exact.
Expr cast(Expr value, Type type, bool implicit);
// "-" "!" "~" of an already promoted value; folds the sign of a literal.
Expr unary(std::string op, Expr value, Type type, const Place &place);

// Stands for what was refused: anything may be done with it, and nothing more is said about it.
Expr failed_expr(const Place &place);
bool is_failed(const Expr &e);
bool any_failed(const std::vector<Expr> &list);

// A whole number that is not known to be at least 0. Locals are taken to count something.
bool may_be_negative(const Expr &e);

// Kinds that stand for something else than a value.
inline bool is_value(const Expr &e) {
  return e.kind != Expr::Kind::coordinate && e.kind != Expr::Kind::where && e.kind != Expr::Kind::axes &&
         e.kind != Expr::Kind::text;
}

} // namespace kgen::body
