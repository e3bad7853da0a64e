// Sizes for which each `require` of a spec holds that asks for sizes and parameters alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace kgen {

using AxisSizes = std::map<std::string, int64_t>;
using OpenAxes = std::map<std::string, const Axis *>;

// Those whose sizes are arguments, neither `given` nor fixed.
OpenAxes open_axes(const Kernel &kernel, const AxisSizes &given);

// The nearest to these, of which one or two that are not `given` are changed, to `least` or more. nullopt: there are
// none.
std::optional<AxisSizes> required_sizes(const std::vector<const Kernel *> &kernels, const AxisSizes &sizes,
                                        const AxisSizes &given, int64_t least);

} // namespace kgen
