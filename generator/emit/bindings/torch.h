// The files of the binding for PyTorch, and what they share.
#pragma once

#include <string>
#include <vector>

#include "emit/bindings/bindings.h"
#include "emit/bindings/python.h"

namespace kgen::torch_binding {

std::string operators_text(const BindingInput &input); // NAME_torch.cpp
std::string module_text(const BindingInput &input);    // NAME_torch.py
std::string test_text(const BindingInput &input);      // NAME_torch_test.py

// Is an output the memory of an input? Then there is an operator that works in place, else one with `out` arguments.
bool works_in_place(const Signature &signature);
bool has_optional_outputs(const Signature &signature);
bool has_array_arguments(const Signature &signature);
// The array that says how long the dimensions of a leading `...` are; -1: a size is given instead.
int array_with_rest(const Signature &signature);
// Of the table of functions: choices that callers name, arrays they give, outputs, in this order.
std::vector<int> columns_of_arrays(const Signature &signature);
std::vector<int> parameter_choices(const Signature &signature);

// "[..., N]"
std::string brackets(const SignatureArray &array);

// A parameter as callers write it.
const std::string &parameter_of(const Signature &signature, const SignatureParameter &parameter);
const SignatureArray &array_named(const Signature &signature, const std::string &name);
// Has it floating inputs and outputs?
bool differentiable(const Signature &signature);

// Of NAME_torch.py: sections of it, and how Python spells things.
std::string autograd_text(const BindingInput &input, const Signature *backward);
// The inputs that the backward kernel gives a gradient of.
std::vector<std::string> inputs_with_gradient(const Signature &forward, const Signature &backward);
bool takes_gradient_of(const Signature &backward, const std::string &output);
std::string vmap_text(const BindingInput &input);
std::string python_name(const std::string &name);
std::string torch_type(Type type);
std::string tuple_text(const std::vector<std::string> &parts);
// "x.shape[1:-2]": the dimensions of a `...`, of the array that Python knows by this expression.
std::string python_rest(const SignatureArray &array, const std::string &python);
// The extent of a dimension, of the array that Python knows by this expression.
std::string python_extent(const SignatureArray &array, size_t dim, const std::string &python);

// `wrapped` as text.
std::string lines(const std::string &before, const std::vector<std::string> &parts, const std::string &after);
// The parts with commas, in parentheses where one line is too short.
std::string lines_of_tuple(const std::string &before, const std::vector<std::string> &parts, const std::string &after);
std::string join(const std::vector<std::string> &parts, const std::string &between = ", ");

} // namespace kgen::torch_binding
