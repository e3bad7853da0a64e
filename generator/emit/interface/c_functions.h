// The C functions at the end of a source. Many that differ in names and types alone are one macro and its uses, so that
// what they do is there once.
#pragma once

#include <string>
#include <vector>

namespace kgen {

// Each text is what one function, with the one for its workspace, is printed as.
std::string c_functions_text(const std::string &kernel, const std::vector<std::string> &functions);

} // namespace kgen
