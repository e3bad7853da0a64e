// Axes to whose size a loop counts in an `int`, or whose index an `int` holds that says which element is met. Launchers
// refuse sizes that an int does not hold, where such a loop would never end and other elements would be met; so the
// counter stays below the size, and the int is the index.
#include <algorithm>
#include <set>

#include "analysis/bounds.h"
#include "analysis/coordinates.h"
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
    kernel.axes[axis].counted_in_int = true;
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

// Goes from coordinates to what they are computed of, through locals.
class IntPlaces {
public:
  explicit IntPlaces(Kernel &kernel) : kernel_(kernel) {}

  void run() {
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      for (const Coordinate &c : stmt.coords)
        place(c.value);
      for (ExprId id : expressions_of(stmt))
        visit_expressions(kernel_, id, [&](const Expr &e, ExprId) {
          for (const Coordinate &c : e.coords)
            place(c.value);
        });
    });
  }

private:
  void place(ExprId id) {
    std::set<VarId> locals;
    std::set<AxisId> axes;
    visit_expressions(kernel_, id, [&](const Expr &e, ExprId) {
      if (e.op == Op::read && kernel_.vars[e.ref].kind == Var::Kind::local && followed_.insert(e.ref).second)
        locals.insert(e.ref);
      if (e.op == Op::cast && e.type == Type::i32)
        if (const Expr &from = kernel_.expr(e.args[0]); is_whole(from))
          axes.insert(from.axis);
    });
    for (AxisId axis : axes)
      kernel_.axes[axis].counted_in_int = true;
    if (locals.empty())
      return;
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      if (stmt.kind == Stmt::Kind::assign && locals.count(stmt.target) != 0)
        place(stmt.value);
    });
  }

  // The size of an axis, or an index that is below it.
  bool is_whole(const Expr &e) const {
    return (e.op == Op::size || (e.op == Op::index && index_count(kernel_, e.axis, kNone))) && e.ref == kNone &&
           kernel_.axes[e.axis].ragged == kNone;
  }

  Kernel &kernel_;
  std::set<VarId> followed_;
};

} // namespace

void find_int_counters(Kernel &kernel) {
  IntPlaces(kernel).run();
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
