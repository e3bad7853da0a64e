// Sizes that are computed from others: whether 64 bits hold them is asked before they are.
#pragma once

#include <functional>
#include <string>

#include "emit/interface/interface.h"

namespace kgen {

// What the sizes that are no arguments follow from stands for them.
Size in_arguments(const Kernel &kernel, const Size &size);

// A dimension's extent as callers give it: an axis with a function for each of its sizes stands by its name, since one
// text serves all of them.
Size extent_in_arguments(const Kernel &kernel, const Dim &dim);

// A size of a function: where it differs between those for which the function was made, a choice by them.
Size over_variations(const Function &function, const std::function<Size(const Kernel &)> &get);

// `if (... > 4e18) return ...;` lines.
void print_computed_sizes(const Variation &variation, Printer &printer, Statuses &statuses, CheckedIn where);

// The same of what is kept in between, where no array of the caller has as many elements.
void print_kept_sizes(const Variation &variation, Printer &printer, Statuses &statuses, CheckedIn where);

// The condition under which no output has an element, so that there is nothing to do; empty: it never holds.
std::string writes_nothing(const Kernel &kernel, Printer &printer);

} // namespace kgen
