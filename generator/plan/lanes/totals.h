// Folds along lanes: each lane has a total of its own, of which that of the loop is made behind it. Long sums join it
// block by block, so that errors stay small.
#pragma once

#include "plan/index/lanes.h"

namespace kgen {

// Of the folds of a loop on lanes: how their lanes find totals, and how often these join those of the loop. `in_part`:
// the loop goes over a part of its range.
void find_totals(const Plan &plan, const LaneAnalysis &analysis, PlanNode &loop, bool in_part);

} // namespace kgen
