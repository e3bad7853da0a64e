// Layout of emitted C++, pinned: the user's own clang-format does not matter.
#pragma once

#include <string>

namespace kgen {
// `#pragma omp ...` lines come out as `OMP(omp ...)`, indented like the statement they belong to.
std::string format_cpp(const std::string &text);

} // namespace kgen
