// Numbers that `-D` gives are no parameters in a gradient, which may be right for them alone.
#pragma once

#include "spec/spec.h"

namespace kgen::grad {

// Sizes hold the numbers themselves.
Spec with_fixed_numbers(Spec spec);

} // namespace kgen::grad
