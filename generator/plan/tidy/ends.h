// Folds of the first so many of a row, `sum(x, T, where(index(T) < length))`: their loops end there.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Sets PlanNode::end of such loops, and takes away the conditions that then hold.
void end_folds(Plan &plan);

} // namespace kgen
