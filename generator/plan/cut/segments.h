// Folds of those positions for which a sorted table has one entry, `sum(x, S, where(row[index(S)] == index(R)))`. Their
// loops go over that segment of the table.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Sets PlanNode::table and entry of loops that may, for passes that choose by how long loops are. What decides is
// `find_segments`.
void mark_segments(Plan &plan);

// Sets those of loops that may. On OpenMP, where tables are checked, conditions that then hold are taken away.
void find_segments(Plan &plan);

} // namespace kgen
