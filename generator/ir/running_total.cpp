#include "ir/running_total.h"

#include <algorithm>

namespace kgen {
namespace {

struct RunningRow {
  Op op, together;
  Monoid monoid;
  bool either_way; // `value op target` as well
};

constexpr RunningRow kRunning[] = {
    {Op::add, Op::add, Monoid::sum, true},     {Op::sub, Op::add, Monoid::sum, false},
    {Op::mul, Op::mul, Monoid::product, true}, {Op::min, Op::min, Monoid::min, true},
    {Op::max, Op::max, Monoid::max, true},     {Op::either, Op::either, Monoid::any, true},
    {Op::both, Op::both, Monoid::all, true},
};

bool is_target(const Kernel &kernel, ExprId id, VarId target) {
  const Expr &e = kernel.expr(id);
  return e.op == Op::read && e.ref == target && e.coords.empty();
}

std::optional<RunningTotal> always(const Kernel &kernel, VarId target, ExprId value) {
  const Expr &e = kernel.expr(value);
  RunningTotal out;
  out.target = target;
  out.type = e.type;
  if (e.op == Op::fma && is_target(kernel, e.args[2], target)) {
    out.value = e.args[0];
    out.factor = e.args[1];
    return out;
  }
  const auto row = std::ranges::find(kRunning, e.op, &RunningRow::op);
  const bool asks = e.op == Op::either || e.op == Op::both;
  if (row == std::end(kRunning) || asks != (e.type == Type::boolean))
    return std::nullopt;
  out.op = row->together;
  out.monoid = row->monoid;
  out.is_taken_away = row->op != row->together;
  for (const size_t own : {size_t{0}, size_t{1}})
    if (is_target(kernel, e.args[own], target) && (own == 0 || row->either_way)) {
      out.value = e.args[1 - own];
      return out;
    }
  return std::nullopt;
}

} // namespace

std::optional<RunningTotal> running_total(const Kernel &kernel, const Stmt &s) {
  if (s.kind != Stmt::Kind::assign || !s.indices.empty() || !s.coords.empty() ||
      kernel.vars[s.target].kind != Var::Kind::local)
    return std::nullopt;
  const Expr &e = kernel.expr(s.value);
  if (e.op != Op::choose || !is_target(kernel, e.args[2], s.target))
    return always(kernel, s.target, s.value);
  std::optional<RunningTotal> out = always(kernel, s.target, e.args[1]);
  if (out)
    out->condition = e.args[0];
  return out;
}

} // namespace kgen
