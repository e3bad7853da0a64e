// The words, numbers and signs of emitted code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kgen {

struct Token {
  std::string space, text; // the blanks before it
};

std::vector<Token> tokens_of(const std::string &text);

bool starts_word(const std::string &text);

// Of digits alone, and of no more than an `int` holds.
std::optional<int64_t> integer(const std::string &text);

// Of a floating literal: its digits, and whether it is of f32.
struct Literal {
  std::string digits;
  bool single;
};
std::optional<Literal> floating_literal(const std::string &text);

} // namespace kgen
