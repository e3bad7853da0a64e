// Proofs about sizes by isl: for affine expressions, with floors by constants, minima, maxima and choices. Products of
// symbols and other things isl cannot take stand in as unknowns. The effort is bounded; beyond it the answer is
// unknown.
#pragma once

#include <vector>

#include "analysis/symbols.h"

namespace kgen {

// Operations of isl's own count for one question.
constexpr unsigned long kIslOperations = 100000;

// Is there no assignment of integers to all names with every condition (a size that is not 0) true? Steps of the grid
// and `variables` are within their bounds, axis sizes are at least 0 and as the spec requires, table entries within
// declared ranges. `exhausted` is set when the bound was met.
bool impossible(const Kernel &kernel, const std::vector<Size> &conditions,
                const std::vector<std::pair<std::string, Size>> &variables, bool &exhausted);

} // namespace kgen
