// A sentence before each loop that finds, carries or stores something, from the plan alone. It names only what the loop
// itself uses, so that it neither is false nor makes anything look used.
#pragma once

#include <string>

#include "emit/print/printer.h"

namespace kgen {

// `// One pass along n: sum_e; fills e.`, a line; empty for loops that only hold others.
std::string pass_words(const Printer &printer, const PlanNode &loop);

// Before the branch that puts right what was added up so far, when a block changes the greatest value or the mean.
std::string merge_words(const Plan &plan, const PlanNode &branch);

// Of phases under a condition, where some are for long rows.
std::string regime_words(const Plan &plan, const Phase &phase);

} // namespace kgen
