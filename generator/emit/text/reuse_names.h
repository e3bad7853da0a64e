// Names are claimed for a whole function, and where one is taken, the next wish is. Where the two stand in different
// blocks, as those of two loops do, readers need nothing to tell them apart, and both get what they wished first.
#pragma once

#include <string>
#include <vector>

#include "emit/text/names.h"

namespace kgen {

// The functions of a file, or some of them, with the names of those blocks alike. What stands in several of them keeps
// one name.
std::vector<std::string> reuse_names(std::vector<std::string> functions, const Names &names);

} // namespace kgen
