// Outputs that the caller may not want: what serves only them stands under the question whether they are there.
#pragma once

#include <optional>

#include "ir/kernel.h"

namespace kgen {

// Each statement whose results reach optional outputs alone, through locals too, is put under `if (present(y))`, with
// `||` where it serves several. What serves another output as well stays, and what serves all, where all are optional:
// whoever calls wants one of them.
Kernel guard_optional_outputs(const Kernel &kernel);

// The kernel as it is for calls that want all of them: nothing asks, and what they share is computed once for all.
// nullopt: it has none.
std::optional<Kernel> with_all_outputs(const Kernel &kernel);

} // namespace kgen
