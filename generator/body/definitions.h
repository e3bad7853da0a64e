// The functions that a text defines, before Clang sees it.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::body {

struct Parameter {
  std::string declaration; // without what it is if left out
  std::string name;
  std::string standard; // `= value`
  bool is_axis = false;
};

struct Definition {
  std::string before; // `template <class V> V `
  std::string name;
  std::vector<Parameter> parameters;
  size_t begin = 0, end = 0; // from behind what stands before it to behind its `}`
};

std::vector<Definition> definitions_in(std::string_view text);

void add_words(std::string_view text, std::set<std::string, std::less<>> &out); // names and keywords

// Of the functions that are named, the derivatives that are among the `known` names: relu_derivative, iou_derivative_3,
// relu_second_derivative.
void add_derivatives(const std::set<std::string, std::less<>> &known, std::set<std::string, std::less<>> &names);

// Those that neither the names mean nor what these use.
std::vector<Definition> unused_definitions(std::string_view text, std::set<std::string, std::less<>> names);

} // namespace kgen::body
