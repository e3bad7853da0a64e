// Products of matrices inside of rows, as those of attention: parts of rows are gone through together, so that a
// product of all rows of a part is a contraction, and what a row keeps for its next step stays in the caches.
#pragma once

#include "plan/plan.h"

namespace kgen {

// OpenMP. Work lists whose last loop goes over rows, in which folds stand that would be contractions if they were taken
// for several rows at once. Sets Plan::storage anew.
void part_rows(Plan &plan);

} // namespace kgen
