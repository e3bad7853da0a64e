// Layout of emitted C++, pinned: the user's own clang-format does not matter.
#pragma once

#include <string>

namespace kgen {
std::string format_cpp(const std::string& text);
}  // namespace kgen
