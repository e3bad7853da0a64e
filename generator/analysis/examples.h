// Small cases that show a mistake: an element that is read after another step wrote over it.
#pragma once

#include "analysis/context.h"

namespace kgen::analysis {

// Two steps, and the element that the first reads and the second writes.
std::optional<Witness> stale_example(Context &context, VarId input, VarId output);

} // namespace kgen::analysis
