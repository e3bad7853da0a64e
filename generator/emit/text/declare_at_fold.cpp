#include "emit/text/declare_at_fold.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "emit/target_file.h"
#include "support/text.h"

namespace kgen {
namespace {

struct Declaration {
  std::string type, name, value;
};

// `float sum = 0.0f;`
std::optional<Declaration> declaration_of(const std::string &line) {
  const size_t equals = line.find(" = ");
  if (equals == std::string::npos || !line.ends_with(";"))
    return std::nullopt;
  const size_t space = line.find(' ');
  if (space >= equals || line.find(' ', space + 1) != equals)
    return std::nullopt;
  return Declaration{line.substr(0, space), line.substr(space + 1, equals - space - 1),
                     line.substr(equals + 3, line.size() - equals - 4)};
}

// How a value takes in another, and what it then begins with.
struct Update {
  std::string before, after;
  std::vector<std::string> nothing;
};
std::vector<Update> updates_of(const std::string &name) {
  const std::vector<std::string> zero = {"0", "0.0f", "0.0"}, one = {"1", "1.0f", "1.0"};
  return {{name + " = " + name + " + ", ";", zero},
          {name + " += ", ";", zero},
          {name + " = " + name + " * ", ";", one},
          {name + " *= ", ";", one},
          {name + " = maximum(" + name + ", ", ");", {"-INFINITY", "-double(INFINITY)"}},
          {name + " = minimum(" + name + ", ", ");", {"INFINITY", "double(INFINITY)"}}};
}

// Is it a single call of a fold?
bool is_fold(const std::string &text) {
  const std::vector<std::string> folds = {"across(", "block_fold(", "column_fold(", "row_fold(", "team.fold("};
  if (std::ranges::none_of(folds, [&](const std::string &fold) { return text.starts_with(fold); }))
    return false;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ')' && depth == 0)
      return i + 1 == text.size();
  }
  return false;
}

// What a fold has found, where the line takes that into the variable.
std::optional<std::string> fold_into(const Declaration &variable, const std::string &line) {
  for (const Update &update : updates_of(variable.name)) {
    if (!line.starts_with(update.before) || !line.ends_with(update.after) ||
        std::ranges::find(update.nothing, variable.value) == update.nothing.end())
      continue;
    std::string folded = line.substr(update.before.size(), line.size() - update.before.size() - update.after.size());
    if (is_fold(folded) || folded == variable.name + "_own") // what a thread has found itself
      return folded;
  }
  return std::nullopt;
}

// The line of the same block that mentions the variable next; the end of the lines where an inner one does, or none.
size_t next_mention(const std::vector<std::string> &lines, size_t from, const std::string &name) {
  int depth = 0;
  for (size_t i = from; i < lines.size() && depth >= 0; ++i) {
    if (mentions_word(lines[i], name))
      return depth == 0 ? i : lines.size();
    depth += static_cast<int>(std::ranges::count(lines[i], '{') - std::ranges::count(lines[i], '}'));
  }
  return lines.size();
}

} // namespace

std::string declare_at_fold(const std::string &text) {
  std::vector<std::string> lines = split(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::optional<Declaration> variable = declaration_of(lines[i]);
    const size_t use = variable ? next_mention(lines, i + 1, variable->name) : lines.size();
    const std::optional<std::string> folded = use < lines.size() ? fold_into(*variable, lines[use]) : std::nullopt;
    if (!folded)
      continue;
    lines[use] = variable->type + " " + variable->name + " = " + *folded + ";";
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i--));
  }
  return join(lines, "\n");
}

} // namespace kgen
