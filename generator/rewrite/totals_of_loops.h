// What the rounds of a loop add up, and whether that is all that passes from one to the next.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/running_total.h"
#include "rewrite/counted_loops.h"

namespace kgen {

struct Total : RunningTotal {
  std::optional<Op> better; // `if (value > target) target = value;`: what is no number is left out
  VarId place = kNone;      // that of the best: `{ target = value; place = counter; }`
};

// By the statements of the body. Empty: a round needs more of those before, or somebody looks at what is of one round.
std::map<const Stmt *, std::vector<Total>> totals_of(const Kernel &kernel, const Stmt &loop,
                                                     const CountedLoop &counted);

} // namespace kgen
