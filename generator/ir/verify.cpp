// The legal form of a kernel: ids in range, types that fit, axis sets that follow from the arguments. What fails here
// is a fault of the stage that made the kernel.
#include "ir/kernel.h"

#include <algorithm>

#include "ir/op_rows.h"

namespace kgen {

namespace {

class Verifier {
public:
  explicit Verifier(const Kernel &kernel) : k_(kernel) {}

  std::string run() {
    for (size_t i = 0; i < k_.axes.size() && ok(); ++i)
      axis(k_.axes[i]);
    for (size_t i = 0; i < k_.vars.size() && ok(); ++i)
      var(k_.vars[i]);
    for (size_t i = 0; i < k_.exprs.size() && ok(); ++i)
      expr(static_cast<ExprId>(i));
    for (const Requirement &r : k_.requirements)
      need(in(r.condition, k_.exprs.size()) && k_.expr(r.condition).type == Type::boolean, "requirement");
    statements(k_.statements, AxisSet(), 0);
    for (AxisId id : k_.size_arguments)
      need(in(id, k_.axes.size()), "size argument out of range");
    return fault_;
  }

private:
  bool ok() const { return fault_.empty(); }

  bool need(bool condition, const std::string &what) {
    if (!condition && fault_.empty())
      fault_ = what + where_;
    return condition;
  }

  static bool in(int id, size_t count) { return id >= 0 && static_cast<size_t>(id) < count; }
  static bool in_or_none(int id, size_t count) { return id == kNone || in(id, count); }

  void axis(const Axis &a) {
    where_ = " at axis " + a.name;
    need(in_or_none(a.ragged, k_.tables.size()) && in_or_none(a.over, k_.axes.size()), "ragged out of range");
    need(in_or_none(a.grid, k_.grid.size()), "grid out of range");
    need((a.ragged == kNone) == (a.over == kNone), "ragged without over");
  }

  void var(const Var &v) {
    where_ = " at " + v.name;
    if (v.kind == Var::Kind::local) {
      need(!is_half(v.type), "local of a half type");
      return;
    }
    AxisSet axes;
    for (const Dim &d : v.dims) {
      need(in_or_none(d.axis, k_.axes.size()), "axis out of range");
      need(d.axis == kNone || !axes.contains(d.axis), "axis twice");
      if (d.axis != kNone)
        axes |= AxisSet::of(d.axis);
      need(!d.whole || d.block == d.extent, "whole window that is not");
    }
    need(axes == v.axes, "axes that are not those of its dimensions");
    need(in_or_none(v.alias, k_.vars.size()), "alias out of range");
  }

  // A ragged axis comes with the axis that it is ragged over.
  AxisSet closed(AxisSet axes) const {
    for (AxisId id : axes.list())
      if (k_.axes[id].over != kNone)
        axes |= AxisSet::of(k_.axes[id].over);
    return axes;
  }

  void expr(ExprId id) {
    const Expr &e = k_.expr(id);
    where_ = " at expression " + std::to_string(id) + " (" + std::string(op_name(e.op)) + ")";
    need(!is_half(e.type), "half type");
    AxisSet axes;
    for (ExprId arg : e.args) {
      if (!need(in(arg, static_cast<size_t>(id)), "argument that does not stand before"))
        return;
      axes |= k_.expr(arg).axes;
    }
    AxisSet elsewhere;
    for (const Coordinate &c : e.coords) {
      if (!need(in(c.value, static_cast<size_t>(id)) && in(c.axis, k_.axes.size()), "coordinate out of range"))
        return;
      need(k_.expr(c.value).type == Type::i64, "coordinate that is not i64");
      axes |= k_.expr(c.value).axes;
      elsewhere |= AxisSet::of(c.axis);
    }
    if (is_scalar_op(e.op))
      scalar(e);
    else
      special(e, axes, elsewhere);
    if (ok())
      need(e.axes == closed(axes), "axes that do not follow from its arguments");
  }

  void arguments(const Expr &e, size_t least, size_t most) {
    need(e.args.size() >= least && e.args.size() <= most, "wrong number of arguments");
  }

  Type type(const Expr &e, size_t arg) const { return k_.expr(e.args[arg]).type; }

  void scalar(const Expr &e) {
    size_t arity = static_cast<size_t>(op_arity(e.op));
    arguments(e, arity, arity);
    if (!ok())
      return;
    if (is_a(e.op, op::Kind::random)) {
      need(type(e, 0) == Type::i64 && type(e, 1) == Type::i64, "random of something else than i64");
      need(e.op == Op::random ? is_floating(e.type) : e.type == Type::u32, "type of random");
      return;
    }
    for (size_t i = 1; i < e.args.size(); ++i)
      need(type(e, i) == type(e, 0), "arguments of different types");
    const op::Result rule = op_row(e.op).result;
    if (rule == op::Result::same || rule == op::Result::real)
      need(e.type == type(e, 0), "result of another type than its arguments");
    if (rule == op::Result::real)
      need(is_floating(e.type), "maths that is not floating");
    if (rule == op::Result::boolean)
      need(e.type == Type::boolean, "comparison that is not bool");
  }

  void special(const Expr &e, AxisSet &axes, AxisSet elsewhere) {
    switch (e.op) {
    case Op::constant:
      return arguments(e, 0, 0);
    case Op::scalar:
      need(in(e.ref, k_.scalars.size()) && e.type == k_.scalars[e.ref].type, "scalar");
      return;
    case Op::read:
    case Op::inside:
    case Op::element:
      return array(e, axes, elsewhere);
    case Op::table:
      need(in(e.ref, k_.tables.size()) && e.type == k_.tables[e.ref].type, "table");
      if (ok())
        arguments(e, k_.tables[e.ref].dims.size(), k_.tables[e.ref].dims.size());
      return;
    case Op::index:
    case Op::size:
    case Op::block:
      if (!need(in(e.axis, k_.axes.size()) && in_or_none(e.ref, k_.vars.size()), "axis out of range"))
        return;
      need(e.type == Type::i64, "index that is not i64");
      if (e.op == Op::index)
        axes |= AxisSet::of(e.axis);
      if (e.op == Op::size && k_.axes[e.axis].over != kNone)
        axes |= AxisSet::of(k_.axes[e.axis].over);
      return;
    case Op::grid_index:
    case Op::grid_size:
    case Op::first:
    case Op::last:
      need(in(e.ref, k_.grid.size()), "grid dimension out of range");
      return;
    case Op::window_first:
    case Op::window_last:
      need(in(e.ref, k_.vars.size()) && k_.vars[e.ref].kind == Var::Kind::output, "window of no output");
      return;
    case Op::present:
      need(in(e.ref, k_.vars.size()), "operand out of range");
      return;
    case Op::cast:
    case Op::bitcast:
      return arguments(e, 1, 1);
    case Op::named_call:
      need(in(e.ref, k_.named_functions.size()), "function out of range");
      return;
    case Op::round_like:
      arguments(e, 1, 1);
      need(ok() && type(e, 0) == e.type, "round_like changes the type");
      need(is_half(e.element), "round_like is like no half type");
      return;
    case Op::choose:
      arguments(e, 3, 3);
      need(ok() && type(e, 0) == Type::boolean && type(e, 1) == e.type && type(e, 2) == e.type, "types of choose");
      return;
    case Op::both:
    case Op::either:
      arguments(e, 2, 2);
      need(ok() && type(e, 0) == Type::boolean && type(e, 1) == Type::boolean, "types of && or ||");
      return;
    default:
      return mixing(e, axes);
    }
  }

  void array(const Expr &e, AxisSet &axes, AxisSet elsewhere) {
    if (!need(in(e.ref, k_.vars.size()), "variable out of range"))
      return;
    const Var &v = k_.vars[e.ref];
    need(e.op == Op::inside || e.type == type_row(v.type).arithmetic, "read of another type");
    need(v.kind == Var::Kind::local || v.axes.contains(elsewhere), "coordinate along an axis that is not there");
    if (e.op == Op::element)
      arguments(e, v.array.size(), v.array.size());
    axes |= e.op == Op::inside ? axes_asked(k_, e) : v.axes - elsewhere;
  }

  void mixing(const Expr &e, AxisSet &axes) {
    if (e.op == Op::fold) {
      arguments(e, 1, 2);
      need(ok() && type(e, 0) == e.accumulator, "element of another type than the accumulator");
      need(e.args.size() < 2 || type(e, 1) == Type::boolean, "where that is not bool");
      need(!e.reduced.empty() && axes.contains(e.reduced), "reduction along axes that are not there");
      bool position = e.monoid == Monoid::argmax || e.monoid == Monoid::argmin;
      need(e.type == (position ? Type::i64 : e.accumulator), "type of a reduction");
      axes -= e.reduced;
      return;
    }
    size_t count = e.scan == ScanKind::linear ? 2 : 1;
    arguments(e, count, count);
    for (ExprId arg : e.args)
      need(k_.expr(arg).type == e.accumulator && e.type == e.accumulator, "types of a scan");
    need(axes.contains(e.axis), "scan along an axis that is not there");
  }

  void statements(const std::vector<Stmt> &list, AxisSet context, int loops) {
    for (const Stmt &s : list) {
      if (!ok())
        return;
      statement(s, context, loops);
    }
  }

  void statement(const Stmt &s, AxisSet context, int loops) {
    where_ = " at a statement of line " + std::to_string(s.place.line);
    bool value = s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::branch || s.kind == Stmt::Kind::check;
    if (!need(value ? in(s.value, k_.exprs.size()) : in_or_none(s.value, k_.exprs.size()), "value out of range"))
      return;
    need(s.context.contains(context), "context without the conditions around it");
    if (s.kind == Stmt::Kind::assign)
      return assign(s);
    if (s.kind == Stmt::Kind::leave || s.kind == Stmt::Kind::next)
      need(loops > 0, "break outside a loop");
    if (s.value != kNone)
      need(k_.expr(s.value).type == Type::boolean && s.axes.contains(k_.expr(s.value).axes), "condition");
    for (const Shown &shown : s.shown)
      need(in_or_none(shown.value, k_.exprs.size()), "print of nothing");
    bool loop = s.kind == Stmt::Kind::loop;
    AxisSet inner = loop || s.kind == Stmt::Kind::branch ? context | s.axes : context;
    statements(s.body, inner, loops + loop);
    statements(s.otherwise, inner, loops);
    statements(s.step, context, loops + loop); // after a continue too
  }

  void assign(const Stmt &s) {
    if (!need(in(s.target, k_.vars.size()), "target out of range"))
      return;
    const Var &v = k_.vars[s.target];
    need(v.kind != Var::Kind::input, "assignment to an input");
    need(k_.expr(s.value).type == type_row(v.type).arithmetic, "value of another type than its target");
    need(s.indices.size() == v.array.size(), "wrong number of subscripts");
    if (!s.coords.empty())
      return;
    need(v.axes.contains(k_.expr(s.value).axes), "value with axes that the target lacks");
    need(v.axes.contains(s.context), "condition with axes that the target lacks");
  }

  const Kernel &k_;
  std::string fault_;
  std::string where_;
};

} // namespace

std::string verify(const Kernel &kernel) { return Verifier(kernel).run(); }

} // namespace kgen
