// Takes out of a program what no output depends on: locals and scratch that nothing reads, with their folds and scans,
// and the conditions and loops that are left empty. Compilers warn about unused variables, and the work would be for
// nothing.
#pragma once

#include "plan/plan.h"

namespace kgen {

// x = x;
bool changes_nothing(const Kernel &kernel, const PlanNode &node);

void prune(const Kernel &kernel, std::vector<PlanNode> &program);
void prune(Plan &plan); // of its phases

} // namespace kgen
