// Kernel -> Kernel: a local that only names a place, `int64_t left = index(N) - 1`, is read as what it stands for where
// it is a coordinate, and an int that holds it is no narrower than what it is computed of: how a read moves is then
// seen.
#pragma once

#include "ir/kernel.h"

namespace kgen {

// With the bounds of all values found.
Kernel open_places(const Kernel &kernel);

} // namespace kgen
