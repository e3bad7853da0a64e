// Small records that lanes write: vectors of the fields are put together and stored whole.
#pragma once

#include "emit/openmp/lanes/stores.h"

namespace kgen {

// What the statement and those behind it set, one field each.
void store_record(LaneScope &lanes, const LaneOutputs &outputs, const PlanNode &first,
                  const std::vector<PlanNode> &siblings);
// The loop, one field a round.
void loop_over_fields(LaneScope &lanes, LaneOutputs &outputs, const PlanNode &loop);

} // namespace kgen
