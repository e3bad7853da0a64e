// Locals that are read at other points, `float v = x / 255; ... at(v, N = index(N) - 1)`: where that is quick they are
// computed there, of what the inputs hold there. Else they would be written to memory, whole, and read again.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace kgen {

void compute_elsewhere(Plan &plan, std::vector<PlanNode> &program);

} // namespace kgen
