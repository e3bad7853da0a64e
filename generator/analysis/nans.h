// Where a minimum or maximum need not care for NaN: whatever depends on it is NaN by its argument anyway, by way of the
// arithmetic beside it. The overlap of two boxes, say: a NaN among the corners shows in their areas.
#pragma once

#include "ir/kernel.h"

namespace kgen::analysis {

// Sets Expr::nan_shows of all that statements compute.
void find_shown_nans(Kernel &kernel);

} // namespace kgen::analysis
