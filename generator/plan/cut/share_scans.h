// Scans of few long rows: workers share the rounds of a scan as well, on both targets.
#pragma once

#include "plan/plan.h"

namespace kgen {

// A list of rows `for m { carry = start; for n { carry += x; y = carry } }` becomes three: the total of each share of a
// row, then where each share starts, from the totals of those before it, in order; then all shares at once, each from
// its start. The first two are left out where there is one share: rows that are many or short are gone through once.
// How many shares there are depends on sizes only, so that results are the same for any number of threads. On CUDA a
// share is a block's; of columns it is a thread's.
void share_scans(Plan &plan);

} // namespace kgen
