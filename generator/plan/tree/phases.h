// The trees of a program as phases: work lists, whole folds in chunks, and what one worker does.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace kgen {

std::vector<Phase> make_phases(const Kernel &kernel, std::vector<PlanNode> trees, TargetKind target);

} // namespace kgen
