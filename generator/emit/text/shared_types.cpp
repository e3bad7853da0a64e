#include "emit/text/shared_types.h"

#include <algorithm>

#include "emit/target_file.h"

namespace kgen {

SharedTypes shared_types(const std::vector<const Function *> &functions) {
  SharedTypes out;
  const std::vector<std::string> names = names_of_arguments(*functions[0]);
  for (size_t a = 0; a < names.size(); ++a) {
    std::vector<std::string> types;
    for (const Function *function : functions)
      types.push_back(function->arguments[a].type);
    if (std::ranges::adjacent_find(types, std::not_equal_to<>()) == types.end())
      continue;
    const size_t known = static_cast<size_t>(std::ranges::find(out.types, types) - out.types.begin());
    if (known == out.types.size()) {
      out.types.push_back(std::move(types));
      out.parameters.push_back(camel(names[a]) + "Element");
    }
    out.of_arguments[names[a]] = out.parameters[known];
  }
  if (out.parameters.size() == 1 && std::ranges::find(names, "T") == names.end()) {
    out.parameters[0] = "T";
    for (auto &[argument, type] : out.of_arguments)
      type = "T";
  }
  return out;
}

} // namespace kgen
