#include "analysis/in_place.h"

#include <algorithm>

#include "analysis/flow.h"

namespace kgen {
namespace {

bool same_places(const Var &a, const Var &b) {
  return a.type == b.type &&
         std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(), [](const Dim &x, const Dim &z) {
           return x.axis == z.axis && x.extent == z.extent && x.start == z.start;
         });
}

} // namespace

InPlace::InPlace(const Kernel &kernel, const Facts &facts)
    : kernel_(kernel), facts_(facts), behind_(kernel.vars.size()), readers_(kernel.vars.size()),
      writes_(kernel.vars.size()) {
  pointwise_ =
      std::all_of(facts.axes.begin(), facts.axes.end(), [](const AxisFact &f) { return f.independent && !f.folded; });
  if (!pointwise_)
    return;
  auto count = [&] {
    size_t inputs = 0;
    for (const Inputs &one : behind_)
      inputs += one.size();
    return inputs;
  };
  // A loop hands values to statements before their own.
  for (size_t before = 1, after = 0; before != after; after = count()) {
    before = count();
    analysis::visit_statements(kernel.statements,
                               [&](const Stmt &stmt, const auto &around) { statement(stmt, around); });
  }
}

bool InPlace::allowed(VarId input, VarId output) const {
  const std::set<const Stmt *> &readers = readers_[input];
  const std::vector<const Stmt *> &writes = writes_[output];
  return pointwise_ && same_places(kernel_.vars[input], kernel_.vars[output]) && elsewhere_.count(input) == 0 &&
         facts_.operands[output].moves_with.size() == kernel_.grid.size() &&
         (readers.empty() || (readers.size() == 1 && !writes.empty() && *readers.begin() == writes.front() &&
                              repeated_.count(writes.front()) == 0));
}

InPlace::Inputs InPlace::inputs_of(const Stmt &stmt) {
  Inputs out;
  for (ExprId root : analysis::expressions_of(stmt))
    analysis::visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) {
      if (expr.op != Op::read && expr.op != Op::element)
        return;
      if (kernel_.vars[expr.ref].kind == Var::Kind::input) {
        out.insert(expr.ref);
        if (!expr.coords.empty())
          elsewhere_.insert(expr.ref);
      }
      out.insert(behind_[expr.ref].begin(), behind_[expr.ref].end());
    });
  return out;
}

void InPlace::statement(const Stmt &stmt, const std::vector<const Stmt *> &around) {
  const Inputs inputs = inputs_of(stmt);
  const bool assigns = stmt.kind == Stmt::Kind::assign;
  if (assigns && kernel_.vars[stmt.target].kind == Var::Kind::local) {
    behind_[stmt.target].insert(inputs.begin(), inputs.end());
    return;
  }
  for (VarId input : inputs)
    readers_[input].insert(&stmt);
  if (!assigns)
    return;
  std::vector<const Stmt *> &writes = writes_[stmt.target];
  if (std::find(writes.begin(), writes.end(), &stmt) == writes.end())
    writes.push_back(&stmt);
  if (std::any_of(around.begin(), around.end(), [](const Stmt *s) { return s->kind == Stmt::Kind::loop; }))
    repeated_.insert(&stmt);
}

} // namespace kgen
