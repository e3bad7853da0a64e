// How much a phase has to do: what decides whether threads are worth their start.
#pragma once

#include <string>
#include <vector>

#include "emit/printer.h"

namespace kgen {

// Sizes whose product is about the rounds of the phase's innermost loops. None: the rounds are not known before.
std::vector<std::string> rounds_of(const Plan &plan, const Phase &phase, Printer &printer);

} // namespace kgen
