// Sizes for checks on the interpreter: few elements along each axis, but so many that something is computed.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/required_sizes.h"

namespace kgen {

// About `base` along each axis that is not given. nullopt: some axis, or the grid, has nothing at any sizes that were
// tried, as where a window is longer than what is given.
std::optional<AxisSizes> small_sizes(const Kernel &kernel, const AxisSizes &given, int64_t base);

} // namespace kgen
