// A second list of the same statements, for other sizes, has variables of its own.
#pragma once

#include <map>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// `again` says what `list` says. Gives it variables of its own for those that nothing but the list uses: which for
// which. What Plan::followed says of these is of the new ones.
std::map<VarId, VarId> declare_anew(Plan &plan, const std::vector<PlanNode> &list, std::vector<PlanNode> &again);

// Have these axes together so many positions? A question of sizes.
ExprId have_at_least(Kernel &kernel, const std::vector<AxisId> &axes, int64_t least);

// From here on the phase is for calls whose sizes fulfil this; the one behind it, which is as it has been, for others.
void add_alternative(Plan &plan, size_t phase, ExprId when);

} // namespace kgen
