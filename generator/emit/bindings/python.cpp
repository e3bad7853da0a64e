#include "emit/bindings/python.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "emit/bindings/size_text.h"
#include "emit/interface/header.h"
#include "emit/text/comments.h"
#include "support/check.h"
#include "support/text.h"

namespace kgen {

std::string numpy_type(Type type) {
  const TypeRow &row = type_row(type);
  const std::string bits = std::to_string(row.bytes * 8);
  if (type == Type::bf16)
    return "bfloat16";
  switch (row.kind) {
  case TypeKind::floating:
    return "float" + bits;
  case TypeKind::signed_integer:
    return "int" + bits;
  case TypeKind::unsigned_integer:
    return "uint" + bits;
  case TypeKind::boolean:
    break;
  }
  return "bool";
}

std::vector<Type> types_in(const Signature &signature) {
  std::set<Type> types;
  for (const CFunction &f : signature.functions)
    types.insert(f.array_types.begin(), f.array_types.end());
  return {types.begin(), types.end()};
}

const SignatureArray &PythonNames::array_named(const std::string &name) const {
  return *std::ranges::find(s_.arrays, name, &SignatureArray::name);
}

std::string PythonNames::python(const Size &size) const {
  return python_size(size, [&](const Size &leaf) -> std::string {
    if (leaf.op == Size::Op::axis)
      return s_.find_size(leaf.name)->parameter;
    if (leaf.op == Size::Op::param)
      return std::ranges::find(s_.choices, leaf.name, &ChoiceParameter::name)->parameter;
    const SignatureArray &array = array_named(leaf.name);
    return array.parameter + ".shape[" + place(array, static_cast<int>(leaf.args[0].value)) + "]";
  });
}

std::string PythonNames::place(const SignatureArray &array, int dim) const {
  return std::to_string(array.rest < 0 || dim < array.rest ? dim : dim - static_cast<int>(array.dims.size()));
}

std::string PythonNames::rest_of(const SignatureArray &array) const {
  const size_t behind = array.dims.size() - static_cast<size_t>(array.rest) - 1;
  return array.parameter + ".shape[" + (array.rest == 0 ? "" : std::to_string(array.rest)) + ":" +
         (behind == 0 ? "" : "-" + std::to_string(behind)) + "]";
}

std::string PythonNames::shape(const SignatureArray &array) const {
  std::vector<std::string> dims;
  for (size_t d = 0; d < array.dims.size(); ++d)
    dims.push_back(static_cast<int>(d) == array.rest ? "*_rest" : python(array.dims[d]));
  return "(" + join(dims, ", ") + (dims.size() == 1 ? ",)" : ")");
}

std::string PythonNames::brackets(const SignatureArray &array) {
  std::vector<std::string> dims;
  for (size_t d = 0; d < array.dims.size(); ++d)
    dims.push_back(static_cast<int>(d) == array.rest ? "..." : to_string(array.dims[d]));
  return "[" + join(dims, ", ") + "]";
}

namespace {

std::string parameter_text(const Signature &s, const SignatureParameter &p) {
  using Kind = SignatureParameter::Kind;
  switch (p.kind) {
  case Kind::array:
    return s.arrays[p.index].parameter + (p.has_default ? "=None" : "");
  case Kind::scalar:
    return s.scalars[p.index].parameter;
  case Kind::choice: {
    const ChoiceParameter &c = s.choices[p.index];
    return c.parameter + "=" + (c.first_always_fits ? "\"" + c.choices[0] + "\"" : "None");
  }
  case Kind::size:
    break;
  }
  return s.sizes[p.index].parameter;
}

std::string element_text(const Signature &s, const SignatureArray &a) {
  if (a.element.kind == ElementType::Kind::fixed)
    return std::string(type_row(a.element.type).name);
  return a.element.kind == ElementType::Kind::real ? std::string(kRealType) : s.choices[a.element.choice].name;
}

std::string array_text(const Signature &s, const SignatureArray &a) {
  return a.parameter + ": " + element_text(s, a) + PythonNames::brackets(a) +
         (a.role == SignatureArray::Role::table ? ", a table" : "") + (a.optional ? ", may be None" : "");
}

std::string choice_text(const ChoiceParameter &c) {
  std::string text = (c.is_parameter ? c.parameter : c.name) + ": " + enumerate(c.choices, "or");
  return text + (c.is_parameter && !c.first_always_fits ? "; None: the first that goes with the arrays" : "");
}

std::string size_text(const SignatureSize &size) {
  std::string text = size.parameter + ": a size";
  std::vector<std::string> choices;
  for (const int64_t one : size.one_of)
    choices.push_back(std::to_string(one));
  if (!choices.empty())
    text += ", " + enumerate(choices, "or");
  return text + (size.multiple_of > 1 ? ", a multiple of " + std::to_string(size.multiple_of) : "");
}

} // namespace

std::string python_signature(const Signature &s, const std::string &more) {
  std::vector<std::string> parameters;
  bool keyword_only = false;
  for (const SignatureParameter &p : s.parameters) {
    if (p.keyword_only && !keyword_only)
      parameters.emplace_back("*");
    keyword_only = keyword_only || p.keyword_only;
    parameters.push_back(parameter_text(s, p));
  }
  if (!more.empty() && !keyword_only)
    parameters.emplace_back("*");
  if (!more.empty())
    parameters.push_back(more);
  return s.function + "(" + join(parameters, ", ") + ")";
}

std::string python_doc(const Signature &s, const std::vector<std::string> &more) {
  using Kind = SignatureParameter::Kind;
  std::string text = (s.doc.empty() ? "The kernel " + s.kernel + "." : comment_text(s.doc)) + "\n\n";
  for (const SignatureParameter &p : s.parameters)
    text += (p.kind == Kind::array ? array_text(s, s.arrays[p.index])
             : p.kind == Kind::scalar
                 ? s.scalars[p.index].parameter + ": " + std::string(type_row(s.scalars[p.index].type).name)
             : p.kind == Kind::choice ? choice_text(s.choices[p.index])
                                      : size_text(s.sizes[p.index])) +
            "\n";
  for (const ChoiceParameter &c : s.choices)
    if (!c.is_parameter)
      text += choice_text(c) + "\n";
  for (const std::string &line : more)
    text += line + "\n";
  std::vector<std::string> results;
  for (const int o : s.outputs())
    results.push_back(array_text(s, s.arrays[o]));
  text += "Returns " + join(results, "; ");
  std::string out;
  for (const char c : text)
    out += c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::vector<std::string> wrapped(const std::string &before, const std::vector<std::string> &parts,
                                 const std::string &after, size_t width) {
  std::vector<std::string> out = {before};
  const size_t margin = before.find_first_not_of(' ');
  size_t indent = before.size();
  if (const size_t longest = parts.empty() ? 0 : std::ranges::max(parts, {}, &std::string::size).size();
      indent + longest >= width && margin != std::string::npos) { // no room beside it: below
    out.push_back(std::string(margin, ' ') + "    ");
    indent = out.back().size();
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part = parts[i] + (i + 1 < parts.size() ? "," : after);
    const bool is_first = out.back().size() <= indent && out.back().find_first_not_of(' ') == std::string::npos;
    if (!is_first && i > 0 && out.back().size() + 1 + part.size() > width)
      out.emplace_back(indent, ' ');
    else if (i > 0)
      out.back() += " ";
    out.back() += part;
  }
  if (parts.empty())
    out.back() += after;
  return out;
}

std::string indented(const std::string &text) {
  std::string out;
  for (const std::string &line : split(text, '\n'))
    out += (out.empty() ? "" : "\n") + (line.empty() ? line : "    " + line);
  return out;
}

std::string python_banner(const Spec &spec) {
  std::string out;
  std::istringstream in(banner(spec, ""));
  for (std::string line; std::getline(in, line);)
    out += "#" + line.substr(2) + "\n";
  return out;
}

std::string python_helpers(const Templates &templates, const std::string &path, const std::string &text) {
  HelperSections all;
  all.add(templates.text(path));
  std::set<std::string> wanted;
  for (const auto &[name, section] : all.sections)
    if (text.find(name + "(") != std::string::npos)
      wanted.insert(name);
  wanted = all.with_needs(wanted);
  std::string out;
  for (const auto &[name, section] : all.sections)
    if (wanted.count(name) != 0)
      out += "\n\n" + std::string(trim(section)) + "\n";
  return out;
}

} // namespace kgen
