// Outputs that are written slice by slice, at(y, P = 0) = a; at(y, P = 1) = b; or in a loop that counts: the statements
// after which every slice has been written. Numbers that are the same for all lanes are followed as they run; a counter
// whose end is not known as a number is all that it runs through.
#include <algorithm>

#include "analysis/coordinates.h"
#include "analysis/flow.h"
#include "ir/evaluate.h"

namespace kgen::analysis {
namespace {

// Statements run, looked through or forgotten: loops in a hundred others are not followed in full.
constexpr int kMostSteps = 4096;           // while the rounds of loops are run one by one
constexpr int kMostInAll = 8 * kMostSteps; // with the loops of which one round stands for all
constexpr int64_t kMostSlices = 1024;

class Slices {
public:
  Slices(const Context &context, Writes &complete)
      : kernel_(context.kernel), limits_(context.slices), complete_(complete), symbols_(context.kernel),
        coordinates_(context.kernel, symbols_) {}

  void list(const std::vector<Stmt> &statements) {
    known_.clear();
    set_to_.clear();
    written_.clear();
    steps_ = 0;
    for (const Stmt &stmt : statements) {
      run(stmt);
      for (const auto &[slices, places] : written_)
        if (static_cast<int64_t>(places.size()) == slices.count)
          complete_.emplace(std::pair(&stmt, slices.var), limits_.at(slices.var));
      std::erase_if(written_,
                    [](const auto &entry) { return static_cast<int64_t>(entry.second.size()) == entry.first.count; });
    }
  }

private:
  // Of an output, along some of its axes.
  struct Family {
    VarId var;
    uint64_t axes;
    uint64_t through; // of these, the ones that a counter goes through
    int64_t count;    // of slices along the others
    auto operator<=>(const Family &) const = default;
  };

  // The numbers that a counter runs through, up or down.
  struct Counter {
    VarId var;
    Polynomial first, count;
  };
  // Such a number, or another, changed by what is the same in all rounds: sign * counter + rest.
  struct Counted {
    int sign;
    Polynomial rest;
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
        ++steps_;
        jumps = jumps || s.kind == Stmt::Kind::leave || s.kind == Stmt::Kind::next;
      });
    const auto before = written_;
    const auto entry = set_to_;
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
    const bool gives_up = jumps || steps_ > kMostInAll;
    if (const std::optional<Counter> counter = gives_up ? std::nullopt : counter_of(stmt, entry))
      count(stmt, *counter);
  }

  void forget(const Stmt &stmt) {
    for (const auto *list : {&stmt.body, &stmt.otherwise, &stmt.step})
      visit_statements(*list, [&](const Stmt &s, const auto &) {
        ++steps_;
        forget(s.target);
      });
  }

  void forget(VarId var) {
    known_.erase(var);
    set_to_.erase(var);
  }

  // One round stands for all of them: it holds what any of them would know.
  void count(const Stmt &stmt, const Counter &counter) {
    counters_.push_back(counter);
    all(stmt.body);
    counters_.pop_back();
    forget(stmt);
  }

  // `for (t = first; t < end; ++t)`, or down to the first.
  std::optional<Counter> counter_of(const Stmt &loop, const std::map<VarId, ExprId> &entry) {
    const std::optional<std::pair<VarId, int>> step = loop.step.size() == 1 ? step_of(loop.step[0]) : std::nullopt;
    if (!step || entry.count(step->first) == 0)
      return std::nullopt;
    const auto [var, by] = *step;
    bool changed = false;
    visit_statements(loop.body, [&](const Stmt &s, const auto &) { changed = changed || s.target == var; });
    const std::optional<Polynomial> start = same_for_all(entry.at(var)), last = last_of(loop.value, var, by);
    if (changed || !start || !last)
      return std::nullopt;
    const Polynomial &low = by > 0 ? *start : *last, &high = by > 0 ? *last : *start;
    return Counter{var, low, high - low + Polynomial::constant(1)};
  }

  std::optional<std::pair<VarId, int>> step_of(const Stmt &stmt) {
    if (stmt.kind != Stmt::Kind::assign || !stmt.coords.empty() || !stmt.indices.empty())
      return std::nullopt;
    const std::optional<Counted> next = counted(stmt.value, stmt.target);
    for (const int by : {1, -1})
      if (next && next->sign == 1 && (next->rest - Polynomial::constant(by)).is_zero())
        return std::pair(stmt.target, by);
    return std::nullopt;
  }

  // With which number a counter that goes up or down by one goes through the loop last.
  std::optional<Polynomial> last_of(ExprId condition, VarId var, int by) {
    const Expr &e = kernel_.expr(condition);
    if (e.args.size() != 2)
      return std::nullopt;
    const bool right = is_read_of(e.args[1], var);
    const Op op = right ? mirrored(e.op) : e.op;
    const std::optional<Polynomial> limit = same_for_all(e.args[right ? 0 : 1]);
    if (!limit || !is_read_of(e.args[right ? 1 : 0], var))
      return std::nullopt;
    if (op == Op::ne || op == (by > 0 ? Op::lt : Op::gt))
      return *limit - Polynomial::constant(by);
    return op == (by > 0 ? Op::le : Op::ge) ? limit : std::nullopt;
  }

  bool is_read_of(ExprId id, VarId var) const {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::cast && is_integer(e.type) && bytes_of(e.type) >= bytes_of(kernel_.expr(e.args[0]).type))
      return is_read_of(e.args[0], var);
    return e.op == Op::read && e.ref == var && e.coords.empty();
  }

  std::optional<Polynomial> same_for_all(ExprId id) {
    const std::optional<Size> size = kernel_.expr(id).axes.empty() ? coordinates_.size(id) : std::nullopt;
    return size ? std::optional(symbols_.polynomial(*size)) : std::nullopt;
  }

  std::optional<Counted> counted(ExprId id, VarId var) {
    if (is_read_of(id, var))
      return Counted{1, Polynomial()};
    const Expr &e = kernel_.expr(id);
    if (e.op != Op::add && e.op != Op::sub)
      return std::nullopt;
    for (const size_t with : {0, 1}) {
      const std::optional<Counted> some = counted(e.args[with], var);
      const std::optional<Polynomial> other = some ? same_for_all(e.args[1 - with]) : std::nullopt;
      if (!other)
        continue;
      if (e.op == Op::add)
        return Counted{some->sign, some->rest + *other};
      return with == 0 ? Counted{some->sign, some->rest - *other} : Counted{-some->sign, *other - some->rest};
    }
    return std::nullopt;
  }

  // Does the place go through the whole extent while the counter runs?
  bool goes_through(ExprId place, const Counter &counter, const Size &extent) {
    const std::optional<Counted> at = counted(place, counter.var);
    const Polynomial all = symbols_.polynomial(extent);
    if (!at || !(counter.count - all).is_zero())
      return false;
    return (at->sign > 0 ? counter.first + at->rest : at->rest - counter.first - all + Polynomial::constant(1))
        .is_zero();
  }

  void assign(const Stmt &stmt) {
    const Var &var = kernel_.vars[stmt.target];
    if (var.kind == Var::Kind::local) {
      const std::optional<int64_t> set = stmt.indices.empty() && stmt.coords.empty() ? value(stmt.value) : std::nullopt;
      forget(stmt.target);
      if (var.axes.empty() && is_integer(var.type) && stmt.indices.empty() && stmt.coords.empty())
        set_to_[stmt.target] = stmt.value;
      if (set && var.axes.empty() && is_integer(var.type))
        known_[stmt.target] = convert(integer_value(*set), kernel_.expr(stmt.value).type, var.type).integer;
    }
    if (var.kind == Var::Kind::output && !stmt.coords.empty() && !stmt.scatter_add)
      note(stmt);
  }

  void note(const Stmt &stmt) {
    Family family{stmt.target, 0, 0, 1};
    std::vector<int64_t> place;
    std::set<VarId> counters;
    for (const Dim &dim : kernel_.vars[stmt.target].dims) {
      const Coordinate *given = find_coordinate(stmt.coords, dim.axis);
      if (given == nullptr)
        continue;
      family.axes |= AxisSet::of(dim.axis).bits();
      if (const Counter *counter = counter_through(given->value, dim)) {
        counters.insert(counter->var);
        family.through |= AxisSet::of(dim.axis).bits();
        continue;
      }
      const std::optional<int64_t> at = slice(given->value, dim);
      if (!at)
        return;
      family.count = std::min<int64_t>(family.count * dim.extent.value, kMostSlices + 1);
      place.push_back(*at);
    }
    // A loop around it that has no rounds must have no places either.
    if (family.count <= kMostSlices && counters.size() == counters_.size())
      written_[family].insert(place);
  }

  const Counter *counter_through(ExprId place, const Dim &dim) {
    const bool plain = dim.whole && kernel_.axes[dim.axis].ragged == kNone;
    for (const Counter &counter : counters_)
      if (plain && goes_through(place, counter, dim.extent))
        return &counter;
    return nullptr;
  }

  std::optional<int64_t> slice(ExprId place, const Dim &dim) const {
    const std::optional<int64_t> at = value(place);
    if (!at || !dim.whole || !dim.extent.is_integer() || *at < 0 || *at >= dim.extent.value ||
        dim.extent.value > kMostSlices)
      return std::nullopt;
    return at;
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
  const std::map<VarId, Windows> &limits_;
  Writes &complete_;
  Symbols symbols_;
  Coordinates coordinates_;
  std::map<VarId, int64_t> known_;
  std::map<VarId, ExprId> set_to_;
  std::vector<Counter> counters_; // of the loops around
  std::map<Family, std::set<std::vector<int64_t>>> written_;
  int steps_ = 0;
};

} // namespace

void add_slices(const Context &context, Writes &complete) {
  Slices slices(context, complete);
  slices.list(context.kernel.statements);
  visit_statements(context.kernel.statements, [&](const Stmt &stmt, const auto &) {
    for (const auto *list : {&stmt.body, &stmt.otherwise})
      slices.list(*list);
  });
}

} // namespace kgen::analysis
