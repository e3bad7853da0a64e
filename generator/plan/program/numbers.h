// The numbers by which the statements of a plan are compared with those of the program.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace kgen {

// Sets PlanNode::origin of what no pass takes away: folds, scans, what is assigned to elements of outputs or to outputs
// that held something else, and to variables with several assignments. (A variable that is assigned once, as a whole,
// may be replaced by its value.)
void number_statements(const Kernel &kernel, std::vector<PlanNode> &program);

} // namespace kgen
