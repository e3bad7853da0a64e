// Loops on lanes that compute with whole numbers all of which fit 16 bits, such as sums of a few bytes: these are
// computed in 16 bits there, so that vectors hold more of them.
#pragma once

#include "plan/plan.h"

namespace kgen {

void shorten_lanes(Plan &plan);

} // namespace kgen
