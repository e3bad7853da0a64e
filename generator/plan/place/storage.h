// Where each variable lives: as close to its uses as they allow.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// Sets Plan::storage from the phases' trees.
void place_variables(Plan &plan);
std::vector<Storage> places_of(const Plan &plan);

// OpenMP: has each thread memory of its own, for buffers or for the panels of contractions?
bool threads_have_memory(const Plan &plan);

// What is computed again, and what is not.
struct Recomputing {
  struct Origin {
    VarId var;          // of the kernel
    Storage::Kind kind; // where it would be
  };
  // Each copy may bring copies of what it is made of, and those others: of a recurrence that is written out they would
  // be twice as many with each step.
  bool has_too_many() const { return !only_light && copies.size() > kMost; }

  std::set<VarId> stored;         // not to be computed again
  bool only_light = false;        // what is dear is stored on a GPU as well
  std::map<VarId, Origin> copies; // each with what it is a copy of

  static constexpr size_t kMost = 4096;
};

// Locals that would need a buffer although they are cheap to compute again: each use gets its own copy of the
// statement. Returns whether anything changed; the trees must then be built anew from `program`.
bool recompute_cheap_locals(Plan &plan, std::vector<PlanNode> &program, Recomputing &recomputing);

// Copies that ended up side by side are one.
void merge_copies(Plan &plan, const Recomputing &recomputing);

// Locals of which several copies need a buffer as well, each such as the local would have had: nothing is gained.
std::set<VarId> computed_again_in_vain(const Plan &plan, const Recomputing &recomputing);

} // namespace kgen
