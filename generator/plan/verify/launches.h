// CUDA: does what each kernel is fit its phase?
#pragma once

#include <string>

#include "plan/plan.h"

namespace kgen {

// Has the plan come to where it is decided what the kernels are?
bool has_launches(const Plan &plan);

// What is wrong, in words; empty: nothing.
std::string check_launches(const Plan &plan);

} // namespace kgen
