// How the workers of a phase go: along which axis its loops run over neighbouring elements, what a thread of a GPU
// takes, and which scattered additions of theirs never meet.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Accesses that move by one element of memory when `axis` moves by one, less those that jump. Arrays of fewer axes than
// `least` do not count.
int contiguity(const Kernel &kernel, const PlanNode &root, AxisId axis, int least = 0);

void map_phases(Plan &plan);      // Phase::lane and mapping
void find_apart_adds(Plan &plan); // PlanNode::apart

} // namespace kgen
