// All plans of a kernel for a target, in the order in which a launcher tries them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/variants/flat_rows.h"
#include "plan/variants/short_rows.h"

namespace kgen {

struct TargetPlans {
  std::vector<ShortRows> short_rows; // OpenMP
  std::optional<FlatRows> flat_rows; // OpenMP
  Plan plan;                         // for all sizes; where there is a plan in part, for calls that want all outputs,
                                     // as those for short rows are
  std::optional<Plan> in_part;       // for calls that do not
};

// `all_outputs`: the kernel where every output is there, if it has optional ones.
TargetPlans make_plans(const Kernel &kernel, const Facts &facts, const std::optional<Kernel> &all_outputs,
                       const Facts &all_outputs_facts, TargetKind target);

// OpenMP: has each thread memory of its own, in calls of some sizes?
bool threads_have_memory(const TargetPlans &plans);

// CUDA: are there blocks that share rows, and wait for each other?
bool blocks_wait(const TargetPlans &plans);

std::string print(const TargetPlans &plans);

} // namespace kgen
