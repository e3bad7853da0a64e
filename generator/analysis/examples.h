// Small runs that show a mistake: an element that stays unwritten, or is read after another step wrote over it.
#pragma once

#include "analysis/context.h"

namespace kgen::analysis {

struct Example {
  Witness witness;
  std::string data; // "with 0 in all inputs", where the mistake hangs on them
};

// By the interpreter, which runs the kernel.
std::optional<Example> unwritten_example(Context &context, VarId output);
// Two steps, and the element that the first reads and the second writes.
std::optional<Witness> stale_example(Context &context, VarId input, VarId output);

} // namespace kgen::analysis
