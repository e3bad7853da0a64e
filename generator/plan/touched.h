// What the statements of a list touch, memory by memory: whether another statement depends on any of them is asked of
// all at once, for bodies have thousands.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plan/access.h"

namespace kgen {

class Touched {
public:
  explicit Touched(AxisId axis) : axis_(axis) {}

  // `jumps`: the statement may end a round of a loop around it. Nothing moves across that.
  void add(const std::vector<Access> &accesses, bool jumps) { count(accesses, jumps, 1); }
  void remove(const std::vector<Access> &accesses, bool jumps) { count(accesses, jumps, -1); }

  // Does a statement depend on one of the list, or the other way round?
  bool concerns(const std::vector<Access> &accesses, bool jumps) const;
  // The same for one that is in the list, and the others.
  bool concerns_member(const std::vector<Access> &accesses, bool jumps);
  // Do all that touch the same memory do so at equal positions of the axis? But for `drawn` variables.
  bool aligned(const std::vector<Access> &accesses, const std::set<VarId> &drawn) const;

private:
  struct Counts {
    int reads = 0, writes = 0;                     // of any kind
    int reads_elsewhere = 0, writes_elsewhere = 0; // those not aligned
  };

  void count(const std::vector<Access> &accesses, bool jumps, int one);

  const AxisId axis_;
  int statements_ = 0, jumps_ = 0;
  std::map<VarId, Counts> memory_;
};

} // namespace kgen
