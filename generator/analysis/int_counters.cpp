// Axes to whose size a loop counts in an `int`. Launchers refuse sizes that an int does not hold, where such a loop
// would never end; so the counter stays below the size.
#include <algorithm>

#include "analysis/bounds.h"
#include "analysis/flow.h"

namespace kgen::analysis {
namespace {

VarId int_counter(const Kernel &kernel, ExprId id) {
  const Expr &e = kernel.expr(id);
  if (e.op == Op::cast)
    return int_counter(kernel, e.args[0]);
  const bool counts = e.op == Op::read && e.type == Type::i32 && e.coords.empty() &&
                      kernel.vars[e.ref].kind == Var::Kind::local && kernel.vars[e.ref].array.empty();
  return counts ? e.ref : kNone;
}

bool changes(const std::vector<Stmt> &statements, VarId var) {
  return std::any_of(statements.begin(), statements.end(), [&](const Stmt &s) { return s.target == var; });
}

void mark_sizes(Kernel &kernel, ExprId id) {
  std::vector<AxisId> found;
  visit_expressions(kernel, id, [&](const Expr &e, ExprId) {
    if (e.op == Op::size && e.ref == kNone && kernel.axes[e.axis].ragged == kNone)
      found.push_back(e.axis);
  });
  for (AxisId axis : found)
    hold_in_int(kernel.axes[axis], INT32_MAX);
}

// The counters that the loop compares with something: where it starts or ends.
std::vector<VarId> limit_counters(Kernel &kernel, const Stmt &loop) {
  std::vector<VarId> out;
  if (loop.value == kNone || kernel.expr(loop.value).args.size() != 2)
    return out;
  for (const size_t side : {0, 1}) {
    const std::vector<ExprId> args = kernel.expr(loop.value).args;
    const VarId counter = int_counter(kernel, args[side]);
    if (counter == kNone || !changes(loop.step, counter))
      continue;
    mark_sizes(kernel, args[1 - side]);
    out.push_back(counter);
  }
  return out;
}

} // namespace

void find_int_counters(Kernel &kernel) {
  std::vector<VarId> counters;
  visit_statements(kernel.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind != Stmt::Kind::loop)
      return;
    const std::vector<VarId> some = limit_counters(kernel, stmt);
    counters.insert(counters.end(), some.begin(), some.end());
  });
  visit_statements(kernel.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind == Stmt::Kind::assign && std::count(counters.begin(), counters.end(), stmt.target) != 0)
      mark_sizes(kernel, stmt.value);
  });
}

} // namespace kgen::analysis
