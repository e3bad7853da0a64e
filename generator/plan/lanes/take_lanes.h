// OpenMP: which loops go over several of their positions at once, as lanes of vectors, and how their folds do. The last
// pass: it asks for loops as they are printed.
#pragma once

#include "plan/plan.h"

namespace kgen {

void take_lanes(Plan &plan);

} // namespace kgen
