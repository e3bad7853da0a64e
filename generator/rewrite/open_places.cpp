#include "rewrite/open_places.h"

#include <cstdlib>
#include <optional>

#include "analysis/flow.h"
#include "ir/axes_of_values.h"
#include "ir/op_rows.h"
#include "ir/rebuild.h"

namespace kgen {
namespace {

constexpr int kMostOperations = 8;                // more are better computed once
constexpr int64_t kMostNumber = int64_t{1} << 40; // of numbers that are added up

class Opening {
public:
  explicit Opening(const Kernel &kernel) : out_(kernel), rebuild_(out_) {}

  Kernel run() {
    rebuild_.run([](ExprId) { return kNone; }, [&](ExprId id) { return place(id); });
    find_axes_of_values(out_);
    return std::move(out_);
  }

private:
  ExprId place(ExprId id) {
    int operations = 0;
    return is_known(id, operations) ? opened(id) : rebuild_.now[id];
  }

  const Expr &expr(ExprId id) const { return rebuild_.before.expr(id); }

  // Is it computed of positions and of what is the same everywhere, in a few steps that all hold their exact value?
  bool is_known(ExprId id, int &operations) const {
    const Expr &e = expr(id);
    const bool asks = e.type == Type::boolean && e.op != Op::read && e.op != Op::scalar;
    if (e.type != Type::i64 && !(e.type == Type::i32 && is_bounded(e)) && !asks)
      return false;
    if (is_comparison(e.op) && !is_integer(expr(e.args[0]).type))
      return false;
    switch (e.op) {
    case Op::constant:
    case Op::index:
    case Op::size:
    case Op::scalar:
      return true;
    case Op::read: {
      const ExprId value = analysis::only_value(rebuild_.before, e);
      return value != kNone && is_known(value, operations);
    }
    case Op::cast:
      return is_known(e.args[0], operations);
    case Op::choose:
    case Op::both:
    case Op::either:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::eq:
    case Op::ne:
    case Op::logical_not:
    case Op::abs:
    case Op::neg:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::rem:
    case Op::min:
    case Op::max:
    case Op::clamp:
      return ++operations <= kMostOperations &&
             std::ranges::all_of(e.args, [&](ExprId arg) { return is_known(arg, operations); });
    default:
      return false;
    }
  }

  // Its numbers in 64 bits.
  ExprId opened(ExprId id) {
    Expr e = expr(id);
    if (e.op == Op::read)
      return opened(analysis::only_value(rebuild_.before, e));
    if (e.op == Op::cast && is_integer(expr(e.args[0]).type))
      return opened(e.args[0]);
    if (e.op == Op::scalar && e.type != Type::i64) {
      Expr wide = e;
      wide.op = Op::cast;
      wide.type = Type::i64;
      wide.args = {out_.add(e)};
      wide.ref = kNone;
      return out_.add(wide);
    }
    for (ExprId &arg : e.args)
      arg = opened(arg);
    if (is_integer(e.type))
      e.type = Type::i64;
    return out_.add(with_one_number(std::move(e)));
  }

  // x + 1 - 2 is x - 1.
  Expr with_one_number(Expr e) {
    const auto number = [&](const Expr &sum) -> std::optional<int64_t> {
      if ((sum.op != Op::add && sum.op != Op::sub) || out_.expr(sum.args[1]).op != Op::constant)
        return std::nullopt;
      const int64_t value = out_.expr(sum.args[1]).integer;
      return std::abs(value) > kMostNumber ? std::nullopt : std::optional(sum.op == Op::add ? value : -value);
    };
    const auto outer = number(e), inner = outer ? number(out_.expr(e.args[0])) : std::nullopt;
    if (!inner)
      return e;
    const int64_t both = *inner + *outer;
    if (both == 0)
      return out_.expr(out_.expr(e.args[0]).args[0]);
    Expr rest = out_.expr(e.args[1]);
    rest.integer = std::abs(both);
    e.op = both > 0 ? Op::add : Op::sub;
    e.args = {out_.expr(e.args[0]).args[0], out_.add(rest)};
    return e;
  }

  Kernel out_;
  Rebuild rebuild_;
};

} // namespace

Kernel open_places(const Kernel &kernel) { return Opening(kernel).run(); }

} // namespace kgen
