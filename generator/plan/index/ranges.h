// Which positions loops go over, and what must be asked before an element is touched.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace kgen {

// The positions of a window, or of the axis.
Size extent_of(const Kernel &kernel, AxisId axis);
// Loops count global positions where all windows of the axis agree, else those of the window.
Size origin_of(const Kernel &kernel, AxisId axis);

// Where a loop begins and ends. `to_row`: or where its row of a ragged axis does, if that is earlier.
struct LoopBounds {
  Size begin, end;
  bool to_row = false;
};
LoopBounds bounds_of(const Kernel &kernel, const PlanNode &loop);

// Do they differ between the positions of one of the outer loops?
bool depends_on(const Kernel &kernel, const PlanNode &loop, const std::vector<const PlanNode *> &outer);

// Is this the dimension of rows of different lengths, packed one after the other?
bool is_packed_row(const Kernel &kernel, const Var &var, size_t dim);
// Must the position along the dimension be compared with its ends?
bool may_be_outside(const Kernel &kernel, const Var &var, size_t dim, const std::vector<Coordinate> &coords);
bool may_be_outside(const Kernel &kernel, const Var &var, const std::vector<Coordinate> &coords);
// Does the answer differ between the positions of the axis?
bool may_leave_along(const Kernel &kernel, const Var &var, const std::vector<Coordinate> &coords, AxisId axis);

} // namespace kgen
