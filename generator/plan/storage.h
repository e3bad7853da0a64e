// Where each variable lives: as close to its uses as they allow.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Sets Plan::storage from the phases' trees.
void place_variables(Plan &plan);

// Locals that would need a buffer although they are cheap to compute again: each use gets its own copy of the
// statement. Returns whether anything changed; the trees must then be built anew from `program`.
bool recompute_cheap_locals(Plan &plan, std::vector<PlanNode> &program);

} // namespace kgen
