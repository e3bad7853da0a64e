// One Variant for each choice of types, list parameters and specialised axes.
#include <algorithm>

#include "spec/spec.h"

namespace kgen {

namespace {

std::string suffix_of(const ParamValue &value) {
  if (const auto *name = std::get_if<std::string>(&value))
    return *name;
  const int64_t number = std::get<int64_t>(value);
  // -3 is m3; the sign is cut from the text, so that the lowest number works as well.
  return number < 0 ? "m" + std::to_string(number).substr(1) : std::to_string(number);
}

void extend(std::string &suffix, const std::string &part) { suffix += (suffix.empty() ? "" : "_") + part; }

// Each variant times each choice, the last choice running fastest.
template <class Choice, class Apply>
void cross(std::vector<Variant> &variants, const std::vector<Choice> &choices, const Apply &apply) {
  if (choices.size() == 1) { // most have one, and there may be thousands: nothing is copied for them
    for (Variant &variant : variants)
      apply(variant, choices.front());
    return;
  }
  std::vector<Variant> out;
  for (const Variant &variant : variants)
    for (const Choice &choice : choices) {
      out.push_back(variant);
      apply(out.back(), choice);
    }
  variants = std::move(out);
}

// A type that `real` stands for has no part in what it stands for.
Type real_of(const Spec &spec, const Variant &variant) {
  const bool wide = std::any_of(spec.operands.begin(), spec.operands.end(), [&](const OperandDecl &operand) {
    return operand.type.param != kRealType && type_of(operand.type, variant) == Type::f64;
  });
  return wide ? Type::f64 : Type::f32;
}

} // namespace

Type type_of(const TypeName &name, const Variant &variant) {
  if (name.param.empty())
    return name.type;
  return name.param == kRealType ? variant.real : variant.types.at(name.param);
}

std::vector<Variant> variants_of(const Spec &spec) {
  std::vector<Variant> out(1);
  for (const Param &param : spec.params)
    cross(out, param.choices, [&](Variant &variant, const ParamValue &value) {
      variant.params[param.name] = value;
      if (param.is_list)
        extend(variant.suffix, suffix_of(value));
    });
  auto set_type = [](Variant &variant, const TypeParam &param, Type type) {
    variant.types[param.name] = type;
    extend(variant.suffix, std::string(type_row(type).name));
  };
  if (!spec.only.empty())
    cross(out, spec.only, [&](Variant &variant, const std::vector<Type> &row) {
      for (size_t i = 0; i < spec.types.size(); ++i)
        set_type(variant, spec.types[i], row[i]);
    });
  else
    for (const TypeParam &param : spec.types)
      cross(out, param.choices, [&](Variant &variant, Type type) { set_type(variant, param, type); });
  for (const AxisDecl &axis : spec.axes)
    if (axis.fixed.size() > 1)
      cross(out, axis.fixed, [&](Variant &variant, int64_t size) { variant.axes[axis.name] = size; });
  for (Variant &variant : out)
    variant.real = real_of(spec, variant);
  return out;
}

std::string defines_of(const Variant &variant, const Variant &other) {
  std::string out;
  const auto define = [&](const std::string &name, std::string_view value) {
    out += (out.empty() ? "-D " : " -D ") + name + "=" + std::string(value);
  };
  for (const auto &[name, value] : variant.params)
    if (const auto *function = std::get_if<std::string>(&value); function && value != other.params.at(name))
      define(name, *function);
  for (const auto &[name, type] : variant.types)
    if (type != other.types.at(name))
      define(name, type_row(type).name);
  return out;
}

} // namespace kgen
