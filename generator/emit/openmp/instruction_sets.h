// The sets of instructions that one object holds OpenMP kernels for. A kernel's file includes itself once for each.
#pragma once

#include <string>

#include "emit/text/render.h"

namespace kgen {

// For the helper header: how each set begins, {condition, begin, macro}.
Views set_views(const Templates &templates);
// For a file that includes the header: {file, header} for each.
Views file_sets(const std::string &file, const std::string &header);
// For a file that stands alone: all that it says of sets.
std::string standalone_sets(const Templates &templates, const std::string &file);

} // namespace kgen
