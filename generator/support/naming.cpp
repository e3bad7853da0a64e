#include "support/naming.h"

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

std::string in_words(const std::string &name, int n) {
  constexpr std::string_view kDigits[] = {"zero", "one", "two",   "three", "four",
                                          "five", "six", "seven", "eight", "nine"};
  std::string words;
  for (; n > 0; n /= 10)
    words = name_of_parts(std::string(kDigits[n % 10]), words);
  return name_of_parts(name, words);
}

} // namespace kgen
