// Kernel -> Kernel: neighbouring axes that every array and every statement has together become one. A map over [M, N]
// is then one range of M * N elements, whatever the sizes; rows do not end in the middle of a vector.
#pragma once

#include <optional>
#include <utility>

#include "ir/kernel.h"

namespace kgen {

Kernel coalesce(const Kernel &kernel);

// The first two axes that become one, if there are any.
std::optional<std::pair<AxisId, AxisId>> joined_axes(const Kernel &kernel);

} // namespace kgen
