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

// How closely the outermost operation of a text binds: the same in both languages.
enum Binding { kChoice, kComparison, kSum, kProduct, kSign, kAtom };
struct Written {
  std::string text;
  Binding binding = kAtom;
};

class Writer {
public:
  Writer(const SpellName &spell, bool python) : spell_(spell), python_(python) {}

  Written write(const Size &s) {
    switch (s.op) {
    case SizeOp::integer:
      return {std::to_string(s.value), s.value < 0 ? kSign : kAtom};
    case SizeOp::axis:
    case SizeOp::param:
    case SizeOp::table:
      return {spell_(s)};
    case SizeOp::negate:
      return {"-" + operand(s.args[0], kAtom), kSign};
    case SizeOp::add:
    case SizeOp::subtract:
      return infix(s, kSum);
    case SizeOp::multiply:
      return infix(s, kProduct);
    case SizeOp::divide:
    case SizeOp::modulo:
    case SizeOp::cdiv:
      return division(s);
    case SizeOp::choose:
      return choice(s);
    case SizeOp::min:
    case SizeOp::max:
      return {std::string(python_ ? "" : "std::") + (s.op == SizeOp::min ? "min" : "max") +
              (python_ ? "" : "<int64_t>") + arguments(s)};
    case SizeOp::grid:
    case SizeOp::grid_size:
      KGEN_UNREACHABLE("an extent over steps");
    default:
      return {operand(s.args[0], kSum) + " " + symbol(s.op) + " " + operand(s.args[1], kSum), kComparison};
    }
  }

private:
  // In parentheses where it binds less closely than this.
  std::string operand(const Size &s, Binding least) {
    const Written w = write(s);
    return w.binding < least ? "(" + w.text + ")" : w.text;
  }
  std::string arguments(const Size &s) { return "(" + write(s.args[0]).text + ", " + write(s.args[1]).text + ")"; }

  Written infix(const Size &s, Binding binding) {
    return {operand(s.args[0], binding) + " " + symbol(s.op) + " " +
                operand(s.args[1], static_cast<Binding>(binding + 1)),
            binding};
  }

  Written division(const Size &s) {
    const bool is_safe = s.args[1].is_integer() && s.args[1].value != 0;
    if (!python_ || !is_safe) {
      const char *name = s.op == SizeOp::divide ? "floor_div" : s.op == SizeOp::modulo ? "floor_mod" : "ceil_div";
      return {(python_ ? "_" : "") + (name + arguments(s))};
    }
    const std::string divisor = operand(s.args[1], kSign);
    if (s.op == SizeOp::cdiv)
      return {"-(-" + operand(s.args[0], kAtom) + " // " + divisor + ")", kSign};
    return {operand(s.args[0], kProduct) + (s.op == SizeOp::divide ? " // " : " % ") + divisor, kProduct};
  }

  Written choice(const Size &s) {
    const std::string condition = operand(s.args[0], kComparison), yes = operand(s.args[1], kComparison),
                      no = operand(s.args[2], kComparison);
    return {python_ ? yes + " if " + condition + " else " + no : condition + " ? " + yes + " : " + no, kChoice};
  }

  const SpellName &spell_;
  bool python_;
};

} // namespace

std::string python_size(const Size &size, const SpellName &spell) { return Writer(spell, true).write(size).text; }

std::string cpp_size(const Size &size, const SpellName &spell) { return Writer(spell, false).write(size).text; }

bool may_divide_by_zero(const Size &size) {
  return any_node(size,
                  [](const Size &s) { return divides(s.op) && !(s.args[1].is_integer() && s.args[1].value != 0); });
}

} // namespace kgen
