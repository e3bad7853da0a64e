// Quotients and remainders of a grid step, as digits: t % 4, t / 4 % 8 and t / 32 together are t, and each takes every
// value whatever the others are. A digit is floor((t mod high) / low).
#pragma once

#include <optional>

#include "analysis/symbols.h"

namespace kgen::analysis {

struct Digit {
  int step = kNone; // the atom of t
  Polynomial low;
  std::optional<Polynomial> high; // none: to the last step
};

// What an atom is of the step that it is made of; a step itself is its only digit.
std::optional<Digit> digit_of(const Symbols &symbols, int atom);

// May one digit take all its values whatever the other is?
bool separate(const Digit &a, const Digit &b);

} // namespace kgen::analysis
