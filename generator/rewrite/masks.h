// Kernel -> Kernel: what only the elements of a mask need is computed under it. `y = mask ? v : 0` asks for v where the
// mask holds; the statements that make v, and what only they need, go under `if (mask)`. Where a mask leaves out whole
// vectors, as that of padding does, nothing is then read or computed for them.
#pragma once

#include "ir/kernel.h"

namespace kgen {

Kernel compute_under_masks(const Kernel &kernel);

} // namespace kgen
