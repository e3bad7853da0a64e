// For C++: structs that have the arguments of the C functions by name, and functions that take them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/target_file.h"

namespace kgen {

std::string arguments_structs(const std::string &kernel, const std::vector<Function> &functions,
                              const std::map<std::string, const TargetSource *> &targets);

} // namespace kgen
