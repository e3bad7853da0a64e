#include "plan/index/exprs.h"

#include <algorithm>

#include "ir/conversions.h"
#include "ir/evaluate.h"
#include "ir/op_rows.h"

namespace kgen {

void walk(const Kernel &kernel, ExprId id, const std::function<bool(ExprId)> &visit) {
  if (id == kNone || !visit(id))
    return;
  for (ExprId arg : kernel.expr(id).args)
    walk(kernel, arg, visit);
  for (const Coordinate &coordinate : kernel.expr(id).coords)
    walk(kernel, coordinate.value, visit);
}

ExprId replace(Kernel &kernel, ExprId id, const std::function<ExprId(ExprId)> &with) {
  if (id == kNone)
    return id;
  if (ExprId other = with(id); other != kNone)
    return other;
  Expr copy = kernel.expr(id);
  bool changed = false;
  for (ExprId &arg : copy.args) {
    ExprId other = replace(kernel, arg, with);
    changed |= other != arg;
    arg = other;
  }
  for (Coordinate &coordinate : copy.coords) {
    ExprId other = replace(kernel, coordinate.value, with);
    changed |= other != coordinate.value;
    coordinate.value = other;
  }
  return changed ? kernel.add(std::move(copy)) : id;
}

bool any_node(const Kernel &kernel, ExprId id, const std::function<bool(const Expr &)> &question) {
  bool found = false;
  walk(kernel, id, [&](ExprId at) {
    found = found || question(kernel.expr(at));
    return !found;
  });
  return found;
}

bool reads(const Kernel &kernel, ExprId id, VarId var) {
  return any_node(kernel, id, [&](const Expr &e) { return e.op == Op::read && e.ref == var; });
}

bool same(const Kernel &kernel, ExprId a, ExprId b) {
  if (a == b)
    return true;
  if (a == kNone || b == kNone)
    return false;
  const Expr &x = kernel.expr(a), &y = kernel.expr(b);
  if (x.op != y.op || x.type != y.type || x.ref != y.ref || x.axis != y.axis || x.integer != y.integer ||
      x.number != y.number || x.monoid != y.monoid || x.reduced != y.reduced || x.scan != y.scan ||
      x.reverse != y.reverse || x.exclusive != y.exclusive || x.element != y.element || x.nan_shows != y.nan_shows ||
      x.args.size() != y.args.size() || x.coords.size() != y.coords.size())
    return false;
  for (size_t i = 0; i < x.args.size(); ++i)
    if (!same(kernel, x.args[i], y.args[i]))
      return false;
  for (size_t i = 0; i < x.coords.size(); ++i)
    if (x.coords[i].axis != y.coords[i].axis || !same(kernel, x.coords[i].value, y.coords[i].value))
      return false;
  return true;
}

namespace {
constexpr int kLightOperations = 6;
constexpr int kLightReads = 3;
} // namespace

bool divides_by_number(const Kernel &kernel, const Expr &e) {
  if ((e.op != Op::div && e.op != Op::rem) || is_floating(e.type))
    return false;
  const Expr &by = kernel.expr(e.args[1]);
  return by.op == Op::constant && by.integer > 0;
}

bool has_vector_form(const Kernel &kernel, const Expr &e) {
  if (!is_scalar_op(e.op) || !has(e.op, op::lanes))
    return false;
  const Type type = e.args.empty() ? e.type : kernel.expr(e.args[0]).type;
  if (is_floating(type))
    return true;
  const bool is_operator = op_row(e.op).binds > 0 && e.op != Op::shl && e.op != Op::shr;
  const bool real_of_whole = !is_operator && is_floating(e.type);
  return !real_of_whole && ((e.op != Op::div && e.op != Op::rem) || divides_by_number(kernel, e));
}

bool is_light(const Kernel &kernel, ExprId id) {
  int operations = 0, reads = 0;
  walk(kernel, id, [&](ExprId at) {
    const Op op = kernel.expr(at).op;
    operations += is_scalar_op(op) ? op_row(op).again : 0;
    reads += op == Op::read;
    return true;
  });
  return operations <= kLightOperations && reads <= kLightReads;
}

void replace_reads(Kernel &kernel, PlanNode &node, const std::function<ExprId(VarId)> &with, bool deep) {
  const std::function<ExprId(ExprId)> other = [&](ExprId at) {
    const Op op = kernel.expr(at).op;
    const ExprId read = op == Op::read || op == Op::element ? with(kernel.expr(at).ref) : kNone;
    if (read == kNone || (op == Op::read && kernel.expr(at).coords.empty()))
      return read;
    Expr elsewhere = kernel.expr(at); // a read at another place, or of an element, stays at that place
    elsewhere.ref = kernel.expr(read).ref;
    for (ExprId &arg : elsewhere.args)
      arg = replace(kernel, arg, other);
    for (Coordinate &c : elsewhere.coords)
      c.value = replace(kernel, c.value, other);
    return kernel.add(std::move(elsewhere));
  };
  auto put = [&](ExprId &id) { id = replace(kernel, id, other); };
  put(node.value);
  put(node.second);
  put(node.condition);
  put(node.end);
  put(node.entry);
  for (ExprId &id : node.indices)
    put(id);
  for (Coordinate &c : node.coords)
    put(c.value);
  if (deep)
    for (std::vector<PlanNode> *list : {&node.body, &node.otherwise, &node.step})
      for (PlanNode &child : *list)
        replace_reads(kernel, child, with, deep);
}

void replace_reads(Kernel &kernel, PlanNode &node, VarId var, ExprId with, bool deep) {
  replace_reads(kernel, node, [&](VarId read) { return read == var ? with : kNone; }, deep);
}

ExprId make_constant(Kernel &kernel, Type type, int64_t integer, double number) {
  Expr e;
  e.op = Op::constant;
  e.type = type;
  e.integer = integer;
  e.number = number;
  if (is_integer(type))
    e.bounds.low = e.bounds.high = integer;
  return kernel.add(std::move(e));
}

ExprId make_read(Kernel &kernel, VarId var) {
  Expr e;
  e.op = Op::read;
  e.type = type_row(kernel.vars[var].type).arithmetic;
  e.axes = kernel.vars[var].axes;
  e.ref = var;
  return kernel.add(std::move(e));
}

PlanNode make_assign(const Kernel &kernel, VarId target, ExprId value, const Place &place) {
  PlanNode node;
  node.target = target;
  node.value = value;
  node.lanes = kernel.vars[target].axes;
  node.place = place;
  return node;
}

ExprId make_size(Kernel &kernel, AxisId axis, int64_t of) {
  Expr e;
  e.op = Op::size;
  e.type = Type::i64;
  e.axis = axis;
  e.integer = of;
  if (of == kSizeOfAxis && kernel.axes[axis].ragged != kNone)
    e.axes = AxisSet::of(kernel.axes[axis].over);
  return kernel.add(std::move(e));
}

ExprId make_op(Kernel &kernel, Op op, Type type, std::vector<ExprId> args) {
  Expr e;
  e.op = op;
  e.type = type;
  for (ExprId arg : args)
    e.axes |= kernel.expr(arg).axes;
  e.args = std::move(args);
  return kernel.add(std::move(e));
}

ExprId make_positions(Kernel &kernel, const std::vector<AxisId> &axes, int64_t of) {
  ExprId all = kNone;
  for (AxisId axis : axes) {
    const ExprId size = make_size(kernel, axis, of);
    all = all == kNone ? size : make_op(kernel, Op::mul, Type::i64, {all, size});
  }
  return all;
}

ExprId make_cast(Kernel &kernel, ExprId value, Type type) {
  const Expr &e = kernel.expr(value);
  if (e.type == type)
    return value;
  if (e.op == Op::constant && is_integer(e.type) && is_integer(type))
    return make_constant(kernel, type, wrap(e.integer, type), 0);
  if (e.op == Op::cast && is_integer(e.type)) // what loses nothing on the way is not asked for
    if (const Type from = kernel.expr(e.args[0]).type; is_integer(from) && holds_all(e.type, from))
      return make_cast(kernel, e.args[0], type);
  return make_op(kernel, Op::cast, type, {value});
}

ExprId make_not(Kernel &kernel, ExprId condition) {
  return make_op(kernel, Op::logical_not, Type::boolean, {condition});
}

VarId add_var(Kernel &kernel, Var var) {
  kernel.vars.push_back(std::move(var));
  return static_cast<VarId>(kernel.vars.size()) - 1;
}

std::string stride_name(const Kernel &kernel, const Var &of, int array_dim) {
  // An input with an alias is its output.
  const Var &var = of.kind == Var::Kind::input && of.alias != kNone ? kernel.vars[of.alias] : of;
  std::string label;
  for (const Dim &dim : var.dims)
    if (dim.array_dim == array_dim && dim.axis != kNone)
      label += kernel.axes[dim.axis].rest ? "rows" : kernel.axes[dim.axis].name;
  return var.name + "_stride_" + (label.empty() ? std::to_string(array_dim) : label);
}

const Coordinate *moved(const Kernel &kernel, const std::vector<Coordinate> &coords, AxisId axis) {
  const Coordinate *given = find_coordinate(coords, axis);
  return given == nullptr || is_identity(kernel, *given) ? nullptr : given;
}

Monoid monoid_of(ScanKind scan) {
  return scan == ScanKind::product ? Monoid::product : scan == ScanKind::max ? Monoid::max : Monoid::sum;
}

bool is_identity(const Kernel &kernel, const Coordinate &coordinate) {
  const Expr &value = kernel.expr(coordinate.value);
  if (value.op != Op::index || value.axis != coordinate.axis || value.ref != kNone)
    return false;
  if (kernel.grid.empty())
    return true;
  // The index counts from where the axis begins in a step; an array's window may begin elsewhere.
  const Size &start = kernel.axes[coordinate.axis].start;
  return std::none_of(kernel.vars.begin(), kernel.vars.end(), [&](const Var &var) {
    return (var.kind == Var::Kind::input || var.kind == Var::Kind::output) &&
           std::any_of(var.dims.begin(), var.dims.end(),
                       [&](const Dim &dim) { return dim.axis == coordinate.axis && !(dim.start == start); });
  });
}

} // namespace kgen
