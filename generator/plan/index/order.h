// May statements change places, stand in one loop, or be computed again later? Whatever moves, joins or copies nodes
// asks here: a read that follows a write, a write that follows a read, and a write that follows a write stay in their
// order at each element. Memory counts, not names: an input may lie in an output.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plan/index/access.h"
#include "plan/index/scopes.h"

namespace kgen {

// Do two accesses touch one memory, at least one writing, so that their order counts? Additions may come in any order.
bool conflict(const Access &a, const Access &b);

using Accesses = std::vector<Access>;

// May the two change places?
bool may_exchange(const Accesses &some, const Accesses &others);
// May they go round by round through one loop over the axis, although each went through all rounds before? Where they
// depend on each other, then at equal positions only. Computed places, other points and folds are none.
bool may_share_loop(const Accesses &some, const Accesses &others, AxisId axis);
// May the rounds of loops over the axis go in any order, and at once? What one writes no other touches, but for
// variables that are `carried` from round to round in a way that the caller takes care of.
bool rounds_are_apart(const Accesses &all, AxisId axis, const Scopes &scopes, const std::set<VarId> &carried = {});
// The same, for a node with children, or a list.
Accesses accesses_of(const Kernel &kernel, const std::vector<PlanNode> &nodes);

// What the statements of a list touch, memory by memory: the same questions about all of them at once, for bodies have
// thousands.
class Touched {
public:
  explicit Touched(AxisId axis) : axis_(axis) {}

  // `jumps`: the statement may end a round of a loop around it. Nothing moves across that.
  void add(const Accesses &accesses, bool jumps) { count(accesses, jumps, 1); }
  void remove(const Accesses &accesses, bool jumps) { count(accesses, jumps, -1); }

  // May the statement change places with all of the list?
  bool may_exchange(const Accesses &accesses, bool jumps) const;
  // The same for one that is in the list, and the others.
  bool may_exchange_member(const Accesses &accesses, bool jumps);
  // May it share a loop with all of them? But for `drawn` variables.
  bool may_share_loop(const Accesses &accesses, const std::set<VarId> &drawn) const;

private:
  struct Counts {
    int reads = 0, writes = 0;                     // of any kind
    int reads_elsewhere = 0, writes_elsewhere = 0; // those not at the current position
  };

  void count(const Accesses &accesses, bool jumps, int one);

  const AxisId axis_;
  int statements_ = 0, jumps_ = 0;
  std::map<VarId, Counts> memory_;
};

} // namespace kgen
