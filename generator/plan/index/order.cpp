#include "plan/index/order.h"

#include <algorithm>

namespace kgen {
namespace {

// Does the test hold for all pairs whose order counts?
template <class Test> bool for_all_conflicts(const Accesses &some, const Accesses &others, const Test &test) {
  return std::all_of(some.begin(), some.end(), [&](const Access &a) {
    return std::all_of(others.begin(), others.end(), [&](const Access &b) { return !conflict(a, b) || test(a, b); });
  });
}

} // namespace

bool conflict(const Access &a, const Access &b) {
  return a.memory == b.memory && (a.write || b.write) && !(a.adds && b.adds);
}

bool may_exchange(const Accesses &some, const Accesses &others) {
  return for_all_conflicts(some, others, [](const Access &, const Access &) { return false; });
}

bool may_share_loop(const Accesses &some, const Accesses &others, AxisId axis) {
  return for_all_conflicts(some, others, [&](const Access &a, const Access &b) {
    return a.aligned.contains(axis) && b.aligned.contains(axis);
  });
}

bool rounds_are_apart(const Accesses &all, AxisId axis, const Scopes &scopes, const std::set<VarId> &carried) {
  std::set<VarId> written;
  for (const Access &a : all)
    if (a.write && carried.count(a.var) == 0)
      written.insert(a.memory);
  return std::all_of(all.begin(), all.end(), [&](const Access &a) {
    const bool own = a.aligned.contains(axis) || scopes.of(a.var).open.contains(axis); // of the round
    return own || carried.count(a.var) != 0 || written.count(a.memory) == 0;
  });
}

Accesses accesses_of(const Kernel &kernel, const std::vector<PlanNode> &nodes) {
  Accesses out;
  for (const PlanNode &node : nodes) {
    const Accesses own = accesses_of(kernel, node);
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

void Touched::count(const Accesses &accesses, bool jumps, int one) {
  statements_ += one;
  jumps_ += jumps ? one : 0;
  for (const Access &a : accesses) {
    Counts &counts = memory_[a.memory];
    const int elsewhere = a.aligned.contains(axis_) ? 0 : one;
    (a.write ? counts.writes : counts.reads) += one;
    (a.write ? counts.writes_elsewhere : counts.reads_elsewhere) += elsewhere;
  }
}

bool Touched::may_exchange(const Accesses &accesses, bool jumps) const {
  if (jumps_ > 0 || (jumps && statements_ > 0))
    return false;
  return std::none_of(accesses.begin(), accesses.end(), [&](const Access &a) {
    const auto found = memory_.find(a.memory);
    return found != memory_.end() && (found->second.writes > 0 || (a.write && found->second.reads > 0));
  });
}

bool Touched::may_exchange_member(const Accesses &accesses, bool jumps) {
  remove(accesses, jumps);
  const bool out = may_exchange(accesses, jumps);
  add(accesses, jumps);
  return out;
}

bool Touched::may_share_loop(const Accesses &accesses, const std::set<VarId> &drawn) const {
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
