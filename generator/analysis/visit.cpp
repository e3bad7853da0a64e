// Walks over statements and expressions, for questions about all of them.
#include "analysis/flow.h"

#include <algorithm>

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

bool reads(const Kernel &kernel, ExprId id, VarId var) {
  bool found = false;
  visit_expressions(kernel, id, [&](const Expr &e, ExprId) {
    found = found || ((e.op == Op::read || e.op == Op::element || e.op == Op::inside) && e.ref == var);
  });
  return found;
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

void visit_with_locals(const Kernel &kernel, ExprId id, std::set<VarId> &seen,
                       const std::function<void(const Expr &, ExprId)> &visit) {
  std::set<VarId> locals;
  visit_expressions(kernel, id, [&](const Expr &e, ExprId inner) {
    visit(e, inner);
    if (e.op == Op::read && kernel.vars[e.ref].kind == Var::Kind::local && seen.insert(e.ref).second)
      locals.insert(e.ref);
  });
  if (locals.empty())
    return;
  visit_statements(kernel.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind == Stmt::Kind::assign && locals.count(stmt.target) != 0)
      visit_with_locals(kernel, stmt.value, seen, visit);
  });
}

ExprId only_value(const Kernel &kernel, const Expr &read) {
  if (read.op != Op::read || !read.coords.empty())
    return kNone;
  const Var &var = kernel.vars[read.ref];
  if (var.kind != Var::Kind::local || !var.array.empty())
    return kNone;
  int settings = 0;
  ExprId value = kNone;
  visit_statements(kernel.statements, [&](const Stmt &stmt, const std::vector<const Stmt *> &enclosing) {
    if (stmt.target != read.ref)
      return;
    ++settings;
    const bool in_loop = std::any_of(enclosing.begin(), enclosing.end(),
                                     [](const Stmt *outer) { return outer->kind != Stmt::Kind::branch; });
    if (stmt.kind == Stmt::Kind::assign && !in_loop && kernel.expr(stmt.value).type == var.type)
      value = stmt.value;
  });
  return settings == 1 ? value : kNone;
}

} // namespace kgen::analysis
