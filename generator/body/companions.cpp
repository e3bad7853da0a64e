#include "body/companions.h"

#include <algorithm>
#include <cctype>
#include <map>

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

struct Parameter {
  std::string declaration; // without what it is if left out
  std::string name;
  std::string standard; // `= value`
  bool is_axis = false;
};

struct Definition {
  std::string before; // `template <class V> V `
  std::string name;
  std::vector<Parameter> parameters;
  size_t end = 0; // behind its `}`
};

// The text with comments blanked.
std::string without_comments(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    const bool line = out.compare(i, 2, "//") == 0, block = out.compare(i, 2, "/*") == 0;
    if (!line && !block)
      continue;
    size_t end = line ? out.find('\n', i) : out.find("*/", i + 2);
    end = end == std::string::npos ? out.size() : line ? end : end + 2;
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(i), out.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    i = end - 1;
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

// Those with so many axes; with `kept` also a where behind the first `given` parameters that follow the axes.
std::string companion(const Definition &f, size_t axis, size_t axes, bool kept, size_t given) {
  std::vector<std::string> takes, passes, bound;
  for (size_t a = 1; a <= axes; ++a)
    bound.push_back("kgen_axis_" + std::to_string(a));
  for (size_t p = 0; p < f.parameters.size(); ++p) {
    const Parameter &parameter = f.parameters[p];
    if (p == axis) {
      for (const std::string &one : bound) // exactly an axis, which as a number would do for what follows as well
        takes.push_back((takes.size() == axis ? "axis " : "kgen_an_axis auto ") + one);
      passes.push_back("kgen_axes(" + join(bound, ", ") + (kept ? ", kgen_kept)" : ")"));
    } else if (p < axis || p - axis <= given) {
      takes.push_back(parameter.declaration + (kept ? "" : " " + parameter.standard));
      passes.push_back(parameter.name);
    }
  }
  if (kept)
    takes.push_back("kgen_where kgen_kept");
  return f.before + f.name + "(" + join(takes, ", ") + ") { return " + f.name + "(" + join(passes, ", ") + "); }\n";
}

std::string companions_for(const Definition &f, size_t most_axes) {
  const auto is_axis = [](const Parameter &p) { return p.is_axis; };
  const bool named = std::ranges::all_of(f.parameters, [](const Parameter &p) { return !p.name.empty(); });
  if (std::ranges::count_if(f.parameters, is_axis) != 1 || !named)
    return "";
  const auto axis = static_cast<size_t>(std::ranges::find_if(f.parameters, is_axis) - f.parameters.begin());
  const size_t behind = f.parameters.size() - axis - 1;
  std::string out;
  for (size_t axes = 1; axes <= most_axes; ++axes) {
    if (axes > 1)
      out += companion(f, axis, axes, false, behind);
    for (size_t given = 0; given <= behind; ++given)
      if (given == behind || !f.parameters[axis + 1 + given].standard.empty())
        out += companion(f, axis, axes, true, given);
  }
  return out;
}

} // namespace

std::vector<Companions> companions_of(std::string_view text, size_t most_axes) {
  const std::vector<Definition> definitions = definitions_in(text);
  std::map<std::string, int> times;
  for (const Definition &f : definitions)
    ++times[f.name];
  std::vector<Companions> out;
  for (const Definition &f : definitions)
    if (std::string made = times[f.name] == 1 ? companions_for(f, most_axes) : ""; !made.empty())
      out.push_back({f.end, std::move(made)});
  return out;
}

} // namespace kgen::body
