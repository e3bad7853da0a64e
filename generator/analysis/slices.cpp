// Outputs that are written slice by slice, at(y, P = 0) = a; at(y, P = 1) = b; or in a loop that counts: the statements
// after which every slice has been written. Numbers that are the same for all lanes are followed as they run.
#include <algorithm>

#include "analysis/context.h"
#include "analysis/flow.h"
#include "ir/evaluate.h"

namespace kgen::analysis {
namespace {

constexpr int kMostSteps = 4096;
constexpr int64_t kMostSlices = 1024;

class Slices {
public:
  Slices(const Kernel &kernel, WholeWrites &complete) : kernel_(kernel), complete_(complete) {}

  void list(const std::vector<Stmt> &statements) {
    known_.clear();
    written_.clear();
    steps_ = 0;
    for (const Stmt &stmt : statements) {
      run(stmt);
      for (const auto &[slices, places] : written_)
        if (static_cast<int64_t>(places.size()) == slices.count)
          complete_.insert({&stmt, slices.var});
      std::erase_if(written_,
                    [](const auto &entry) { return static_cast<int64_t>(entry.second.size()) == entry.first.count; });
    }
  }

private:
  // Of an output, along some of its axes.
  struct Family {
    VarId var;
    uint64_t axes;
    int64_t count;
    auto operator<=>(const Family &) const = default;
  };

  void run(const Stmt &stmt) {
    ++steps_;
    switch (stmt.kind) {
    case Stmt::Kind::assign:
      return assign(stmt);
    case Stmt::Kind::branch: {
      const std::optional<int64_t> condition = value(stmt.value);
      if (!condition)
        return forget(stmt);
      return all(*condition != 0 ? stmt.body : stmt.otherwise);
    }
    case Stmt::Kind::loop:
      return loop(stmt);
    default:
      return;
    }
  }

  void all(const std::vector<Stmt> &statements) {
    for (const Stmt &stmt : statements)
      run(stmt);
  }

  void loop(const Stmt &stmt) {
    bool jumps = stmt.value == kNone;
    for (const auto *list : {&stmt.body, &stmt.step})
      visit_statements(*list, [&](const Stmt &s, const auto &) {
        jumps = jumps || s.kind == Stmt::Kind::leave || s.kind == Stmt::Kind::next;
      });
    const auto before = written_;
    while (!jumps && steps_ < kMostSteps) {
      const std::optional<int64_t> condition = value(stmt.value);
      if (condition && *condition == 0)
        return;
      if (!condition)
        break;
      all(stmt.body);
      all(stmt.step);
    }
    written_ = before; // it may end before any of this
    forget(stmt);
  }

  void forget(const Stmt &stmt) {
    for (const auto *list : {&stmt.body, &stmt.otherwise, &stmt.step})
      visit_statements(*list, [&](const Stmt &s, const auto &) { known_.erase(s.target); });
  }

  void assign(const Stmt &stmt) {
    const Var &var = kernel_.vars[stmt.target];
    if (var.kind == Var::Kind::local) {
      const std::optional<int64_t> set = stmt.indices.empty() && stmt.coords.empty() ? value(stmt.value) : std::nullopt;
      known_.erase(stmt.target);
      if (set && var.axes.empty() && is_integer(var.type))
        known_[stmt.target] = convert(integer_value(*set), kernel_.expr(stmt.value).type, var.type).integer;
    }
    if (var.kind == Var::Kind::output && !stmt.coords.empty() && !stmt.scatter_add)
      note(stmt);
  }

  void note(const Stmt &stmt) {
    Family family{stmt.target, 0, 1};
    std::vector<int64_t> place;
    for (const Dim &dim : kernel_.vars[stmt.target].dims) {
      const Coordinate *given = find_coordinate(stmt.coords, dim.axis);
      if (given == nullptr)
        continue;
      const std::optional<int64_t> at = value(given->value);
      if (!at || !dim.whole || !dim.extent.is_integer() || *at < 0 || *at >= dim.extent.value ||
          dim.extent.value > kMostSlices)
        return;
      family.axes |= AxisSet::of(dim.axis).bits();
      family.count = std::min<int64_t>(family.count * dim.extent.value, kMostSlices + 1);
      place.push_back(*at);
    }
    if (family.count <= kMostSlices)
      written_[family].insert(place);
  }

  // The same for all lanes, or nothing.
  std::optional<int64_t> value(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if (is_floating(e.type))
      return std::nullopt;
    if (e.op == Op::constant)
      return e.integer;
    if (e.op == Op::read) {
      const auto it = e.coords.empty() ? known_.find(e.ref) : known_.end();
      return it == known_.end() ? std::nullopt : std::optional<int64_t>(it->second);
    }
    if (e.op == Op::size && e.ref == kNone && kernel_.axes[e.axis].size.is_integer() &&
        kernel_.axes[e.axis].ragged == kNone)
      return kernel_.axes[e.axis].size.value;
    if (e.op != Op::cast && e.op != Op::both && e.op != Op::either && !is_scalar_op(e.op))
      return std::nullopt;
    std::vector<Value> args;
    for (ExprId arg : e.args) {
      const std::optional<int64_t> found = value(arg);
      if (!found)
        return std::nullopt;
      args.push_back(integer_value(*found));
    }
    if (e.op == Op::both || e.op == Op::either)
      return e.op == Op::both ? args[0].integer != 0 && args[1].integer != 0
                              : args[0].integer != 0 || args[1].integer != 0;
    const Type from = kernel_.expr(e.args[0]).type;
    return e.op == Op::cast ? convert(args[0], from, e.type).integer
                            : evaluate(e.op, e.type, from, args.data()).integer;
  }

  const Kernel &kernel_;
  WholeWrites &complete_;
  std::map<VarId, int64_t> known_;
  std::map<Family, std::set<std::vector<int64_t>>> written_;
  int steps_ = 0;
};

} // namespace

void add_slices(const Context &context, WholeWrites &complete) {
  Slices slices(context.kernel, complete);
  slices.list(context.kernel.statements);
  visit_statements(context.kernel.statements, [&](const Stmt &stmt, const auto &) {
    for (const auto *list : {&stmt.body, &stmt.otherwise})
      slices.list(*list);
  });
}

} // namespace kgen::analysis
