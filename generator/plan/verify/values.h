// What expressions are made of beside the variables that they read.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.h"
#include "plan/verify/atoms.h"

namespace kgen {

// A read of a variable, at the current point of some axes.
struct Read {
  VarId memory;
  AxisSet aligned;
  bool operator==(const Read &) const = default;
};

struct Parts {
  AtomBits fixed;
  std::vector<Read> reads;
};

// Found once for all ways through a plan.
class Values {
public:
  Values(const Kernel &kernel, Atoms &atoms) : kernel_(kernel), atoms_(atoms), known_(kernel.exprs.size()) {}

  const Parts &of(ExprId id);

private:
  Parts find(ExprId id) const;

  const Kernel &kernel_;
  Atoms &atoms_;
  std::vector<std::optional<Parts>> known_;
};

} // namespace kgen
