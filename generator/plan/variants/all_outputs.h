// Questions whether outputs are wanted part what would be computed together: loops that serve several, sums of columns
// beside rows, products in tiles. Calls that want all, as training does, have a plan that asks nothing.
#pragma once

#include <optional>

#include "plan/plan.h"

namespace kgen {

// `all`: the kernel where every output is there. nullopt where its loops are those of `asking`, the plan for all calls.
std::optional<Plan> plan_all_outputs(const Kernel &all, const Facts &facts, const Plan &asking);

// d_x != nullptr && d_w != nullptr
std::string all_outputs_condition(const Kernel &asking, std::string (*name)(const std::string &var));

} // namespace kgen
