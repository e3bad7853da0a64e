#include "rewrite/drop_reports.h"

#include <algorithm>
#include <functional>
#include <set>

namespace kgen {
namespace {

bool is_report(const Stmt &stmt) { return stmt.kind == Stmt::Kind::check || stmt.kind == Stmt::Kind::print; }
bool is_jump(const Stmt &stmt) { return stmt.kind == Stmt::Kind::leave || stmt.kind == Stmt::Kind::next; }

// Keeps the statements that an output or scratch depends on.
class Sweep {
public:
  explicit Sweep(const Kernel &kernel) : kernel_(kernel) {
    size_t before;
    do { // until no further local is needed
      before = needed_.size();
      for (const Stmt &stmt : kernel.statements)
        note(stmt);
    } while (needed_.size() != before);
  }

  std::vector<Stmt> kept(const std::vector<Stmt> &list) const {
    std::vector<Stmt> out;
    for (const Stmt &stmt : list) {
      if (!is_needed(stmt))
        continue;
      out.push_back(stmt);
      for (std::vector<Stmt> Stmt::*part : {&Stmt::body, &Stmt::otherwise, &Stmt::step})
        out.back().*part = kept(stmt.*part);
    }
    return out;
  }

private:
  // A loop that computes nothing is not needed, nor what ends it.
  bool is_needed(const Stmt &stmt) const {
    switch (stmt.kind) {
    case Stmt::Kind::assign:
    case Stmt::Kind::declare:
      return kernel_.vars[stmt.target].kind != Var::Kind::local || needed_.count(stmt.target) != 0;
    case Stmt::Kind::branch:
      return any(stmt.body) || any(stmt.otherwise);
    case Stmt::Kind::loop:
      return computes(stmt.body) || computes(stmt.step);
    case Stmt::Kind::leave:
    case Stmt::Kind::next:
      return true;
    case Stmt::Kind::check:
    case Stmt::Kind::print:
      return false;
    }
    return true;
  }

  bool any(const std::vector<Stmt> &list) const {
    return std::any_of(list.begin(), list.end(), [&](const Stmt &stmt) { return is_needed(stmt); });
  }

  bool computes(const std::vector<Stmt> &list) const {
    return std::any_of(list.begin(), list.end(), [&](const Stmt &stmt) {
      if (stmt.kind == Stmt::Kind::branch)
        return computes(stmt.body) || computes(stmt.otherwise);
      return !is_jump(stmt) && is_needed(stmt);
    });
  }

  void note(const Stmt &stmt) {
    if (!is_needed(stmt))
      return;
    for (ExprId index : stmt.indices)
      note(index);
    for (const Coordinate &c : stmt.coords)
      note(c.value);
    if (stmt.value != kNone)
      note(stmt.value);
    for (const auto *list : {&stmt.body, &stmt.otherwise, &stmt.step})
      for (const Stmt &inner : *list)
        note(inner);
  }

  void note(ExprId id) {
    if (!seen_.insert(id).second)
      return;
    const Expr &e = kernel_.expr(id);
    if (e.ref != kNone && (e.op == Op::read || e.op == Op::element || e.op == Op::inside))
      needed_.insert(e.ref);
    for (ExprId arg : e.args)
      note(arg);
    for (const Coordinate &c : e.coords)
      note(c.value);
  }

  const Kernel &kernel_;
  std::set<VarId> needed_;
  std::set<ExprId> seen_;
};

bool any_report(const std::vector<Stmt> &list) {
  return std::any_of(list.begin(), list.end(), [](const Stmt &stmt) {
    return is_report(stmt) || any_report(stmt.body) || any_report(stmt.otherwise) || any_report(stmt.step);
  });
}

} // namespace

bool has_reports(const Kernel &kernel) { return any_report(kernel.statements); }

Kernel drop_reports(const Kernel &kernel) {
  Kernel out = kernel;
  if (has_reports(kernel))
    out.statements = Sweep(kernel).kept(kernel.statements);
  return out;
}

} // namespace kgen
