// Arrays that the backward kernel has for the sake of their sizes.
#pragma once

#include <string>

#include "grad/document.h"

namespace kgen::grad {

// An axis that the body goes along, or that the range of a table or the size of another axis names, and that no array
// has that stands: one of the forward kernel says its size. A table may bring another range along.
void use_arrays_of_sizes(const Spec &forward, Document &document);
void use_array_along(const std::string &axis, const Spec &forward, Document &document);

} // namespace kgen::grad
