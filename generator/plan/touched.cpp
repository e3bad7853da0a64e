#include "plan/touched.h"

#include <algorithm>

namespace kgen {

void Touched::count(const std::vector<Access> &accesses, bool jumps, int one) {
  statements_ += one;
  jumps_ += jumps ? one : 0;
  for (const Access &a : accesses) {
    Counts &counts = memory_[a.memory];
    const int elsewhere = a.aligned.contains(axis_) ? 0 : one;
    (a.write ? counts.writes : counts.reads) += one;
    (a.write ? counts.writes_elsewhere : counts.reads_elsewhere) += elsewhere;
  }
}

bool Touched::concerns(const std::vector<Access> &accesses, bool jumps) const {
  if (jumps_ > 0 || (jumps && statements_ > 0))
    return true;
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access &a) {
    const auto found = memory_.find(a.memory);
    return found != memory_.end() && (found->second.writes > 0 || (a.write && found->second.reads > 0));
  });
}

bool Touched::concerns_member(const std::vector<Access> &accesses, bool jumps) {
  remove(accesses, jumps);
  const bool out = concerns(accesses, jumps);
  add(accesses, jumps);
  return out;
}

bool Touched::aligned(const std::vector<Access> &accesses, const std::set<VarId> &drawn) const {
  return std::all_of(accesses.begin(), accesses.end(), [&](const Access &a) {
    const auto found = memory_.find(a.memory);
    if (found == memory_.end() || drawn.count(a.var) > 0)
      return true;
    const Counts &counts = found->second;
    if (counts.writes_elsewhere > 0 || (a.write && counts.reads_elsewhere > 0))
      return false;
    return a.aligned.contains(axis_) || (counts.writes == 0 && (!a.write || counts.reads == 0));
  });
}

} // namespace kgen
