// Folds of some of a row alone: of the first so many, `sum(x, T, where(index(T) < length))`, and of those for which a
// sorted table has one entry, `sum(x, S, where(row[index(S)] == index(R)))`. Their loops go no further.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Sets PlanNode::table and entry of loops that may go over a segment of a sorted table, for passes that choose by how
// long loops are. What decides is `end_folds`.
void mark_segments(Plan &plan);

// Sets those, and PlanNode::end, of loops that may. On OpenMP, where tables are checked, conditions that then hold are
// taken away.
void end_folds(Plan &plan);

} // namespace kgen
