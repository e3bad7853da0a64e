// Integer arithmetic wraps in a body, and nothing traps: where C++ would leave that undefined, a helper stands.
#include "emit/print/spelling.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <regex>

#include "ir/op_rows.h"
#include "support/check.h"

namespace kgen {
namespace {

bool is_number(const std::string &text) {
  const size_t first = text.rfind('-', 0) == 0 ? 1 : 0;
  return text.size() > first && text.find_first_not_of("0123456789", first) == std::string::npos;
}

} // namespace

// The type that `text` from `at` on is converted to, with the bracket behind it: `int64_t(`.
static std::string conversion_at(const std::string &text, size_t at) {
  const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at);
  if (end == std::string::npos || text[end] != '(')
    return "";
  const std::string name = text.substr(at, end - at);
  return is_c_type(name) ? name + "(" : "";
}

// In lambdas, g++ takes what begins as `(int64_t(int32_t(x[i])` for a type with an array of `i` elements in it.
static std::string in_parentheses(const std::string &text) {
  const std::string outer = conversion_at(text, 0);
  const std::string inner = outer.empty() ? "" : conversion_at(text, outer.size());
  if (inner.empty())
    return "(" + text + ")";
  return "(static_cast<" + outer.substr(0, outer.size() - 1) + ">(" + text.substr(outer.size()) + ")";
}

std::string at_least(const Code &code, int least) {
  return code.binding < least ? in_parentheses(code.text) : code.text;
}

Code code_of(const std::string &text) {
  if (text.find(' ') == std::string::npos)
    return {text, binding::kPrimary};
  if (text.find_first_of("?<>=&|^,/%") != std::string::npos)
    return {text, binding::kChoose};
  const bool adds = text.find(" + ") != std::string::npos || text.find(" - ") != std::string::npos;
  return {text, adds ? binding::kAdd : binding::kMultiply};
}

std::string Spelling::c_type(Type type) { return std::string(type_row(type).c_type); }

std::string Spelling::element_type(Type type) {
  return type == Type::bf16 ? "BF16" : type == Type::f16 ? "F16" : c_type(type);
}

std::string Spelling::arithmetic(Type type) { return c_type(type_row(type).arithmetic); }

const std::string &Spelling::helper(const std::string &name) { return *helpers_.insert(name).first; }

std::string Spelling::constant(Type type, int64_t integer, double number) const {
  if (type == Type::boolean)
    return integer != 0 ? "true" : "false";
  if (is_floating(type)) {
    const bool single = type != Type::f64;
    if (std::isnan(number))
      return single ? "NAN" : "double(NAN)";
    if (std::isinf(single ? float(number) : number)) {
      const std::string text = single ? "INFINITY" : "double(INFINITY)";
      return number < 0 ? "-" + text : text;
    }
    char buffer[64];
    for (int digits = 1; digits <= 17; ++digits) {
      std::snprintf(buffer, sizeof buffer, "%.*g", digits, single ? double(float(number)) : number);
      const double back = std::strtod(buffer, nullptr);
      if (single ? float(back) == float(number) : back == number)
        break;
    }
    std::string text = buffer;
    if (text.find_first_of(".e") == std::string::npos)
      text += ".0";
    return single ? text + "f" : text;
  }
  if (type == Type::i64 || type == Type::u64) {
    if (integer == std::numeric_limits<int64_t>::min())
      return "INT64_MIN";
    if (type == Type::u64)
      return "uint64_t(" + std::to_string(static_cast<uint64_t>(integer)) + "u)";
    const bool small = integer >= std::numeric_limits<int32_t>::min() && integer <= std::numeric_limits<int32_t>::max();
    return small ? std::to_string(integer) : "int64_t{" + std::to_string(integer) + "}";
  }
  if (type == Type::u32)
    return std::to_string(static_cast<uint32_t>(integer)) + "u";
  if (integer == std::numeric_limits<int32_t>::min())
    return "INT32_MIN";
  return std::to_string(integer);
}

std::string Spelling::typed_constant(Type type, int64_t integer, double number) const {
  const std::string text = constant(type, integer, number);
  return is_integer(type) && bytes_of(type) < 4 && type != Type::boolean ? c_type(type) + "{" + text + "}" : text;
}

// Compilers ask for more parentheses than C++ does: among operators of bits, in shifts, and of comparisons that are
// compared.
static Code binary(std::string_view symbol, int level, const std::vector<Code> &args) {
  const bool compares = level == binding::kEqual || level == binding::kLess;
  auto argument = [&](const Code &code, int least) {
    const bool asked = compares ? code.binding == binding::kEqual || code.binding == binding::kLess
                                : level <= binding::kShift && code.binding != level && code.binding < binding::kUnary;
    return asked ? in_parentheses(code.text) : at_least(code, least);
  };
  return {argument(args[0], level) + " " + std::string(symbol) + " " + argument(args[1], level + 1), level};
}

static bool is_made_of_numbers(const std::string &text) {
  return text.find_first_not_of("0123456789 +-*/%&|^~()<>") == std::string::npos;
}

Code Spelling::operation(Op op, Type type, const std::vector<Code> &args, bool wraps) {
  const OpRow &row = op_row(op);
  const std::string whole(row.whole);
  const bool f64 = type == Type::f64;
  std::string_view spelling = target_ == TargetKind::cuda ? (f64 ? row.cuda_f64 : row.cuda_f32) : row.cpp;
  const bool integer = is_integer(type), may_wrap = whole.starts_with("wrapping_");
  auto call = [&](const std::string &name) {
    std::string text = name + "(";
    // What is made of plain numbers is an `int`: where all arguments have one type it needs its own.
    for (size_t i = 0; i < args.size(); ++i)
      text += (i > 0 ? ", " : "") + (integer && type != Type::i32 && is_made_of_numbers(args[i].text)
                                         ? c_type(type) + "{" + args[i].text + "}"
                                         : args[i].text);
    return Code{text + ")"};
  };
  if (integer && (op == Op::div || op == Op::rem)) {
    if (is_number(args[1].text) && args[1].text != "0" && args[1].text[0] != '-')
      return {at_least(args[0], binding::kMultiply) + " " + std::string(spelling) + " " + args[1].text,
              binding::kMultiply};
  }
  // Compilers warn about comparisons of a number with itself.
  if (integer && is_comparison(op) && args[0].text == args[1].text)
    return {op == Op::le || op == Op::ge || op == Op::eq ? "true" : "false"};
  if (integer && !whole.empty() && !may_wrap)
    return call(helper(whole));
  if (may_wrap && wraps && (type == Type::i32 || type == Type::i64)) {
    helper((type == Type::i64 ? "wrapping64" : "wrapping") + whole.substr(8));
    return call(whole);
  }
  if (row.binds > 0 && args.size() == 2)
    return binary(spelling, row.binds, args);
  // A comparison of ~ of what was unsigned is taken for a mistake.
  if (op == Op::bit_not && type == Type::i32 && args[0].text.rfind("int32_t(", 0) == 0)
    return binary("^", binding::kBitXor, {args[0], {"-1", binding::kUnary}});
  if (args.size() == 1 && (spelling == "-" || spelling == "~" || spelling == "!")) {
    const std::string inner = at_least(args[0], binding::kUnary);
    return {std::string(spelling) + (spelling == "-" && inner[0] == '-' ? "(" + inner + ")" : inner), binding::kUnary};
  }
  if (op == Op::sigmoid) {
    helper(f64 ? "sigmoid_f64" : "sigmoid_f32");
    return call("sigmoid");
  }
  if (spelling[0] == '=')
    return call(helper(std::string(spelling.substr(1))));
  return call(std::string(spelling));
}

Code Spelling::logical(Op op, const Code &a, const Code &b) {
  if (op == Op::both)
    return {at_least(a, binding::kAnd) + " && " + at_least(b, binding::kAnd + 1), binding::kAnd};
  auto argument = [](const Code &code, int least) {
    return at_least(code, code.binding == binding::kAnd ? binding::kAnd + 1 : least);
  };
  return {argument(a, binding::kOr) + " || " + argument(b, binding::kOr + 1), binding::kOr};
}

Code Spelling::infix(Op op, const std::vector<Code> &args) const {
  const std::string symbol(op_row(op).cpp);
  if (args.size() == 1) {
    const std::string inner = at_least(args[0], binding::kUnary);
    return {symbol + (symbol == "-" && inner[0] == '-' ? "(" + inner + ")" : inner), binding::kUnary};
  }
  return binary(symbol, op_row(op).binds, args);
}

Code Spelling::cast(const Code &value, Type from, Type to) {
  if (from == to)
    return value;
  if (to == Type::boolean)
    return {at_least(value, binding::kEqual + 1) + " != 0", binding::kEqual};
  if (is_floating(from) && is_integer(to))
    return {helper("saturate") + "<" + c_type(to) + ">(" + value.text + ")"};
  return {c_type(to) + "(" + value.text + ")"};
}

std::string Spelling::condition(const std::string &text) {
  static const std::regex declares(R"(^(u?int\d+_t|float|double|bool)(\(\w+\((u?int\d+_t|float|double|bool)\())");
  return std::regex_replace(text, declares, "static_cast<$1>$2");
}

Code Spelling::loaded(const std::string &element, Type type) {
  if (type == Type::bf16)
    return {helper("from_bf16") + "(" + element + ")"};
  if (type == Type::f16)
    return {helper("from_f16") + "(" + element + ")"};
  return {element};
}

std::string Spelling::stored(const Code &value, Type from, Type to) {
  if (is_half(to)) {
    const Code single = cast(value, from, Type::f32);
    return helper(to == Type::bf16 ? "to_bf16" : "to_f16") + "(" + single.text + ")";
  }
  return cast(value, from, to).text;
}

std::string Spelling::update(Monoid monoid) {
  return monoid == Monoid::sum ? " += " : monoid == Monoid::product ? " *= " : "";
}

std::string Spelling::identity(Monoid monoid, Type type) const {
  const bool floating = is_floating(type);
  switch (monoid) {
  case Monoid::sum:
  case Monoid::mean:
    return constant(type, 0, 0);
  case Monoid::product:
    return constant(type, 1, 1);
  case Monoid::max:
  case Monoid::min: {
    const bool low = monoid == Monoid::max;
    const double infinity = std::numeric_limits<double>::infinity();
    if (floating)
      return constant(type, 0, low ? -infinity : infinity);
    if (type == Type::boolean)
      return low ? "false" : "true";
    const int bits = bytes_of(type) * 8;
    if (is_unsigned(type))
      return low ? "0" : "UINT" + std::to_string(bits) + "_MAX";
    return "INT" + std::to_string(bits) + (low ? "_MIN" : "_MAX");
  }
  case Monoid::all:
    return "true";
  case Monoid::any:
    return "false";
  case Monoid::argmax:
  case Monoid::argmin:
    return "-1";
  }
  KGEN_UNREACHABLE("monoid");
}

Code Spelling::combine(Monoid monoid, Type type, const std::string &total, const Code &value, bool wraps) {
  switch (monoid) {
  case Monoid::sum:
  case Monoid::mean:
    return operation(Op::add, type, {{total}, value}, wraps);
  case Monoid::product:
    return operation(Op::mul, type, {{total}, value}, wraps);
  case Monoid::min:
    return operation(Op::min, type, {{total}, value}, false);
  case Monoid::max:
    return operation(Op::max, type, {{total}, value}, false);
  case Monoid::all:
    return {total + " && " + at_least(value, binding::kAnd), binding::kAnd};
  case Monoid::any:
    return logical(Op::either, {total}, value);
  case Monoid::argmax:
  case Monoid::argmin:
    break;
  }
  KGEN_UNREACHABLE("monoid");
}

std::string Spelling::combiner(const std::string &text, const std::string &one, const std::string &other) {
  const std::pair<const char *, std::string> known[] = {{"Plus", one + " + " + other},
                                                        {"Times", one + " * " + other},
                                                        {"Greatest", "maximum(" + one + ", " + other + ")"},
                                                        {"Least", "minimum(" + one + ", " + other + ")"}};
  for (const auto &[name, meaning] : known)
    if (text == meaning)
      return helper(name) + "()";
  return "";
}

} // namespace kgen
