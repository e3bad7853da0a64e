// A parser by operator binding. Depth and length are bounded, as the texts come from anyone.
#include "spec/parse_size.h"

#include <algorithm>
#include <charconv>

#include "support/text.h"

namespace kgen {

namespace {

using Op = Size::Op;

constexpr int kDeepest = 64;      // parentheses within each other
constexpr size_t kLongest = 2000; // bytes; bounds the tree as well

struct Infix {
  std::string_view symbol;
  Op op;
  int binding;
};
// Longer symbols first, as the text is compared with each in turn.
constexpr Infix kInfix[] = {
    {"==", Op::equal, 1},   {"!=", Op::not_equal, 1}, {"<=", Op::less_equal, 1}, {">=", Op::greater_equal, 1},
    {"<", Op::less, 1},     {">", Op::greater, 1},    {"+", Op::add, 2},         {"-", Op::subtract, 2},
    {"*", Op::multiply, 3}, {"/", Op::divide, 3},     {"%", Op::modulo, 3},
};
constexpr int kComparison = 1, kUnary = 4;

struct Function {
  std::string_view name;
  Op op;
  bool many; // takes two or more
};
constexpr Function kFunctions[] = {{"min", Op::min, true}, {"max", Op::max, true}, {"cdiv", Op::cdiv, false}};

// What people write from habit, and what to write instead.
constexpr std::pair<std::string_view, std::string_view> kHabits[] = {
    {"&&", "multiply conditions: `(a < b) * (c < d)`"},
    {"||", "add conditions: `(a < b) + (c < d) > 0`"},
    {"//", "`/` rounds down already; `cdiv(a, b)` rounds up"},
    {"**", "write the product out"},
    {"!", "compare with 0: `x == 0`"},
    {".", "only whole numbers stand in sizes"},
    {"=", "`==` compares"},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Parser {
public:
  Parser(const PlacedText &text, Diagnostics &diags) : source_(text), text_(text.text), diags_(diags) {}

  std::optional<Size> parse() {
    if (text_.size() > kLongest) {
      diags_.add(DiagId::spec_expression_too_long, source_.at(0, 1), {std::to_string(kLongest)});
      return std::nullopt;
    }
    auto size = choose();
    skip_blanks();
    if (size && at_ < text_.size())
      return fail("expected an operator or the end of the expression");
    return size;
  }

private:
  using Result = std::optional<Size>;

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  bool accept(std::string_view symbol) {
    skip_blanks();
    if (text_.substr(at_, symbol.size()) != symbol)
      return false;
    at_ += symbol.size();
    return true;
  }
  std::nullopt_t fail(const std::string &what) {
    skip_blanks();
    Diagnostic &d = diags_.add(DiagId::spec_expression_syntax, source_.at(at_, 1), {what});
    for (const auto &[symbol, help] : kHabits)
      if (text_.substr(at_, symbol.size()) == symbol && text_.substr(at_, 2) != "==") {
        d.help = help;
        break;
      }
    return std::nullopt;
  }
  Size placed(Size size, size_t begin) const {
    size.place = source_.at(begin, at_ - begin);
    return size;
  }
  Size node(Op op, std::vector<Size> args, size_t begin) const {
    Size size;
    size.op = op;
    size.args = std::move(args);
    return placed(std::move(size), begin);
  }

  // Every nesting passes here, so that here its depth is counted.
  Result choose() {
    skip_blanks();
    const size_t begin = at_;
    if (++depth_ > kDeepest) {
      diags_.add(DiagId::spec_expression_too_deep, source_.at(at_, 1), {std::to_string(kDeepest)});
      return std::nullopt;
    }
    Result out = choose_inside(begin);
    --depth_;
    return out;
  }
  Result choose_inside(size_t begin) {
    Result condition = infix(kComparison);
    if (!condition || !accept("?"))
      return condition;
    Result yes = choose();
    if (!yes)
      return yes;
    if (!accept(":"))
      return fail("expected `:` of the choice");
    Result no = choose();
    if (!no)
      return no;
    return node(Op::choose, {*condition, *yes, *no}, begin);
  }

  const Infix *next_infix(int binding) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    // Doubled symbols are none of ours: `//`, `**`.
    if (rest.size() > 1 && rest[0] == rest[1] && (rest[0] == '/' || rest[0] == '*'))
      return nullptr;
    const auto row =
        std::find_if(std::begin(kInfix), std::end(kInfix), [&](const Infix &i) { return rest.starts_with(i.symbol); });
    return row != std::end(kInfix) && row->binding >= binding ? row : nullptr;
  }

  // Operators of at least this binding, grouped to the left.
  Result infix(int binding) {
    skip_blanks();
    const size_t begin = at_;
    Result left = binding == kUnary ? unary() : infix(binding + 1);
    while (left && binding != kUnary) {
      const Infix *row = next_infix(binding);
      if (row == nullptr)
        break;
      at_ += row->symbol.size();
      Result right = infix(binding + 1);
      if (!right)
        return right;
      left = node(row->op, {std::move(*left), std::move(*right)}, begin);
      if (binding == kComparison && next_infix(kComparison) != nullptr)
        return fail("comparisons do not chain: set the first one in parentheses");
    }
    return left;
  }

  Result unary() {
    skip_blanks();
    const size_t begin = at_;
    int minuses = 0;
    while (accept("-"))
      ++minuses;
    skip_blanks();
    if (minuses > 0 && at_ < text_.size() && is_digit(text_[at_])) {
      Result value = integer(minuses % 2 != 0);
      return value ? Result(placed(std::move(*value), begin)) : value;
    }
    Result value = primary();
    if (value && minuses % 2 != 0)
      return node(Op::negate, {std::move(*value)}, begin);
    return value;
  }

  Result integer(bool negative) {
    const size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_]))
      ++at_;
    const std::string digits = (negative ? "-" : "") + std::string(text_.substr(begin, at_ - begin));
    long long value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc()) {
      diags_.add(DiagId::spec_number_too_large, source_.at(begin, at_ - begin), {digits});
      return std::nullopt;
    }
    if (at_ < text_.size() && is_letter(text_[at_]))
      return fail("expected an operator after the number");
    return placed(Size::integer(value), begin);
  }

  Result primary() {
    skip_blanks();
    const size_t begin = at_;
    if (at_ == text_.size())
      return fail(text_.find_first_not_of(" \t\n") == std::string_view::npos ? "the expression is empty"
                                                                             : "the expression ends too early");
    if (is_digit(text_[at_]))
      return integer(false);
    if (accept("(")) {
      Result inner = choose();
      if (inner && !accept(")"))
        return fail("expected `)`");
      return inner;
    }
    if (!is_letter(text_[at_]))
      return fail("expected a number, a name or `(`");
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_])))
      ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    const size_t end = at_;
    if (accept("("))
      return call(name, begin);
    skip_blanks();
    Size size = Size::axis(name);
    if (at_ == text_.size() || text_[at_] != '[')
      return size.place = source_.at(begin, end - begin), size;
    return subscripts(std::move(size), begin);
  }

  Result subscripts(Size table, size_t begin) {
    table.op = Op::table;
    while (accept("[")) {
      Result index = choose();
      if (!index)
        return index;
      if (!accept("]"))
        return fail(accept(",") ? "a table takes one bracket an index: t[a][b]" : "expected `]`");
      table.args.push_back(std::move(*index));
      table = placed(std::move(table), begin);
    }
    return table;
  }

  Result call(const std::string &name, size_t begin) {
    const auto function =
        std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function &f) { return f.name == name; });
    if (function == std::end(kFunctions)) {
      diags_.add(DiagId::spec_unknown_size_function, source_.at(begin, name.size()), {name}).help =
          "there are `min`, `max` and `cdiv` (division that rounds up)";
      return std::nullopt;
    }
    std::vector<Size> args;
    do {
      Result arg = choose();
      if (!arg)
        return arg;
      args.push_back(std::move(*arg));
    } while (accept(","));
    if (!accept(")"))
      return fail("expected `,` or `)`");
    if (args.size() < 2 || (args.size() > 2 && !function->many)) {
      diags_.add(DiagId::spec_size_function_arguments, source_.at(begin, at_ - begin),
                 {name, function->many ? "two or more" : "two", std::to_string(args.size())});
      return std::nullopt;
    }
    Size out = std::move(args[0]);
    for (size_t i = 1; i < args.size(); ++i)
      out = node(function->op, {std::move(out), std::move(args[i])}, begin);
    return out;
  }

  const PlacedText &source_;
  std::string_view text_;
  Diagnostics &diags_;
  size_t at_ = 0;
  int depth_ = 0;
};

} // namespace

std::optional<Size> parse_size(const PlacedText &text, Diagnostics &diags) { return Parser(text, diags).parse(); }

} // namespace kgen
