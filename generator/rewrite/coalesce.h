// Kernel -> Kernel: neighbouring axes that every array and every statement has together become one. A map over [M, N]
// is then one range of M * N elements, whatever the sizes; rows do not end in the middle of a vector.
#pragma once

#include "ir/kernel.h"

namespace kgen {

Kernel coalesce(const Kernel &kernel);

} // namespace kgen
