// A kernel in which the elements of ragged rows are positions of one axis, packed as they lie in memory.
#pragma once

#include <optional>

#include "plan/plan.h"

namespace kgen {

// What folds of a row take is stored, and read where the row's elements lie; what a row has for its elements is stored
// by row, and read by the number of an element's row. Rows are taken to have `mean` elements. nullopt: it cannot be
// told apart so, or it has fewer than `least_operations` to do for each element.
std::optional<Kernel> flatten_rows(const Kernel &kernel, AxisId along, int64_t mean, int64_t least_operations);

} // namespace kgen
