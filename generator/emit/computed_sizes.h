// Sizes that are computed from others: whether 64 bits hold them is asked before they are.
#pragma once

#include <string>

#include "emit/interface.h"

namespace kgen {

// Derived sizes are no arguments: what they follow from stands for them.
Size in_arguments(const Kernel &kernel, const Size &size);

// A dimension's extent as callers give it: an axis with a function for each of its sizes stands by its name, since one
// text serves all of them.
Size extent_in_arguments(const Kernel &kernel, const Dim &dim);

// `if (... > 4e18) return ...;` lines.
void print_computed_sizes(const Variation &variation, Printer &printer, Statuses &statuses, CheckedIn where);

// The same of what is kept in between, where no array of the caller has as many elements.
void print_kept_sizes(const Variation &variation, Printer &printer, Statuses &statuses, CheckedIn where);

// The condition under which no output has an element, so that there is nothing to do; empty: it never holds.
std::string writes_nothing(const Kernel &kernel, Printer &printer);

} // namespace kgen
