// Program -> loop trees. Statements that may share a loop do: a loop over an axis is opened around all statements whose
// values meet only at equal positions along it.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Axes from outermost to innermost, by how arrays lie in memory.
std::vector<AxisId> memory_order(const Kernel &kernel);

enum class Fusion { greedy, none }; // none: each statement has loops of its own

// One node per phase, in order. Conditions that guard the end of a window are added to the kernel.
std::vector<PlanNode> build_tree(Kernel &kernel, const std::vector<AxisId> &order, std::vector<PlanNode> program,
                                 Fusion fusion = Fusion::greedy, TargetKind target = TargetKind::cuda);

// How many loops a worker list can be made of: those around each other with nothing else in them.
bool is_parallel_loop(const PlanNode &node);
int leading_parallel_loops(const PlanNode &root);

// So many loops around each other, outermost first, and what they go over: the name of an axis or grid dimension.
std::vector<const PlanNode *> leading_loops(const PlanNode &root, int count);
const std::string &name_of_loop(const Kernel &kernel, const PlanNode &loop);

} // namespace kgen
