// Kernel -> Kernel: a fold that several statements ask for, such as a mean that is written twice, is found once and
// kept in a local. Only folds of what nothing changes: inputs, and locals that are set once. What one statement says
// twice is left to the plan.
#pragma once

#include "ir/kernel.h"

namespace kgen {

Kernel share_folds(const Kernel &kernel);

} // namespace kgen
