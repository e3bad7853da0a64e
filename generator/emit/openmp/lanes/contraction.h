// Contractions on lanes: the call of a helper that cuts one into tiles of registers, with the functions that it is made
// of: the factors, a step of the fold, and what is done with each total.
#pragma once

#include "emit/openmp/lanes/scope.h"

namespace kgen {

struct NamesOfFactors {
  std::string left, right;
};

// The call that computes it, by the team and in the memory that these C++ texts name. Returns how it is cut, for the
// room that its panels take. `factors`: what those of the kernel's contractions are called, once there is one.
std::string contraction_on_lanes(LaneScope &lanes, NamesOfFactors &factors, const PlanNode &nest,
                                 const std::string &team, const std::string &memory);

} // namespace kgen
