// Folds that need the total of another over the same row, both in one pass over memory.
#pragma once

#include "plan/plan.h"

namespace kgen {

constexpr int64_t kNearBytes = 4 << 20; // of what a core goes over again and finds in its caches

// Sets Plan::storage anew.
void fold_in_one_pass(Plan &plan);

} // namespace kgen
