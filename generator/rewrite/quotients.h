// What the body divides by: `n / 8`, `n % 8`, `n >> 3` and `n & 7` alike, where n is not negative.
#pragma once

#include "ir/kernel.h"

namespace kgen {

inline bool is_quotient(const Expr &e) { return e.op == Op::div || e.op == Op::shr; }
inline bool is_remainder(const Expr &e) { return e.op == Op::rem || e.op == Op::bit_and; }

// Of a quotient or remainder: by a number that is known and greater than 0; else 0.
inline int64_t divisor_of(const Kernel &kernel, const Expr &e) {
  constexpr int64_t kMostShifted = 32, kMostMask = int64_t{1} << 40;
  const Expr &number = kernel.expr(e.args[1]);
  if (number.op != Op::constant || number.integer < 0)
    return 0;
  const int64_t value = number.integer;
  if (e.op == Op::shr)
    return value < kMostShifted ? int64_t{1} << value : 0;
  if (e.op == Op::bit_and)
    return value < kMostMask && (value & (value + 1)) == 0 ? value + 1 : 0;
  return value;
}

} // namespace kgen
