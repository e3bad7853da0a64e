// Whole numbers that vectors need not hold in all their bits: positions, which are compared with one number or
// converted, and what is small.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/index/lanes.h"

namespace kgen {

class LaneNumbers {
public:
  LaneNumbers(const Kernel &kernel, const LaneAnalysis &analysis) : kernel_(kernel), analysis_(analysis) {}

  // How far the value of a lane is from that of the lane before, where that is the same for all and nothing wraps
  // around: not 0.
  std::optional<int64_t> step(ExprId id, AxisId lane) const;
  // Can it be computed in a smaller type, as all that it is made of fits that, or is a remainder of positions?
  bool fits(ExprId id, AxisId lane, Type type) const;
  // The remainder of positions, by a number of at most 30 bits.
  bool is_small_remainder(const Expr &e, AxisId lane) const;

private:
  bool may_wrap_around(ExprId id, AxisId lane) const;
  bool is_never_negative(ExprId id) const;

  const Kernel &kernel_;
  const LaneAnalysis &analysis_;
};

} // namespace kgen
