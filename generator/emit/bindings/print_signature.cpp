// A signature as text: what tests look at, and whoever wants to know what a binding was made from.
#include "emit/bindings/signature.h"
#include "support/text.h"

namespace kgen {
namespace {

std::string element_text(const Signature &s, const ElementType &element) {
  switch (element.kind) {
  case ElementType::Kind::fixed:
    return std::string(type_row(element.type).name);
  case ElementType::Kind::parameter:
    return s.choices[element.choice].name;
  case ElementType::Kind::real:
    break;
  }
  return std::string(kRealType);
}

std::string array_text(const Signature &s, const SignatureArray &a) {
  std::vector<std::string> dims;
  for (size_t d = 0; d < a.dims.size(); ++d)
    dims.push_back((static_cast<int>(d) == a.rest ? "..." : "") + to_string(a.dims[d]));
  std::string text = a.name + ": " + element_text(s, a.element) + "[" + join(dims, ", ") + "]";
  if (a.role == SignatureArray::Role::table)
    text += " table";
  if (a.optional)
    text += " optional";
  if (a.strided)
    text += " strided";
  if (a.alias >= 0)
    text += " alias " + s.arrays[a.alias].name;
  return text;
}

std::string parameter_text(const Signature &s, const SignatureParameter &p) {
  using Kind = SignatureParameter::Kind;
  switch (p.kind) {
  case Kind::array:
    return s.arrays[p.index].parameter + (p.has_default ? "=None" : "");
  case Kind::scalar:
    return s.scalars[p.index].parameter;
  case Kind::choice:
    return s.choices[p.index].parameter + "=" +
           (s.choices[p.index].first_always_fits ? "'" + s.choices[p.index].choices[0] + "'" : "None");
  case Kind::size:
    break;
  }
  return s.sizes[p.index].parameter;
}

std::string call_text(const Signature &s) {
  std::vector<std::string> parameters;
  bool keyword_only = false;
  for (const SignatureParameter &p : s.parameters) {
    if (p.keyword_only && !keyword_only)
      parameters.emplace_back("*");
    keyword_only = keyword_only || p.keyword_only;
    parameters.push_back(parameter_text(s, p));
  }
  return s.function + "(" + join(parameters, ", ") + ")";
}

std::string size_text(const SignatureSize &size) {
  std::string text = size.name + (size.array < 0 ? " is given" : " = " + to_string(size.value));
  for (size_t i = 0; i < size.one_of.size(); ++i)
    text += (i == 0 ? ", one of " : " ") + std::to_string(size.one_of[i]);
  if (size.multiple_of > 1)
    text += ", a multiple of " + std::to_string(size.multiple_of);
  return text;
}

std::string check_text(const Signature &s, const ExtentCheck &check) {
  std::vector<std::string> from;
  for (const int array : check.given_by)
    from.push_back(s.arrays[array].name);
  return to_string(extent_of(s.arrays[check.array], check.dim)) + " is " + to_string(check.expected) +
         (from.empty() ? "" : ", by " + join(from, ", "));
}

std::string argument_text(const Signature &s, const CArgument &a) {
  switch (a.kind) {
  case CArgument::Kind::array:
    return s.arrays[a.index].name;
  case CArgument::Kind::scalar:
    return s.scalars[a.index].name;
  case CArgument::Kind::size:
    return s.sizes[a.index].name;
  case CArgument::Kind::stride:
    break;
  }
  return "stride " + std::to_string(a.dim) + " of " + s.arrays[a.index].name;
}

std::string function_text(const Signature &s, const CFunction &f) {
  std::vector<std::string> types;
  for (size_t i = 0; i < s.arrays.size(); ++i)
    types.push_back(s.arrays[i].name + " " + std::string(type_row(f.array_types[i]).name));
  for (size_t i = 0; i < s.scalars.size(); ++i)
    types.push_back(s.scalars[i].name + " " + std::string(type_row(f.scalar_types[i]).name));
  std::string text = f.stem + ": " + join(types, ", ");
  for (const auto &[is, what] :
       {std::pair{f.openmp_workspace, "workspace of openmp"}, std::pair{f.cuda_workspace, "workspace of cuda"},
        std::pair{f.table_status, "table_status"}})
    text += is ? std::string("; ") + what : "";
  return text;
}

} // namespace

std::string print(const Signature &s) {
  std::string out = call_text(s) + "\n";
  for (const ChoiceParameter &c : s.choices)
    out += "choice " + c.name + ": " + join(c.choices, ", ") + (c.is_parameter ? "" : "; known") + "\n";
  for (const SignatureArray &a : s.arrays)
    out += (a.is_argument() ? "in " : "out ") + array_text(s, a) + "\n";
  for (const SignatureSize &size : s.sizes)
    out += "size " + size_text(size) + "\n";
  for (const ExtentCheck &check : s.checks)
    out += "check " + check_text(s, check) + "\n";
  std::vector<std::string> arguments;
  for (const CArgument &a : s.c_arguments)
    arguments.push_back(argument_text(s, a));
  out += "c " + join(arguments, ", ") + "\n";
  for (const CFunction &f : s.functions)
    out += "function " + function_text(s, f) + "\n";
  return out;
}

} // namespace kgen
