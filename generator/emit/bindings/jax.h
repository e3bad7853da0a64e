// The parts of the JAX binding: the handlers that XLA calls, in C++, and the function that people call, in Python.
#pragma once

#include <string>
#include <vector>

#include "emit/bindings/bindings.h"

namespace kgen {

// i64 tables may come as int32, as JAX has them by default.
bool is_wide_table(const SignatureArray &array);
// The array whose leading dimensions are `rows`; null: callers give the number, or there is no `rows`.
const SignatureArray *jax_array_of_rows(const Signature &signature);
// Does the call say how much it is? Else the handler looks: under vmap, XLA puts further dimensions before `rows`.
bool is_jax_attribute(const Signature &signature, const SignatureSize &size);
// The attribute that says whether an optional array is there.
std::string jax_given(const SignatureArray &array);

struct JaxHandler {
  std::string function; // in C++
  std::string symbol;   // its declaration and definition for XLA
};
JaxHandler jax_handler(const Signature &signature, bool is_cuda, const std::string &symbol);

// (a,) and (a, b)
std::string python_tuple(const std::vector<std::string> &parts);

std::string jax_function(const Spec &spec, const Signature &signature);
// The constants that say which C function each combination of choices has.
std::string jax_choices(const Spec &spec, const Signature &signature);
// The rules of custom_vjp; without a backward kernel one that says how to get one.
std::string jax_gradient(const BindingInput &input);
// Then the function takes `_wanted`, which the rules of the forward kernel use: one bool for each output.
bool has_optional_outputs(const Signature &signature);
// Does `real` stand somewhere, so that each function has a type for it?
bool has_real(const Spec &spec, const Signature &signature);

} // namespace kgen
