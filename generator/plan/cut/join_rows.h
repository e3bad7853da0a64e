// Sums down columns beside what is computed row by row: each worker adds its rows up while it has them at hand.
#pragma once

#include "plan/plan.h"

namespace kgen {

// OpenMP, behind share_folds and turn_columns. `for rows { ... }` and `for shares { for rows of the share { for n {
// total += x } } }` become one phase where there are several shares, so that the arrays go by once, as in the gradients
// of a norm or a bias. For other calls both stay.
void join_rows(Plan &plan);

} // namespace kgen
