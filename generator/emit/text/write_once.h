// Functions and structs of one file that are alike but for their own names are written once: kernels of several choices
// often have steps in common. Those that are alike but for a size that they were made for become one template.
#pragma once

#include <string>
#include <vector>

#include "emit/text/each_once.h"

namespace kgen {

// A size of an axis, of which kernels of their own were made: those whose names have `_d64`.
struct MadeFor {
  std::string axis;
  int64_t size;
};
std::vector<MadeFor> sizes_made_for(const std::vector<Printed> &printed);

// Leaves out copies; what called one calls the first of its kind. A text calls what stands in earlier ones.
void write_once(std::vector<std::string> &texts, const std::vector<MadeFor> &sizes, PrintedNames &names);

} // namespace kgen
