// How much a phase has to do: what decides whether threads are worth their start.
#pragma once

#include <string>
#include <vector>

#include "emit/interface/interface.h"
#include "emit/print/printer.h"

namespace kgen {

// Sizes whose product is about how often the phase's innermost loops go round. None: that is not known before a call.
std::vector<std::string> rounds_of(const Plan &plan, const Phase &phase, Printer &printer);

// Can this count be told from the sizes of a call alone?
bool is_of_sizes(const Function &function, const Kernel &kernel, const std::string &count);

} // namespace kgen
