// Two texts compared line by line, as `diff -u` shows it.
#pragma once

#include <string>

namespace kgen {

// Empty where they are equal. `made_from` says where the text after came from.
std::string unified_diff(const std::string &path, const std::string &before, const std::string &after,
                         const std::string &made_from);

} // namespace kgen
