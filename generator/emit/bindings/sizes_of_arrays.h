// Sizes are found from the extents of arrays: plain where brackets name them, else by solving an expression for them.
#pragma once

#include <optional>

#include "emit/bindings/signature.h"

namespace kgen {

// What `unknown` must be for the expression to have this value. nullopt: it stands there more than once, or under an
// operation that loses something. A division by 0 gives 0: whoever uses the result compares extents afterwards.
std::optional<Size> solve(const Size &expression, const std::string &unknown, const Size &value);

// Fills in where sizes come from, in which order, and what is left to compare.
void find_sizes(Signature &signature);

} // namespace kgen
