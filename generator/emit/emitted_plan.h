// A plan as it is printed: what only the printer finds out, such as the teams of threads that share a row, is filled
// in.
#pragma once

#include <string>

#include "emit/interface/interface.h"
#include "plan/plan.h"

namespace kgen {

Plan emitted_plan(const Spec &spec, const Variation &variation, TargetKind target);

// CUDA, for readers: who works on an item of the phase ("a block"), and what of its arrays stays on the chip.
std::string worker_words(const Phase &phase);
std::string kept_words(const Plan &plan, const Phase &phase);

} // namespace kgen
