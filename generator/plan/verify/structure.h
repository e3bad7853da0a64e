// Is a plan well formed? Statements stand under the loops of their lanes, shares and parts belong to loops around them,
// and variables live where their uses are.
#pragma once

#include <string>

#include "plan/plan.h"

namespace kgen {

// What is wrong, in words; empty: nothing.
std::string check_structure(const Plan &plan);

} // namespace kgen
