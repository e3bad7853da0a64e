// What lies in memory and is read at the point where it has just been written: the value is at hand.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Gives such values a variable of their own, which their readers take instead of memory. Sets Plan::storage anew.
void forward_outputs(Plan &plan); // and what other phases need
void forward_buffers(Plan &plan); // OpenMP. What other loops need, once it is known which these are

} // namespace kgen
