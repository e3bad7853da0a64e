// Two loops over one row, of which the second needs a total of the first, as one loop over blocks of the row.
#pragma once

#include <set>
#include <vector>

#include "plan/plan.h"

namespace kgen {

// Takes the loops at these places of the list together, and those nested in them over the same axes. What a block has
// added is put right when the total that it depends on changes: sums of exponentials are rescaled as their maximum
// grows, sums of squares about a mean are combined with the mean of each block. False: not these. `lanes`: the loops
// that vectors take.
bool fuse_folds(Plan &plan, std::vector<PlanNode> &list, size_t first, size_t second,
                const std::set<const PlanNode *> &lanes);

} // namespace kgen
