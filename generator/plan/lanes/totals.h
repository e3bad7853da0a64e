// Folds along lanes: each lane has a total of its own, of which that of the loop is made behind it. Long sums join it
// block by block, so that errors stay small.
#pragma once

#include "plan/index/lanes.h"

namespace kgen {

// Of the folds of a loop on lanes: how their lanes find totals, and how often these join those of the loop. That goes
// over a part?
void find_totals(const Plan &plan, const LaneAnalysis &analysis, PlanNode &loop, bool in_part);

} // namespace kgen
