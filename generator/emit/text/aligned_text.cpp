#include "emit/text/aligned_text.h"

#include <algorithm>
#include <cctype>
#include <ranges>

#include "emit/text/code_tokens.h"
#include "emit/text/type_places.h"
#include "support/text.h"

namespace kgen {
namespace {

class Aligner {
public:
  Aligner(const std::vector<std::string> &texts, const std::vector<TypeParameter> &parameters,
          const std::vector<StemNames> &stems, const std::set<std::string> &templates, bool heads)
      : parameters_(parameters), places_(parameters, stems), templates_(templates), heads_(heads) {
    for (const std::string &text : texts)
      members_.push_back({tokens_of(text), 0, 0});
  }

  std::optional<AlignedText> run() {
    while (!at_end())
      if (!step())
        return std::nullopt;
    if (!open_.empty() || !std::ranges::all_of(members_, [](const Member &m) { return m.at == m.tokens.size(); }))
      return std::nullopt;
    return out_;
  }

private:
  struct Member {
    std::vector<Token> tokens;
    size_t at;
    int depth; // of parentheses

    const std::string &text(size_t ahead = 0) const {
      static const std::string none;
      return at + ahead < tokens.size() ? tokens[at + ahead].text : none;
    }
    void take() {
      depth += text() == "(" ? 1 : text() == ")" ? -1 : 0;
      ++at;
    }
  };
  struct List { // of template parameters or arguments, which gets more
    std::string more;
    int open = 0;
  };
  struct Open { // a call that some have
    std::vector<bool> has;
    std::vector<int> depths;
  };

  const Member &first() const { return members_[0]; }
  bool at_end() const { return first().at == first().tokens.size() && open_.empty(); }
  const std::string &space() const {
    static const std::string none;
    return first().at < first().tokens.size() && !spaced_ ? first().tokens[first().at].space : none;
  }

  std::vector<std::string> words() const {
    std::vector<std::string> out;
    for (const Member &m : members_)
      out.push_back(m.text());
    return out;
  }
  static bool same(const std::vector<std::string> &words) {
    return std::ranges::adjacent_find(words, std::not_equal_to<>()) == words.end();
  }

  // One token of each, or a call that some have.
  bool step() {
    if (closes())
      return true;
    const std::vector<std::string> here = words();
    if (std::ranges::find(here, "") != here.end())
      return at_blanks(here);
    if (head(here[0]))
      return true;
    if (same(here)) {
      take_all(here[0]);
      return true;
    }
    if (const auto name = places_.name(here)) {
      take_name(*name);
      return true;
    }
    if (const auto text = expression(here)) {
      out_.is_template = true;
      note_helpers(*text);
      take_zero_bits(here);
      take_all(*text);
      return true;
    }
    if (times(here))
      return true;
    return opens(here);
  }

  // What ends a text may be blanks alone.
  bool at_blanks(const std::vector<std::string> &here) {
    if (!same(here) || first().at == first().tokens.size())
      return false;
    take_all("");
    return true;
  }

  std::optional<std::string> expression(const std::vector<std::string> &here) const {
    if (starts_word(here[0]) && std::isdigit(static_cast<unsigned char>(here[0][0])) == 0) {
      for (const auto &found : {places_.type(here), places_.lanes(here), places_.conversion(here)})
        if (found)
          return found;
      return places_.function(here);
    }
    if (const auto text = places_.literal(here))
      return text;
    const auto quantity = places_.quantity(here);
    if (!quantity)
      return std::nullopt;
    const std::string &next = first().text(1);
    const bool multiplied =
        last_ == "-" || last_ == "*" || last_ == "/" || last_ == "%" || next == "*" || next == "/" || next == "%";
    return quantity->compound && multiplied ? "(" + quantity->text + ")" : quantity->text;
  }

  // What stands behind `uint16_t` in `uint16_t{0}`, if a zero is meant: then the word itself is left to be taken.
  void take_zero_bits(const std::vector<std::string> &here) {
    if (same_kind_of_word(here))
      return;
    for (Member &m : members_)
      if (m.text() == "uint16_t" && m.text(1) == "{")
        m.at += 3;
  }
  static bool same_kind_of_word(const std::vector<std::string> &here) {
    return std::ranges::none_of(here, [](const std::string &word) { return floating_literal(word).has_value(); });
  }

  // `* 4` in some, nothing where elements have one byte.
  bool times(const std::vector<std::string> &here) {
    const auto parameter = std::ranges::find_if(parameters_, [&](const TypeParameter &p) {
      for (size_t i = 0; i < members_.size(); ++i) {
        const int64_t bytes = here[i] == "*" ? integer(members_[i].text(1)).value_or(0) : 1;
        if (bytes != bytes_of(p.types[i]))
          return false;
      }
      return true;
    });
    if (parameter == parameters_.end() || std::ranges::find(here, "*") == here.end())
      return false;
    const std::string unit = "kBytes<" + parameter->name + ">";
    out_.is_template = true;
    note_helpers(unit);
    out_.text += " * " + unit;
    last_ = unit;
    for (size_t i = 0; i < members_.size(); ++i)
      members_[i].at += here[i] == "*" ? 2 : 0;
    return true;
  }

  bool opens(const std::vector<std::string> &here) {
    std::vector<bool> calls;
    for (const Member &m : members_)
      calls.push_back(m.text(1) == "(");
    const auto wrapper = places_.wrapper(here, calls);
    if (!wrapper)
      return false;
    out_.is_template = true;
    note_helpers(wrapper->text);
    put(wrapper->text + "(");
    spaced_ = !wrapper->has[0]; // the blanks of what it stands before are put
    Open open{wrapper->has, {}};
    for (size_t i = 0; i < members_.size(); ++i) {
      open.depths.push_back(members_[i].depth);
      for (int token = 0; wrapper->has[i] && token < 2; ++token)
        members_[i].take();
    }
    open_.push_back(open);
    return true;
  }

  bool closes() {
    if (open_.empty())
      return false;
    const Open &open = open_.back();
    for (size_t i = 0; i < members_.size(); ++i)
      if (open.has[i] && !(members_[i].text() == ")" && members_[i].depth == open.depths[i] + 1))
        return false;
    for (size_t i = 0; i < members_.size(); ++i)
      if (open.has[i])
        members_[i].take();
    open_.pop_back();
    out_.text += ")";
    last_ = ")";
    return true;
  }

  void put(const std::string &text) {
    out_.text += space() + text;
    spaced_ = false;
    last_ = text;
  }

  void take_all(const std::string &text) {
    if (!lists_.empty()) {
      List &list = lists_.back();
      list.open += text == "<" ? 1 : text == ">" ? -1 : 0;
      if (list.open == 0) {
        out_.text += list.more;
        lists_.pop_back();
      }
    }
    put(text);
    if (text == "{" || text == "}")
      braces_ += text == "{" ? 1 : -1;
    if (braces_ == 0 && first().depth == 0 && (text == "}" || text == ";"))
      begins_ = true;
    for (Member &m : members_)
      m.take();
  }

  // Before a definition at the outermost level: its template parameters. Has it a head that takes them in?
  bool head(const std::string &next) {
    if (!heads_ || !begins_ || next.starts_with("//") || next == ";")
      return false;
    begins_ = false;
    if (next != "template") {
      out_.text += space() + "template <" + template_head(parameters_) + ">\n";
      spaced_ = true;
      return false;
    }
    take_all(next);
    lists_.push_back({", " + template_head(parameters_)});
    return true;
  }

  // One of the functions' own names: where it is defined, or where a template needs its arguments.
  void take_name(const std::string &name) {
    const bool defines = last_ == "struct" || last_ == "explicit" || (braces_ == 0 && first().depth == 0);
    if (defines)
      out_.defined.insert(name);
    if (defines || templates_.count(name) == 0)
      return take_all(name);
    out_.is_template = true;
    const bool has_arguments = first().text(1) == "<" && !(first().text(2) == "<" && space_at(2).empty());
    take_all(name + (has_arguments ? "" : "<" + template_arguments(parameters_) + ">"));
    if (has_arguments)
      lists_.push_back({", " + template_arguments(parameters_)});
  }
  const std::string &space_at(size_t ahead) const { return first().tokens[first().at + ahead].space; }

  void note_helpers(const std::string &text) {
    for (const std::string &name : names_of_type_helpers())
      if (text.find(name + "<") != std::string::npos)
        out_.helpers.insert(name);
  }

  const std::vector<TypeParameter> &parameters_;
  Places places_;
  const std::set<std::string> &templates_;
  bool heads_, begins_ = true, spaced_ = false;
  std::vector<Member> members_;
  std::vector<Open> open_;
  std::vector<List> lists_;
  std::string last_; // what was put last
  int braces_ = 0;
  AlignedText out_;
};

} // namespace

const std::set<std::string> &names_of_type_helpers() {
  static const std::set<std::string> names = {"Stored",   "Value",    "Vector",   "kBytes",
                                              "kLanesOf", "to_value", "to_stored"};
  return names;
}

std::string template_head(const std::vector<TypeParameter> &parameters) {
  std::vector<std::string> out;
  for (const TypeParameter &p : parameters)
    out.push_back("class " + p.name);
  return join(out, ", ");
}

std::string template_arguments(const std::vector<TypeParameter> &parameters) {
  std::vector<std::string> out;
  for (const TypeParameter &p : parameters)
    out.push_back(p.name);
  return join(out, ", ");
}

std::optional<AlignedText> align(const std::vector<std::string> &texts, const std::vector<TypeParameter> &parameters,
                                 const std::vector<StemNames> &stems, const std::set<std::string> &templates) {
  std::optional<AlignedText> made = Aligner(texts, parameters, stems, templates, true).run();
  if (made && !made->is_template)
    made = Aligner(texts, parameters, stems, templates, false).run();
  return made;
}

} // namespace kgen
