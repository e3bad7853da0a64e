#include "emit/text/code_tokens.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "support/text.h"

namespace kgen {
namespace {

size_t end_of_token(const std::string &text, size_t at) {
  const auto rest = [&](size_t from) { return text.compare(from, 2, "//") == 0; };
  if (rest(at))
    return std::min(text.find('\n', at), text.size());
  const char first = text[at];
  if (first == '"' || first == '\'') {
    size_t end = at + 1;
    for (; end < text.size() && text[end] != first; ++end)
      end += text[end] == '\\' ? 1 : 0;
    return std::min(end + 1, text.size());
  }
  if (!is_word(first))
    return at + 1;
  const bool number = std::isdigit(static_cast<unsigned char>(first)) != 0;
  const bool hex = text.compare(at, 2, "0x") == 0;
  size_t end = at + 1;
  const auto goes_on = [&](char c) {
    const bool sign = (c == '+' || c == '-') && (text[end - 1] == 'e' || text[end - 1] == 'E') && !hex;
    return is_word(c) || (number && (c == '.' || sign));
  };
  while (end < text.size() && goes_on(text[end]))
    ++end;
  return end;
}

} // namespace

std::vector<Token> tokens_of(const std::string &text) {
  std::vector<Token> out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find_first_not_of(" \t\n", at), text.size());
    const size_t end = begin == text.size() ? begin : end_of_token(text, begin);
    out.push_back({text.substr(at, begin - at), text.substr(begin, end - begin)});
    at = end;
  }
  return out;
}

bool starts_word(const std::string &text) { return !text.empty() && is_word(text[0]); }

std::optional<int64_t> integer(const std::string &text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && text.size() < 10 ? std::optional(std::strtoll(text.c_str(), nullptr, 10)) : std::nullopt;
}

std::optional<Literal> floating_literal(const std::string &text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0 || text.starts_with("0x") ||
      text.find_first_of(".e") == std::string::npos)
    return std::nullopt;
  const bool single = text.back() == 'f';
  return Literal{text.substr(0, text.size() - (single ? 1 : 0)), single};
}

} // namespace kgen
