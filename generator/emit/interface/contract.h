// The contract of a kernel's functions, for its header: what they compute, what they take, what callers may rely on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/target_file.h"

namespace kgen {

// As lines of a comment. `memory`: some function takes a workspace.
std::string contract_text(const Spec &spec, const std::vector<Function> &functions,
                          const std::map<std::string, const TargetSource *> &targets, bool memory);

} // namespace kgen
