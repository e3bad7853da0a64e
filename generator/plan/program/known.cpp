#include "plan/program/known.h"

#include <algorithm>
#include <vector>

#include "ir/evaluate.h"
#include "ir/op_rows.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

class KnownConditions {
public:
  explicit KnownConditions(const Kernel &kernel) : kernel_(kernel) {}

  std::optional<bool> of(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if (e.type != Type::boolean)
      return std::nullopt;
    if (compares_with_itself(e))
      return e.op == Op::eq || e.op == Op::le || e.op == Op::ge;
    if (const std::optional<int64_t> known = known_value(id))
      return *known != 0;
    return always_compares(e);
  }

private:
  // Of operations on whole constants.
  std::optional<int64_t> known_value(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if (is_floating(e.type))
      return std::nullopt;
    if (e.op == Op::constant)
      return e.integer;
    if (e.op == Op::cast && e.type == Type::boolean && !is_floating(kernel_.expr(e.args[0]).type)) {
      const std::optional<bool> known = differs_from_zero(e.args[0]);
      return known ? std::optional<int64_t>(*known ? 1 : 0) : std::nullopt;
    }
    if (!is_scalar_op(e.op) || e.args.empty() || is_floating(kernel_.expr(e.args[0]).type))
      return std::nullopt;
    std::vector<Value> values;
    for (ExprId arg : e.args) {
      const std::optional<int64_t> value = known_value(arg);
      if (!value)
        return std::nullopt;
      values.push_back(integer_value(*value));
    }
    return evaluate(e.op, e.type, kernel_.expr(e.args[0]).type, values.data()).integer;
  }

  // Whole numbers that are surely one; a compiler sees through a comparison turned round.
  bool are_one(ExprId a, ExprId b) const {
    const Expr &x = kernel_.expr(a), &y = kernel_.expr(b);
    if (same(kernel_, a, b))
      return true;
    if (x.type != y.type || x.args.empty() || x.args.size() != y.args.size())
      return false;
    if (x.op == Op::cast && y.op == Op::cast)
      return are_one(x.args[0], y.args[0]);
    return is_comparison(x.op) && y.op == mirrored(x.op) && same(kernel_, x.args[0], y.args[1]) &&
           same(kernel_, x.args[1], y.args[0]);
  }

  bool compares_with_itself(const Expr &e) const {
    return is_comparison(e.op) && !is_floating(kernel_.expr(e.args[0]).type) && are_one(e.args[0], e.args[1]);
  }

  // A whole number has each bit of what `|` adds, and none that `&` leaves out.
  bool surely_differs(ExprId id, int64_t from) const {
    const Expr &e = kernel_.expr(id);
    return (e.op == Op::bit_or || e.op == Op::bit_and) && std::any_of(e.args.begin(), e.args.end(), [&](ExprId arg) {
             const std::optional<int64_t> bits = known_value(arg);
             return bits && (e.op == Op::bit_or ? *bits & ~from : ~*bits & from) != 0;
           });
  }

  std::optional<bool> differs_from_zero(ExprId id) const {
    if (const std::optional<int64_t> known = known_value(id))
      return *known != 0;
    return surely_differs(id, 0) ? std::optional<bool>(true) : std::nullopt;
  }

  // What a comparison of whole numbers gives, whatever they are.
  std::optional<bool> always_compares(const Expr &e) const {
    if (!is_comparison(e.op) || is_floating(kernel_.expr(e.args[0]).type))
      return std::nullopt;
    if (e.op == Op::eq || e.op == Op::ne)
      for (int k : {0, 1})
        if (const auto known = known_value(e.args[k]); known && surely_differs(e.args[1 - k], *known))
          return e.op == Op::ne;
    if (const std::optional<bool> known = compares_unsigned_with_zero(e))
      return known;
    const std::optional<Bounds> a = range_of(e.args[0]), b = range_of(e.args[1]);
    if (!a || !b)
      return std::nullopt;
    const bool below = a->high<b->low, above = a->low> b->high;
    switch (e.op) {
    case Op::lt:
    case Op::ge:
      return below || a->low >= b->high ? std::optional<bool>(below == (e.op == Op::lt)) : std::nullopt;
    case Op::gt:
    case Op::le:
      return above || a->high <= b->low ? std::optional<bool>(above == (e.op == Op::gt)) : std::nullopt;
    default:
      return below || above ? std::optional<bool>(e.op == Op::ne) : std::nullopt;
    }
  }

  // Of constants, and of elements of small types, widened.
  std::optional<Bounds> range_of(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if (e.type == Type::u64)
      return std::nullopt;
    if (const std::optional<int64_t> known = known_value(id))
      return Bounds{*known, *known};
    if (e.op != Op::cast)
      return std::nullopt;
    const Type from = kernel_.expr(e.args[0]).type;
    const bool keeps =
        !is_floating(from) && bytes_of(from) < bytes_of(e.type) && (is_unsigned(from) || !is_unsigned(e.type));
    return keeps ? std::optional<Bounds>(bounds_of(from)) : std::nullopt;
  }

  // Whether it is below, which it never is.
  std::optional<bool> compares_unsigned_with_zero(const Expr &e) const {
    const bool left = e.op == Op::lt || e.op == Op::ge, right = e.op == Op::gt || e.op == Op::le;
    if ((!left && !right) || !is_unsigned(kernel_.expr(e.args[0]).type) || known_value(e.args[left ? 1 : 0]) != 0)
      return std::nullopt;
    return e.op == Op::ge || e.op == Op::le;
  }

  const Kernel &kernel_;
};

// Where such a window ends early, what reads it has no more lanes, whatever comes out.
bool reads_windows(const Kernel &kernel, ExprId id) {
  const auto ends_early = [](const Dim &dim) { return dim.axis != kNone && !dim.whole && !dim.offset; };
  return any_node(kernel, id, [&](const Expr &e) {
    return e.op == Op::read && std::ranges::any_of(kernel.vars[e.ref].dims, ends_early);
  });
}

} // namespace

std::optional<bool> known_answer(const Kernel &kernel, ExprId id) { return KnownConditions(kernel).of(id); }

std::optional<bool> known_condition(const Kernel &kernel, ExprId id) {
  const std::optional<bool> known = known_answer(kernel, id);
  return known && !reads_windows(kernel, id) ? known : std::nullopt;
}

} // namespace kgen
