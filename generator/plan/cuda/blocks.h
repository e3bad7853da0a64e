// CUDA: what the threads of a block do together. They go through lists of statements one by one, share the loops in
// them, fold over the block, and wait for each other where one touches memory that another has written.
#pragma once

#include <set>
#include <vector>

#include "plan/cuda/nests.h"

namespace kgen {

// Buffers of which each turn of the loops that threads share has its own, while the block has one.
std::set<VarId> own_buffers(const Plan &plan, const Scopes &scopes, const PlanNode &loop);

// Does a block go through the statements inside one by one?
bool is_block_list(const Plan &plan, const Scopes &scopes, const PlanNode &node);

// The statement without those inside.
PlanNode head_of(const PlanNode &node);

// Memory that is written in the list and touched by more than one of its statements.
std::set<VarId> exchanged(const Plan &plan, const Scopes &scopes, const std::vector<PlanNode> &list);

// What one thread finds in a loop that goes in order, and all others ask for.
std::set<VarId> found_in_order(const Plan &plan, const Scopes &scopes, const PlanNode &loop);

struct BlockWork {
  bool scans = false;       // over the threads that share an item
  bool folds = false;       // that, or a fold, or a value for all
  bool waits = false;       // the whole block at once, for one of its threads
  std::vector<Nest> shared; // loops whose points the threads share, as they come
};
BlockWork work_of_block(const Plan &plan, const Scopes &scopes, const std::vector<PlanNode> &list);

// Can threads take the points of the whole nest of folds one by one? All that is inside it is then a thread's own:
// little, or loops that go across neighbours in memory, which are points of the last loop of the nest.
bool goes_by_points(const Plan &plan, const PlanNode &root);

// Where variables live, once it is known what blocks do. A small array that the threads of a block share cannot stand
// on each thread's stack; a buffer has room for all turns of the loops that the threads share where that is little; a
// total of chunks that no later kernel asks for is a variable.
std::vector<Storage> places_in_blocks(Plan plan);

} // namespace kgen
