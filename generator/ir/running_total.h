// Statements that add to a local, multiply it, or look for the greatest. In a loop of which nothing else passes from
// one round to the next, plans may do them in any order, as they may do sums.
#pragma once

#include <optional>

#include "ir/kernel.h"

namespace kgen {

// target = target op value, where the condition holds.
struct RunningTotal {
  VarId target = kNone;
  Type type = Type::f32;
  Op op = Op::add; // what puts the values of several rounds together
  Monoid monoid = Monoid::sum;
  ExprId value = kNone;
  ExprId factor = kNone;      // value * factor, as fma has it
  bool is_taken_away = false; // target - value
  ExprId condition = kNone;
};

std::optional<RunningTotal> running_total(const Kernel &kernel, const Stmt &stmt);

} // namespace kgen
