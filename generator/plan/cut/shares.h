// Folds whose results are few: workers share the rounds of the fold as well.
#pragma once

#include "plan/plan.h"

namespace kgen {

// A work list over the results of a fold, `for n { total = 0; for m { total += x } ... }`, becomes two: shares of the
// rounds beside the list, each with totals of its own, and then the list, which adds them up in order. How many shares
// there are depends on sizes only, so that results are the same for any number of threads; one where the list is long.
void share_folds(Plan &plan);

} // namespace kgen
