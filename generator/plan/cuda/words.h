// CUDA: kernels in words, for readers of plans and of emitted files.
#pragma once

#include <string>

#include "plan/plan.h"

namespace kgen {

// Who works on an item of the phase: "a block".
std::string worker_words(const Phase &phase);
// What the threads do beyond one position each: ", 4 a thread where ...", or the blocks of a fold; empty: nothing.
std::string thread_words(const Plan &plan, const Phase &phase);
// What of its arrays stays on the chip.
std::string kept_words(const Plan &plan, const Phase &phase);

// How a thread goes along a loop that others share; empty: one by one.
std::string packs_words(const Plan &plan, const PlanNode &loop);
// All that the kernel is, for readers of plans; empty: there is none.
std::string launch_words(const Plan &plan, const Phase &phase);

} // namespace kgen
