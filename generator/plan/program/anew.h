// A second list of the same statements, for other sizes, has variables of its own.
#pragma once

#include <map>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// `again` says what `list` says. Gives it variables of its own for those that nothing but the list uses: which for
// which. What Plan::followed says of the old ones, it then says of the new ones too.
std::map<VarId, VarId> declare_anew(Plan &plan, const std::vector<PlanNode> &list, std::vector<PlanNode> &again);

// What Plan::followed says of some variables, it says of their copies too.
void follow_too(Plan &plan, const std::map<VarId, VarId> &copies);

// Have these axes together so many positions? A question of sizes.
ExprId have_at_least(Kernel &kernel, const std::vector<AxisId> &axes, int64_t least);

// From here on the phase is for calls whose sizes fulfil this; the one behind it, which is as it has been, for others.
void add_alternative(Plan &plan, size_t phase, ExprId when);

} // namespace kgen
