// Stores at other coordinates: at(o, N = e) = v is one-to-one when the place tells every axis of the statement's lanes,
// or a running count hands the places out.
// One that also reaches every element counts as a write of the whole output.
#include <algorithm>
#include <set>

#include "analysis/coordinates.h"
#include "analysis/determine.h"
#include "analysis/flow.h"
#include "analysis/packing.h"
#include "analysis/witness.h"

namespace kgen::analysis {
namespace {

class Scatter {
public:
  Scatter(Context &context, const Stmt &stmt, const std::vector<const Stmt *> &around)
      : context_(context), kernel_(context.kernel), stmt_(stmt), around_(around), output_(context.var(stmt.target)),
        symbols_(context.kernel), coordinates_(context.kernel, symbols_) {
    symbols_.fix_steps();
    lanes_ = stmt.context | output_.axes;
    for (const Coordinate &c : stmt.coords) {
      lanes_ -= AxisSet::of(c.axis);
      named_ |= AxisSet::of(c.axis);
    }
    for (ExprId id : expressions_of(stmt))
      lanes_ |= kernel_.expr(id).axes;
    for (const AxisId axis : lanes_.list()) // else there are none, and nothing is stored
      if (kernel_.axes[axis].ragged == kNone)
        symbols_.assume_positive(Size::axis(kernel_.axes[axis].name));
  }

  bool one_to_one() {
    Determiner determiner(context_, symbols_);
    const AxisSet told = (output_.axes - named_) & lanes_;
    determiner.assume(told.bits());
    // Another round or step may add something else to a place, and meet this one.
    const bool repeats = !kernel_.grid.empty() || std::any_of(around_.begin(), around_.end(), [](const Stmt *stmt) {
      return stmt->kind == Stmt::Kind::loop;
    });
    for (const Coordinate &c : stmt_.coords) {
      const auto size = coordinates_.size(repeats ? c.value : without_constants(c.value, lanes_ - told));
      if (!size || !tables_inside(*size))
        continue;
      determiner.add(symbols_.polynomial(*size), Polynomial());
    }
    uint64_t known = determiner.run(false).steps | single_axes();
    for (const Coordinate &c : stmt_.coords)
      known |= handed_out(c.value, known);
    return (lanes_.bits() & ~known) == 0;
  }

  // Each coordinate runs through its whole extent with an axis of its own: forwards, backwards, from somewhere on and
  // around, or through a permutation.
  bool onto() {
    AxisSet used;
    for (const Coordinate &c : stmt_.coords) {
      const Dim *dim = nullptr;
      for (const Dim &d : output_.dims)
        if (d.axis == c.axis)
          dim = &d;
      const auto size = coordinates_.size(c.value);
      const AxisId axis = size && dim != nullptr ? permuted_axis(*size, dim->extent) : kNone;
      if (axis == kNone || used.contains(axis))
        return false;
      used |= AxisSet::of(axis);
    }
    return true;
  }

private:
  // What is left of a place without what is the same in all lanes: sums tell them apart as that does, even if they wrap
  // around.
  ExprId without_constants(ExprId id, AxisSet lanes, int depth = 0) const {
    constexpr int kDeepest = 32; // a local that is made of itself has no value
    const Expr &e = kernel_.expr(id);
    if (depth > kDeepest)
      return id;
    if (e.op == Op::cast && e.type == Type::i64 && kernel_.expr(e.args[0]).type == Type::i32)
      return without_constants(e.args[0], lanes, depth + 1);
    if (const ExprId set = Coordinates::setting(kernel_, e); set != kNone)
      return without_constants(set, lanes, depth + 1);
    if ((e.op != Op::add && e.op != Op::sub) || (e.type != Type::i64 && e.type != Type::i32))
      return id;
    for (const size_t i : {0, 1})
      if ((kernel_.expr(e.args[i]).axes & lanes).empty())
        return without_constants(e.args[1 - i], lanes, depth + 1);
    return id;
  }

  // The axis that a running count tells, once the others that the place depends on are known.
  uint64_t handed_out(ExprId place, uint64_t known) {
    const AxisId axis = packed_axis(context_.kernel, place, stmt_, around_);
    if (axis == kNone)
      return 0;
    const uint64_t bit = uint64_t{1} << axis;
    return ((kernel_.expr(place).axes & lanes_).bits() & ~known & ~bit) == 0 ? bit : 0;
  }

  uint64_t single_axes() const {
    uint64_t known = 0;
    for (AxisId axis : lanes_.list())
      if (kernel_.axes[axis].size.is_integer(1))
        known |= uint64_t{1} << axis;
    return known;
  }

  bool tables_inside(const Size &size) {
    return !any_node(size, [&](const Size &node) {
      if (node.op != Size::Op::table)
        return false;
      for (const Table &table : kernel_.tables)
        if (table.name == node.name)
          for (size_t d = 0; d < node.args.size(); ++d)
            if (!coordinates_.inside(node.args[d], table.dims[d]))
              return true;
      return false;
    });
  }

  AxisId permuted_axis(const Size &size, const Size &extent) {
    for (AxisId axis : lanes_.list()) {
      const Axis &a = kernel_.axes[axis];
      const bool whole = a.start.is_integer(0) && a.uniform && is_size_of(a, a.block);
      const Polynomial index = symbols_.polynomial(coordinates_.index(axis, kNone));
      const Polynomial last = symbols_.polynomial(extent) - Polynomial::constant(1);
      const auto count = index_count(kernel_, axis, kNone);
      if (!whole || !count || !(symbols_.polynomial(*count) - last - Polynomial::constant(1)).is_zero())
        continue;
      const Polynomial p = symbols_.polynomial(size);
      if ((p - index).is_zero() || (p - last + index).is_zero() || goes_around(size, extent, axis))
        return axis;
      if (size.op == Size::Op::table && size.args.size() == 1 && (symbols_.polynomial(size.args[0]) - index).is_zero())
        for (const Table &table : kernel_.tables)
          if (table.name == size.name && table.unique && table.range &&
              (symbols_.polynomial(*table.range) - last - Polynomial::constant(1)).is_zero())
            return axis;
    }
    return kNone;
  }

  // (index + n) % extent or (n - index) % extent
  bool goes_around(const Size &size, const Size &extent, AxisId axis) {
    if (size.op != Size::Op::modulo || !(symbols_.polynomial(size.args[1]) - symbols_.polynomial(extent)).is_zero())
      return false;
    const Polynomial index = symbols_.polynomial(coordinates_.index(axis, kNone));
    const Polynomial place = symbols_.polynomial(size.args[0]);
    const uint64_t bit = uint64_t{1} << axis;
    return (symbols_.steps_of(place - index) & bit) == 0 || (symbols_.steps_of(place + index) & bit) == 0;
  }

  Context &context_;
  const Kernel &kernel_;
  const Stmt &stmt_;
  const std::vector<const Stmt *> &around_;
  const Var &output_;
  Symbols symbols_;
  Coordinates coordinates_;
  AxisSet lanes_, named_;
};

// Is it computed in 32 bits, perhaps in locals, so that it may wrap around?
bool may_wrap_in_int(const Kernel &kernel, ExprId id, std::set<VarId> &seen) {
  bool found = false;
  visit_with_locals(kernel, id, seen, [&](const Expr &e, ExprId) {
    const bool computes = e.op == Op::add || e.op == Op::sub || e.op == Op::mul || e.op == Op::neg || e.op == Op::shl;
    found = found || (computes && e.type == Type::i32 && !is_bounded(e));
  });
  return found;
}

std::string way_out(const Kernel &kernel, const Stmt &stmt, bool has_example) {
  std::set<VarId> seen;
  for (const Coordinate &c : stmt.coords)
    if (!has_example && may_wrap_in_int(kernel, c.value, seen))
      return "an int may wrap around: compute the place in int64_t, as in int64_t i = index(N)";
  return "use coordinates that differ for all elements, such as an axis' index, entries of a table with unique = true, "
         "or, under if (keep), int64_t place = cumsum_exclusive(int64_t(keep), N); or add with +=";
}

} // namespace

Writes judge_scatters(Context &context) {
  Writes onto;
  visit_statements(context.kernel.statements, [&](const Stmt &stmt, const auto &around) {
    if (stmt.kind != Stmt::Kind::assign || stmt.coords.empty() || stmt.scatter_add || !context.is_output(stmt.target))
      return;
    Scatter scatter(context, stmt, around);
    if (!scatter.one_to_one()) {
      Diagnostic &error = context.diags.add(DiagId::scatter_collides, stmt.place, {context.var(stmt.target).name});
      const auto example = run_that_ends(context, Fault::meets, stmt.target);
      error.help = (example ? text(context.kernel, *example) + " is stored to twice"
                            : "elements whose coordinates are equal meet") +
                   "; " + way_out(context.kernel, stmt, example.has_value());
      return;
    }
    if (scatter.onto())
      onto[{&stmt, stmt.target}];
  });
  return onto;
}

} // namespace kgen::analysis
