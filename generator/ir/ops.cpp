// The table of operations.
#include "ir/op_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "support/check.h"

namespace kgen {

namespace {

constexpr OpRow row(Op id, std::string_view name, int arity, op::Result result, op::Kind kind, int binds, int again,
                    unsigned facts, std::string_view whole, std::string_view cpp, std::string_view cuda_f32,
                    std::string_view cuda_f64, std::string_view derivatives) {
  return {id, name, arity, result, kind, binds, again, facts, whole, cpp, cuda_f32, cuda_f64, derivatives};
}

using namespace op;
constexpr OpRow kRows[] = {
#define KGEN_OP(id, arity, result, kind, ...) row(Op::id, #id, arity, Result::result, Kind::kind, __VA_ARGS__),
#include "ir/ops.def"
#undef KGEN_OP
};

constexpr std::pair<Op, std::string_view> kOthers[] = {
    {Op::constant, "constant"},
    {Op::scalar, "scalar"},
    {Op::read, "read"},
    {Op::element, "element"},
    {Op::table, "table"},
    {Op::index, "index"},
    {Op::size, "size"},
    {Op::block, "block"},
    {Op::grid_index, "grid_index"},
    {Op::grid_size, "grid_size"},
    {Op::first, "first"},
    {Op::last, "last"},
    {Op::window_first, "window_first"},
    {Op::window_last, "window_last"},
    {Op::present, "present"},
    {Op::inside, "inside"},
    {Op::cast, "cast"},
    {Op::bitcast, "bitcast"},
    {Op::round_like, "round_like"},
    {Op::choose, "choose"},
    {Op::both, "both"},
    {Op::either, "either"},
    {Op::fold, "fold"},
    {Op::scan, "scan"},
    {Op::named_call, "named_call"},
    {Op::row_of, "row_of"},
    {Op::kept, "kept"},
};

// nullptr: no scalar operation. Their rows stand in the order of their numbers.
const OpRow *find_row(Op op) {
  const int at = static_cast<int>(op) - static_cast<int>(kRows[0].op);
  return at >= 0 && at < static_cast<int>(std::size(kRows)) ? &kRows[at] : nullptr;
}

} // namespace

std::span<const OpRow> op_rows() { return kRows; }

const OpRow &op_row(Op op) {
  const OpRow *row = find_row(op);
  KGEN_CHECK(row != nullptr);
  return *row;
}

bool has(Op op, Fact fact) { return is_scalar_op(op) && (op_row(op).facts & fact) != 0; }

bool is_a(Op op, Kind kind) { return is_scalar_op(op) && op_row(op).kind == kind; }

bool is_comparison(Op op) { return is_a(op, Kind::comparison); }

const OpRow *infix_row(std::string_view sign) {
  const auto found =
      std::ranges::find_if(kRows, [&](const OpRow &row) { return row.arity == 2 && row.binds > 0 && row.cpp == sign; });
  return found == std::end(kRows) ? nullptr : found;
}

std::string_view op_name(Op op) {
  if (const OpRow *row = find_row(op))
    return row->name;
  return std::ranges::find(kOthers, op, &std::pair<Op, std::string_view>::first)->second;
}

int op_arity(Op op) { return op_row(op).arity; }

bool is_scalar_op(Op op) { return find_row(op) != nullptr; }

namespace {
// What a comparison is with its sides swapped, and where it does not hold.
struct Turned {
  Op op, mirrored, negated;
};
constexpr Turned kTurned[] = {{Op::lt, Op::gt, Op::ge}, {Op::le, Op::ge, Op::gt}, {Op::gt, Op::lt, Op::le},
                              {Op::ge, Op::le, Op::lt}, {Op::eq, Op::eq, Op::ne}, {Op::ne, Op::ne, Op::eq}};
} // namespace

Op mirrored(Op op) { return is_comparison(op) ? std::ranges::find(kTurned, op, &Turned::op)->mirrored : op; }

Op negated(Op op) { return std::ranges::find(kTurned, op, &Turned::op)->negated; }

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
