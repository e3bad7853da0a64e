// Between which numbers whole numbers lie, found by following the statements: what locals are set to, what conditions
// say of them, how far loops count.
#pragma once

#include "analysis/context.h"

namespace kgen::analysis {

inline bool contains(Bounds outer, Bounds inner) {
  return outer.low <= inner.low && inner.high <= outer.high && (outer.below == kNone || outer.below == inner.below);
}

// Set Axis::most_in_int: of loops that count in an int, and of ints that places are computed in.
void find_int_counters(Kernel &kernel);
void find_int_places(Kernel &kernel);
// Sets Expr::bounds of all expressions that statements compute.
void find_bounds(Kernel &kernel);

} // namespace kgen::analysis
