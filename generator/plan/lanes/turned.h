// Where arrays have their neighbours along another loop than the lanes: threads share both in tiles. Of what is read
// so, tiles are turned first, in whole lines of memory both ways, and read as if they lay like the others.
#pragma once

#include "plan/index/lanes.h"

namespace kgen {

// OpenMP: the loops of a work list whose positions threads share as one list. Their ranges do not depend on each other,
// and one on lanes is the last.
std::vector<const PlanNode *> shared_loops(const Kernel &kernel, const Phase &phase);

void find_crossing(const Plan &plan, const LaneAnalysis &analysis, Phase &phase);

} // namespace kgen
