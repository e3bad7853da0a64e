#include "body/definitions.h"

#include <algorithm>
#include <cctype>

#include "support/text.h"

namespace kgen::body {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string last_name(std::string_view text) {
  text = trim(text);
  size_t begin = text.size();
  while (begin > 0 && is_name(text[begin - 1]))
    --begin;
  return std::string(text.substr(begin));
}

// The text with comments blanked.
std::string without_comments(std::string_view text) {
  std::string out(text);
  for (size_t i = out.find('/'); i != std::string::npos; i = out.find('/', i + 1)) {
    const bool line = out.compare(i, 2, "//") == 0, block = out.compare(i, 2, "/*") == 0;
    if (!line && !block)
      continue;
    size_t end = line ? out.find('\n', i) : out.find("*/", i + 2);
    end = end == std::string::npos ? out.size() : line ? end : end + 2;
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(i), out.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }
  return out;
}

Parameter read_parameter(std::string_view text) {
  Parameter out;
  const size_t sign = text.find('=');
  out.declaration = trim(text.substr(0, sign));
  out.standard = sign == std::string_view::npos ? "" : std::string(trim(text.substr(sign)));
  out.name = last_name(out.declaration);
  std::vector<std::string> words = split(out.declaration, ' ');
  std::erase(words, "const");
  std::erase(words, "");
  out.is_axis = words.size() == 2 && words[0] == "axis";
  return out;
}

// `head` is what stands before a `{` outside of all brackets. False: it defines no function.
bool read_head(std::string_view head, Definition &out) {
  head = trim(head);
  if (!head.ends_with(")"))
    return false;
  size_t open = head.size();
  for (int depth = 0; open > 0;) {
    --open;
    depth += head[open] == ')' ? 1 : head[open] == '(' ? -1 : 0;
    if (depth == 0)
      break;
  }
  out.name = last_name(head.substr(0, open));
  out.before = std::string(head.substr(0, head.substr(0, open).rfind(out.name)));
  const std::string_view inside = head.substr(open + 1, head.size() - open - 2);
  size_t from = 0;
  int depth = 0;
  for (size_t i = 0; i <= inside.size(); ++i) {
    const char c = i < inside.size() ? inside[i] : ',';
    depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
    if (c != ',' || depth != 0)
      continue;
    out.parameters.push_back(read_parameter(inside.substr(from, i - from)));
    from = i + 1;
  }
  return !out.name.empty() && !out.before.empty();
}

} // namespace

void add_words(std::string_view text, std::set<std::string, std::less<>> &out) {
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t begin = at;
    while (at < text.size() && is_name(text[at]))
      ++at;
    if (at > begin)
      out.emplace(text.substr(begin, at - begin));
  }
}

void add_derivatives(const std::set<std::string, std::less<>> &known, std::set<std::string, std::less<>> &names) {
  const std::set<std::string, std::less<>> functions = names;
  for (const std::string &name : known)
    for (const char *ending : {"_second_derivative", "_derivative"})
      if (functions.contains(name.substr(0, name.find(ending))))
        names.insert(name);
}

std::vector<Definition> definitions_in(std::string_view given) {
  const std::string text = without_comments(given);
  std::vector<Definition> out;
  size_t begin = 0; // of what is read outside of braces
  int depth = 0;
  Definition current;
  bool is_function = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' && depth++ == 0) {
      current = {};
      is_function = read_head(std::string_view(text).substr(begin, i - begin), current);
    } else if (text[i] == '}' && --depth == 0) {
      current.begin = begin;
      current.end = i + 1;
      if (is_function)
        out.push_back(current);
      begin = i + 1;
    } else if (text[i] == ';' && depth == 0) {
      begin = i + 1;
    }
  }
  return out;
}

std::vector<Definition> unused_definitions(std::string_view given, std::set<std::string, std::less<>> names) {
  const std::string text = without_comments(given);
  std::vector<Definition> open = definitions_in(given);
  for (bool more = true; more;) {
    const auto used = std::ranges::stable_partition(open, [&](const Definition &f) { return !names.contains(f.name); });
    more = !used.empty();
    for (const Definition &f : used)
      add_words(std::string_view(text).substr(f.begin, f.end - f.begin), names);
    open.erase(used.begin(), used.end());
  }
  return open;
}

} // namespace kgen::body
