// Kernel -> Kernel: `if (c) y = a; else y = b;` is `y = c ? a : b;`, and so is `y = b; if (c) y = a;`. Whole vectors
// are then stored once.
#pragma once

#include "ir/kernel.h"

namespace kgen {

Kernel branches_as_choices(const Kernel &kernel);

} // namespace kgen
