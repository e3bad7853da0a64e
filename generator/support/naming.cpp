#include "support/naming.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace kgen {

std::string name_of_parts(const std::string &first, const std::string &second) {
  if (first.empty() || second.empty())
    return first + second;
  return first.substr(0, first.find_last_not_of('_') + 1) + "_" + second.substr(second.find_first_not_of('_'));
}

std::string lower_case(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::isalnum(static_cast<unsigned char>(c)) == 0 ? '_' : std::tolower(c));
  return text;
}

namespace {
constexpr std::string_view kDigits[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
}

std::string in_words(const std::string &name, int n) {
  std::string words;
  for (; n > 0; n /= 10)
    words = name_of_parts(std::string(kDigits[n % 10]), words);
  return name_of_parts(name, words);
}

std::string without_number(const std::string &name) {
  const size_t last = name.rfind('_');
  const bool is_numbered =
      last != std::string::npos && last > 0 &&
      std::find(std::begin(kDigits), std::end(kDigits), name.substr(last + 1)) != std::end(kDigits);
  return is_numbered ? without_number(name.substr(0, last)) : name;
}

} // namespace kgen
