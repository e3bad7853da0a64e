// Is a plan whole, and does it keep what its kernel's statements say? Asked after each pass, in all builds: a fault is
// one of kgen itself, and better no kernel than a wrong one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/verify/effects.h"

namespace kgen {

class PlanVerifier {
public:
  explicit PlanVerifier(const Kernel &kernel);

  // What is wrong, in words; empty: nothing, or nothing has changed since the plan was checked.
  std::string check(const Plan &plan);

private:
  // Of calls without some optional arguments.
  struct Wanted {
    std::set<VarId> absent;
    std::vector<MadeOf> made; // by variable
  };
  std::string compare(const Plan &plan, const std::vector<MadeOf> &found, const std::vector<MadeOf> &wanted) const;

  uint64_t last_ = 0; // fingerprint of the plan that was checked
  Atoms atoms_;
  std::vector<Wanted> wanted_;
};

} // namespace kgen
