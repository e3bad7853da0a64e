// What the Python files of the binding share.
#include <algorithm>
#include <set>

#include "emit/bindings/torch.h"

namespace kgen::torch_binding {

std::string python_name(const std::string &name) {
  // What functions of the module use from outside.
  static const std::set<std::string> taken = {"torch", "math",      "min",    "max",    "wanted",
                                              "ctx",   "gradients", "inputs", "needed", "output"};
  return taken.count(name) != 0 ? name + "_" : name;
}
std::string torch_type(Type type) {
  switch (type) {
  case Type::f64:
    return "torch.float64";
  case Type::f32:
    return "torch.float32";
  case Type::bf16:
    return "torch.bfloat16";
  case Type::f16:
    return "torch.float16";
  case Type::boolean:
    return "torch.bool";
  default: {
    const std::string name(type_row(type).name);
    return std::string("torch.") + (name[0] == 'u' ? "uint" : "int") + name.substr(1);
  }
  }
}

std::string tuple_text(const std::vector<std::string> &parts) {
  return "(" + join(parts) + (parts.size() == 1 ? ",)" : ")");
}

std::string lines(const std::string &before, const std::vector<std::string> &parts, const std::string &after) {
  return join(wrapped(before, parts, after), "\n") + "\n";
}

std::string lines_of_tuple(const std::string &before, const std::vector<std::string> &parts, const std::string &after) {
  const std::string line = before + join(parts) + after;
  return line.size() <= kPythonWidth ? line + "\n" : lines(before + "(", parts, ")" + after);
}

const SignatureArray &array_named(const Signature &signature, const std::string &name) {
  return *std::ranges::find(signature.arrays, name, &SignatureArray::name);
}

std::string python_rest(const SignatureArray &array, const std::string &python) {
  const int behind = static_cast<int>(array.dims.size()) - array.rest - 1;
  return python + ".shape[" + (array.rest > 0 ? std::to_string(array.rest) : "") + ":" +
         (behind > 0 ? "-" + std::to_string(behind) : "") + "]";
}

std::string python_extent(const SignatureArray &array, size_t dim, const std::string &python) {
  const int d = static_cast<int>(dim);
  if (d == array.rest)
    return "math.prod(" + python_rest(array, python) + ")";
  const bool from_end = array.rest >= 0 && d > array.rest;
  return python + ".shape[" + std::to_string(from_end ? d - static_cast<int>(array.dims.size()) : d) + "]";
}

bool differentiable(const Signature &signature) {
  const auto is_real = [&](const SignatureArray &a) {
    return std::ranges::any_of(signature.functions, [&](const CFunction &f) {
      return is_floating(f.array_types[static_cast<size_t>(&a - signature.arrays.data())]);
    });
  };
  const auto any = [&](SignatureArray::Role role) {
    return std::ranges::any_of(signature.arrays, [&](const SignatureArray &a) { return a.role == role && is_real(a); });
  };
  return any(SignatureArray::Role::input) && any(SignatureArray::Role::output);
}

const std::string &parameter_of(const Signature &signature, const SignatureParameter &parameter) {
  switch (parameter.kind) {
  case SignatureParameter::Kind::array:
    return signature.arrays[parameter.index].parameter;
  case SignatureParameter::Kind::scalar:
    return signature.scalars[parameter.index].parameter;
  case SignatureParameter::Kind::choice:
    return signature.choices[parameter.index].parameter;
  case SignatureParameter::Kind::size:
    break;
  }
  return signature.sizes[parameter.index].parameter;
}

} // namespace kgen::torch_binding
