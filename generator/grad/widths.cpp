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

} // namespace kgen::grad
