// Conditions and loops whose lanes part: each way is gone by the lanes that take it, by masks.
#pragma once

#include "emit/openmp/lanes/scope.h"

namespace kgen {

void branch(LaneScope &lanes, const PlanNode &node);
// Goes on until no lane is left in it.
void repeat(LaneScope &lanes, const PlanNode &node, const std::vector<PlanNode> &siblings);
void jump(LaneScope &lanes, const PlanNode &node);

} // namespace kgen
