#include "emit/text/wrap.h"

#include <algorithm>
#include <sstream>

#include "support/check.h"
#include "support/text.h"

namespace kgen {
namespace {

constexpr size_t kDeep = 3;              // clang-format takes ten times as long for two more
constexpr size_t kDeepest = 5;           // where few lines are deep
constexpr size_t kMostDeepLines = 40;    // a file; beyond it all count
constexpr size_t kLongest = 1000;        // characters of a line
constexpr std::string_view kName = "0_"; // a number, so that `(0_1) * x` looks like no cast; nothing else is one

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

// The first brackets of a line may close what earlier ones have opened, the last ones may stay open.
size_t nesting(const std::string &line) {
  int depth = 0, most = 0;
  for (char c : line) {
    depth = std::max(0, depth + (opens(c) ? 1 : closes(c) ? -1 : 0));
    most = std::max(most, depth);
  }
  return static_cast<size_t>(most);
}

// The code of a line: what stands in strings and comments is blank.
std::string code_of(const std::string &line) {
  std::string out = line;
  char quote = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == 0 && line.compare(at, 2, "//") == 0)
      return out.replace(at, std::string::npos, line.size() - at, ' ');
    const bool ends = quote != 0 && c == quote;
    if (quote != 0 || c == '"' || c == '\'')
      out[at] = ' ';
    if (quote != 0 && c == '\\' && at + 1 < line.size())
      out[++at] = ' ';
    else if (ends)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
  }
  return out;
}

// Is there nothing in it whose brackets and spaces may be meant as they are?
bool is_plain(const std::string &line) {
  return line.find_first_of("#\\") == std::string::npos && code_of(line) == line;
}

bool is_deep(const std::string &line) { return line.size() > kColumns && is_plain(line) && nesting(line) > kDeep; }

size_t indent_of(const std::string &line) { return std::min(line.find_first_not_of(' '), line.size()); }

template <class Function> std::string for_lines(const std::string &text, Function function) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);)
    out += function(line) + "\n";
  return out;
}

// The end of the group that opens here: behind the bracket that closes it, or none on this line.
size_t end_of_group(const std::string &line, size_t at) {
  int depth = 0;
  for (; at < line.size(); ++at) {
    depth += opens(line[at]) ? 1 : closes(line[at]) ? -1 : 0;
    if (depth == 0)
      return at;
  }
  return std::string::npos;
}

} // namespace

std::string filled(const std::string &line) {
  if (line.size() <= kColumns || !is_plain(line))
    return line;
  std::string out, current = line;
  for (size_t indent = indent_of(line); current.size() > kColumns; indent = indent_of(line) + 4) {
    size_t at = current.rfind(' ', kColumns);
    if (at == std::string::npos || at < indent)
      at = current.find_last_of("([{", kColumns - 1) + 1;
    if (at <= indent)
      break;
    out += current.substr(0, at) + "\n";
    current = std::string(indent_of(line) + 4, ' ') + current.substr(at + static_cast<size_t>(current[at] == ' '));
  }
  return out + current;
}

size_t depth_of_blocks(size_t depth, const std::string &line) {
  for (char c : code_of(line))
    depth = c == '{' ? depth + 1 : c == '}' && depth > 0 ? depth - 1 : depth;
  return depth;
}

std::string plain_layout(const std::string &text) {
  size_t depth = 0;
  return for_lines(text, [&](const std::string &line) {
    if (line.empty() || line[0] == '#')
      return line;
    const std::string code = code_of(line);
    const size_t indent = kIndent * (code[0] == '}' && depth > 0 ? depth - 1 : depth);
    if (code.rfind("namespace", 0) == 0)
      return line;
    depth = depth_of_blocks(depth, line);
    return line[0] == ' ' ? line : filled(std::string(indent, ' ') + line);
  });
}

std::string DeepNests::hide(const std::string &text) {
  size_t deep = 0;
  for_lines(text, [&](const std::string &line) {
    deep += static_cast<size_t>(is_deep(line));
    return line;
  });
  const size_t deepest = deep > kMostDeepLines ? kDeep : kDeepest;
  return for_lines(text, [&](const std::string &line) {
    if (line.size() > kLongest && is_plain(line))
      return line.back() == ';' && line.find('{') == std::string::npos ? name_of(line.substr(0, line.size() - 1)) + ";"
                                                                       : hide_in(line, 0);
    return is_deep(line) ? hide_in(line, deepest) : line;
  });
}

// As long as what it stands for where that may fit, so that all breaks come where they would.
std::string DeepNests::name_of(const std::string &code) {
  std::string name = std::string(kName) + std::to_string(hidden_.size()) + "_";
  name.resize(std::max(name.size(), std::min(code.size(), kColumns - 30)), '_');
  hidden_.push_back(code);
  return name;
}

std::string DeepNests::hide_in(const std::string &line, size_t deepest) {
  std::string out;
  size_t depth = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    out += line[at];
    if (closes(line[at]) && depth > 0)
      --depth;
    if (!opens(line[at]) || ++depth <= deepest)
      continue;
    const size_t end = end_of_group(line, at);
    if (end == std::string::npos || end == at + 1)
      continue;
    out += name_of(line.substr(at + 1, end - at - 1));
    at = end - 1;
  }
  return out;
}

std::string DeepNests::restore(const std::string &text) const {
  if (hidden_.empty())
    return text;
  return for_lines(text, [&](std::string line) {
    bool changed = false;
    for (size_t at = 0; (at = line.find(kName, at)) != std::string::npos;) {
      if (at > 0 && is_word(line[at - 1])) {
        at += kName.size();
        continue;
      }
      size_t end = at + kName.size();
      size_t number = 0;
      while (end < line.size() && line[end] >= '0' && line[end] <= '9')
        number = number * 10 + static_cast<size_t>(line[end++] - '0');
      end = std::min(line.find_first_not_of('_', end), line.size());
      KGEN_CHECK(number < hidden_.size());
      line.replace(at, end - at, hidden_[number]);
      at += hidden_[number].size();
      changed = true;
    }
    return changed ? filled(line) : line;
  });
}

} // namespace kgen
