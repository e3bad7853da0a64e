// The table of builtins (builtins.def) and the words of C++ that a body does not have.
#pragma once

#include <span>
#include <string_view>

namespace kgen::body {

enum class BuiltinKind {
  reduction,
  extreme,
  product,
  scan,
  where,
  at,
  inside,
  position,
  step,
  present,
  assertion,
  printing,
  requirement,
  round_like,
  bitcast,
  random,
  maths,
  popcount,
  predicate,
};

struct BuiltinRow {
  std::string_view name;
  BuiltinKind kind;
  int values;
  std::string_view takes;
};

std::span<const BuiltinRow> builtins();
const BuiltinRow *find_builtin(std::string_view name);

// A token that C++ has and the body language has not, and what to write instead.
struct RefusedWord {
  std::string_view word;
  std::string_view help;
};
const RefusedWord *find_refused_word(std::string_view word);

} // namespace kgen::body
