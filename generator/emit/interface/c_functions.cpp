#include "emit/interface/c_functions.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "emit/text/code_tokens.h"
#include "emit/text/comments.h"
#include "support/text.h"

namespace kgen {
namespace {

constexpr size_t kFewest = 3; // functions for which a macro is shorter

struct Function {
  size_t place; // in the list
  std::vector<Token> tokens;
};
using Group = std::vector<const Function *>;
using Words = std::vector<std::string>; // one per function

// Are they the same but for words?
bool is_alike(const Function &a, const Function &b) {
  return std::ranges::equal(a.tokens, b.tokens, [](const Token &one, const Token &other) {
    return one.text == other.text || (starts_word(one.text) && starts_word(other.text));
  });
}

// softmax_f32_openmp, softmax_f64_openmp: f32 and f64 after softmax_ and before _openmp.
struct Affixes {
  std::string before, after;
  Words between;
};
std::optional<Affixes> affixes(const Words &words) {
  std::vector<std::vector<std::string>> parts;
  for (const std::string &word : words)
    parts.push_back(split(word, '_'));
  const auto count_alike = [&](auto part) {
    size_t count = 0;
    while (std::ranges::all_of(
        parts, [&](const auto &one) { return count + 1 < one.size() && part(one, count) == part(parts[0], count); }))
      ++count;
    return count;
  };
  const size_t first = count_alike([](const auto &one, size_t i) { return one[i]; });
  if (first == 0)
    return std::nullopt;
  const size_t last = count_alike([](const auto &one, size_t i) { return one[one.size() - 1 - i]; });
  Affixes out;
  for (const std::vector<std::string> &one : parts) {
    if (one.size() <= first + last)
      return std::nullopt;
    const auto begin = one.begin() + static_cast<std::ptrdiff_t>(first),
               end = one.end() - static_cast<std::ptrdiff_t>(last);
    out.before = join({one.begin(), begin}, "_") + "_";
    out.after = last == 0 ? "" : "_" + join({end, one.end()}, "_");
    out.between.push_back(join({begin, end}, "_"));
  }
  return out;
}

// One macro for functions that are alike.
class Macro {
public:
  explicit Macro(const Group &group) : group_(group) {
    for (const Function *function : group)
      for (const Token &token : function->tokens)
        taken_.insert(token.text);
    for (size_t t = 1; t + 1 < group_[0]->tokens.size(); ++t)
      has_elements_ = has_elements_ || is_element(t);
  }

  // None where there are more parameters than a reader keeps apart.
  std::optional<std::string> text(const std::string &name) {
    std::string body;
    for (size_t t = 0; t < group_[0]->tokens.size(); ++t) {
      const std::optional<std::string> word = word_at(t);
      if (!word)
        return std::nullopt;
      body += group_[0]->tokens[t].space + *word;
    }
    std::string lines(trim(body));
    replace_all(lines, "\n", " \\\n");
    std::string out = comment() + "#define " + name + "(" + join(names_, ", ") + ") \\\n" + lines + "\n";
    for (size_t i = 0; i < group_.size(); ++i) {
      std::vector<std::string> own;
      for (const Words &words : arguments_)
        own.push_back(words[i]);
      out += name + "(" + join(own, ", ") + ")\n";
    }
    return out;
  }

private:
  std::optional<std::string> word_at(size_t place) {
    Words words;
    for (const Function *function : group_)
      words.push_back(function->tokens[place].text);
    if (std::ranges::adjacent_find(words, std::not_equal_to<>()) == words.end())
      return words[0];
    if (const std::optional<Affixes> name = affixes(words)) {
      if (!std::ranges::all_of(name->between, [](const std::string &word) {
            return !std::isdigit(static_cast<unsigned char>(word[0]));
          }))
        return std::nullopt; // a number is no argument that can be joined to a name
      const std::optional<std::string> parameter = parameter_for(name->between, {"NAME", "KERNEL"});
      return parameter
                 ? std::optional(name->before + "##" + *parameter + (name->after.empty() ? "" : "##") + name->after)
                 : std::nullopt;
    }
    if (words[0].ends_with("Workspace"))
      return parameter_for(words, {"SPACE"});
    return parameter_for(words, is_element(place) || !has_elements_ ? kElements : kStored);
  }

  // Does it stand in the angle brackets of what is called?
  bool is_element(size_t place) const {
    const std::vector<Token> &tokens = group_[0]->tokens;
    return (tokens[place - 1].text == "<" || tokens[place + 1].text == ">") && starts_word(tokens[place].text);
  }

  // The parameter that stands for these words: one more, under the first name that is free, where there is none yet.
  std::optional<std::string> parameter_for(const Words &words, const std::vector<std::string> &wishes) {
    const auto known = std::ranges::find(arguments_, words);
    if (known != arguments_.end())
      return names_[static_cast<size_t>(known - arguments_.begin())];
    for (const std::string &wish : wishes)
      if (taken_.insert(wish).second) {
        names_.push_back(wish);
        arguments_.push_back(words);
        return wish;
      }
    return std::nullopt;
  }

  std::string comment() const {
    const auto has = [&](const std::string &name) { return std::ranges::find(names_, name) != names_.end(); };
    return std::string("// The C functions of one ") + (names_.size() > 1 ? "element type" : "choice") +
           (has("STORED") && has("T") ? "; STORED is what memory holds of T" : "") + ".\n";
  }

  static inline const std::vector<std::string> kElements = {"T", "S", "TYPE"}, kStored = {"STORED", "OTHER", "THIRD"};

  const Group &group_;
  bool has_elements_ = false;
  std::set<std::string> taken_;
  std::vector<std::string> names_; // of the parameters
  std::vector<Words> arguments_;   // by parameter
};

std::vector<Group> groups_of(const std::vector<Function> &functions) {
  std::vector<Group> out;
  for (const Function &function : functions) {
    const auto group = std::ranges::find_if(out, [&](const Group &g) { return is_alike(*g[0], function); });
    if (group == out.end())
      out.push_back({&function});
    else
      group->push_back(&function);
  }
  return out;
}

std::string upper_case(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

} // namespace

std::string c_functions_text(const std::string &kernel, const std::vector<std::string> &functions) {
  std::vector<Function> all;
  for (const std::string &text : functions)
    all.push_back({all.size(), tokens_of(text)});
  std::vector<std::string> names = {"_OTHER_FUNCTIONS", "_FUNCTIONS"}; // the last is the next
  std::string out;
  for (const Group &group : groups_of(all)) {
    std::optional<std::string> macro;
    if (group.size() >= kFewest && !names.empty())
      macro = Macro(group).text(upper_case(kernel) + names.back());
    if (macro)
      names.pop_back();
    for (const Function *function : macro ? Group() : group)
      out += (out.empty() ? "" : "\n") + functions[function->place];
    if (macro)
      out += (out.empty() ? "" : "\n") + *macro;
  }
  return out;
}

} // namespace kgen
