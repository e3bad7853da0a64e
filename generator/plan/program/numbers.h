// The numbers by which the statements of a plan are compared with those of the program.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace kgen {

// Sets PlanNode::origin of what no pass takes away: folds, scans, what is assigned to outputs, and to variables with
// several assignments. (A variable that is assigned once may be replaced by its value.)
void number_statements(const Kernel &kernel, std::vector<PlanNode> &program);

} // namespace kgen
