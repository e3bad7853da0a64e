// CUDA: loops around each other whose points threads share, and how many positions a thread takes of them at once.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "plan/index/scopes.h"
#include "plan/plan.h"

namespace kgen {

constexpr int kMostNested = 64;

using Nest = std::vector<const PlanNode *>; // outermost first

// Perfectly nested loops of one order whose ranges do not depend on each other.
Nest nest_of(const Plan &plan, const PlanNode &root, PlanNode::Order order, int most = kMostNested);
// Those of a phase that make its work list.
Nest items_of(const Plan &plan, const Phase &phase);
// What the last block of a phase in chunks does when all have come; null: there is nothing.
const Phase *phase_behind(const Plan &plan, size_t chunked);
AxisSet axes_of(const Nest &nest);
bool same_axes(const Nest &a, const Nest &b);

// Do the elements of an array count the points of the nest, so that indices are wide enough for them?
bool counted_by_arrays(const Kernel &kernel, const Nest &nest);
// How often the loop goes round, as the host knows it, on average; nothing: that depends on more than sizes.
std::optional<Size> turns_of(const Kernel &kernel, const PlanNode &loop);
// The same of whole nests, in factors; each once.
std::vector<std::vector<Size>> lengths_of(const Kernel &kernel, const std::vector<Nest> &nests);
bool host_counts(const Kernel &kernel, const Nest &nest);
// Do entries of tables say where the loops end?
bool asks_tables(const Kernel &kernel, const Nest &nest);
// Do the statements set numbers in double precision, or convert to such?
bool makes_doubles(const Kernel &kernel, const std::vector<PlanNode> &list);

// Several positions at once, where these begin with a whole access; 1: one by one. Elements of arrays with strides may
// lie apart.
int positions_of(const Plan &plan, const Nest &nest);
// How many a thread takes of the loops that the threads of a block share; 1: none of them.
int positions_shared(const Plan &plan, const std::vector<PlanNode> &list);
// The fewer of both, but for those that take one.
int fewer_positions(int one, int other);
// Does each turn of the nest take several neighbours of the last loop?
bool goes_by_groups(const Plan &plan, const Nest &nest, int together);

bool in_memory(const Plan &plan, VarId var);
// Are there assignments to memory?
bool sets_elements(const Plan &plan, const std::vector<PlanNode> &list);
// Does it touch buffers that each block has for itself?
bool uses_buffers(const Plan &plan, const PlanNode &node);
bool uses_buffers(const Plan &plan, const std::vector<PlanNode> &list);
std::vector<VarId> used_buffers(const Plan &plan, const std::vector<PlanNode> &list);

} // namespace kgen
