// Elements of inputs that a loop on vectors asks for more than once, loaded once into a local: those of its own in it,
// and before it those that all lanes share.
#pragma once

#include "plan/plan.h"

namespace kgen {

// Compilers find that out themselves, but may load again to spare a register; and a reader sees what is loaded. Sets
// Plan::storage anew.
void load_once(Plan &plan);

} // namespace kgen
