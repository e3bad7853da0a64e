#include "emit/text/comments.h"

#include <cctype>
#include <sstream>

#include "support/text.h"

namespace kgen {

void replace_all(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

namespace {
// Signs that turn the direction of writing (U+202A to U+202E, U+2066 to U+2069) make text look like what it is not.
void replace_directions(std::string &line) {
  for (int i = 0xAA; i <= 0xAE; ++i)
    replace_all(line, std::string("\xE2\x80") + static_cast<char>(i), "?");
  for (int i = 0xA6; i <= 0xA9; ++i)
    replace_all(line, std::string("\xE2\x81") + static_cast<char>(i), "?");
}
} // namespace

// One line at a time, no continuation, nothing that is no sign.
std::string comment_text(std::string text) {
  replace_all(text, "\r", "");
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\\' || std::isspace(static_cast<unsigned char>(line.back())) != 0))
      line.pop_back();
    line = printable(line);
    replace_directions(line);
    replace_all(line,
                "?"
                "?/",
                "?"
                "? /");
    out += line + "\n";
  }
  while (!out.empty() && out.back() == '\n')
    out.pop_back();
  return out;
}

namespace {

constexpr size_t kTextColumns = 107; // of the comment's text: lines are as long as those of code

// A paragraph in lines, all but the first indented; code stays as it is.
std::string as_lines(std::string paragraph) {
  std::string out;
  if (!paragraph.starts_with("  "))
    while (paragraph.size() > kTextColumns) {
      const size_t at = paragraph.rfind(' ', kTextColumns);
      if (at == std::string::npos || at < 2)
        break;
      out += "// " + paragraph.substr(0, at) + "\n";
      paragraph = "  " + paragraph.substr(at + 1);
    }
  return out + (paragraph.empty() ? "//\n" : "// " + paragraph + "\n");
}

} // namespace

std::string as_comment(const std::string &text) {
  std::string out, rest = comment_text(text) + "\n";
  for (size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
    out += as_lines(rest.substr(0, end));
  return out;
}

} // namespace kgen
