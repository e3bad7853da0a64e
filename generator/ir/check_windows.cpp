// How values and windows move with the grid: reductions and scans that see one block only, writes that every step
// repeats, sums kept in half precision, writes at other coordinates. A write is an update when its value depends,
// through locals too, on what the target held.
#include "ir/build.h"

#include <algorithm>
#include <utility>

namespace kgen::build {

namespace {

// What flows into a value: outputs and scratch whose old contents it depends on, and mixing along blocked axes.
struct Origin {
  std::set<VarId> old;
  std::set<ExprId> blocked;

  bool merge(const Origin &other) {
    size_t before = old.size() + blocked.size();
    old.insert(other.old.begin(), other.old.end());
    blocked.insert(other.blocked.begin(), other.blocked.end());
    return old.size() + blocked.size() != before;
  }
};

class WindowChecks {
public:
  explicit WindowChecks(Build &build) : build_(build), kernel_(build.kernel) {}

  void run() {
    for (AxisId axis = 0; axis < static_cast<AxisId>(kernel_.axes.size()); ++axis)
      blocked_by_.push_back(dimensions_along(axis));
    for_each(kernel_.statements, [&](const Stmt &s) {
      if (s.kind == Stmt::Kind::assign)
        assigned_[s.target].push_back(s.value);
    });
    origins_.resize(kernel_.exprs.size());
    seen_.assign(kernel_.exprs.size(), 0);
    walk(kernel_.statements, {}, {});
  }

private:
  // Grid dimensions with which the block along an axis moves.
  std::set<GridId> dimensions_along(AxisId id) const {
    const Axis &axis = kernel_.axes[id];
    std::set<GridId> out = grid_mentions(build_, axis.start);
    if (!axis.uniform)
      for (const Var &var : kernel_.vars)
        for (const Dim &dim : var.dims)
          if (dim.axis == id)
            out.merge(grid_mentions(build_, dim.start));
    return out;
  }

  std::set<GridId> dimensions_of(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    std::set<GridId> out;
    for (AxisId axis : (e.op == Op::scan ? AxisSet::of(e.axis) : e.reduced).list())
      out.insert(blocked_by_[axis].begin(), blocked_by_[axis].end());
    return out;
  }

  // What the value depends on, as locals are now.
  const Origin &origin(ExprId id) {
    Origin &out = origins_[id];
    if (std::exchange(seen_[id], moment_) == moment_)
      return out;
    out = {};
    const Expr &e = kernel_.expr(id);
    for (ExprId arg : e.args)
      out.merge(origin(arg));
    for (const Coordinate &coord : e.coords)
      out.merge(origin(coord.value));
    if (e.op == Op::read || e.op == Op::element) {
      const Var::Kind kind = kernel_.vars[e.ref].kind;
      if (kind == Var::Kind::local)
        out.merge(locals_[e.ref]);
      else if (kind != Var::Kind::input)
        out.old.insert(e.ref);
    }
    if ((e.op == Op::fold || e.op == Op::scan) && !dimensions_of(id).empty())
      out.blocked.insert(id);
    return out;
  }

  Origin origin_of(const Stmt &s) {
    ++moment_;
    Origin out;
    for (ExprId root : roots(s))
      out.merge(origin(root));
    return out;
  }

  // A local holds what it is given last; in a loop, that of any round.
  void assign(const Stmt &s, const Origin &own) {
    Origin &local = locals_[s.target];
    if (in_loop_ == 0 && s.indices.empty())
      local = own;
    else
      changed_ = local.merge(own) || changed_;
  }

  // What locals may hold in the rounds of a loop.
  void go_round(const Stmt &loop, const Origin &own) {
    do {
      changed_ = false;
      spread(loop.body, own);
      spread(loop.step, own);
    } while (changed_);
  }

  void spread(const std::vector<Stmt> &statements, const Origin &context) {
    for (const Stmt &s : statements) {
      const Origin own = within(context, s);
      if (is_of_local(s))
        assign(s, own);
      spread(s.body, own);
      spread(s.otherwise, own);
      spread(s.step, own);
    }
  }

  Origin within(Origin context, const Stmt &s) {
    context.merge(origin_of(s));
    return context;
  }

  bool is_of_local(const Stmt &s) const {
    return s.kind == Stmt::Kind::assign && kernel_.vars[s.target].kind == Var::Kind::local;
  }

  // Dimensions whose first or last step the condition asks for.
  std::set<GridId> guards(ExprId id, bool value) const {
    const Expr &e = kernel_.expr(id);
    switch (e.op) {
    case Op::first:
    case Op::last:
      return value ? std::set<GridId>{e.ref} : std::set<GridId>{};
    case Op::window_first:
    case Op::window_last:
      return value ? run_of(kernel_.vars[e.ref]) : std::set<GridId>{};
    case Op::logical_not:
      return guards(e.args[0], !value);
    case Op::both:
    case Op::either: {
      if (value != (e.op == Op::both))
        return {};
      std::set<GridId> out = guards(e.args[0], value);
      out.merge(guards(e.args[1], value));
      return out;
    }
    case Op::eq:
      return value ? edge(e) : std::set<GridId>{};
    case Op::read: {
      auto it = assigned_.find(e.ref);
      bool once = it != assigned_.end() && it->second.size() == 1 && kernel_.vars[e.ref].kind == Var::Kind::local;
      return once ? guards(it->second[0], value) : std::set<GridId>{};
    }
    default:
      return {};
    }
  }

  // k == 0 and k == size(k) - 1, written out.
  std::set<GridId> edge(const Expr &e) const {
    auto bare = [&](ExprId id) -> const Expr & {
      while (kernel_.expr(id).op == Op::cast)
        id = kernel_.expr(id).args[0];
      return kernel_.expr(id);
    };
    const Expr *a = &bare(e.args[0]), *b = &bare(e.args[1]);
    if (b->op == Op::grid_index)
      std::swap(a, b);
    if (a->op != Op::grid_index)
      return {};
    bool first = b->op == Op::constant && b->integer == 0 && !is_floating(b->type);
    bool last = false;
    if (b->op == Op::sub) {
      const Expr &size = bare(b->args[0]), &one = bare(b->args[1]);
      last = size.op == Op::grid_size && size.ref == a->ref && one.op == Op::constant && one.integer == 1;
    }
    return first || last ? std::set<GridId>{a->ref} : std::set<GridId>{};
  }

  // Dimensions along which a window may stay: all but those that move it by themselves, not through a table.
  std::set<GridId> run_of(const Var &var) const {
    std::set<GridId> out, moving;
    for (const Dim &dim : var.dims)
      moving.merge(direct_mentions(dim.start));
    for (GridId dim = 0; dim < static_cast<GridId>(kernel_.grid.size()); ++dim)
      if (!moving.count(dim))
        out.insert(dim);
    return out;
  }

  std::set<GridId> direct_mentions(const Size &size) const {
    std::set<GridId> out;
    if (size.op == Size::Op::grid)
      return grid_mentions(build_, size);
    if (size.op != Size::Op::table)
      for (const Size &arg : size.args)
        out.merge(direct_mentions(arg));
    return out;
  }

  void walk(const std::vector<Stmt> &statements, const std::set<GridId> &guarded, const Origin &context) {
    for (const Stmt &s : statements) {
      if (s.kind == Stmt::Kind::loop && ++in_loop_ == 1)
        go_round(s, within(context, s));
      const Origin own = within(context, s);
      if (is_of_local(s))
        assign(s, own);
      else if (s.kind == Stmt::Kind::assign)
        target(s, guarded, own);
      walk_inner(s, guarded, own);
      in_loop_ -= s.kind == Stmt::Kind::loop;
    }
  }

  void walk_inner(const Stmt &s, const std::set<GridId> &guarded, const Origin &own) {
    const bool asks = s.value != kNone && (s.kind == Stmt::Kind::branch || s.kind == Stmt::Kind::loop);
    const auto inner = [&](bool value) {
      std::set<GridId> out = asks ? guards(s.value, value) : std::set<GridId>{};
      out.insert(guarded.begin(), guarded.end());
      return out;
    };
    const auto locals = s.kind == Stmt::Kind::branch ? locals_ : decltype(locals_){};
    const std::set<VarId> written = written_;
    walk(s.body, inner(true), own);
    if (s.kind == Stmt::Kind::branch) {
      const auto then = std::exchange(locals_, locals);
      const std::set<VarId> written_then = std::exchange(written_, written);
      walk(s.otherwise, inner(false), own);
      for (const auto &[var, origin] : then)
        locals_[var].merge(origin);
      keep_common(written_then);
    } else {
      written_ = written;
    }
    walk(s.step, inner(true), own);
  }

  void keep_common(const std::set<VarId> &other) {
    std::erase_if(written_, [&](VarId id) { return !other.count(id); });
  }

  bool is_many(GridId dim) const {
    const GridDim &g = kernel_.grid[dim];
    return !g.size.is_integer() || g.size.value > 1;
  }

  // Dimensions that run in order and do not move the window.
  std::set<GridId> stays_along(const Var &var) const {
    std::set<GridId> out, moves = moves_with(build_, var);
    for (GridId dim = 0; dim < static_cast<GridId>(kernel_.grid.size()); ++dim)
      if (is_many(dim) && kernel_.grid[dim].stated != Semantics::parallel && !moves.count(dim))
        out.insert(dim);
    return out;
  }

  void target(const Stmt &s, const std::set<GridId> &guarded, const Origin &origin) {
    const Var &var = kernel_.vars[s.target];
    bool update = s.scatter_add || origin.old.count(s.target) != 0;
    if (!s.coords.empty())
      scatter(s, var);
    const size_t before = build_.diags.error_count();
    for (ExprId id : origin.blocked) {
      if (kernel_.expr(id).op == Op::scan)
        scan(s, id, origin);
      else if (update)
        part(id, guarded);
      else
        fold(s, id, var, guarded);
    }
    if (var.kind == Var::Kind::output && build_.diags.error_count() == before) {
      if (!update && !var.overwrite)
        plain_write(s, var, guarded);
      if (update && is_half(var.type) && !written_.count(s.target))
        half_update(s, var, guarded);
    }
    if (s.coords.empty())
      written_.insert(s.target);
  }

  void plain_write(const Stmt &s, const Var &var, const std::set<GridId> &guarded) {
    for (GridId dim : stays_along(var)) {
      if (guarded.count(dim))
        continue;
      const std::string &name = kernel_.grid[dim].name;
      build_.diags.add(DiagId::write_stays, s.place, {var.name, name}).help =
          stores_by_step(s, dim) ? "let each step see the element that it writes: " + squeezed(s, var, dim) +
                                       ", and write `" + var.name + " = ...;`"
                                 : "write it under if (last(" + name + ")) or if (first(" + name +
                                       ")), add to it, or say overwrite = true: then the last step wins";
      return;
    }
  }

  // at(o, N = i) = v, with the step as the place.
  bool stores_by_step(const Stmt &s, GridId dim) const {
    return std::any_of(s.coords.begin(), s.coords.end(), [&](const Coordinate &c) { return is_step(c.value, dim); });
  }

  bool is_step(ExprId id, GridId dim) const {
    while (kernel_.expr(id).op == Op::cast)
      id = kernel_.expr(id).args[0];
    const Expr &e = kernel_.expr(id);
    const auto set = e.op == Op::read ? assigned_.find(e.ref) : assigned_.end();
    if (set != assigned_.end())
      return set->second.size() == 1 && set->second[0] < id && is_step(set->second[0], dim);
    return e.op == Op::grid_index && e.ref == dim;
  }

  // The window that moves with the step: `block = ["squeeze", "whole"], index = ["i", 0]`.
  std::string squeezed(const Stmt &s, const Var &var, GridId dim) const {
    std::string block, index;
    for (const Dim &d : var.dims) {
      const Coordinate *place = find_coordinate(s.coords, d.axis);
      const bool by_step = place != nullptr && is_step(place->value, dim);
      block += std::string(block.empty() ? "" : ", ") + (by_step ? "\"squeeze\"" : "\"whole\"");
      index += (index.empty() ? "" : ", ") + (by_step ? "\"" + kernel_.grid[dim].name + "\"" : "0");
    }
    return "outputs." + var.name + " = { ..., block = [" + block + "], index = [" + index + "] }";
  }

  void half_update(const Stmt &s, const Var &var, const std::set<GridId> &guarded) {
    for (GridId dim : stays_along(var)) {
      if (guarded.count(dim))
        continue;
      std::string brackets;
      for (const OperandDecl &operand : build_.spec.operands)
        if (operand.name == var.name)
          for (const DimDecl &d : operand.dims)
            for (const std::string &axis : d.axes)
              brackets += (brackets.empty() ? "" : ", ") + axis;
      const std::string &name = kernel_.grid[dim].name;
      build_.diags.add(DiagId::half_accumulator, s.place, {var.name, std::string(type_row(var.type).name), name}).help =
          "accumulate in scratch.acc = \"f32[" + brackets + "]\", and write " + var.name + " under if (last(" + name +
          "))";
      return;
    }
  }

  void fold(const Stmt &s, ExprId id, const Var &var, const std::set<GridId> &guarded) {
    const Expr &e = kernel_.expr(id);
    std::set<GridId> moves = moves_with(build_, var);
    for (GridId dim : dimensions_of(id)) {
      if (!is_many(dim) || guarded.count(dim) || (moves.count(dim) && (var.axes & e.reduced).empty()))
        continue;
      if (!blocked_targets_.insert({s.target, dim}).second || !reported_.insert(id).second)
        return;
      const std::string &name = kernel_.grid[dim].name;
      Diagnostic &d = build_.diags.add(DiagId::reduction_blocked, e.place,
                                       {"a reduction", build_.axis_names(e.reduced), name, var.name});
      d.labels.push_back({s.place, "it reaches " + kernel_.vars[s.target].name + " here"});
      d.help = (var.axes & e.reduced).empty()
                   ? "add it up over the steps: if (first(" + name + ")) ... = 0; ... += ...; or leave " +
                         build_.axis_names(e.reduced) + " out of the grid"
                   : "leave " + build_.axis_names(e.reduced) + " out of the grid: kgen tiles by itself";
      return;
    }
  }

  // A mean or a position of one block, put together with those of other steps.
  void part(ExprId id, const std::set<GridId> &guarded) {
    const Expr &e = kernel_.expr(id);
    bool mean = e.monoid == Monoid::mean;
    if (!mean && e.monoid != Monoid::argmax && e.monoid != Monoid::argmin)
      return;
    for (GridId dim : dimensions_of(id))
      if (is_many(dim) && !guarded.count(dim) && reported_.insert(id).second)
        build_.diags.add(DiagId::mean_blocked, e.place, {mean ? "mean" : "a position", build_.axis_names(e.reduced)})
            .help = "add up sums over the steps, and divide at the last one";
  }

  void scan(const Stmt &s, ExprId id, const Origin &origin) {
    const Expr &e = kernel_.expr(id);
    for (GridId dim : dimensions_of(id)) {
      bool carried = std::any_of(origin.old.begin(), origin.old.end(), [&](VarId old) {
        return kernel_.vars[old].kind == Var::Kind::scratch && !moves_with(build_, kernel_.vars[old]).count(dim);
      });
      if (carried || !is_many(dim) || !reported_.insert(id).second)
        continue;
      const std::string &axis = kernel_.axes[e.axis].name, &name = kernel_.grid[dim].name;
      Diagnostic &d = build_.diags.add(DiagId::scan_blocked, e.place, {"a running value", axis, name});
      d.labels.push_back({s.place, "it reaches " + kernel_.vars[s.target].name + " here"});
      d.help =
          "combine it with scratch that carries the value of the blocks before, or leave " + axis + " out of the grid";
    }
  }

  // By itself, not through a local, which holds what was there before.
  bool reads(ExprId id, VarId var) const {
    const Expr &e = kernel_.expr(id);
    const auto in = [&](ExprId part) { return reads(part, var); };
    return (e.op == Op::read && e.ref == var) || std::any_of(e.args.begin(), e.args.end(), in) ||
           std::any_of(e.coords.begin(), e.coords.end(), [&](const Coordinate &c) { return in(c.value); });
  }

  void scatter(const Stmt &s, const Var &var) {
    for (const Coordinate &coord : s.coords)
      for (const Dim &dim : var.dims)
        if (dim.axis == coord.axis && !dim.whole)
          build_.diags.add(DiagId::scatter_blocked, s.place, {var.name, kernel_.axes[dim.axis].name}).help =
              "leave " + kernel_.axes[dim.axis].name + " out of the grid, or give " + var.name +
              " a \"whole\" window along it";
    if (reads(s.value, s.target))
      build_.diags.add(DiagId::scatter_reads, s.place, {var.name}).help =
          "at(" + var.name + ", ...) += v adds for all elements";
  }

  Build &build_;
  const Kernel &kernel_;
  std::vector<std::set<GridId>> blocked_by_;      // per axis
  std::map<VarId, std::vector<ExprId>> assigned_; // values
  std::vector<Origin> origins_;                   // per expression, as it was last asked for
  std::vector<uint64_t> seen_;                    // when that was
  uint64_t moment_ = 0;
  std::map<VarId, Origin> locals_; // as they are now
  int in_loop_ = 0;
  std::set<VarId> written_; // surely, in this step
  std::set<ExprId> reported_;
  std::set<std::pair<VarId, GridId>> blocked_targets_; // of reductions that were refused
  bool changed_ = false;
};

} // namespace

void check_windows(Build &build) { WindowChecks(build).run(); }

} // namespace kgen::build
