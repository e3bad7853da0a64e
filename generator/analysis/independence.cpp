// Along which axes the body never mixes elements; which parallel dimensions may be dissolved into their axis; and along
// which arbitrary ones the body is a fold written as first / accumulate / last.
#include <algorithm>

#include "analysis/flow.h"

namespace kgen::analysis {
namespace {

class Independence {
public:
  explicit Independence(Context &context) : context_(context), kernel_(context.kernel) {}

  void run() {
    context_.facts.axes.resize(kernel_.axes.size());
    for (size_t a = 0; a < kernel_.axes.size(); ++a)
      if (!kernel_.axes[a].uniform)
        mix(static_cast<AxisId>(a), "operands have different windows along it");
      else if (kernel_.axes[a].ragged != kNone)
        mix(static_cast<AxisId>(a), "its rows have different lengths");
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      for (const Coordinate &c : stmt.coords)
        mix(c.axis, "at(" + kernel_.vars[stmt.target].name + ", ...) stores elsewhere");
      for (ExprId root : expressions_of(stmt))
        visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) { expression(expr); });
    });
    AxisSet rows;
    for (const Axis &axis : kernel_.axes)
      if (axis.over != kNone)
        rows |= AxisSet::of(axis.over);
    for (AxisId axis : rows.list())
      mix(axis, "it has ragged rows");
  }

private:
  void mix(AxisId axis, const std::string &reason) {
    AxisFact &fact = context_.facts.axes[axis];
    if (fact.independent)
      fact.reason = reason;
    fact.independent = false;
  }

  void expression(const Expr &expr) {
    for (AxisId axis : expr.reduced.list()) {
      mix(axis, "it is reduced");
      context_.facts.axes[axis].folded = true;
    }
    if (expr.op == Op::scan) {
      mix(expr.axis, "a scan runs along it");
      context_.facts.axes[expr.axis].folded = true;
    }
    if (expr.op == Op::read && kernel_.vars[expr.ref].kind != Var::Kind::input)
      for (const Coordinate &c : expr.coords)
        mix(c.axis, "at(" + kernel_.vars[expr.ref].name + ", ...) reads elsewhere");
  }

  Context &context_;
  const Kernel &kernel_;
};

// What of the grid dimension, beyond blocking its axis, matters to the kernel; empty: nothing.
class Uses {
public:
  Uses(const Context &context, GridId g) : context_(context), kernel_(context.kernel), g_(g), dim_(kernel_.grid[g]) {}

  std::string windows() const {
    for (const Var &var : kernel_.vars) {
      if (var.kind != Var::Kind::input && var.kind != Var::Kind::output)
        continue;
      for (const Dim &dim : var.dims) {
        const bool blocked = dim.axis == dim_.axis && !dim.whole && dim.block == dim_.block &&
                             dim.start == Size::make(Size::Op::multiply, {Size::grid(dim_.name), dim_.block});
        if (dim.axis == dim_.axis && !blocked)
          return var.name + " has a window of its own along " + kernel_.axes[dim_.axis].name;
        if (!blocked && (names(dim.start) || names(dim.block)))
          return "the window of " + var.name + " moves with it too";
      }
    }
    for (size_t h = 0; h < kernel_.grid.size(); ++h)
      if (static_cast<GridId>(h) != g_ && names(kernel_.grid[h].size))
        return "the steps of " + kernel_.grid[h].name + " depend on it";
    return "";
  }

  // Does the body ask for its step, its number, the block, or (with `ends`) the first and last step?
  std::string body(bool ends) const {
    std::string found;
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      for (ExprId root : expressions_of(stmt))
        visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) {
          const bool of_grid = (expr.op == Op::grid_index || expr.op == Op::grid_size ||
                                (ends && (expr.op == Op::first || expr.op == Op::last))) &&
                               expr.ref == g_;
          if (found.empty() && (of_grid || (expr.op == Op::block && expr.axis == dim_.axis)))
            found = "the body looks at its steps";
        });
    });
    return found;
  }

  // Of what a step computes it has its own block only: others read at other points would find more in one step.
  std::string other_points() const {
    std::string found;
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      for (ExprId root : expressions_of(stmt))
        visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) {
          if (expr.op != Op::read || kernel_.vars[expr.ref].kind == Var::Kind::input)
            return;
          for (const Coordinate &c : expr.coords) {
            const Expr &at = kernel_.expr(c.value);
            const bool here = at.op == Op::index && at.axis == c.axis && at.ref == kNone;
            if (c.axis == dim_.axis && !here)
              found = kernel_.vars[expr.ref].name + " is read at other points of its block";
          }
        });
    });
    return found;
  }

private:
  bool names(const Size &size) const {
    return mentions(size, Size::Op::grid, dim_.name) || mentions(size, Size::Op::grid_size, dim_.name);
  }

  const Context &context_;
  const Kernel &kernel_;
  GridId g_;
  const GridDim &dim_;
};

std::string why_not_dissolvable(const Context &context, GridId g) {
  const GridDim &dim = context.kernel.grid[g];
  if (dim.axis == kNone)
    return "it blocks no axis";
  const AxisFact &axis = context.facts.axes[dim.axis];
  if (!axis.independent)
    return axis.reason;
  if (dim.at_most)
    return "its steps are limited";
  const Uses uses(context, g);
  const std::string windows = uses.windows();
  return windows.empty() ? uses.body(true) : windows;
}

// The body as first / accumulate / last along one dimension.
class Accumulate {
public:
  Accumulate(const Context &context, const Flow &flow, GridId g)
      : context_(context), kernel_(context.kernel), flow_(flow), g_(g), dim_(kernel_.grid[g]) {}

  std::optional<Accumulation> find(std::string &reason) {
    reason_ = check_surroundings();
    if (reason_.empty())
      classify();
    for (auto &carried : out_.carried)
      if (reason_.empty() && carried.init.empty())
        reason_ = kernel_.vars[carried.var].name + " does not start anew under first(" + dim_.name + ")";
    if (reason_.empty() && out_.carried.empty())
      reason_ = "nothing is carried";
    reason = reason_;
    return reason_.empty() ? std::optional(out_) : std::nullopt;
  }

private:
  std::string check_surroundings() {
    if (dim_.axis == kNone)
      return "it blocks no axis";
    if (!kernel_.axes[dim_.axis].uniform)
      return "operands have different windows along " + kernel_.axes[dim_.axis].name;
    if (kernel_.axes[dim_.axis].ragged != kNone)
      return kernel_.axes[dim_.axis].name + " is ragged";
    const Uses uses(context_, g_);
    const std::string windows = uses.windows();
    if (!windows.empty())
      return windows;
    for (const std::string &reason : {uses.body(false), uses.other_points()})
      if (!reason.empty())
        return reason;
    for (size_t v = 0; v < kernel_.vars.size(); ++v)
      if (kernel_.vars[v].kind == Var::Kind::scratch || kernel_.vars[v].kind == Var::Kind::output)
        if (carried(static_cast<VarId>(v)))
          out_.carried.push_back({static_cast<VarId>(v), Monoid::sum, {}, {}});
    return "";
  }

  // Its value crosses the steps: it lacks the axis, and is read in them. (Along the axis each step has its own
  // elements.)
  bool carried(VarId v) const {
    const Var &var = kernel_.vars[v];
    if (var.axes.contains(dim_.axis) && var.kind == Var::Kind::output)
      return false;
    return std::any_of(flow_.outcomes.begin(), flow_.outcomes.end(), [&](const Outcome &outcome) {
      return outcome.scenario.first[g_] != Truth::yes && outcome.reads_early(v);
    });
  }

  Accumulation::Carried *find_carried(VarId v) {
    for (auto &carried : out_.carried)
      if (carried.var == v)
        return &carried;
    return nullptr;
  }

  void classify() {
    for (size_t i = 0; i < kernel_.statements.size() && reason_.empty(); ++i) {
      const Stmt &stmt = kernel_.statements[i];
      const StmtPath path = {static_cast<int>(i)};
      const Op guard = guard_of(stmt);
      if (guard == Op::last)
        final(stmt, path);
      else if (!out_.last.empty())
        reason_ = "statements follow those under last(" + dim_.name + ")";
      else if (guard == Op::first)
        initial(stmt, path);
      else if (stmt.kind == Stmt::Kind::assign && find_carried(stmt.target) != nullptr)
        update(stmt, path);
      else
        every(stmt, path);
    }
  }

  // first, last: a branch on just that, with no other arm. add: neither.
  Op guard_of(const Stmt &stmt) const {
    if (stmt.kind != Stmt::Kind::branch || !stmt.otherwise.empty())
      return Op::add;
    ExprId id = stmt.value;
    while (kernel_.expr(id).op == Op::cast)
      id = kernel_.expr(id).args[0];
    const Expr &condition = kernel_.expr(id);
    const bool asks = (condition.op == Op::first || condition.op == Op::last) && condition.ref == g_;
    return asks ? condition.op : Op::add;
  }

  // Reads of carried variables, values that differ from step to step, and questions about the dimension.
  struct Content {
    bool reads_carried = false, along_axis = false, asks = false;
  };

  Content content(ExprId root) const {
    Content out;
    if (root != kNone)
      out.along_axis = kernel_.expr(root).axes.contains(dim_.axis);
    visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) {
      if (expr.op == Op::read)
        for (const auto &carried : out_.carried)
          out.reads_carried |= expr.ref == carried.var || flow_.sources[expr.ref].count(carried.var) > 0;
      out.asks |= (expr.op == Op::first || expr.op == Op::last) && expr.ref == g_;
      if ((expr.op == Op::fold && expr.reduced.contains(dim_.axis)) || (expr.op == Op::scan && expr.axis == dim_.axis))
        out.along_axis = true;
      // What lacks the axis may still have been folded over the block.
      if (expr.op == Op::read && stepwise_.count(expr.ref) > 0)
        out.along_axis = true;
      if (expr.op == Op::window_first || expr.op == Op::window_last)
        out.asks = true;
    });
    return out;
  }

  void initial(const Stmt &stmt, const StmtPath &path) {
    for (size_t i = 0; i < stmt.body.size(); ++i) {
      const Stmt &inner = stmt.body[i];
      auto *carried = inner.kind == Stmt::Kind::assign && inner.coords.empty() ? find_carried(inner.target) : nullptr;
      const Content value = content(inner.value);
      if (carried == nullptr || value.along_axis || value.asks || value.reads_carried || !carried->updates.empty()) {
        reason_ = "under first(" + dim_.name + ") stands more than starting values";
        return;
      }
      StmtPath at = path;
      at.insert(at.end(), {0, static_cast<int>(i)});
      carried->init.push_back(at);
    }
  }

  // What follows the last step must not look along the axis, of which it would see the last block.
  void final(const Stmt &stmt, const StmtPath &path) {
    visit_statements(stmt.body, [&](const Stmt &inner, const auto &) {
      bool along = inner.kind == Stmt::Kind::assign && kernel_.vars[inner.target].axes.contains(dim_.axis);
      for (ExprId root : expressions_of(inner))
        visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) {
          along |= expr.axes.contains(dim_.axis) || (expr.op == Op::fold && expr.reduced.contains(dim_.axis)) ||
                   (expr.op == Op::scan && expr.axis == dim_.axis);
        });
      if (along)
        reason_ = "under last(" + dim_.name + ") a value runs along " + kernel_.axes[dim_.axis].name;
    });
    out_.last.push_back(path);
  }

  static std::optional<Monoid> monoid_of(Op op) {
    static const std::map<Op, Monoid> kMonoids = {
        {Op::add, Monoid::sum},  {Op::mul, Monoid::product}, {Op::min, Monoid::min},     {Op::max, Monoid::max},
        {Op::both, Monoid::all}, {Op::either, Monoid::any},  {Op::bit_and, Monoid::all}, {Op::bit_or, Monoid::any}};
    const auto found = kMonoids.find(op);
    return found == kMonoids.end() ? std::nullopt : std::optional(found->second);
  }

  ExprId without_casts(ExprId id) const {
    while (kernel_.expr(id).op == Op::cast)
      id = kernel_.expr(id).args[0];
    return id;
  }

  // The types that a value takes on, down to the first that is no cast.
  void note_casts(ExprId id, std::vector<Type> &types) const {
    for (; kernel_.expr(id).op == Op::cast; id = kernel_.expr(id).args[0])
      types.push_back(kernel_.expr(id).type);
    types.push_back(kernel_.expr(id).type);
  }

  // Does each value of the one type come through the other as it is?
  static bool holds(Type wide, Type narrow) {
    if (wide == narrow || narrow == Type::boolean || (is_floating(wide) && is_floating(narrow)))
      return true;
    const bool wider = bytes_of(wide) > bytes_of(narrow);
    return is_integer(wide) && is_integer(narrow) &&
           (is_unsigned(wide) == is_unsigned(narrow) ? bytes_of(wide) >= bytes_of(narrow)
                                                     : is_unsigned(narrow) && wider);
  }

  static bool is_ordered(Monoid monoid) { return monoid == Monoid::min || monoid == Monoid::max; }

  // Whose values are all that the fold can come to, where it picks one.
  Type narrowest_of(const Expr &fold) const {
    std::vector<Type> types;
    note_casts(fold.args[0], types);
    Type out = fold.type;
    for (Type type : types) {
      if (!holds(out, type))
        break;
      out = type;
    }
    return out;
  }

  // Is what the steps give one after the other what all give at once, through these types? Sums and bits that wrap
  // around do so at any time, unless they have been through a narrower type. The least and the greatest must not.
  bool is_alike(Monoid monoid, const std::vector<Type> &types, Type element, Type stored) const {
    return std::all_of(types.begin(), types.end(), [&](Type type) {
      if (is_ordered(monoid) || is_floating(stored))
        return holds(type, element) && holds(stored, element) && is_floating(type) == is_floating(stored);
      return type == stored || type == element || (is_integer(type) && bytes_of(type) >= bytes_of(stored));
    });
  }

  bool reads_just(ExprId id, VarId var) const {
    const Expr &expr = kernel_.expr(without_casts(id));
    return expr.op == Op::read && expr.ref == var && expr.coords.empty();
  }

  void update(const Stmt &stmt, const StmtPath &path) {
    Accumulation::Carried &carried = *find_carried(stmt.target);
    const std::string &name = kernel_.vars[stmt.target].name;
    const Expr &value = kernel_.expr(without_casts(stmt.value));
    const auto monoid = monoid_of(value.op);
    reason_ = "the update of " + name + " is not " + name + " = " + name + " (+ * min max) a fold over " +
              kernel_.axes[dim_.axis].name;
    if (!stmt.coords.empty() || !stmt.context.empty() || !monoid || value.args.size() != 2)
      return;
    const bool left = reads_just(value.args[0], stmt.target);
    if (!left && !reads_just(value.args[1], stmt.target))
      return;
    const ExprId rest = without_casts(value.args[left ? 1 : 0]);
    const Expr &fold = kernel_.expr(rest);
    const Content inner = content(rest);
    if (fold.op != Op::fold || fold.monoid != *monoid || !fold.reduced.contains(dim_.axis) || inner.reads_carried ||
        inner.asks || folds_inside(fold))
      return;
    if (!carried.updates.empty() && carried.monoid != *monoid) {
      reason_ = name + " is updated in two ways";
      return;
    }
    // Rounding at each step, or wrapping in a narrower type, would be lost.
    const Type stored = kernel_.vars[stmt.target].type, type = type_row(stored).arithmetic;
    std::vector<Type> types;
    note_casts(stmt.value, types);
    note_casts(value.args[0], types);
    note_casts(value.args[1], types);
    const bool narrower = !is_ordered(*monoid) && bytes_of(type) > bytes_of(fold.accumulator);
    if (is_floating(type) != is_floating(fold.accumulator) || narrower ||
        !is_alike(*monoid, types, narrowest_of(fold), stored)) {
      reason_ = "the sums of " + name + " are kept in another type than the steps'";
      return;
    }
    carried.monoid = *monoid;
    carried.updates.push_back(path);
    reason_.clear();
  }

  // A fold or scan over the block below: its value belongs to the block.
  bool folds_inside(const Expr &fold) const {
    bool found = false;
    for (ExprId arg : fold.args)
      visit_expressions(kernel_, arg, [&](const Expr &expr, ExprId) {
        found |=
            (expr.op == Op::fold && expr.reduced.contains(dim_.axis)) ||
            (expr.op == Op::scan && expr.axis == dim_.axis) ||
            (expr.op == Op::read && stepwise_.count(expr.ref) > 0 && !kernel_.vars[expr.ref].axes.contains(dim_.axis));
      });
    return found;
  }

  // Statements of every step: pointwise along the axis, and not looking at what is carried.
  void every(const Stmt &stmt, const StmtPath &path) {
    visit_statements({stmt}, [&](const Stmt &inner, const auto &) {
      if (!reason_.empty())
        return;
      if (inner.kind == Stmt::Kind::assign && find_carried(inner.target) != nullptr)
        reason_ = kernel_.vars[inner.target].name + " is updated under a condition";
      for (const Coordinate &c : inner.coords)
        if (c.axis == dim_.axis || kernel_.vars[inner.target].kind != Var::Kind::local)
          reason_ = "a store at other coordinates in every step";
      for (ExprId root : expressions_of(inner)) {
        const Content value = content(root);
        if (value.reads_carried)
          reason_ = "a value of every step looks at what is carried";
        else if (value.asks)
          reason_ = "a value of every step asks which step it is";
        else if (mixes(root))
          reason_ = "a value of every step is folded over a block of " + kernel_.axes[dim_.axis].name;
      }
      if (inner.kind == Stmt::Kind::assign && reason_.empty())
        stepwise_.insert(inner.target);
    });
    if (reason_.empty())
      out_.every.push_back(path);
  }

  bool mixes(ExprId root) const {
    bool found = false;
    visit_expressions(kernel_, root, [&](const Expr &expr, ExprId) {
      found |= expr.op == Op::fold && expr.reduced.contains(dim_.axis);
      found |= expr.op == Op::scan && expr.axis == dim_.axis;
      if (expr.op == Op::read && kernel_.vars[expr.ref].kind != Var::Kind::input)
        for (const Coordinate &c : expr.coords)
          found |= c.axis == dim_.axis;
    });
    return found;
  }

  const Context &context_;
  const Kernel &kernel_;
  const Flow &flow_;
  GridId g_;
  const GridDim &dim_;
  Accumulation out_;
  std::set<VarId> stepwise_; // written in every step
  std::string reason_;
};

} // namespace

void find_independence(Context &context, const Flow &flow) {
  Independence(context).run();
  for (size_t i = 0; i < context.kernel.grid.size(); ++i) {
    const GridId g = static_cast<GridId>(i);
    GridFact &fact = context.facts.grid[i];
    if (fact.semantics == Semantics::parallel) {
      fact.dissolve_reason = why_not_dissolvable(context, g);
      fact.dissolvable = fact.dissolve_reason.empty();
    } else {
      fact.accumulates = Accumulate(context, flow, g).find(fact.accumulate_reason);
    }
  }
}

} // namespace kgen::analysis
