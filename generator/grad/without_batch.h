// A batch as backward kernels have it.
#pragma once

#include "spec/spec.h"

namespace kgen::grad {

// The batch as an axis like any other; then so is that of `...`, before which no dimension can be written.
Spec without_batch(const Spec &spec);

} // namespace kgen::grad
