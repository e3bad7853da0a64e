// From the last statement to the first: what a statement serves is what its targets are, and what later statements make
// of its locals. Neighbours that serve the same stand under one question.
#include "rewrite/optional_outputs.h"

#include <algorithm>
#include <functional>
#include <set>

namespace kgen {
namespace {

// The optional outputs that something serves; nullopt: another output too, or a check.
using Serves = std::optional<std::set<VarId>>;

void join(Serves &to, const Serves &more) {
  if (!to || !more)
    to = std::nullopt;
  else
    to->insert(more->begin(), more->end());
}

class Guarding {
public:
  explicit Guarding(const Kernel &kernel) : out_(kernel), users_(kernel.vars.size(), std::set<VarId>()) {}

  Kernel run() {
    std::vector<Serves> serves(out_.statements.size());
    for (size_t i = out_.statements.size(); i-- > 0;) {
      Serves served = std::set<VarId>();
      targets(out_.statements[i], served);
      if (served && served->empty())
        served = std::nullopt; // of no use to anything: as it was
      reads(out_.statements[i], served);
      serves[i] = std::move(served);
    }
    std::vector<Stmt> statements;
    for (size_t i = 0; i < serves.size(); ++i) {
      Stmt &stmt = out_.statements[i];
      if (!serves[i])
        statements.push_back(std::move(stmt));
      else if (i > 0 && serves[i] == serves[i - 1])
        statements.back().body.push_back(std::move(stmt));
      else
        statements.push_back(guarded(std::move(stmt), *serves[i]));
    }
    out_.statements = std::move(statements);
    return std::move(out_);
  }

private:
  void targets(const Stmt &stmt, Serves &served) const {
    if (stmt.kind == Stmt::Kind::check)
      served = std::nullopt;
    if (stmt.kind == Stmt::Kind::assign || stmt.kind == Stmt::Kind::declare) {
      const Var &var = out_.vars[stmt.target];
      if (var.kind == Var::Kind::local)
        join(served, users_[stmt.target]);
      else if (var.kind == Var::Kind::output && var.optional)
        join(served, std::set<VarId>{stmt.target});
      else
        served = std::nullopt;
    }
    for (const std::vector<Stmt> *list : {&stmt.body, &stmt.otherwise, &stmt.step})
      for (const Stmt &inner : *list)
        targets(inner, served);
  }

  void reads(const Stmt &stmt, const Serves &served) {
    read(stmt.value, served);
    for (ExprId index : stmt.indices)
      read(index, served);
    for (const Coordinate &coordinate : stmt.coords)
      read(coordinate.value, served);
    for (const std::vector<Stmt> *list : {&stmt.body, &stmt.otherwise, &stmt.step})
      for (const Stmt &inner : *list)
        reads(inner, served);
  }

  void read(ExprId id, const Serves &served) {
    if (id == kNone)
      return;
    const Expr &e = out_.expr(id);
    if (e.op == Op::read || e.op == Op::element)
      join(users_[e.ref], served);
    for (ExprId arg : e.args)
      read(arg, served);
    for (const Coordinate &coordinate : e.coords)
      read(coordinate.value, served);
  }

  Stmt guarded(Stmt stmt, const std::set<VarId> &outputs) {
    Stmt guard;
    guard.kind = Stmt::Kind::branch;
    guard.place = stmt.place;
    for (VarId output : outputs) {
      Expr present;
      present.op = Op::present;
      present.type = Type::boolean;
      present.ref = output;
      present.place = stmt.place;
      const ExprId one = out_.add(present);
      guard.value = guard.value == kNone ? one : either(guard.value, one, stmt.place);
    }
    guard.body.push_back(std::move(stmt));
    return guard;
  }

  ExprId either(ExprId a, ExprId b, const Place &place) {
    Expr e;
    e.op = Op::either;
    e.type = Type::boolean;
    e.args = {a, b};
    e.place = place;
    return out_.add(e);
  }

  Kernel out_;
  std::vector<Serves> users_; // per local: what the statements that read it serve
};

bool is_optional_output(const Var &var) { return var.kind == Var::Kind::output && var.optional; }

bool has_optional_outputs(const Kernel &kernel) {
  return std::any_of(kernel.vars.begin(), kernel.vars.end(), is_optional_output);
}

} // namespace

Kernel guard_optional_outputs(const Kernel &kernel) {
  return has_optional_outputs(kernel) ? Guarding(kernel).run() : kernel;
}

std::optional<Kernel> with_all_outputs(const Kernel &kernel) {
  if (!has_optional_outputs(kernel))
    return std::nullopt;
  Kernel all = kernel;
  for (Var &var : all.vars)
    if (is_optional_output(var))
      var.optional = false;
  return all;
}

} // namespace kgen
