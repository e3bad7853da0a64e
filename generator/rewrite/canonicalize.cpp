// Expression ids stay as they are, so that facts about them hold for the result too.
#include "rewrite/canonicalize.h"

#include <algorithm>

#include "ir/picked_windows.h"

namespace kgen {
namespace {

class Canonical {
public:
  Canonical(const Kernel &kernel, const Facts &facts) : out_(kernel) {
    for (size_t g = 0; g < kernel.grid.size(); ++g)
      dropped_.push_back(facts.grid[g].dissolvable || facts.grid[g].accumulates.has_value());
  }

  Kernel run() {
    for (GridId g = 0; g < static_cast<GridId>(dropped_.size()); ++g)
      if (dropped_[g])
        make_whole(out_.grid[g]);
    renumber();
    note_missing_windows();
    out_.statements = flatten(out_.statements);
    return std::move(out_);
  }

private:
  static bool moves(const Size &size, const std::string &grid) { return mentions(size, Size::Op::grid, grid); }

  void make_whole(const GridDim &grid) {
    Axis &axis = out_.axes[grid.axis];
    axis.start = Size::integer(0);
    axis.block = axis.size;
    axis.grid = kNone;
    for (Var &var : out_.vars)
      for (Dim &dim : var.dims) {
        if (dim.axis != grid.axis)
          continue;
        if (var.kind == Var::Kind::scratch) {
          dim.extent = dim.block = axis.size;
        } else if (moves(dim.start, grid.name)) {
          dim.start = Size::integer(0);
          dim.block = dim.extent;
          dim.whole = true;
        }
      }
  }

  // The dropped dimensions have one step: it is the first and the last.
  void renumber() {
    std::vector<GridId> now;
    std::vector<GridDim> grid;
    for (size_t g = 0; g < dropped_.size(); ++g) {
      now.push_back(dropped_[g] ? kNone : static_cast<GridId>(grid.size()));
      if (!dropped_[g])
        grid.push_back(out_.grid[g]);
    }
    out_.grid = std::move(grid);
    for (Axis &axis : out_.axes)
      if (axis.grid != kNone)
        axis.grid = now[axis.grid];
    for (Expr &e : out_.exprs) {
      const bool about_grid = e.op == Op::first || e.op == Op::last || e.op == Op::grid_index || e.op == Op::grid_size;
      const bool about_window = e.op == Op::window_first || e.op == Op::window_last;
      if (about_window && out_.grid.empty())
        set_true(e);
      if (!about_grid)
        continue;
      if (now[e.ref] != kNone)
        e.ref = now[e.ref];
      else
        set_true(e);
    }
  }

  // A window that does not exist in a step begins where its array ends, and so do the positions that follow it.
  void note_missing_windows() {
    for (Axis &axis : out_.axes)
      axis.start = where_it_exists(out_, axis.start, axis.start, axis.size);
    for (Var &var : out_.vars)
      for (Dim &dim : var.dims)
        if (!dim.whole && !lengths_needed(out_, dim.start).empty()) {
          dim.start = where_it_exists(out_, dim.start, dim.start, dim.extent);
          dim.may_miss = dim.may_miss || dim.axis == kNone;
        }
  }

  static void set_true(Expr &e) {
    e.op = Op::constant;
    e.integer = e.type == Type::boolean ? 1 : 0;
    e.ref = kNone;
  }

  // Branches whose condition is now known.
  std::vector<Stmt> flatten(const std::vector<Stmt> &list) const {
    std::vector<Stmt> out;
    for (Stmt stmt : list) {
      stmt.body = flatten(stmt.body);
      stmt.otherwise = flatten(stmt.otherwise);
      stmt.step = flatten(stmt.step);
      const std::optional<bool> known = stmt.kind == Stmt::Kind::branch ? value(stmt.value) : std::nullopt;
      if (!known) {
        out.push_back(std::move(stmt));
        continue;
      }
      const std::vector<Stmt> &taken = *known ? stmt.body : stmt.otherwise;
      out.insert(out.end(), taken.begin(), taken.end());
    }
    return out;
  }

  std::optional<bool> value(ExprId id) const {
    const Expr &e = out_.expr(id);
    auto arg = [&](size_t i) { return value(e.args[i]); };
    switch (e.op) {
    case Op::constant:
      return e.integer != 0;
    case Op::logical_not: {
      const auto v = arg(0);
      return v ? std::optional<bool>(!*v) : std::nullopt;
    }
    case Op::both:
    case Op::either: {
      const auto a = arg(0), b = arg(1);
      const bool decides = e.op == Op::either;
      if ((a && *a == decides) || (b && *b == decides))
        return decides;
      return a && b ? std::optional<bool>(!decides) : std::nullopt;
    }
    default:
      return std::nullopt;
    }
  }

  Kernel out_;
  std::vector<bool> dropped_;
};

} // namespace

Kernel canonicalize(const Kernel &kernel, const Facts &facts) { return Canonical(kernel, facts).run(); }

} // namespace kgen
