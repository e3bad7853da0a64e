#include "rewrite/counted_loops.h"

#include <algorithm>

#include "analysis/flow.h"
#include "ir/conversions.h"
#include "ir/op_rows.h"
#include "ir/statements.h"

namespace kgen {
namespace {

constexpr int64_t kShort = 16; // loops of so few rounds are written out by compilers

// Without what only widens it.
ExprId bare(const Kernel &kernel, ExprId id) {
  const Expr &e = kernel.expr(id);
  const bool widens = e.op == Op::cast && is_integer(e.type) && is_integer(kernel.expr(e.args[0]).type) &&
                      holds_all(e.type, kernel.expr(e.args[0]).type);
  return widens ? bare(kernel, e.args[0]) : id;
}

bool is_local(const Expr &e, VarId var) { return e.op == Op::read && e.ref == var && e.coords.empty(); }

class Counted {
public:
  Counted(const Kernel &kernel, const std::vector<Stmt> &statements, size_t at)
      : kernel_(kernel), statements_(statements), at_(at), loop_(statements[at]) {}

  std::optional<CountedLoop> find() {
    if (loop_.kind != Stmt::Kind::loop || loop_.value == kNone || !find_counter() || !find_start() || !find_axis())
      return std::nullopt;
    return out_;
  }

private:
  const Expr &condition() const { return kernel_.expr(loop_.value); }
  const Expr &bare_expr(ExprId id) const { return kernel_.expr(bare(kernel_, id)); }
  bool is_constant(ExprId id, int64_t value) const {
    return kernel_.expr(id).op == Op::constant && kernel_.expr(id).integer == value;
  }

  // k of `k < ...` and `++k`.
  bool find_counter() {
    if ((condition().op != Op::lt && condition().op != Op::le && condition().op != Op::ne) || loop_.step.size() != 1)
      return false;
    const Expr &counter = bare_expr(condition().args[0]);
    const Stmt &step = loop_.step.front();
    if (counter.op != Op::read || !is_integer(counter.type) || counter.type == Type::u64 ||
        kernel_.vars[counter.ref].kind != Var::Kind::local || step.kind != Stmt::Kind::assign ||
        step.target != counter.ref || !step.indices.empty())
      return false;
    out_.counter = counter.ref;
    out_.high = condition().args[1];
    out_.with_high = condition().op == Op::le;
    const Expr &next = kernel_.expr(step.value);
    return next.op == Op::add && is_local(kernel_.expr(next.args[0]), out_.counter) && is_constant(next.args[1], 1) &&
           is_settled(out_.high, at_);
  }

  bool find_start() {
    int settings = 0;
    for_each(kernel_.statements, [&](const Stmt &s) { settings += s.target == out_.counter ? 1 : 0; });
    const auto starts = [&](const Stmt &s) { return s.kind == Stmt::Kind::assign && s.target == out_.counter; };
    const auto end = statements_.begin() + static_cast<ptrdiff_t>(at_);
    const auto found = std::find_if(statements_.begin(), end, starts);
    if (settings != 2 || found == end || readers_of(kernel_, out_.counter) != readers_in(kernel_, loop_, out_.counter))
      return false;
    out_.start = static_cast<size_t>(found - statements_.begin());
    if (is_constant(found->value, 0))
      return true;
    out_.low = found->value;
    return condition().op != Op::ne && is_integer(kernel_.expr(out_.low).type) &&
           kernel_.expr(out_.low).bounds.low >= 0 && is_settled(out_.low, out_.start + 1);
  }

  // Is it the same from that statement on until the loop ends?
  bool is_settled(ExprId id, size_t from) const {
    bool settled = kernel_.expr(id).type != Type::u64;
    const std::vector<Stmt> between(statements_.begin() + static_cast<ptrdiff_t>(from),
                                    statements_.begin() + static_cast<ptrdiff_t>(at_) + 1);
    for_each(between, [&](const Stmt &s) {
      settled = settled && (s.target == kNone || !analysis::reads(kernel_, id, s.target));
    });
    return settled;
  }

  // That whose size it counts to, or that of which it picks places.
  bool find_axis() {
    const Expr &high = bare_expr(out_.high);
    if (high.op == Op::size && high.ref == kNone && !out_.with_high) {
      out_.axis = high.axis;
      out_.high = kNone;
      return is_plain(out_.axis);
    }
    if (condition().op == Op::ne || (high.op == Op::constant && high.integer < kShort))
      return false;
    for_each(loop_.body, [&](const Stmt &s) {
      for (ExprId id : analysis::expressions_of(s))
        analysis::visit_expressions(kernel_, id, [&](const Expr &e, ExprId) {
          for (const Coordinate &c : e.coords)
            if (is_counter(kernel_, c.value, out_.counter) && c.axis != kNone && kernel_.axes[c.axis].ragged == kNone &&
                is_plain(c.axis) && ends_in(c.axis))
              out_.axis = c.axis;
        });
    });
    if (out_.axis != kNone && high.op == Op::constant &&
        kernel_.axes[out_.axis].size.is_integer(high.integer + (out_.with_high ? 1 : 0)))
      out_.high = kNone;
    return out_.axis != kNone;
  }

  bool is_plain(AxisId id) const {
    const Axis &axis = kernel_.axes[id];
    return axis.uniform && axis.grid == kNone && axis.start.is_integer(0) && is_size_of(axis, axis.block) &&
           !(axis.size.is_integer() && axis.size.value < kShort);
  }

  // Is the last number that it counts to a position of the axis?
  bool ends_in(AxisId axis) const {
    const Expr &high = bare_expr(out_.high);
    const Size &size = kernel_.axes[axis].size;
    const int64_t beyond = out_.with_high ? 1 : 0; // it counts to less than high + beyond
    if (high.op == Op::constant)
      return size.is_integer() && high.integer + beyond <= size.value;
    if (high.op == Op::sub && kernel_.expr(high.args[1]).op == Op::constant) {
      const Expr &all = bare_expr(high.args[0]);
      return all.op == Op::size && all.axis == axis && all.ref == kNone && kernel_.expr(high.args[1]).integer >= beyond;
    }
    if (high.op == Op::add && !out_.with_high && is_constant(high.args[1], 1))
      return kernel_.expr(high.args[0]).bounds.below == axis;
    return high.bounds.below == axis;
  }

  const Kernel &kernel_;
  const std::vector<Stmt> &statements_;
  const size_t at_;
  const Stmt &loop_;
  CountedLoop out_;
};

bool reads_itself(const Kernel &kernel, const Stmt &s, VarId var) {
  return std::ranges::any_of(analysis::expressions_of(s), [&](ExprId id) { return analysis::reads(kernel, id, var); });
}

} // namespace

std::optional<CountedLoop> counted_loop(const Kernel &kernel, const std::vector<Stmt> &statements, size_t at) {
  return Counted(kernel, statements, at).find();
}

bool is_counter(const Kernel &kernel, ExprId id, VarId counter) {
  return is_local(kernel.expr(bare(kernel, id)), counter);
}

int readers_of(const Kernel &kernel, VarId var) {
  int count = 0;
  for_each(kernel.statements, [&](const Stmt &s) { count += reads_itself(kernel, s, var) ? 1 : 0; });
  return count;
}

int readers_in(const Kernel &kernel, const Stmt &stmt, VarId var) {
  int count = reads_itself(kernel, stmt, var) ? 1 : 0;
  for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
    for_each(*inner, [&](const Stmt &s) { count += reads_itself(kernel, s, var) ? 1 : 0; });
  return count;
}

AxisSet axes_around(const Kernel &kernel, const Stmt &loop) {
  AxisSet out = loop.context | loop.axes;
  for_each(loop.body, [&](const Stmt &s) {
    out |= s.axes | s.context;
    for (ExprId id : analysis::expressions_of(s))
      analysis::visit_expressions(kernel, id, [&](const Expr &e, ExprId) { out |= e.axes | e.reduced; });
  });
  return out;
}

} // namespace kgen
