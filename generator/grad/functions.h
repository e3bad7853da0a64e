// Derivatives of functions that a parameter chooses, as functions of the backward spec.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "spec/spec.h"

namespace kgen::grad {

// How the backward kernel calls the derivatives of a function: its number of arguments, and by which of them, one after
// the other.
struct CalledDerivatives {
  size_t arguments = 1;
  std::set<std::vector<int>> by;
};

// The functions of the spec whose derivative is one, too: `ste` beside `ste_derivative`, or `ste_derivative_1`.
std::set<std::string> functions_with_derivatives(const Spec &spec);

// `real relu_derivative(real v) { ... }`, or `real iou_derivative_3(...)` for several arguments, for those that are
// called and that the spec does not have; of a derivative `relu_second_derivative`. nullopt after errors.
std::optional<std::string> derivative_functions(const Spec &spec, const std::string &function,
                                                const CalledDerivatives &called, Diagnostics &diags);

} // namespace kgen::grad
