// What Python modules of all bindings have in common: how they spell names, types and shapes, their signature, and what
// they say about their parameters.
#pragma once

#include <string>
#include <vector>

#include "emit/bindings/signature.h"
#include "emit/text/render.h"

namespace kgen {

// "float32", "bfloat16", "int64", "bool".
std::string numpy_type(Type type);
// All element types of arrays, in the order of types.def.
std::vector<Type> types_in(const Signature &signature);

// Shapes of arrays in Python, where each array, size and choice is a variable called as callers write it.
class PythonNames {
public:
  explicit PythonNames(const Signature &signature) : s_(signature) {}
  std::string python(const Size &size) const;
  std::string place(const SignatureArray &array, int dim) const; // index into its shape: 0, or -1 behind the rest
  std::string rest_of(const SignatureArray &array) const;        // "x.shape[:-1]"
  std::string shape(const SignatureArray &array) const;          // "(*_rest, N)", where _rest is what `...` stands for
  static std::string brackets(const SignatureArray &array);      // "[..., N]"

private:
  const SignatureArray &array_named(const std::string &name) const;
  const Signature &s_;
};

// "softmax(x, *, U=None, out=None)": `more` stands behind the keywords.
std::string python_signature(const Signature &signature, const std::string &more = "");
// What it computes, and a line for each parameter and result, for a docstring.
std::string python_doc(const Signature &signature, const std::vector<std::string> &more = {});

// Of lines in Python files, their ends aside.
inline constexpr size_t kPythonWidth = 116;

// `before` + parts with commas + `after`, in as many lines as it takes; further ones begin under the first part.
std::vector<std::string> wrapped(const std::string &before, const std::vector<std::string> &parts,
                                 const std::string &after, size_t width = kPythonWidth);

// Each line but empty ones four columns further right.
std::string indented(const std::string &text);

// The head of a Python file: what `banner` says, as Python's comments.
std::string python_banner(const Spec &spec);

// Those sections of a file of Python helpers that the text calls, with what they call.
std::string python_helpers(const Templates &templates, const std::string &path, const std::string &text);

} // namespace kgen
