// Axis sets by a fixpoint: an expression has the axes of what it is made of; a local has those of all values assigned
// to it and of the conditions that it is assigned under. Scratch takes the batch the same way.
#pragma once

#include "ir/kernel.h"

namespace kgen {

// From what the locals have already, which only grows.
void find_axes_of_values(Kernel &kernel, AxisSet batch = AxisSet());

} // namespace kgen
