// The arrays of a call as a table, and what is asked of them: that their bytes can be counted, that they are there and
// aligned, and that none shares memory with an output, unless it is an input that may be written over, at the very same
// places.
#pragma once

#include "emit/interface/interface.h"

namespace kgen {

// `const Array arrays[] = ...`, and the line that checks them.
void print_arrays(const Function &function, const Variation &variation, Printer &printer, Statuses &statuses);

// For launchers with a workspace, which shares memory with none of them.
void explain_workspace(const Function &function, Statuses &statuses, bool cuda);

} // namespace kgen
