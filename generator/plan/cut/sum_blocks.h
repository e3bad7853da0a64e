// Long floating sums, added up block by block, so that errors stay small.
#pragma once

#include <functional>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// Does the loop add floating numbers up?
bool sums_floats(const Kernel &kernel, const PlanNode &loop);

// for m { total += x }  ->  for blocks of m { part = 0; for m { part += x } total += part }
//
// `around`: the loop that the statements of a block stand in where each column has a total, or those as they are.
using AroundBlock = std::function<std::vector<PlanNode>(std::vector<PlanNode>)>;
PlanNode in_blocks(Kernel &kernel, PlanNode loop, int64_t block, const AroundBlock &around);

// OpenMP, before lanes are taken, whose totals have blocks of their own: all other loops that sum for long, such as
// those in which something else happens too.
void block_sums(Plan &plan);

} // namespace kgen
