// How many places of a program touch each variable or its memory.
#pragma once

#include <map>

#include "plan/plan.h"

namespace kgen {

// A write counts one, a read two: an output with one is written in one place and never read. Of two arms of a
// condition, or of phases under a condition and under its opposite, one or the other is gone through: they count as
// one place.
std::map<VarId, int> count_uses(const Plan &plan);

} // namespace kgen
