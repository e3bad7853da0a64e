// CUDA: what the kernel of each phase is.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Sets Phase::launch, and Plan::storage as blocks need it (see places_in_blocks).
void make_launches(Plan &plan);

} // namespace kgen
