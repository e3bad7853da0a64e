#include "plan/index/asked.h"

namespace kgen {

std::set<VarId> outputs_asked_for(const Kernel &kernel, ExprId condition) {
  const Expr &e = kernel.expr(condition);
  if (e.op == Op::present && kernel.vars[e.ref].kind == Var::Kind::output)
    return {e.ref};
  if (e.op != Op::either)
    return {};
  std::set<VarId> left = outputs_asked_for(kernel, e.args[0]), right = outputs_asked_for(kernel, e.args[1]);
  if (left.empty() || right.empty())
    return {};
  left.merge(right);
  return left;
}

} // namespace kgen
