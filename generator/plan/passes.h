// The passes of the planner, in their order. Each changes how a plan computes, never what.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// What must stand before a pass, and why.
struct Behind {
  const char *pass;
  const char *reason;
};

struct Pass {
  const char *name;
  Targets targets;
  std::vector<Behind> behind;
  void (*apply)(Plan &plan);
};

const std::vector<Pass> &passes();

// The first pass that does not stand behind all that it names, in words; empty: there is none.
std::string misplaced(const std::vector<Pass> &passes);

} // namespace kgen
