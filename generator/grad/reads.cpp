#include "grad/reads.h"

namespace kgen::grad {
namespace {

void count(const Kernel &kernel, ExprId id, VarId but, Reads &out) {
  if (id == kNone)
    return;
  const Expr &e = kernel.expr(id);
  if (e.op == Op::read && e.ref != but)
    ++out[e.ref];
  for (ExprId arg : e.args)
    count(kernel, arg, but, out);
  for (const Coordinate &c : e.coords)
    count(kernel, c.value, but, out);
}

void count(const Kernel &kernel, const Stmt &stmt, Reads &out) {
  count(kernel, stmt.value, stmt.kind == Stmt::Kind::assign && stmt.scatter_add ? stmt.target : kNone, out);
  for (ExprId index : stmt.indices)
    count(kernel, index, kNone, out);
  for (const Coordinate &c : stmt.coords)
    count(kernel, c.value, kNone, out);
  for (const auto *list : {&stmt.body, &stmt.otherwise, &stmt.step})
    for (const Stmt &inner : *list)
      count(kernel, inner, out);
}

} // namespace

Reads reads_of(const Kernel &kernel, const std::vector<Stmt> &statements) {
  Reads out;
  for (const Stmt &stmt : statements)
    count(kernel, stmt, out);
  return out;
}

} // namespace kgen::grad
