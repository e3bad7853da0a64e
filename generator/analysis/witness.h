// A witness is executed by the interpreter before it is shown. One that runs without its fault is none.
#pragma once

#include "analysis/context.h"

namespace kgen::analysis {

struct Example {
  Witness witness;
  std::string data; // "with 0 in all inputs", where the mistake depends on them
};

// "at N = 2 and with 0 in all inputs: z[3]".
std::string text(const Kernel &kernel, const Example &example);

// A small run that ends with such a fault of the operand (kNone: of any); nothing: none was found, which proves
// nothing.
std::optional<Example> run_that_ends(Context &context, Fault fault, VarId var);
// What was found without running anything, if running it ends so; else such a run that does.
std::optional<Witness> executed(Context &context, const std::optional<Witness> &witness, Fault fault, VarId var);

} // namespace kgen::analysis
