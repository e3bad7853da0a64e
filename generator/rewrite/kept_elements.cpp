#include "rewrite/kept_elements.h"

#include <cmath>
#include <optional>

#include "ir/axes_of_values.h"
#include "ir/conversions.h"
#include "ir/rebuild.h"

namespace kgen {
namespace {

// Does a fold that takes it up stay as it was?
bool is_nothing(const Expr &e, Monoid monoid) {
  if (e.op != Op::constant)
    return false;
  const bool floating = is_floating(e.type);
  const double value = floating ? e.number : static_cast<double>(e.integer);
  switch (monoid) {
  case Monoid::sum:
    return value == 0;
  case Monoid::product:
    return value == 1;
  case Monoid::any:
    return value == 0;
  case Monoid::all:
    return value != 0;
  case Monoid::max:
    return floating && value == -INFINITY;
  case Monoid::min:
    return floating && value == INFINITY;
  default: // a mean counts its elements, and the place of the best is one of theirs
    return false;
  }
}

class Keeping {
public:
  explicit Keeping(const Kernel &kernel) : out_(kernel) {}

  Kernel run() {
    Rebuild rebuild(out_);
    rebuild.run([&](ExprId id) { return made(rebuild, id); });
    find_axes_of_values(out_);
    return std::move(out_);
  }

private:
  // kNone: as it was.
  ExprId made(const Rebuild &rebuild, ExprId id) {
    Expr fold = rebuild.before.expr(id);
    if (fold.op != Op::fold)
      return kNone;
    ExprId choice = fold.args[0];
    while (widens(rebuild.before, choice))
      choice = rebuild.before.expr(choice).args[0];
    const Expr &element = rebuild.before.expr(choice);
    const auto is_left_out = [&](size_t arg) {
      return element.op == Op::choose && is_nothing(rebuild.before.expr(element.args[arg]), fold.monoid);
    };
    if (!is_left_out(1) && !is_left_out(2))
      return kNone;
    const bool keeps = is_left_out(2);
    const Type type = rebuild.before.expr(fold.args[0]).type;
    ExprId value = rebuild.now[element.args[keeps ? 1 : 2]], kept = rebuild.now[element.args[0]];
    if (out_.expr(value).type != type)
      value = made(Op::cast, type, {value}, fold.place);
    if (!keeps)
      kept = made(Op::logical_not, Type::boolean, {kept}, fold.place);
    if (fold.args.size() > 1)
      kept = made(Op::both, Type::boolean, {rebuild.now[fold.args[1]], kept}, fold.place);
    fold.args = {value, kept};
    return out_.add(std::move(fold));
  }

  // Then the outermost type alone says what becomes of the value.
  static bool widens(const Kernel &kernel, ExprId id) {
    const Expr &e = kernel.expr(id);
    if (e.op != Op::cast)
      return false;
    const Type from = kernel.expr(e.args[0]).type;
    if (is_integer(e.type) && is_integer(from))
      return holds_all(e.type, from);
    return (is_integer(e.type) && from == Type::boolean) || (e.type == Type::f64 && from == Type::f32);
  }

  ExprId made(Op op, Type type, std::vector<ExprId> args, const Place &place) {
    Expr e;
    e.op = op;
    e.type = type;
    e.args = std::move(args);
    e.place = place;
    return out_.add(std::move(e));
  }

  Kernel out_;
};

} // namespace

Kernel kept_elements(const Kernel &kernel) { return Keeping(kernel).run(); }

} // namespace kgen
