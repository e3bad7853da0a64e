// The texts of functions that differ in element types alone, as one text of a template: `float`, `double` and
// `uint16_t` at one place become `Stored<T>`, `0.0f` and `0.0` become `Value<T>(0)`, and a call of `from_bf16` that f32
// does without becomes one of `to_value<T>`. What is put in gives each function's own text back.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/types.h"

namespace kgen {

// A parameter of the template, and what it stands for in each function.
struct TypeParameter {
  std::string name;
  std::vector<Type> types;
};

// How the functions, and what belongs to them, are named; one name per function, and that of the template.
struct StemNames {
  std::vector<std::string> own; // softmax_f32, softmax_f64; or SoftmaxF32, SoftmaxF64
  std::string shared;           // softmax; or Softmax
};

struct AlignedText {
  std::string text;
  bool is_template = false; // else the texts differ in their names alone
  std::set<std::string> defined, helpers;
};

// None where the texts differ in more than types. `templates`: names that were defined before and take arguments.
std::optional<AlignedText> align(const std::vector<std::string> &texts, const std::vector<TypeParameter> &parameters,
                                 const std::vector<StemNames> &stems, const std::set<std::string> &templates);

// "class T, class U" and "T, U".
std::string template_head(const std::vector<TypeParameter> &parameters);
std::string template_arguments(const std::vector<TypeParameter> &parameters);

// What the helpers for such templates are called.
const std::set<std::string> &names_of_type_helpers();

} // namespace kgen
