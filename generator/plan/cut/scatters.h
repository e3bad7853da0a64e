// Additions at computed places of a small array, such as a histogram: each worker adds to a copy of its own, and the
// copies are added in the end. Where calls tell how large the array is, they tell which of both ways it goes.
#pragma once

#include "plan/plan.h"

namespace kgen {

// OpenMP. Before workers that meet are told from those that do not.
void copy_small_targets(Plan &plan);

} // namespace kgen
