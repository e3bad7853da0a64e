#include "emit/aligned_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <map>
#include <ranges>

#include "emit/spelling.h"
#include "support/check.h"

namespace kgen {
namespace {

struct Token {
  std::string space, text; // the blanks before it
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t end_of_token(const std::string &text, size_t at) {
  const auto rest = [&](size_t from) { return text.compare(from, 2, "//") == 0; };
  if (rest(at))
    return std::min(text.find('\n', at), text.size());
  const char first = text[at];
  if (first == '"' || first == '\'') {
    size_t end = at + 1;
    for (; end < text.size() && text[end] != first; ++end)
      end += text[end] == '\\' ? 1 : 0;
    return std::min(end + 1, text.size());
  }
  if (!is_word(first))
    return at + 1;
  const bool number = std::isdigit(static_cast<unsigned char>(first)) != 0;
  const bool hex = text.compare(at, 2, "0x") == 0;
  size_t end = at + 1;
  const auto goes_on = [&](char c) {
    const bool sign = (c == '+' || c == '-') && (text[end - 1] == 'e' || text[end - 1] == 'E') && !hex;
    return is_word(c) || (number && (c == '.' || sign));
  };
  while (end < text.size() && goes_on(text[end]))
    ++end;
  return end;
}

std::vector<Token> tokens_of(const std::string &text) {
  std::vector<Token> out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find_first_not_of(" \t\n", at), text.size());
    const size_t end = begin == text.size() ? begin : end_of_token(text, begin);
    out.push_back({text.substr(at, begin - at), text.substr(begin, end - begin)});
    at = end;
  }
  return out;
}

bool starts_word(const std::string &text) { return !text.empty() && is_word(text[0]); }

// Of digits alone, and of no more than an `int` holds.
std::optional<int64_t> integer(const std::string &text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && text.size() < 10 ? std::optional(std::strtoll(text.c_str(), nullptr, 10)) : std::nullopt;
}

// Of a floating literal: its digits, and whether it is of f32.
struct Literal {
  std::string digits;
  bool single;
};
std::optional<Literal> floating_literal(const std::string &text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0 || text.starts_with("0x") ||
      text.find_first_of(".e") == std::string::npos)
    return std::nullopt;
  const bool single = text.back() == 'f';
  return Literal{text.substr(0, text.size() - (single ? 1 : 0)), single};
}

// Functions of CUDA that have a name of their own for f32; the other name does for both.
const std::map<std::string, std::string> &single_functions() {
  static const std::map<std::string, std::string> names = [] {
    std::map<std::string, std::string> out;
#define KGEN_OP(id, arity, result, cpp_f32, cpp_f64, cuda_f32, cuda_f64, ...)                                          \
  if (std::string(cuda_f32) != (cuda_f64))                                                                             \
    out.emplace(cuda_f32, cuda_f64);
#include "ir/ops.def"
#undef KGEN_OP
    return out;
  }();
  return names;
}

bool any_half(const TypeParameter &parameter) { return std::ranges::any_of(parameter.types, is_half); }

std::string stored(const TypeParameter &p) { return any_half(p) ? "Stored<" + p.name + ">" : p.name; }
std::string value(const TypeParameter &p) { return any_half(p) ? "Value<" + p.name + ">" : p.name; }
Type value_type(Type type) { return is_half(type) ? Type::f32 : type; }

// What stands at one place of all texts, as an expression of the parameters.
class Places {
public:
  Places(const std::vector<TypeParameter> &parameters, const std::vector<StemNames> &stems)
      : parameters_(parameters), stems_(stems) {}

  using Words = std::vector<std::string>; // one per function

  std::optional<std::string> name(const Words &words) const {
    for (const StemNames &stem : stems_) {
      if (!words[0].starts_with(stem.own[0]))
        continue;
      const std::string rest = words[0].substr(stem.own[0].size());
      if (all(words, [&](size_t i) { return words[i] == stem.own[i] + rest; }))
        return stem.shared + rest;
    }
    return std::nullopt;
  }

  std::optional<std::string> type(const Words &words) const {
    for (const TypeParameter &p : parameters_) {
      if (all(words, [&](size_t i) { return words[i] == Spelling::c_type(p.types[i]); }))
        return stored(p);
      if (all(words, [&](size_t i) { return words[i] == Spelling::c_type(value_type(p.types[i])); }))
        return value(p);
    }
    return std::nullopt;
  }

  std::optional<std::string> lanes(const Words &words) const {
    const auto are_of = [&](const std::function<Type(size_t)> &type) {
      return all(words, [&](size_t i) { return words[i] == "kLanes" + std::to_string(8 * bytes_of(type(i))); });
    };
    for (const TypeParameter &p : parameters_) {
      if (are_of([&](size_t i) { return p.types[i]; }))
        return "kLanesOf<" + stored(p) + ">";
      if (are_of([&](size_t i) { return value_type(p.types[i]); }))
        return "kLanesOf<" + value(p) + ">";
    }
    return std::nullopt;
  }

  std::optional<std::string> conversion(const Words &words) const {
    for (const char *way : {"from_", "to_"})
      for (const TypeParameter &p : parameters_)
        if (all(words, [&](size_t i) { return words[i] == way + std::string(type_row(p.types[i]).name); }))
          return conversion_name(p, way);
    return std::nullopt;
  }

  std::optional<std::string> function(const Words &words) const {
    const auto general = [](const std::string &word) {
      const auto found = single_functions().find(word);
      return found == single_functions().end() ? word : found->second;
    };
    const std::string first = general(words[0]);
    return all(words, [&](size_t i) { return general(words[i]) == first; }) ? std::optional(first) : std::nullopt;
  }

  std::optional<std::string> literal(const Words &words) const {
    std::vector<Literal> literals;
    for (const std::string &word : words)
      if (const std::optional<Literal> one = floating_literal(word))
        literals.push_back(*one);
    if (literals.size() != words.size())
      return zero(words);
    const auto longest = std::ranges::max_element(literals, {}, [](const Literal &l) { return l.digits.size(); });
    const double number = std::strtod(longest->digits.c_str(), nullptr);
    for (const TypeParameter &p : parameters_)
      if (all(words, [&](size_t i) {
            const double own = std::strtod(literals[i].digits.c_str(), nullptr);
            return is_floating(p.types[i]) && literals[i].single == (p.types[i] != Type::f64) &&
                   (literals[i].single ? float(own) == float(number) : own == number);
          }))
        return value(p) + "(" + without_zero(longest->digits) + ")";
    return std::nullopt;
  }

  // That of halves is one of bits.
  std::optional<std::string> zero(const Words &words) const {
    for (const TypeParameter &p : parameters_)
      if (any_half(p) && all(words, [&](size_t i) {
            const std::optional<Literal> one = floating_literal(words[i]);
            return is_half(p.types[i]) ? words[i] == "0" || words[i] == "uint16_t"
                                       : one && one->single == (p.types[i] != Type::f64) &&
                                             std::strtod(one->digits.c_str(), nullptr) == 0;
          }))
        return stored(p) + "(0)";
    return std::nullopt;
  }

  // A number of elements, or of bytes, that goes with the size of one.
  struct Quantity {
    std::string text;
    bool compound;
  };
  std::optional<Quantity> quantity(const Words &words) const {
    std::vector<int64_t> numbers;
    for (const std::string &word : words)
      if (const std::optional<int64_t> one = integer(word))
        numbers.push_back(*one);
    if (numbers.size() != words.size())
      return std::nullopt;
    for (const TypeParameter &p : parameters_)
      for (const auto &found : {multiple(numbers, p), part(numbers, p), sum(numbers, p), part_of_sum(numbers, p)})
        if (found)
          return found;
    return std::nullopt;
  }

  // A call that some of the functions have around what stands here in all: which have it, and the template's.
  struct Wrapper {
    std::string text;
    std::vector<bool> has;
  };
  std::optional<Wrapper> wrapper(const Words &words, const std::vector<bool> &calls) const {
    for (const TypeParameter &p : parameters_) {
      for (const char *way : {"from_", "to_"})
        if (auto found = wrapper_where(words, calls, conversion_name(p, way),
                                       [&](size_t i) { return way + std::string(type_row(p.types[i]).name); });
            found && all(words, [&](size_t i) { return found->has[i] == is_half(p.types[i]); }))
          return found;
      // INFINITY is a float: the only value that f32 needs no conversion for, whatever stands around it.
      if (auto found =
              wrapper_where(words, calls, value(p), [&](size_t i) { return Spelling::c_type(value_type(p.types[i])); });
          found && all(words, [&](size_t i) {
            return found->has[i] ||
                   (value_type(p.types[i]) == Type::f32 && (words[i] == "INFINITY" || words[i] == "NAN"));
          }))
        return found;
    }
    return std::nullopt;
  }

private:
  using Numbers = std::vector<int64_t>; // one per function
  static constexpr int64_t kLargest = int64_t{1} << 30;

  static int64_t bytes(const TypeParameter &p, size_t i, bool of_values) {
    return bytes_of(of_values ? value_type(p.types[i]) : p.types[i]);
  }
  static std::string unit(const TypeParameter &p, bool of_values) {
    return "kBytes<" + (of_values ? value(p) : p.name) + ">";
  }

  // 4 * kBytes<T>
  static std::optional<Quantity> multiple(const Numbers &numbers, const TypeParameter &p) {
    for (const bool of_values : {false, true}) {
      const int64_t factor = numbers[0] / bytes(p, 0, of_values);
      if (all(numbers, [&](size_t i) { return numbers[i] == factor * bytes(p, i, of_values); }))
        return factor == 1 ? Quantity{unit(p, of_values), false}
                           : Quantity{std::to_string(factor) + " * " + unit(p, of_values), true};
    }
    return std::nullopt;
  }

  // 16 / kBytes<T>, also less 1: what rounding up adds.
  static std::optional<Quantity> part(const Numbers &numbers, const TypeParameter &p) {
    for (const bool of_values : {false, true})
      for (const int64_t less : {0, 1}) {
        const int64_t whole = (numbers[0] + less) * bytes(p, 0, of_values);
        if (whole <= kLargest &&
            all(numbers, [&](size_t i) { return (numbers[i] + less) * bytes(p, i, of_values) == whole; }))
          return Quantity{std::to_string(whole) + " / " + unit(p, of_values) + (less == 0 ? "" : " - 1"), true};
      }
    return std::nullopt;
  }

  // kBytes<T> + 8 and kBytes<T> + kBytes<Value<T>>: the bytes of several elements.
  static std::optional<Quantity> sum(const Numbers &numbers, const TypeParameter &p) {
    const auto both = [&](size_t i) { return bytes(p, i, false) + bytes(p, i, true); };
    if (all(numbers, [&](size_t i) { return numbers[i] == both(i); }))
      return Quantity{unit(p, false) + " + " + unit(p, true), true};
    for (const bool of_values : {false, true}) {
      const int64_t rest = numbers[0] - bytes(p, 0, of_values);
      if (rest > 0 && rest <= kMostOtherBytes &&
          all(numbers, [&](size_t i) { return numbers[i] == bytes(p, i, of_values) + rest; }))
        return Quantity{unit(p, of_values) + " + " + std::to_string(rest), true};
    }
    return std::nullopt;
  }
  static constexpr int64_t kMostOtherBytes = 64;

  // 4194304 / (kBytes<T> + kBytes<Value<T>>): so many elements have their place.
  static std::optional<Quantity> part_of_sum(const Numbers &numbers, const TypeParameter &p) {
    const auto both = [&](size_t i) { return bytes(p, i, false) + bytes(p, i, true); };
    int64_t whole = 1;
    while (whole / both(0) < numbers[0] && whole < kLargest)
      whole *= 2;
    if (!all(numbers, [&](size_t i) { return numbers[i] > 1 && numbers[i] == whole / both(i); }))
      return std::nullopt;
    return Quantity{std::to_string(whole) + " / (" + unit(p, false) + " + " + unit(p, true) + ")", true};
  }

  template <class T, class Holds> static bool all(const std::vector<T> &here, Holds holds) {
    return std::ranges::all_of(std::views::iota(size_t{0}, here.size()), holds);
  }

  static std::string conversion_name(const TypeParameter &p, const std::string &way) {
    return (way == "from_" ? "to_value<" : "to_stored<") + p.name + ">";
  }

  template <class Name>
  static std::optional<Wrapper> wrapper_where(const Words &words, const std::vector<bool> &calls,
                                              const std::string &text, Name name) {
    Wrapper out{text, {}};
    for (size_t i = 0; i < words.size(); ++i)
      out.has.push_back(calls[i] && words[i] == name(i));
    const bool some = std::ranges::count(out.has, true) > 0 && std::ranges::count(out.has, false) > 0;
    return some ? std::optional(out) : std::nullopt;
  }

  static std::string without_zero(const std::string &digits) {
    return digits.ends_with(".0") ? digits.substr(0, digits.size() - 2) : digits;
  }

  const std::vector<TypeParameter> &parameters_;
  const std::vector<StemNames> &stems_;
};

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

  std::vector<std::string> words(size_t ahead = 0) const {
    std::vector<std::string> out;
    for (const Member &m : members_)
      out.push_back(m.text(ahead));
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
  static const std::set<std::string> names = {"BF16",   "F16",      "Stored",   "Value",
                                              "kBytes", "kLanesOf", "to_value", "to_stored"};
  return names;
}

std::string template_head(const std::vector<TypeParameter> &parameters) {
  std::string out;
  for (const TypeParameter &p : parameters)
    out += (out.empty() ? "class " : ", class ") + p.name;
  return out;
}

std::string template_arguments(const std::vector<TypeParameter> &parameters) {
  std::string out;
  for (const TypeParameter &p : parameters)
    out += (out.empty() ? "" : ", ") + p.name;
  return out;
}

std::optional<AlignedText> align(const std::vector<std::string> &texts, const std::vector<TypeParameter> &parameters,
                                 const std::vector<StemNames> &stems, const std::set<std::string> &templates) {
  std::optional<AlignedText> made = Aligner(texts, parameters, stems, templates, true).run();
  if (made && !made->is_template)
    made = Aligner(texts, parameters, stems, templates, false).run();
  return made;
}

} // namespace kgen
