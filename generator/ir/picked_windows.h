// Windows that a table picks by the step of a dimension over an axis. An arbitrary dimension takes a step, without
// lanes, where its axis is empty; the window that the table would pick in that step does not exist: the table is not
// read, nor is the window read, written or checked.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace kgen {

// Does each row of the ragged axis take steps of its own? Then the dimension's size is made of the row at hand.
bool counts_own_row(const Kernel &kernel, GridId grid);
// What a step of the dimension goes along: the row at hand of a ragged axis, else the axis.
Size length_along(const Kernel &kernel, GridId grid);
// The lengths that must be more than 0 for a window that starts there, or a table entry, to exist.
std::vector<Size> lengths_needed(const Kernel &kernel, const Size &start);
// `otherwise` where one of them is not.
Size where_it_exists(const Kernel &kernel, const Size &start, Size value, const Size &otherwise);

} // namespace kgen
