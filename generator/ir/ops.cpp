// The names and arities of operations, from the table.
#include "ir/kernel.h"

#include <array>

#include "support/check.h"

namespace kgen {

namespace {

struct Row {
  Op op;
  std::string_view name;
  int arity;
};

constexpr std::array kScalarRows = {
#define KGEN_OP(id, arity, ...) Row{Op::id, #id, arity},
#include "ir/ops.def"
#undef KGEN_OP
};

constexpr std::array kOtherRows = {
    Row{Op::constant, "constant", -1},
    Row{Op::scalar, "scalar", -1},
    Row{Op::read, "read", -1},
    Row{Op::element, "element", -1},
    Row{Op::table, "table", -1},
    Row{Op::index, "index", -1},
    Row{Op::size, "size", -1},
    Row{Op::block, "block", -1},
    Row{Op::grid_index, "grid_index", -1},
    Row{Op::grid_size, "grid_size", -1},
    Row{Op::first, "first", -1},
    Row{Op::last, "last", -1},
    Row{Op::window_first, "window_first", -1},
    Row{Op::window_last, "window_last", -1},
    Row{Op::present, "present", -1},
    Row{Op::inside, "inside", -1},
    Row{Op::cast, "cast", -1},
    Row{Op::bitcast, "bitcast", -1},
    Row{Op::round_like, "round_like", -1},
    Row{Op::choose, "choose", -1},
    Row{Op::both, "both", -1},
    Row{Op::either, "either", -1},
    Row{Op::fold, "fold", -1},
    Row{Op::scan, "scan", -1},
    Row{Op::named_call, "named_call", -1},
    Row{Op::kept, "kept", -1},
};

const Row &row_of(Op op) {
  for (const Row &row : kScalarRows)
    if (row.op == op)
      return row;
  for (const Row &row : kOtherRows)
    if (row.op == op)
      return row;
  KGEN_UNREACHABLE("an operation without a row");
}

} // namespace

std::string_view op_name(Op op) { return row_of(op).name; }

int op_arity(Op op) { return row_of(op).arity; }

bool is_scalar_op(Op op) { return row_of(op).arity >= 0; }

Op mirrored(Op op) {
  switch (op) {
  case Op::lt:
    return Op::gt;
  case Op::le:
    return Op::ge;
  case Op::gt:
    return Op::lt;
  case Op::ge:
    return Op::le;
  default:
    return op;
  }
}

AxisSet axes_asked(const Kernel &kernel, const Expr &inside) {
  const Var &var = kernel.vars[inside.ref];
  AxisSet named, out;
  for (const Coordinate &coord : inside.coords)
    named |= AxisSet::of(coord.axis);
  for (const Dim &dim : var.dims) {
    if (dim.axis == kNone)
      continue;
    const Axis &axis = kernel.axes[dim.axis];
    if (dim.offset && var.kind == Var::Kind::input)
      out |= AxisSet::of(dim.axis);
    if (axis.ragged != kNone && var.axes.contains(axis.over))
      out |= AxisSet::of(dim.axis) | AxisSet::of(axis.over);
  }
  if (var.kind == Var::Kind::local)
    for (AxisId id : var.axes.list())
      if (const Axis &axis = kernel.axes[id]; axis.ragged != kNone && var.axes.contains(axis.over))
        out |= AxisSet::of(id) | AxisSet::of(axis.over);
  return out - named;
}

Bounds bounds_of(Type type) {
  if (type == Type::boolean)
    return {0, 1};
  if (!is_integer(type) || bytes_of(type) == 8)
    return {};
  const int bits = 8 * bytes_of(type) - (is_unsigned(type) ? 0 : 1);
  return {is_unsigned(type) ? 0 : -(int64_t{1} << bits), (int64_t{1} << bits) - 1};
}

} // namespace kgen
