#include "emit/bindings/torch.h"

#include <algorithm>

#include "emit/text/format.h"

namespace kgen {

std::vector<EmittedFile> torch_files(const BindingInput &input) {
  const std::string stem = input.signature.kernel + "_torch";
  return {{stem + ".cpp", format_cpp(torch_binding::operators_text(input))},
          {stem + ".py", torch_binding::module_text(input)},
          {stem + "_test.py", torch_binding::test_text(input)}};
}

namespace torch_binding {

bool works_in_place(const Signature &signature) {
  return std::ranges::any_of(signature.arrays, &SignatureArray::in_place);
}

bool has_optional_outputs(const Signature &signature) {
  const std::vector<int> outputs = signature.outputs();
  return std::ranges::any_of(outputs, [&](int o) { return signature.arrays[o].optional; });
}

bool has_array_arguments(const Signature &signature) {
  return std::ranges::any_of(signature.arrays, &SignatureArray::is_argument);
}

int array_with_rest(const Signature &signature) {
  const SignatureSize *rows = signature.find_size(std::string(kRestAxis));
  const bool is_rest = rows != nullptr && rows->array >= 0 && signature.arrays[rows->array].rest >= 0;
  return is_rest ? rows->array : -1;
}

std::vector<int> columns_of_arrays(const Signature &signature) {
  std::vector<int> out;
  for (const SignatureParameter &p : signature.parameters)
    if (p.kind == SignatureParameter::Kind::array)
      out.push_back(p.index);
  const std::vector<int> outputs = signature.outputs();
  out.insert(out.end(), outputs.begin(), outputs.end());
  return out;
}

std::vector<int> parameter_choices(const Signature &signature) {
  std::vector<int> out;
  for (const SignatureParameter &p : signature.parameters)
    if (p.kind == SignatureParameter::Kind::choice)
      out.push_back(p.index);
  return out;
}

std::string brackets(const SignatureArray &array) {
  std::vector<std::string> dims;
  for (size_t d = 0; d < array.dims.size(); ++d)
    dims.push_back(static_cast<int>(d) == array.rest ? "..." : to_string(array.dims[d]));
  return "[" + join(dims) + "]";
}

std::string join(const std::vector<std::string> &parts, const std::string &between) {
  std::string out;
  for (const std::string &part : parts)
    out += (&part == parts.data() ? "" : between) + part;
  return out;
}

} // namespace torch_binding
} // namespace kgen
