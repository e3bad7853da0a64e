// What lies in memory and is read at the point where it has just been written: the value is at hand.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Gives such values a variable of their own, which their readers take instead of memory. Sets Plan::storage anew.
void forward_outputs(Plan &plan);

} // namespace kgen
