// Bytes and operations, as expressions over sizes. An operation counts once for each lane of each step; along an axis
// that the grid blocks, all steps together count its size.
#include <algorithm>
#include <map>
#include <optional>

#include "analysis/context.h"
#include "analysis/flow.h"

namespace kgen::analysis {
namespace {

Size times(const Size &a, const Size &b) { return Size::make(Size::Op::multiply, {a, b}); }
Size plus(const Size &a, const Size &b) { return Size::make(Size::Op::add, {a, b}); }

class Counter {
public:
  explicit Counter(Context &context) : context_(context), kernel_(context.kernel), counts_(context.facts.counts) {}

  void run() {
    counts_.steps = Size::integer(1);
    for (const GridDim &dim : kernel_.grid)
      counts_.steps = times(counts_.steps, most_steps(dim));
    for (Size *bytes :
         {&counts_.bytes_read, &counts_.bytes_written, &counts_.step_bytes_read, &counts_.step_bytes_written})
      *bytes = Size::integer(0);
    for (size_t v = 0; v < kernel_.vars.size(); ++v)
      operand(static_cast<VarId>(v));
    context_.facts.largest_index = largest(elements_);
    for (const Stmt &stmt : kernel_.statements)
      statement(stmt);
    add_noted();
    simplify();
  }

private:
  static Size largest(const std::vector<Size> &sizes) {
    Size out = sizes.empty() ? Size::integer(0) : sizes.front();
    for (size_t i = 1; i < sizes.size(); ++i)
      out = Size::make(Size::Op::max, {out, sizes[i]});
    return out;
  }

  // The number of steps; where it depends on outer steps or tables, the most there can be, or one.
  Size most_steps(const GridDim &dim) const {
    if (context_.sizes_only(dim.size))
      return dim.size;
    return dim.at_most.value_or(Size::integer(1));
  }

  // The number of positions of a window; nothing where it is not known before the call.
  std::optional<Size> positions(const Size &start) const {
    Size out = Size::integer(1);
    for (const GridDim &dim : kernel_.grid) {
      if (!mentions(start, Size::Op::grid, dim.name))
        continue;
      if (!context_.sizes_only(dim.size) && !dim.at_most)
        return std::nullopt;
      out = times(out, most_steps(dim));
    }
    return out;
  }

  // Elements along a dimension that all steps together touch: all, but where a table picks the windows, no more than
  // those hold. (Of an output that is no partial one, they hold all.)
  Size touched(const Var &var, const Dim &dim) const {
    const bool picked = any_node(dim.start, [](const Size &s) { return s.op == Size::Op::table; });
    if (!picked || (var.kind == Var::Kind::output && !var.partial))
      return dim.extent;
    const std::optional<Size> windows = positions(dim.start);
    return windows ? Size::make(Size::Op::min, {dim.extent, times(*windows, dim.block)}) : dim.extent;
  }

  void operand(VarId id) {
    const Var &var = kernel_.vars[id];
    OperandFact &fact = context_.facts.operands[id];
    fact.elements = fact.step_elements = Size::integer(1);
    Size moved = Size::integer(1);
    for (const Dim &dim : var.dims) {
      bool rows = false; // of a packed array, whose elements the ragged dimension counts
      for (const Dim &other : var.dims)
        rows |= other.axis != kNone && dim.axis != kNone && kernel_.axes[other.axis].over == dim.axis;
      if (rows)
        continue;
      fact.elements = times(fact.elements, dim.extent);
      moved = times(moved, touched(var, dim));
      fact.step_elements = times(fact.step_elements, dim.block);
    }
    if (var.kind != Var::Kind::input && var.kind != Var::Kind::output)
      return;
    if (std::find(elements_.begin(), elements_.end(), fact.elements) == elements_.end())
      elements_.push_back(fact.elements);
    const Size width = Size::integer(bytes_of(var.type));
    const bool output = var.kind == Var::Kind::output;
    Size &all = output ? counts_.bytes_written : counts_.bytes_read;
    Size &step = output ? counts_.step_bytes_written : counts_.step_bytes_read;
    all = plus(all, times(moved, width));
    step = plus(step, times(fact.step_elements, width));
  }

  // Lanes of all steps together.
  Size lanes(AxisSet axes) const {
    Size out = Size::integer(1);
    for (AxisId id : axes.list()) {
      const Axis &axis = kernel_.axes[id];
      const bool rows = [&] {
        for (AxisId other : axes.list())
          if (kernel_.axes[other].over == id)
            return true;
        return false;
      }();
      if (!rows)
        out = times(out, axis.grid != kNone ? Size::axis(axis.name) : axis.block);
    }
    for (size_t g = 0; g < kernel_.grid.size(); ++g) {
      const GridDim &dim = kernel_.grid[g];
      if (dim.axis == kNone || !axes.contains(dim.axis))
        out = times(out, most_steps(dim));
    }
    return out;
  }

  // Like terms together.
  void simplify() {
    Symbols symbols(kernel_);
    std::vector<Size *> sizes = {&counts_.bytes_read, &counts_.bytes_written, &counts_.step_bytes_read,
                                 &counts_.step_bytes_written};
    for (auto &[op, size] : counts_.operations)
      sizes.push_back(&size);
    for (Size *size : sizes) {
      const Polynomial p = symbols.polynomial(*size);
      if (!p.overflow)
        *size = symbols.size_of(p);
    }
  }

  void note(Op op, AxisSet lanes) { ++noted_[op][lanes.bits()]; }

  void add_noted() {
    for (const auto &[op, counts] : noted_) {
      Size total = Size::integer(0);
      for (const auto &[axes, count] : counts)
        total = plus(total, times(Size::integer(count), lanes(AxisSet(axes))));
      counts_.operations.emplace(op, total);
    }
  }

  static Op fold_op(Monoid monoid) {
    switch (monoid) {
    case Monoid::product:
      return Op::mul;
    case Monoid::min:
    case Monoid::argmin:
      return Op::min;
    case Monoid::max:
    case Monoid::argmax:
      return Op::max;
    case Monoid::all:
      return Op::bit_and;
    case Monoid::any:
      return Op::bit_or;
    default:
      return Op::add;
    }
  }

  void expression(ExprId id, AxisSet around) {
    if (id == kNone)
      return;
    const Expr &expr = kernel_.expr(id);
    if (is_scalar_op(expr.op))
      note(expr.op, expr.axes | around);
    if (expr.op == Op::fold)
      note(fold_op(expr.monoid), expr.axes | around | expr.reduced);
    if (expr.op == Op::scan) {
      note(expr.scan == ScanKind::max       ? Op::max
           : expr.scan == ScanKind::product ? Op::mul
                                            : Op::add,
           expr.axes | around);
      if (expr.scan == ScanKind::linear)
        note(Op::mul, expr.axes | around);
    }
    for (ExprId arg : expr.args)
      expression(arg, around);
    for (const Coordinate &c : expr.coords)
      expression(c.value, around);
  }

  // Operations stand where their own axes are; conditions with axes spread them.
  void statement(const Stmt &stmt) {
    counts_.bounded &= stmt.kind != Stmt::Kind::loop;
    for (ExprId root : expressions_of(stmt))
      expression(root, stmt.context);
    for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
      for (const Stmt &s : *inner)
        statement(s);
  }

  std::vector<Size> elements_; // of the arrays, each number once
  Context &context_;
  const Kernel &kernel_;
  Counts &counts_;
  std::map<Op, std::map<uint64_t, int64_t>> noted_; // how many, by the axes of their lanes
};

} // namespace

void count(Context &context) { Counter(context).run(); }

} // namespace kgen::analysis
