// Heavy parts of expressions that are the same in every round of a loop, computed once before it.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Compilers move arithmetic out of loops themselves, but not functions that may set errno. Sets Plan::storage anew.
void hoist_heavy(Plan &plan);

} // namespace kgen
