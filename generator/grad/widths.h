// What C++ would compute in float although the arrays' type is double: a literal with a whole number, or with an array
// of floats.
#pragma once

#include <set>
#include <string>

#include "spec/spec.h"

namespace kgen::grad {

struct Widths {
  bool doubles = false;           // is `real` double for some choice of types?
  std::set<std::string> narrower; // arrays and scalars that are less then; parameters, which are like literals
};

// `prefix`: of gradients, which are stored like their arrays.
Widths widths_of(const Spec &spec, const std::string &prefix);
// Of a function: what it is given is `real`.
Widths widths_of_function(const Spec &spec);

// Outputs that hold what is computed as exactly as the arrays it is computed from: a gradient may read them instead.
std::set<std::string> exact_outputs(const Spec &spec);

} // namespace kgen::grad
