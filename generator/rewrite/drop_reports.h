// Kernel -> Kernel: what only the interpreter does is left out, asserts and prints with all that is computed for them
// alone. Emitted code has none of it.
#pragma once

#include "ir/kernel.h"

namespace kgen {

bool has_reports(const Kernel &kernel);
Kernel drop_reports(const Kernel &kernel);

} // namespace kgen
