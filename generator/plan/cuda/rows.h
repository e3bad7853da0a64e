// CUDA: items that are rows or columns, which the threads of a block share with those of other items, or several blocks
// with each other.
#pragma once

#include <vector>

#include "plan/cuda/nests.h"

namespace kgen {

// Do neighbours in memory belong to neighbouring items, each a list of folds?
bool folds_columns(const Plan &plan, const Scopes &scopes, const Phase &phase);

// The loop that blocks may share: the only one, with folds whose parts combine value by value, and nothing before it
// that would be written once more. Null: there is none.
const PlanNode *split_fold(const Plan &plan, const std::vector<PlanNode> &body);
// The same of an item that a block has for itself, all of which is a list of folds.
const PlanNode *split_row(const Plan &plan, const Scopes &scopes, const Nest &items);

// An item whose statements are loops over one nest of axes, and values between them.
struct TeamRow {
  Nest nest;               // of the first loop
  bool splits = true;      // may blocks take parts of the nest
  std::vector<VarId> kept; // arrays that several of the loops read
};
std::optional<TeamRow> team_row(const Plan &plan, const Scopes &scopes, const Nest &items);

// How many packs of each array that the row keeps a thread may have in registers, where all loops of the row go by
// whole packs; 0: they do not.
int packs_held(const Plan &plan, const Phase &phase);

// The first loop of the row, all of it.
Nest nest_of_row(const Plan &plan, const Nest &items);
bool is_ragged(const Kernel &kernel, const Nest &nest);

} // namespace kgen
