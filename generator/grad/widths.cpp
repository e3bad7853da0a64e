#include "grad/widths.h"

#include <algorithm>

namespace kgen::grad {

Widths widths_of_function(const Spec &spec) {
  Widths out;
  const std::vector<Variant> variants = variants_of(spec);
  out.doubles = std::any_of(variants.begin(), variants.end(), [](const Variant &v) { return v.real == Type::f64; });
  for (const Param &param : spec.params)
    out.narrower.insert(param.name);
  return out;
}

Widths widths_of(const Spec &spec, const std::string &prefix) {
  Widths out = widths_of_function(spec);
  for (const Variant &variant : variants_of(spec)) {
    if (variant.real != Type::f64)
      continue;
    for (const OperandDecl &operand : spec.operands)
      if (type_of(operand.type, variant) != Type::f64)
        out.narrower.insert({operand.name, prefix + operand.name});
    for (const Scalar &scalar : spec.scalars)
      if (type_of(scalar.type, variant) != Type::f64)
        out.narrower.insert(scalar.name);
  }
  return out;
}

namespace {
// Are all numbers of one floating type numbers of the other?
bool holds(Type type, Type other) { return type == other || bytes_of(type) > bytes_of(other); }
} // namespace

std::set<std::string> exact_outputs(const Spec &spec) {
  const std::vector<Variant> variants = variants_of(spec);
  const auto holds_inputs = [&](const OperandDecl &output, const Variant &variant) {
    const Type type = type_of(output.type, variant);
    if (!is_floating(type)) // an index needs more than the shortest ones hold
      return type == Type::boolean || bytes_of(type) >= 4;
    return std::all_of(spec.operands.begin(), spec.operands.end(), [&](const OperandDecl &input) {
      const Type of_input = type_of(input.type, variant);
      return input.role != Role::input || !is_floating(of_input) || holds(type, of_input);
    });
  };
  std::set<std::string> out;
  for (const OperandDecl &operand : spec.operands)
    if (operand.role == Role::output && std::all_of(variants.begin(), variants.end(), [&](const Variant &variant) {
          return holds_inputs(operand, variant);
        }))
      out.insert(operand.name);
  return out;
}

} // namespace kgen::grad
