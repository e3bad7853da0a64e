// The call that goes over a loop by groups of lanes, and the function that it calls for each.
#pragma once

#include "emit/openmp/lanes/folds.h"

namespace kgen {

// `ahead`: what stands first in the function, which asks for what comes soon.
void lane_loop(LaneScope &lanes, LaneTotals &totals, const LaneOutputs &outputs, const PlanNode &loop,
               const Printer::Range &range, const std::string &ahead);

} // namespace kgen
