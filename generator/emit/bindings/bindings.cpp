#include "emit/bindings/bindings.h"

#include <algorithm>

namespace kgen {
namespace {

constexpr BindingRow kRows[] = {
    {"numpy", numpy_files},
    {"torch", torch_files},
    {"jax", jax_files},
};

} // namespace

std::span<const BindingRow> binding_rows() { return kRows; }

const BindingRow *find_binding(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &BindingRow::name);
  return row == std::end(kRows) ? nullptr : row;
}

} // namespace kgen
