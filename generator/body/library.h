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

// The derivatives of those that take numbers, and of builtins: what `derivative(gelu, v)` calls where the spec has no
// function for it (prelude/derivatives.body).
const std::vector<LibraryFunction> &library_derivatives();

// The definitions of those of `names` that are among both, and of what they use, in the order of the files.
std::string library_text(const std::set<std::string, std::less<>> &names);

} // namespace kgen::body
