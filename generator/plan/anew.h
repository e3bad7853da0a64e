// A second list of the same statements, for other sizes, has variables of its own.
#pragma once

#include <map>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// `again` says what `list` says. Gives it variables of its own for those that nothing but the list uses: which for
// which. What Plan::followed says of these is of the new ones.
std::map<VarId, VarId> declare_anew(Plan &plan, const std::vector<PlanNode> &list, std::vector<PlanNode> &again);

} // namespace kgen
