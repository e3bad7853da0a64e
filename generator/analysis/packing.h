// Places that a running count hands out: place = cumsum_exclusive(int(keep), N), stored to where keep holds.
#pragma once

#include "analysis/context.h"

namespace kgen::analysis {

// The axis along which lanes that reach the statement have different places, as long as they agree along all other axes
// that the place depends on; kNone: not known. `around`: the statements around it.
AxisId packed_axis(Kernel &kernel, ExprId place, const Stmt &stmt, const std::vector<const Stmt *> &around);

} // namespace kgen::analysis
