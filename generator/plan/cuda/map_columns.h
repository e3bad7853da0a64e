// CUDA: who takes the columns of arrays.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Neighbouring threads take neighbouring columns of work items that hold loops over rows, where a call has many of
// them: blocks that share the rows of one column each would touch a line for each element. Sets Plan::storage anew.
void map_columns(Plan &plan);

} // namespace kgen
