// The functions that ship with kgen, written in the body language (prelude/library.h).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::body {

struct LibraryFunction {
  std::string name;
  std::string doc;       // its comment, on one line
  std::string signature; // "real softmax(real v, axis A)"
  std::string_view text; // the definition
};

// In the order of the file.
const std::vector<LibraryFunction> &library_functions();

// The definitions of those of `names` that the library has, and of what they use, in the order of the file.
std::string library_text(const std::set<std::string, std::less<>> &names);

} // namespace kgen::body
