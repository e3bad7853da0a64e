// Scans on lanes: along them, where lanes that take no part leave the carry as it is, or one a lane.
#pragma once

#include "emit/openmp/lanes/stores.h"

namespace kgen {

void scan_along(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &node,
                const std::vector<PlanNode> &siblings);
void scan_beside(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &node,
                 const std::vector<PlanNode> &siblings);

} // namespace kgen
