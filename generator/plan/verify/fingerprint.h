// A number that differs where plans differ in anything that `verify` looks at: most passes leave most plans alone.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace kgen {

uint64_t fingerprint(const Plan &plan);

} // namespace kgen
