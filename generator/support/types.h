// Element types, one row of types.def each. Half types exist in memory only: in a body they are f32.
#pragma once

#include <optional>
#include <string_view>

namespace kgen {

enum class Type {
#define KGEN_TYPE(id, ...) id,
#include "support/types.def"
#undef KGEN_TYPE
};

enum class TypeKind { floating, signed_integer, unsigned_integer, boolean };

struct TypeRow {
  Type type;
  std::string_view name;   // as specs write it
  std::string_view c_type; // in the C interface
  Type arithmetic;         // what a body computes with
  int bytes;
  TypeKind kind;
  int significand_bits;
};

const TypeRow &type_row(Type type);
std::optional<Type> find_type(std::string_view name);
bool is_c_type(std::string_view name);

inline int bytes_of(Type type) { return type_row(type).bytes; }
inline bool is_floating(Type type) { return type_row(type).kind == TypeKind::floating; }
inline bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }
inline bool is_unsigned(Type type) { return type_row(type).kind == TypeKind::unsigned_integer; }
inline bool is_integer(Type type) { return type_row(type).kind == TypeKind::signed_integer || is_unsigned(type); }

// What sums and products of elements of a type are accumulated in, where nothing else is said.
Type accumulator_of(Type element);

} // namespace kgen
