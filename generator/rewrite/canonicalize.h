// Kernel -> Kernel: blocks that only tile are dropped. A grid dimension that the facts call dissolvable, or along which
// the body accumulates in the canonical first / accumulate / last form, becomes the whole axis; re-tiling is then a
// plan's business. What is left of the grid is meaning: ordered steps, tables, overlapping windows.
#pragma once

#include "analysis/facts.h"

namespace kgen {

Kernel canonicalize(const Kernel &kernel, const Facts &facts);

} // namespace kgen
