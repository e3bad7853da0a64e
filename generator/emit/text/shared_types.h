// Functions that have the same arguments but for their types are served by one template: its parameters are the types
// that differ between them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/interface/interface.h"

namespace kgen {

struct SharedTypes {
  std::vector<std::string> parameters;             // in the order of the arguments
  std::map<std::string, std::string> of_arguments; // the parameter that is an argument's type, where it differs
  std::vector<std::vector<std::string>> types;     // by parameter: what it stands for in each function
};

// Of functions whose arguments have the same names. One parameter is T, unless an argument has that name; several are
// named after their first arguments.
SharedTypes shared_types(const std::vector<const Function *> &functions);

} // namespace kgen
