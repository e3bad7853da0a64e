// What axis sets alone can refuse: values wider than their target, reductions of axes that are not there or that a
// condition depends on, indices that are not one number, questions that have no answer.
#include "ir/build.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

namespace kgen::build {

namespace {

std::string_view fold_name(Monoid monoid) {
  constexpr std::string_view names[] = {"sum", "prod", "min", "max", "mean", "all", "any", "argmax", "argmin"};
  return names[static_cast<int>(monoid)];
}

class AxisChecks {
public:
  explicit AxisChecks(Build &build) : build_(build), kernel_(build.kernel) {}

  void run() {
    for_each(kernel_.statements, [&](const Stmt &s) {
      AxisSet context = s.context;
      if (s.kind == Stmt::Kind::loop) // its condition is asked again under itself
        context |= s.axes;
      if ((s.kind == Stmt::Kind::branch || s.kind == Stmt::Kind::loop) && !s.axes.empty())
        scatters_under(s);
      const size_t before = build_.diags.error_count();
      for (ExprId root : roots(s))
        expression(root, context);
      if (s.kind == Stmt::Kind::assign && build_.diags.error_count() == before)
        target(s);
    });
  }

private:
  // What the functions of one call have in common is said once.
  void add(DiagId id, const Place &place, const std::vector<std::string> &arguments, const std::string &help) {
    if (said_.insert({id, place.file, place.line, place.column}).second)
      build_.diags.add(id, place, arguments).help = help;
  }

  // What a statement under a condition does to an output or to the input in its memory.
  struct Touch {
    const Stmt *statement;
    VarId memory;
    bool read;
    AxisSet elsewhere;
    Place place;
  };

  // All elements would have to end one statement before any begins the next, but the condition picks some of them.
  // Additions may come in any order.
  void scatters_under(const Stmt &condition) {
    std::vector<Touch> touches;
    for (const auto *list : {&condition.body, &condition.otherwise, &condition.step})
      for_each(*list, [&](const Stmt &s) { note_touches(s, touches); });
    if (condition.kind == Stmt::Kind::loop && condition.value != kNone)
      note_reads(condition, condition.value, touches);
    for (const Touch &write : touches) {
      if (write.read)
        continue;
      for (AxisId axis : (write.elsewhere & condition.axes).list())
        for (const Touch &other : touches) {
          const bool both_add = !other.read && other.statement->scatter_add && write.statement->scatter_add;
          // Reads by read(), of two writes the second.
          const bool reported = other.elsewhere.contains(axis) && (other.read || &other < &write);
          if (&other == &write || other.memory != write.memory || both_add || reported)
            continue;
          add(DiagId::scatter_met, other.place,
              {kernel_.vars[write.statement->target].name, kernel_.axes[axis].name,
               other.read ? "read too" : "written again"},
              other.read ? "read it into a local before the condition" : "give each of the two a condition of its own");
        }
    }
  }

  void note_touches(const Stmt &s, std::vector<Touch> &touches) {
    for (ExprId root : roots(s))
      note_reads(s, root, touches);
    if (s.kind == Stmt::Kind::assign && kernel_.vars[s.target].kind == Var::Kind::output)
      touches.push_back({&s, s.target, false, axes_of(s.coords), s.place});
  }

  void note_reads(const Stmt &s, ExprId id, std::vector<Touch> &touches) {
    const Expr &e = kernel_.expr(id);
    for (ExprId arg : e.args)
      note_reads(s, arg, touches);
    for (const Coordinate &coord : e.coords)
      note_reads(s, coord.value, touches);
    if (e.op != Op::read)
      return;
    const Var &var = kernel_.vars[e.ref];
    const VarId memory = var.kind == Var::Kind::input ? var.alias : e.ref;
    if (memory != kNone)
      touches.push_back({&s, memory, true, axes_of(e.coords), e.place});
  }

  static AxisSet axes_of(const std::vector<Coordinate> &coords) {
    AxisSet out;
    for (const Coordinate &coord : coords)
      out |= AxisSet::of(coord.axis);
    return out;
  }

  void target(const Stmt &s) {
    const Var &var = kernel_.vars[s.target];
    if (var.kind == Var::Kind::local)
      return;
    for (const Coordinate &coord : s.coords)
      coordinate(var, coord, s.place);
    if (!s.coords.empty())
      return;
    AxisSet missing = kernel_.expr(s.value).axes - var.axes;
    std::string names = build_.axis_names(missing);
    if (!missing.empty())
      add(DiagId::axis_missing, s.place, {var.name, names}, offer(missing));
    missing = s.context - var.axes - missing;
    if (!missing.empty())
      add(DiagId::condition_axis_missing, s.place, {var.name, build_.axis_names(missing)},
          "reduce the condition first: any(..., " + list(missing) + ") or all(..., " + list(missing) + ")");
  }

  std::string list(AxisSet axes) const { return build_.axis_names(axes, ", "); }

  std::string offer(AxisSet missing) const {
    std::string axes = list(missing), help = "reduce it: sum(..., " + axes + "), max(..., " + axes + "), mean(..., " +
                                             axes + "); or add " + axes + " to the brackets";
    for (AxisId axis : missing.list())
      if (const GridId grid = kernel_.axes[axis].grid; grid != kNone && kernel_.grid[grid].block.is_integer(1))
        help += "; or give the arrays with " + kernel_.axes[axis].name +
                " a window of one element, without the axis: " + "grid." + kernel_.grid[grid].name + " = { size = \"" +
                kernel_.axes[axis].name + "\" }, and block = [..., \"squeeze\"], index = [..., \"" +
                kernel_.grid[grid].name + "\"]";
    return help;
  }

  void expression(ExprId id, AxisSet context) {
    const Expr &e = kernel_.expr(id);
    for (ExprId arg : e.args)
      expression(arg, context);
    for (const Coordinate &coord : e.coords)
      expression(coord.value, context);
    switch (e.op) {
    case Op::fold:
      return fold(e, context);
    case Op::scan:
      return scan(e, context);
    case Op::read:
      return read(e, context);
    case Op::inside:
      for (const Coordinate &coord : e.coords)
        coordinate(kernel_.vars[e.ref], coord, e.place);
      return;
    case Op::index:
      if (e.ref == kNone && !kernel_.axes[e.axis].uniform)
        not_uniform(e.axis, e.place);
      return;
    case Op::grid_index:
      return seen(e.ref, e.place);
    case Op::grid_size:
      if (AxisId axis = kernel_.grid[e.ref].axis; axis != kNone && kernel_.axes[axis].ragged != kNone)
        add(DiagId::ragged_steps, e.place, {kernel_.grid[e.ref].name, kernel_.axes[axis].name},
            "the rows have different lengths; ask last(" + kernel_.grid[e.ref].name + ") or size(" +
                kernel_.axes[axis].name + ")");
      return seen(e.ref, e.place);
    case Op::block:
      if (kernel_.axes[e.axis].grid != kNone)
        seen(kernel_.axes[e.axis].grid, e.place);
      return;
    case Op::window_first:
    case Op::window_last:
      return window(e);
    default:
      return;
    }
  }

  void not_uniform(AxisId axis, const Place &place) {
    const std::string &name = kernel_.axes[axis].name;
    std::string operand = "x";
    for (const Var &var : kernel_.vars)
      if (var.kind == Var::Kind::input && var.axes.contains(axis))
        operand = var.name;
    add(DiagId::index_not_uniform, place, {name}, "say whose: index(" + operand + ", " + name + ")");
  }

  AxisSet argument_axes(const Expr &e) const {
    AxisSet out;
    for (ExprId arg : e.args)
      out |= kernel_.expr(arg).axes;
    return out;
  }

  void fold(const Expr &e, AxisSet context) {
    std::string name(fold_name(e.monoid));
    AxisSet have = argument_axes(e);
    AxisSet missing = e.reduced - have;
    if (!missing.empty())
      add(DiagId::reduced_missing, e.place, {name, build_.axis_names(missing)},
          have.empty() ? "the argument has no axes" : "the axes of the argument are " + build_.axis_names(have));
    if (AxisSet both = e.reduced & context; !both.empty())
      add(DiagId::reduced_under_if, e.place, {name, build_.axis_names(both)},
          "restrict its lanes instead, " + name + "(..., " + list(e.reduced) +
              ", where(condition)), or compute it before the condition");
    for (AxisId axis : (have - e.reduced).list())
      if (e.reduced.contains(kernel_.axes[axis].over))
        add(DiagId::ragged_over_reduced, e.place, {kernel_.axes[kernel_.axes[axis].over].name, kernel_.axes[axis].name},
            "reduce along both, or along " + kernel_.axes[axis].name + " first");
    bool whole = e.monoid == Monoid::mean || e.monoid == Monoid::argmax || e.monoid == Monoid::argmin;
    for (AxisId axis : e.reduced.list())
      if (whole && kernel_.axes[axis].grid != kNone)
        add(DiagId::mean_blocked, e.place, {name, kernel_.axes[axis].name},
            e.monoid == Monoid::mean
                ? "sum over the blocks into scratch, and divide by size(" + kernel_.axes[axis].name + ") at the last"
                : "leave " + kernel_.axes[axis].name + " out of the grid");
  }

  void scan(const Expr &e, AxisSet context) {
    AxisSet have = argument_axes(e);
    const std::string &axis = kernel_.axes[e.axis].name;
    if (!have.contains(e.axis))
      add(DiagId::reduced_missing, e.place, {"a running value", axis},
          have.empty() ? "the argument has no axes" : "the axes of the argument are " + build_.axis_names(have));
    if (context.contains(e.axis))
      add(DiagId::reduced_under_if, e.place, {"a running value", axis},
          "move it out of the condition, and give the elements left out a neutral value");
    for (AxisId other : have.list())
      if (kernel_.axes[other].over == e.axis)
        add(DiagId::ragged_in_scan, e.place, {axis, kernel_.axes[other].name},
            "let it run along " + kernel_.axes[other].name + ", or reduce along " + kernel_.axes[other].name +
                " first");
  }

  void coordinate(const Var &var, const Coordinate &coord, const Place &place) {
    const Axis &axis = kernel_.axes[coord.axis];
    if (var.kind != Var::Kind::input && !axis.uniform)
      not_uniform(coord.axis, place);
    if (var.kind == Var::Kind::local && !var.axes.contains(coord.axis))
      add(DiagId::coordinate_unknown, place, {var.name, axis.name},
          var.axes.empty() ? "it is one number" : "its axes are " + build_.axis_names(var.axes));
  }

  void read(const Expr &e, AxisSet context) {
    const Var &var = kernel_.vars[e.ref];
    for (const Coordinate &coord : e.coords) {
      coordinate(var, coord, e.place);
      if (var.kind != Var::Kind::input && context.contains(coord.axis))
        add(DiagId::at_under_if, e.place, {var.name, kernel_.axes[coord.axis].name},
            "read it into a local before the condition");
    }
  }

  void window(const Expr &e) {
    std::string name = e.op == Op::window_first ? "first" : "last";
    if (moves_with(build_, kernel_.vars[e.ref]).empty())
      add(DiagId::window_never_moves, e.place, {name, kernel_.vars[e.ref].name},
          "ask about a grid dimension: " + name + "(" + (kernel_.grid.empty() ? "k" : kernel_.grid.back().name) + ")");
  }

  // A block list says that every choice is right: the body must not tell them apart.
  void seen(GridId dim, const Place &place) {
    const std::string &name = kernel_.grid[dim].name;
    for (const GridDecl &decl : build_.spec.grid)
      if (decl.name == name && decl.blocks.size() > 1)
        add(DiagId::block_list_seen, place, {name},
            "ask only first(" + name + ") and last(" + name + "), or write one block");
  }

  Build &build_;
  const Kernel &kernel_;
  std::set<std::tuple<DiagId, std::string, int, int>> said_;
};

} // namespace

void check_axes(Build &build) { AxisChecks(build).run(); }

} // namespace kgen::build
