// What a backward kernel has to be like, so that bindings can call it: arrays, tables and scalars by the names and with
// the declarations that `kgen grad` gives them.
#pragma once

#include <string_view>

#include "spec/spec.h"

namespace kgen {

// x of d_x, d2_x and d3_x; empty: it is no gradient's name.
std::string_view without_gradient_prefix(std::string_view name);

// An error for each declaration of `backward` that is another.
void check_contract(const Spec &forward, const Spec &backward, Diagnostics &diags);
// The same of NAME_forward, which bindings call in place of `forward`.
void check_saving_forward(const Spec &forward, const Spec &saving, Diagnostics &diags);

} // namespace kgen
