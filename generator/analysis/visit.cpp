// Walks over statements and expressions, for questions about all of them.
#include "analysis/flow.h"

namespace kgen::analysis {

void visit_expressions(const Kernel &kernel, ExprId id, const std::function<void(const Expr &, ExprId)> &visit) {
  if (id == kNone)
    return;
  const Expr &expr = kernel.expr(id);
  visit(expr, id);
  for (ExprId arg : expr.args)
    visit_expressions(kernel, arg, visit);
  for (const Coordinate &coordinate : expr.coords)
    visit_expressions(kernel, coordinate.value, visit);
}

std::vector<ExprId> expressions_of(const Stmt &stmt) {
  std::vector<ExprId> out = stmt.indices;
  for (const Coordinate &coordinate : stmt.coords)
    out.push_back(coordinate.value);
  if (stmt.value != kNone)
    out.push_back(stmt.value);
  for (const Shown &shown : stmt.shown)
    if (shown.value != kNone)
      out.push_back(shown.value);
  return out;
}

namespace {

void visit_nested(const std::vector<Stmt> &statements, std::vector<const Stmt *> &enclosing,
                  const std::function<void(const Stmt &, const std::vector<const Stmt *> &)> &visit) {
  for (const Stmt &stmt : statements) {
    visit(stmt, enclosing);
    enclosing.push_back(&stmt);
    for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
      visit_nested(*inner, enclosing, visit);
    enclosing.pop_back();
  }
}

} // namespace

void visit_statements(const std::vector<Stmt> &statements,
                      const std::function<void(const Stmt &, const std::vector<const Stmt *> &)> &visit) {
  std::vector<const Stmt *> enclosing;
  visit_nested(statements, enclosing, visit);
}

} // namespace kgen::analysis
