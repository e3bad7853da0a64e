#include "analysis/packing.h"

#include <algorithm>
#include <bit>

#include "analysis/flow.h"

namespace kgen::analysis {
namespace {

class Packing {
public:
  Packing(const Kernel &kernel, const Stmt &stmt, const std::vector<const Stmt *> &around) : kernel_(kernel) {
    for (size_t i = 0; i < around.size(); ++i) {
      loops_ = loops_ || around[i]->kind == Stmt::Kind::loop;
      const Stmt *inner = i + 1 < around.size() ? around[i + 1] : &stmt;
      const bool holds = std::any_of(around[i]->body.begin(), around[i]->body.end(),
                                     [&](const Stmt &child) { return &child == inner; });
      if (holds && around[i]->kind == Stmt::Kind::branch)
        add_condition(around[i]->value);
    }
  }

  struct Count {
    AxisId axis;
    bool in_int; // so that the axis must not be longer than what an int holds
  };
  // The running count in the place, beside what does not change along its axis.
  std::optional<Count> count(ExprId place) const {
    const Expr &e = settled(place);
    if (e.op == Op::scan)
      return !loops_ && grows(e) ? std::optional(Count{e.axis, e.type == Type::i32}) : std::nullopt;
    if (e.op == Op::cast && e.type == Type::i32)
      if (const std::optional<Count> found = count(e.args[0]))
        return Count{found->axis, true};
    if (e.op != Op::add && e.op != Op::sub)
      return std::nullopt;
    for (const size_t side : {0, 1}) {
      const std::optional<Count> found = count(e.args[side]);
      if (found && !kernel_.expr(e.args[1 - side]).axes.contains(found->axis))
        return found;
    }
    return std::nullopt;
  }

private:
  void add_condition(ExprId id) {
    const Expr &e = settled(id);
    if (e.op != Op::both)
      return conditions_.push_back(&e);
    for (ExprId arg : e.args)
      add_condition(arg);
  }

  // Each lane that comes here has added at least one, and no lane has taken away any.
  bool grows(const Expr &scan) const {
    if (scan.scan != ScanKind::sum || (scan.type != Type::i32 && scan.type != Type::i64))
      return false;
    const Axis &axis = kernel_.axes[scan.axis];
    const Expr &added = kernel_.expr(scan.args[0]);
    if (!axis.uniform || !is_size_of(axis, axis.block) || added.bounds.low < 0 || added.bounds.high > 1)
      return false;
    const Expr &what = settled(scan.args[0]);
    const bool one =
        what.op == Op::choose && settled(what.args[1]).op == Op::constant && settled(what.args[1]).integer == 1;
    return added.bounds.low == 1 || holds(one ? settled(what.args[0]) : what);
  }

  bool holds(const Expr &wanted) const {
    if (wanted.op == Op::both)
      return std::all_of(wanted.args.begin(), wanted.args.end(), [&](ExprId arg) { return holds(settled(arg)); });
    return wanted.type == Type::boolean &&
           std::any_of(conditions_.begin(), conditions_.end(), [&](const Expr *e) { return same(*e, wanted); });
  }

  // Without casts that keep the value, and with what locals were set to where that is all they ever are.
  const Expr &settled(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::cast && is_integer(e.type) && bytes_of(e.type) >= bytes_of(kernel_.expr(e.args[0]).type))
      return settled(e.args[0]);
    const ExprId value = only_value(kernel_, e);
    return value != kNone ? settled(value) : e;
  }

  // Do both give the same, wherever they stand?
  bool same(const Expr &a, const Expr &b) const {
    if (&a == &b)
      return true;
    const bool alike = a.op == b.op && a.type == b.type && a.ref == b.ref && a.axis == b.axis && a.axes == b.axes &&
                       a.integer == b.integer &&
                       std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number) &&
                       a.element == b.element && a.args.size() == b.args.size() && a.coords.empty() && b.coords.empty();
    if (!alike || !stays(a))
      return false;
    for (size_t i = 0; i < a.args.size(); ++i)
      if (!same(settled(a.args[i]), settled(b.args[i])))
        return false;
    return true;
  }

  bool stays(const Expr &e) const {
    if (e.op == Op::read)
      return kernel_.vars[e.ref].kind == Var::Kind::input && kernel_.vars[e.ref].alias == kNone;
    return e.op == Op::constant || e.op == Op::scalar || e.op == Op::index || e.op == Op::size || e.op == Op::cast ||
           e.op == Op::both || e.op == Op::either || is_scalar_op(e.op);
  }

  const Kernel &kernel_;
  std::vector<const Expr *> conditions_;
  bool loops_ = false;
};

} // namespace

AxisId packed_axis(Kernel &kernel, ExprId place, const Stmt &stmt, const std::vector<const Stmt *> &around) {
  const auto count = Packing(kernel, stmt, around).count(place);
  if (!count)
    return kNone;
  if (count->in_int)
    hold_in_int(kernel.axes[count->axis], INT32_MAX);
  return count->axis;
}

} // namespace kgen::analysis
