#include "support/types.h"

#include <algorithm>

#include "support/check.h"

namespace kgen {

namespace {
constexpr TypeRow kRows[] = {
#define KGEN_TYPE(id, name, c_type, arithmetic, bytes, kind, bits)                                                     \
  {Type::id, name, c_type, Type::arithmetic, bytes, TypeKind::kind, bits},
#include "support/types.def"
#undef KGEN_TYPE
};
} // namespace

const TypeRow &type_row(Type type) { return kRows[static_cast<int>(type)]; }

std::optional<Type> find_type(std::string_view name) {
  for (const TypeRow &row : kRows)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

bool is_c_type(std::string_view name) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const TypeRow &row) { return row.c_type == name; });
}

Type accumulator_of(Type element) {
  if (is_floating(element))
    return element;
  if (element == Type::boolean)
    return Type::i64;
  const bool narrow = bytes_of(element) <= 2;
  return is_unsigned(element) ? (narrow ? Type::u32 : Type::u64) : (narrow ? Type::i32 : Type::i64);
}

} // namespace kgen
