// Small helpers on text.
#include "support/text.h"

#include <algorithm>
#include <cctype>

namespace kgen {

std::string join(const std::vector<std::string> &parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0)
      out += separator;
    out += parts[i];
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string ticked(std::string_view name) { return "`" + std::string(name) + "`"; }

namespace {
bool is_digit(char c) { return c >= '0' && c <= '9'; }
} // namespace

bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), is_word);
}

int edit_distance(std::string_view a, std::string_view b, int limit) {
  const size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > static_cast<size_t>(limit))
    return limit + 1;
  std::vector<int> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    previous[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    if (*std::min_element(current.begin(), current.end()) > limit)
      return limit + 1;
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return std::min(previous[b.size()], limit + 1);
}

namespace {
std::string lower(std::string_view text) {
  std::string out(text);
  for (char &c : out)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}
} // namespace

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string> &candidates) {
  constexpr size_t kLongest = 100; // longer ones are no typing mistakes, and the table would grow
  constexpr size_t kMost = 128;    // no spec that a person wrote has more, and garbage should be refused in time
  if (name.size() > kLongest || candidates.size() > kMost)
    return std::nullopt;
  // One slip for every three letters; a single letter resembles nothing but its other case.
  const int limit = static_cast<int>((name.size() + 1) / 3);
  std::optional<std::string> best;
  int best_distance = limit + 1;
  const std::string low = lower(name);
  for (const std::string &candidate : candidates) {
    if (candidate.size() > kLongest || candidate == name)
      continue;
    const int distance = edit_distance(low, lower(candidate), limit);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string> &candidates) {
  constexpr size_t kFew = 8;
  if (const auto near = nearest(name, candidates))
    return "did you mean " + ticked(*near) + "?";
  if (candidates.empty() || candidates.size() > kFew)
    return {};
  return (candidates.size() == 1 ? "there is only " : "there are ") + enumerate(candidates);
}

std::string enumerate(const std::vector<std::string> &names, std::string_view last) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0)
      out += i + 1 == names.size() ? " " + std::string(last) + " " : ", ";
    out += ticked(names[i]);
  }
  return out;
}

namespace {
// The length of the well-formed sequence at the front, or 0 (RFC 3629: no overlong forms, no surrogates).
size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  auto follows = [&](size_t i, int low = 0x80, int high = 0xBF) { return byte(i) >= low && byte(i) <= high; };
  const int first = byte(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF)
    return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF)
    return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  if (first >= 0xF0 && first <= 0xF4)
    return follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}
} // namespace

size_t find_bad_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i, 4));
    if (length == 0)
      return i;
    i += length;
  }
  return std::string_view::npos;
}

size_t find_control(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool lone_return = c == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
    if (lone_return || c == 0x7F || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
      return i;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i, 4));
    const unsigned char c = static_cast<unsigned char>(text[i]);
    // The C1 controls are the two-byte sequences C2 80 .. C2 9F.
    const bool control = (c < 0x20 && c != '\t') || c == 0x7F ||
                         (length == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0);
    if (length == 0 || control)
      out += '?';
    else
      out += text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

std::string json_string(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (size_t bad = 0; !text.empty(); text.remove_prefix(std::min(bad + 1, text.size()))) {
    bad = find_bad_utf8(text);
    for (const char c : text.substr(0, bad)) {
      const unsigned char byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
        (out += '\\') += c;
      else if (byte < 0x20)
        ((out += "\\u00") += kHex[byte >> 4]) += kHex[byte & 15];
      else
        out += c;
    }
    if (bad == std::string_view::npos)
      break;
    out += "\\ufffd";
  }
  return out + "\"";
}

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace kgen
