// Folds that need the total of another over the same row, both in one pass over memory.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Sets Plan::storage anew.
void fold_in_one_pass(Plan &plan);

} // namespace kgen
