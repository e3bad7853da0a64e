#include "emit/text/type_places.h"

#include <cstdlib>
#include <functional>
#include <map>

#include "emit/print/spelling.h"
#include "emit/text/code_tokens.h"
#include "ir/op_rows.h"

namespace kgen {
namespace {

// Functions of CUDA that have a name of their own for f32; the other name does for both.
const std::map<std::string, std::string> &single_functions() {
  static const std::map<std::string, std::string> names = [] {
    std::map<std::string, std::string> out;
    for (const OpRow &row : op_rows())
      if (row.cuda_f32 != row.cuda_f64)
        out.emplace(row.cuda_f32, row.cuda_f64);
    return out;
  }();
  return names;
}

bool any_half(const TypeParameter &parameter) { return std::ranges::any_of(parameter.types, is_half); }

std::string stored(const TypeParameter &p) { return any_half(p) ? "Stored<" + p.name + ">" : p.name; }
std::string value(const TypeParameter &p) { return any_half(p) ? "Value<" + p.name + ">" : p.name; }
Type value_type(Type type) { return is_half(type) ? Type::f32 : type; }

} // namespace

std::optional<std::string> Places::name(const Words &words) const {
  for (const StemNames &stem : stems_) {
    if (!words[0].starts_with(stem.own[0]))
      continue;
    const std::string rest = words[0].substr(stem.own[0].size());
    if (all(words, [&](size_t i) { return words[i] == stem.own[i] + rest; }))
      return stem.shared + rest;
  }
  return std::nullopt;
}

std::optional<std::string> Places::type(const Words &words) const {
  for (const TypeParameter &p : parameters_) {
    if (all(words, [&](size_t i) { return words[i] == Spelling::c_type(p.types[i]); }))
      return stored(p);
    if (all(words, [&](size_t i) { return words[i] == Spelling::c_type(value_type(p.types[i])); }))
      return value(p);
    if (all(words, [&](size_t i) { return words[i] == Spelling::element_type(p.types[i]); }))
      return p.name;
  }
  return std::nullopt;
}

std::optional<std::string> Places::lanes(const Words &words) const {
  const auto are_of = [&](const std::function<Type(size_t)> &type) {
    return all(words, [&](size_t i) { return words[i] == "kLanes" + std::to_string(8 * bytes_of(type(i))); });
  };
  for (const TypeParameter &p : parameters_) {
    if (are_of([&](size_t i) { return p.types[i]; }))
      return "kLanesOf<" + stored(p) + ">";
    if (are_of([&](size_t i) { return value_type(p.types[i]); }))
      return "kLanesOf<" + p.name + ">";
  }
  return std::nullopt;
}

std::optional<std::string> Places::conversion(const Words &words) const {
  for (const char *way : {"from_", "to_"})
    for (const TypeParameter &p : parameters_)
      if (all(words, [&](size_t i) { return words[i] == way + std::string(type_row(p.types[i]).name); }))
        return conversion_name(p, way);
  return std::nullopt;
}

std::optional<std::string> Places::function(const Words &words) const {
  const auto general = [](const std::string &word) {
    const auto found = single_functions().find(word);
    return found == single_functions().end() ? word : found->second;
  };
  const std::string first = general(words[0]);
  return all(words, [&](size_t i) { return general(words[i]) == first; }) ? std::optional(first) : std::nullopt;
}

std::optional<std::string> Places::literal(const Words &words) const {
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

std::optional<std::string> Places::zero(const Words &words) const {
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

std::optional<Places::Quantity> Places::quantity(const Words &words) const {
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

std::optional<Places::Wrapper> Places::wrapper(const Words &words, const std::vector<bool> &calls) const {
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

int64_t Places::bytes(const TypeParameter &p, size_t i, bool of_values) {
  return bytes_of(of_values ? value_type(p.types[i]) : p.types[i]);
}

std::string Places::unit(const TypeParameter &p, bool of_values) {
  return "kBytes<" + (of_values ? value(p) : p.name) + ">";
}

std::optional<Places::Quantity> Places::multiple(const Numbers &numbers, const TypeParameter &p) {
  for (const bool of_values : {false, true}) {
    const int64_t factor = numbers[0] / bytes(p, 0, of_values);
    if (all(numbers, [&](size_t i) { return numbers[i] == factor * bytes(p, i, of_values); }))
      return factor == 1 ? Quantity{unit(p, of_values), false}
                         : Quantity{std::to_string(factor) + " * " + unit(p, of_values), true};
  }
  return std::nullopt;
}

std::optional<Places::Quantity> Places::part(const Numbers &numbers, const TypeParameter &p) {
  for (const bool of_values : {false, true})
    for (const int64_t less : {0, 1}) {
      const int64_t whole = (numbers[0] + less) * bytes(p, 0, of_values);
      if (whole <= kLargest &&
          all(numbers, [&](size_t i) { return (numbers[i] + less) * bytes(p, i, of_values) == whole; }))
        return Quantity{std::to_string(whole) + " / " + unit(p, of_values) + (less == 0 ? "" : " - 1"), true};
    }
  return std::nullopt;
}

std::optional<Places::Quantity> Places::sum(const Numbers &numbers, const TypeParameter &p) {
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

std::optional<Places::Quantity> Places::part_of_sum(const Numbers &numbers, const TypeParameter &p) {
  const auto both = [&](size_t i) { return bytes(p, i, false) + bytes(p, i, true); };
  int64_t whole = 1;
  while (whole / both(0) < numbers[0] && whole < kLargest)
    whole *= 2;
  if (!all(numbers, [&](size_t i) { return numbers[i] > 1 && numbers[i] == whole / both(i); }))
    return std::nullopt;
  return Quantity{std::to_string(whole) + " / (" + unit(p, false) + " + " + unit(p, true) + ")", true};
}

std::string Places::conversion_name(const TypeParameter &p, const std::string &way) {
  return (way == "from_" ? "to_value<" : "to_stored<") + p.name + ">";
}

std::string Places::without_zero(const std::string &digits) {
  return digits.ends_with(".0") ? digits.substr(0, digits.size() - 2) : digits;
}

} // namespace kgen
