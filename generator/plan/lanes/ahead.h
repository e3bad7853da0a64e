// Rows that several loops go over: the first of them waits for memory, the others do not. While the second computes,
// the next row is fetched. One fold alone waits for memory all the time, and so does a loop down columns, some of each
// row at a time, or through many arrays: they ask early for what comes soon, as what fetches by itself does not go from
// page to page, nor follow many.
#pragma once

#include "plan/index/lanes.h"

namespace kgen {

void find_ahead(const Plan &plan, const LaneAnalysis &analysis, Phase &phase);

} // namespace kgen
