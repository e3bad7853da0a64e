#include "emit/bindings/size_text.h"

#include "support/check.h"

namespace kgen {
namespace {

using SizeOp = Size::Op;

bool divides(SizeOp op) { return op == SizeOp::divide || op == SizeOp::modulo || op == SizeOp::cdiv; }

const char *symbol(SizeOp op) {
  switch (op) {
  case SizeOp::add:
    return "+";
  case SizeOp::subtract:
    return "-";
  case SizeOp::multiply:
    return "*";
  case SizeOp::less:
    return "<";
  case SizeOp::less_equal:
    return "<=";
  case SizeOp::greater:
    return ">";
  case SizeOp::greater_equal:
    return ">=";
  case SizeOp::equal:
    return "==";
  case SizeOp::not_equal:
    return "!=";
  default:
    KGEN_UNREACHABLE("no infix operation");
  }
}

// Parentheses around all that is no name, number or call: right whatever stands beside it.
class Writer {
public:
  Writer(const SpellName &spell, bool python) : spell_(spell), python_(python) {}

  std::string outermost(const Size &s) {
    const std::string text = write(s);
    return text.front() == '(' && closes_at_end(text) ? text.substr(1, text.size() - 2) : text;
  }

  std::string write(const Size &s) {
    switch (s.op) {
    case SizeOp::integer:
      return s.value < 0 ? "(" + std::to_string(s.value) + ")" : std::to_string(s.value);
    case SizeOp::axis:
    case SizeOp::param:
    case SizeOp::table:
      return spell_(s);
    case SizeOp::negate:
      return "(-" + write(s.args[0]) + ")";
    case SizeOp::divide:
    case SizeOp::modulo:
    case SizeOp::cdiv:
      return division(s);
    case SizeOp::choose:
      return choice(s);
    case SizeOp::min:
    case SizeOp::max:
      return std::string(python_ ? "" : "std::") + (s.op == SizeOp::min ? "min" : "max") +
             (python_ ? "(" : "<int64_t>(") + outermost(s.args[0]) + ", " + outermost(s.args[1]) + ")";
    case SizeOp::grid:
    case SizeOp::grid_size:
      KGEN_UNREACHABLE("an extent over steps");
    default:
      return "(" + write(s.args[0]) + " " + symbol(s.op) + " " + write(s.args[1]) + ")";
    }
  }

private:
  std::string division(const Size &s) {
    const std::string a = outermost(s.args[0]), b = outermost(s.args[1]);
    const bool is_safe = s.args[1].is_integer() && s.args[1].value != 0;
    if (!python_ || !is_safe)
      return std::string(python_ ? "_" : "") +
             (s.op == SizeOp::divide   ? "floor_div("
              : s.op == SizeOp::modulo ? "floor_mod("
                                       : "ceil_div(") +
             a + ", " + b + ")";
    const std::string left = write(s.args[0]), right = write(s.args[1]);
    if (s.op == SizeOp::cdiv)
      return "(-(-" + left + " // " + right + "))";
    return "(" + left + (s.op == SizeOp::divide ? " // " : " % ") + right + ")";
  }

  std::string choice(const Size &s) {
    const std::string condition = write(s.args[0]), yes = write(s.args[1]), no = write(s.args[2]);
    return python_ ? "(" + yes + " if " + condition + " else " + no + ")"
                   : "(" + condition + " ? " + yes + " : " + no + ")";
  }

  static bool closes_at_end(const std::string &text) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0)
        return i + 1 == text.size();
    }
    return false;
  }

  const SpellName &spell_;
  bool python_;
};

} // namespace

std::string python_size(const Size &size, const SpellName &spell) { return Writer(spell, true).outermost(size); }

std::string cpp_size(const Size &size, const SpellName &spell) { return Writer(spell, false).outermost(size); }

bool may_divide_by_zero(const Size &size) {
  return any_node(size,
                  [](const Size &s) { return divides(s.op) && !(s.args[1].is_integer() && s.args[1].value != 0); });
}

} // namespace kgen
