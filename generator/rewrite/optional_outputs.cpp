// From the last statement to the first: what a statement serves is what its targets are, and what later statements make
// of its locals. Neighbours that serve the same stand under one question. Whoever calls wants at least one output: what
// serves all of them, where all are optional, is not asked about.
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

bool is_optional_output(const Var &var) { return var.kind == Var::Kind::output && var.optional; }

class Guarding {
public:
  explicit Guarding(const Kernel &kernel)
      : out_(kernel), settings_(kernel.vars.size(), 0), users_(kernel.vars.size(), std::set<VarId>()) {
    for (size_t v = 0; v < kernel.vars.size(); ++v)
      if (kernel.vars[v].kind == Var::Kind::output)
        join(all_, is_optional_output(kernel.vars[v]) ? Serves(std::set{static_cast<VarId>(v)}) : std::nullopt);
    count_settings(kernel.statements);
  }

  Kernel run() {
    const std::vector<Served> served = served_by(out_.statements);
    out_.statements = guarded(std::move(out_.statements), served, std::nullopt);
    return std::move(out_);
  }

private:
  // What a statement serves, and those inside.
  struct Served {
    Serves own;
    std::vector<Served> body, otherwise, step;
  };

  std::vector<Served> served_by(const std::vector<Stmt> &list) {
    std::vector<Served> out(list.size());
    for (size_t i = list.size(); i-- > 0;)
      out[i] = list[i].kind == Stmt::Kind::branch ? served_by_branch(list[i]) : served_by(list[i]);
    return out;
  }

  Served served_by_branch(const Stmt &stmt) {
    Served served;
    served.body = served_by(stmt.body);
    served.otherwise = served_by(stmt.otherwise);
    served.own = std::set<VarId>();
    for (const auto *list : {&served.body, &served.otherwise})
      for (const Served &inner : *list)
        join(served.own, inner.own);
    read(stmt.value, users_of(served.own));
    return served;
  }

  Served served_by(const Stmt &stmt) {
    Served served;
    if (begins(stmt))
      return served;
    served.own = std::set<VarId>();
    targets(stmt, served.own);
    reads(stmt, users_of(served.own));
    for (auto [list, to] : {std::pair(&stmt.body, &served.body), {&stmt.step, &served.step}})
      *to = inside_loop(*list, served.own);
    return served;
  }

  // What is of no use to anything stays as it is, and so does what it reads.
  static Serves users_of(const Serves &own) { return own && own->empty() ? std::nullopt : own; }

  // `real v = 0;` of a local that another statement sets costs nothing.
  bool begins(const Stmt &stmt) const {
    return stmt.kind == Stmt::Kind::assign && stmt.indices.empty() && out_.vars[stmt.target].kind == Var::Kind::local &&
           out_.expr(stmt.value).op == Op::constant && settings_[stmt.target] > 1;
  }

  void count_settings(const std::vector<Stmt> &list) {
    for (const Stmt &stmt : list) {
      if (stmt.kind == Stmt::Kind::assign)
        ++settings_[stmt.target];
      for (const std::vector<Stmt> *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
        count_settings(*inner);
    }
  }

  // What a round computes may serve the next one: only what it writes to an output is asked about.
  std::vector<Served> inside_loop(const std::vector<Stmt> &list, const Serves &loop) const {
    std::vector<Served> out;
    for (const Stmt &stmt : list) {
      const Serves own = writes_optional(stmt) ? Serves(std::set{stmt.target}) : loop;
      out.push_back(
          {own, inside_loop(stmt.body, loop), inside_loop(stmt.otherwise, loop), inside_loop(stmt.step, loop)});
    }
    return out;
  }

  bool writes_optional(const Stmt &stmt) const {
    return stmt.kind == Stmt::Kind::assign && is_optional_output(out_.vars[stmt.target]);
  }

  // `asked`: what the question around them is about.
  std::vector<Stmt> guarded(std::vector<Stmt> list, const std::vector<Served> &served, const Serves &asked) {
    std::vector<Stmt> out;
    Serves last; // what the question before is about
    for (size_t i = 0; i < list.size(); ++i) {
      const Serves &own = served[i].own;
      const bool asks = own && !own->empty() && own != asked && (own != all_ || writes_optional(list[i]));
      const Serves &inner = asks ? own : asked;
      list[i].body = guarded(std::move(list[i].body), served[i].body, inner);
      list[i].otherwise = guarded(std::move(list[i].otherwise), served[i].otherwise, inner);
      list[i].step = guarded(std::move(list[i].step), served[i].step, inner);
      if (asks && last == own)
        out.back().body.push_back(std::move(list[i]));
      else
        out.push_back(asks ? under_question(std::move(list[i]), *own) : std::move(list[i]));
      last = asks ? own : std::nullopt;
    }
    return out;
  }

  void targets(const Stmt &stmt, Serves &served) const {
    if (stmt.kind == Stmt::Kind::check)
      served = std::nullopt;
    if (stmt.kind == Stmt::Kind::assign || stmt.kind == Stmt::Kind::declare) {
      const Var &var = out_.vars[stmt.target];
      if (var.kind == Var::Kind::local)
        join(served, users_[stmt.target]);
      else if (is_optional_output(var))
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

  Stmt under_question(Stmt stmt, const std::set<VarId> &outputs) {
    Stmt guard;
    guard.kind = Stmt::Kind::branch;
    guard.place = stmt.place;
    guard.context = stmt.context;
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
  Serves all_ = std::set<VarId>();
  std::vector<int> settings_; // per variable: by how many statements
  std::vector<Serves> users_; // per local: what the statements that read it serve
};

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
