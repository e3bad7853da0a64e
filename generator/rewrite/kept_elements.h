// Kernel -> Kernel: a fold of what is nothing to it where a condition does not hold leaves these elements out:
// `sum(keep ? a * b : 0, K)` is `sum(a * b, K, where(keep))`. Products under a condition have tiles, choices have none.
#pragma once

#include "ir/kernel.h"

namespace kgen {

Kernel kept_elements(const Kernel &kernel);

} // namespace kgen
