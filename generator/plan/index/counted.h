// Loops that elements go through alike, by a counter or a condition of no axes. What starts them is a statement before
// them; where it goes with its loop, each element, or group of them, may go through the loop for itself.
#pragma once

#include <map>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// Which assignments of the list start which loops of it, by their places. What they set is used nowhere else; `uses`
// counts the accesses of the whole program.
std::map<size_t, size_t> find_starts(const Kernel &kernel, const std::vector<PlanNode> &list,
                                     const std::map<VarId, int> &uses);

// Is a loop over the axis better off inside of this one? It goes through another row of neighbours in each round, or
// they share what is dear to compute.
bool shares_rounds(const Kernel &kernel, const PlanNode &repeat, AxisId axis);

} // namespace kgen
