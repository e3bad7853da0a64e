// Size expressions as Python and as C++. A division by 0 gives 0 in both.
#pragma once

#include <functional>
#include <string>

#include "spec/size.h"

namespace kgen {

// How names are written: of sizes (axis), of whole numbers that are chosen (param), of extents (see extent_of).
using SpellName = std::function<std::string(const Size &name)>;

std::string python_size(const Size &size, const SpellName &spell);
// Calls `floor_div(a, b)`, `floor_mod(a, b)`, `ceil_div(a, b)` where it divides: templates/bindings/sizes.h.
std::string cpp_size(const Size &size, const SpellName &spell);

// Does it divide by what may be 0?
bool may_divide_by_zero(const Size &size);

} // namespace kgen
