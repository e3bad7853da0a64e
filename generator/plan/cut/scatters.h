// Additions at computed places of a small array, such as a histogram: each worker adds to a copy of its own, and the
// copies are added in the end. Whole numbers only: their sums are the same in any order.
#pragma once

#include "plan/plan.h"

namespace kgen {

// OpenMP. Before workers that meet are told from those that do not.
void copy_small_targets(Plan &plan);

} // namespace kgen
