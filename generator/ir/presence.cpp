#include "ir/presence.h"

namespace kgen {

std::set<VarId> present_where(const Kernel &kernel, ExprId condition, bool value) {
  const Expr &e = kernel.expr(condition);
  if (e.op == Op::present && value)
    return {e.ref};
  if (e.op == Op::logical_not)
    return present_where(kernel, e.args[0], !value);
  if (e.op != (value ? Op::both : Op::either))
    return {};
  std::set<VarId> out = present_where(kernel, e.args[0], value);
  out.merge(present_where(kernel, e.args[1], value));
  return out;
}

void visit_reads(const Kernel &kernel, ExprId id, const std::set<VarId> &there, const SeeRead &see) {
  const Expr &e = kernel.expr(id);
  for (const Coordinate &coord : e.coords)
    visit_reads(kernel, coord.value, there, see);
  for (size_t i = 0; i < e.args.size(); ++i) {
    std::set<VarId> inner = there;
    if (e.op == Op::choose && i > 0)
      inner.merge(present_where(kernel, e.args[0], i == 1));
    if ((e.op == Op::both || e.op == Op::either) && i == 1)
      inner.merge(present_where(kernel, e.args[0], e.op == Op::both));
    if (e.op == Op::fold && i == 0 && e.args.size() > 1)
      inner.merge(present_where(kernel, e.args[1], true));
    visit_reads(kernel, e.args[i], inner, see);
  }
  if (e.op == Op::read)
    see(e, there);
}

} // namespace kgen
