// Small records that lanes write, one field a round of a loop inside, or one a statement: vectors of the fields are put
// together and stored whole.
#pragma once

#include "plan/index/lanes.h"

namespace kgen {

// `in_parts`: axes of which a loop around goes over parts; one over their fields would not set all of them.
void find_records(const Plan &plan, const LaneAnalysis &analysis, PlanNode &loop, AxisSet in_parts);

} // namespace kgen
