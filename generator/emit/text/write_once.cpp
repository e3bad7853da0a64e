#include "emit/text/write_once.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "emit/text/code_tokens.h"
#include "support/text.h"

namespace kgen {
namespace {

std::string joined(const std::vector<Token> &tokens, const std::string &own_name) {
  std::string out;
  for (const Token &token : tokens)
    out += token.space + (token.text == own_name ? "" : token.text);
  return out;
}

// The struct or function that the text defines; none where it defines several things.
std::optional<std::string> defined_name(const std::vector<Token> &tokens) {
  std::optional<std::string> found;
  std::string called; // what stands before the outermost parentheses, or behind `struct`
  int braces = 0, parentheses = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string &text = tokens[i].text;
    if (text == "(" && braces == 0 && parentheses == 0 && i > 0)
      called = tokens[i - 1].text;
    if (text == "struct" && braces == 0 && i + 1 < tokens.size())
      called = tokens[i + 1].text;
    if (text == "{" && braces == 0) {
      if (found)
        return std::nullopt;
      found = called;
    }
    braces += text == "{" ? 1 : text == "}" ? -1 : 0;
    parentheses += text == "(" ? 1 : text == ")" ? -1 : 0;
  }
  return found && found->empty() ? std::nullopt : found;
}

void drop_copies(std::vector<std::string> &texts, PrintedNames &names) {
  std::map<std::string, std::string> first; // the name of the first text of its kind
  std::map<std::string, std::string> other; // by a name that is left out, the one that stands for it
  std::vector<std::string> out;
  for (const std::string &text : texts) {
    std::vector<Token> tokens = tokens_of(text);
    for (Token &token : tokens)
      if (const auto found = other.find(token.text); found != other.end())
        token.text = found->second;
    const std::optional<std::string> name = defined_name(tokens);
    const auto [kept, fresh] = first.try_emplace(joined(tokens, name.value_or("")), name.value_or(""));
    if (fresh || !name) {
      out.push_back(joined(tokens, ""));
      continue;
    }
    other[*name] = kept->second;
    names.rename(*name, kept->second);
  }
  texts = std::move(out);
}

// What a template has for one size.
struct Member {
  size_t text;
  std::string name, size;
};

class SizesOfOneAxis {
public:
  SizesOfOneAxis(std::vector<std::string> &texts, const std::string &axis, const std::vector<std::string> &sizes,
                 PrintedNames &names)
      : axis_(axis), sizes_(sizes), names_(names), texts_(texts) {
    for (const std::string &text : texts)
      tokens_.push_back(tokens_of(text));
  }

  void run() {
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (const std::optional<std::string> name = dropped_.count(i) == 0 ? defined_name(tokens_[i]) : std::nullopt)
        for (const std::string &size : sizes_)
          if (const std::optional<std::string> general = without(*name, size); general && is_free(*general)) {
            join(*general, {i, *name, size});
            break;
          }
    std::vector<std::string> out;
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (dropped_.count(i) == 0)
        out.push_back(joined(tokens_[i], ""));
    texts_ = std::move(out);
  }

private:
  // attention_d64_kernel: attention_kernel; AttentionD64Workspace: AttentionWorkspace.
  std::optional<std::string> without(const std::string &name, const std::string &size) const {
    for (const std::string &part : {"_" + lower_case(axis_) + size, camel(lower_case(axis_) + size)}) {
      const size_t at = name.find(part);
      const size_t end = at + part.size();
      if (at != std::string::npos && (end == name.size() || std::isdigit(static_cast<unsigned char>(name[end])) == 0))
        return name.substr(0, at) + name.substr(end);
    }
    return std::nullopt;
  }

  bool is_free(const std::string &name) const {
    return !is_helper_function(name) && std::ranges::none_of(tokens_, [&](const std::vector<Token> &tokens) {
      return std::ranges::find(tokens, name, &Token::text) != tokens.end();
    });
  }

  // The first text becomes a template for all that are like it, which are left out.
  void join(const std::string &general, const Member &first) {
    std::vector<Member> all = {first};
    std::set<size_t> places; // where the size stands
    for (size_t i = first.text + 1; i < tokens_.size(); ++i)
      for (const std::string &size : sizes_)
        if (const std::optional<std::string> name = defined_name(tokens_[i]);
            name && dropped_.count(i) == 0 && without(*name, size) == general) {
          const auto found = places_of({i, *name, size}, first);
          if (found && (all.size() == 1 || *found == places)) {
            places = *found;
            all.push_back({i, *name, size});
          }
        }
    const std::string parameter = "k" + camel(lower_case(axis_));
    if (all.size() == 1 || std::ranges::find(tokens_[first.text], parameter, &Token::text) != tokens_[first.text].end())
      return;
    make_template(general, first, places, parameter);
    for (const Member &one : all) {
      if (one.text != first.text)
        dropped_.insert(one.text);
      const std::string size = places.empty() ? "" : one.size;
      names_.rename(one.name, general, size);
      for (size_t i = first.text + 1; i < tokens_.size(); ++i)
        rename(tokens_[i], one.name, general, size);
    }
  }

  // Where the texts have their sizes; none where they differ in more than these and their names.
  std::optional<std::set<size_t>> places_of(const Member &one, const Member &first) const {
    const std::vector<Token> &a = tokens_[first.text], &b = tokens_[one.text];
    std::set<size_t> out;
    if (a.size() != b.size())
      return std::nullopt;
    for (size_t t = 0; t < a.size(); ++t) {
      if (a[t].text == b[t].text || (a[t].text == first.name && b[t].text == one.name))
        continue;
      if (a[t].text != first.size || b[t].text != one.size)
        return std::nullopt;
      out.insert(t);
    }
    return out;
  }

  void make_template(const std::string &general, const Member &first, const std::set<size_t> &places,
                     const std::string &parameter) {
    std::vector<Token> &tokens = tokens_[first.text];
    for (size_t place : places)
      tokens[place].text = parameter;
    for (Token &token : tokens)
      if (token.text == first.name)
        token.text = general;
    if (places.empty())
      return;
    const auto head = std::ranges::find_if(tokens, [](const Token &t) { return !t.text.starts_with("//"); });
    if (head->text == "template")
      end_of_list(tokens, static_cast<size_t>(head - tokens.begin()) + 1)->text = ", int " + parameter + ">";
    else
      head->text = "template <int " + parameter + ">\n" + head->text;
  }

  // The `>` of the `<` that stands there.
  static std::vector<Token>::iterator end_of_list(std::vector<Token> &tokens, size_t begin) {
    int depth = 0;
    for (size_t i = begin; i < tokens.size(); ++i) {
      depth += tokens[i].text == "<" ? 1 : tokens[i].text == ">" ? -1 : 0;
      if (depth == 0)
        return tokens.begin() + static_cast<std::ptrdiff_t>(i);
    }
    return tokens.end() - 1;
  }

  static void rename(std::vector<Token> &tokens, const std::string &name, const std::string &general,
                     const std::string &size) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].text != name)
        continue;
      tokens[i].text = general;
      if (size.empty())
        continue;
      if (i + 1 < tokens.size() && tokens[i + 1].text == "<" && tokens[i + 1].space.empty())
        end_of_list(tokens, i + 1)->text = ", " + size + ">";
      else
        tokens[i].text += "<" + size + ">";
    }
    tokens = tokens_of(joined(tokens, ""));
  }

  const std::string &axis_;
  const std::vector<std::string> &sizes_;
  PrintedNames &names_;
  std::vector<std::string> &texts_;
  std::vector<std::vector<Token>> tokens_;
  std::set<size_t> dropped_;
};

} // namespace

std::vector<MadeFor> sizes_made_for(const std::vector<Printed> &printed) {
  std::vector<MadeFor> out;
  for (const Printed &one : printed)
    for (const Variation *variation : one.function->variations)
      for (const auto &[axis, size] : variation->variant.axes)
        if (std::ranges::none_of(out, [&](const MadeFor &known) { return known.axis == axis && known.size == size; }))
          out.push_back({axis, size});
  return out;
}

void write_once(std::vector<std::string> &texts, const std::vector<MadeFor> &sizes, PrintedNames &names) {
  std::map<std::string, std::vector<std::string>> of_axes;
  for (const MadeFor &one : sizes)
    of_axes[one.axis].push_back(std::to_string(one.size));
  for (const auto &[axis, own] : of_axes)
    SizesOfOneAxis(texts, axis, own, names).run();
  drop_copies(texts, names);
}

} // namespace kgen
