// Kernel -> Kernel: a loop that counts through an axis and adds up what it finds there is a fold along that axis:
// `for (int k = 0; k < size(K); ++k) s += at(x, K = k) * at(y, K = k);` is `s += sum(x * y, K);`. What one writes as in
// C gets the plans of what one writes as maths.
#pragma once

#include "ir/kernel.h"

namespace kgen {

// `with_own_axes`: also where the point has a place along that axis, by another axis that is as long.
Kernel folds_of_loops(const Kernel &kernel, bool with_own_axes = true);

} // namespace kgen
