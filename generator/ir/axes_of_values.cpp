#include "ir/axes_of_values.h"

namespace kgen {
namespace {

class AxesOfValues {
public:
  AxesOfValues(Kernel &kernel, AxisSet batch) : kernel_(kernel), batch_(batch) {}

  void run() {
    do {
      changed_ = false;
      for (Expr &e : kernel_.exprs)
        e.axes = closed(axes_of(e));
      walk(kernel_.statements, AxisSet());
    } while (changed_);
  }

private:
  // Of Op::kept: does its value differ along the axes whose elements are left out?
  bool is_choice(const Expr &e) const { return kernel_.exprs[e.args[0]].axes.contains(e.reduced); }

  // A ragged axis comes with the axis that it is ragged over.
  AxisSet closed(AxisSet axes) const {
    for (AxisId axis : axes.list())
      if (kernel_.axes[axis].ragged != kNone && kernel_.axes[axis].over != kNone)
        axes |= AxisSet::of(kernel_.axes[axis].over);
    return axes;
  }

  AxisSet axes_of(const Expr &e) const {
    AxisSet axes;
    for (ExprId arg : e.args)
      axes |= kernel_.exprs[arg].axes;
    AxisSet elsewhere;
    for (const Coordinate &coord : e.coords) {
      axes |= kernel_.exprs[coord.value].axes;
      elsewhere |= AxisSet::of(coord.axis);
    }
    switch (e.op) {
    case Op::read:
      return axes | (kernel_.vars[e.ref].axes - elsewhere);
    case Op::inside:
      return axes | axes_asked(kernel_, e);
    case Op::element:
      return axes | kernel_.vars[e.ref].axes;
    case Op::index:
      return AxisSet::of(e.axis);
    case Op::size: {
      const Axis &axis = kernel_.axes[e.axis];
      return axis.ragged != kNone && axis.over != kNone ? AxisSet::of(axis.over) : AxisSet();
    }
    case Op::fold:
      return axes - e.reduced;
    case Op::kept:
      return is_choice(e) ? axes : kernel_.exprs[e.args[0]].axes;
    default:
      return axes;
    }
  }

  AxisSet axes_of(const std::vector<Coordinate> &coords, bool of_values) const {
    AxisSet axes;
    for (const Coordinate &coord : coords)
      axes |= of_values ? kernel_.exprs[coord.value].axes : AxisSet::of(coord.axis);
    return axes;
  }

  // Conditions inside a loop under which break or continue stand make the rest of it conditional; its step follows a
  // continue all the same.
  AxisSet leaving(const std::vector<Stmt> &statements, AxisSet context, bool by_continue) const {
    AxisSet out;
    for (const Stmt &s : statements) {
      if (s.kind == Stmt::Kind::leave || (s.kind == Stmt::Kind::next && by_continue))
        out |= context;
      if (s.kind != Stmt::Kind::branch)
        continue;
      AxisSet inner = context | kernel_.exprs[s.value].axes;
      out |= leaving(s.body, inner, by_continue) | leaving(s.otherwise, inner, by_continue);
    }
    return out;
  }

  void widen(VarId id, AxisSet axes) {
    Var &var = kernel_.vars[id];
    if (var.kind == Var::Kind::scratch)
      axes = axes & batch_;
    else if (var.kind != Var::Kind::local)
      return;
    changed_ = changed_ || !var.axes.contains(axes);
    var.axes |= axes;
  }

  void walk(std::vector<Stmt> &statements, AxisSet context) {
    for (Stmt &s : statements) {
      s.context = context;
      AxisSet value = s.value == kNone ? AxisSet() : kernel_.exprs[s.value].axes;
      for (const Shown &shown : s.shown)
        if (shown.value != kNone)
          value |= kernel_.exprs[shown.value].axes;
      switch (s.kind) {
      case Stmt::Kind::assign:
        for (ExprId index : s.indices)
          value |= kernel_.exprs[index].axes;
        value |= axes_of(s.coords, true);
        widen(s.target, closed(value | context));
        s.axes = kernel_.vars[s.target].axes;
        if (!s.coords.empty())
          s.axes = (s.axes - axes_of(s.coords, false)) | value | context;
        break;
      case Stmt::Kind::declare:
        s.axes = kernel_.vars[s.target].axes;
        break;
      case Stmt::Kind::branch:
        s.axes = value;
        walk(s.body, context | value);
        walk(s.otherwise, context | value);
        break;
      case Stmt::Kind::loop:
        s.axes = value | leaving(s.body, AxisSet(), true);
        walk(s.body, context | s.axes);
        walk(s.step, context | value | leaving(s.body, AxisSet(), false));
        break;
      case Stmt::Kind::leave:
      case Stmt::Kind::next:
      case Stmt::Kind::check:
      case Stmt::Kind::print:
        s.axes = value | context;
        break;
      }
    }
  }

  Kernel &kernel_;
  const AxisSet batch_;
  bool changed_ = false;
};

} // namespace

void find_axes_of_values(Kernel &kernel, AxisSet batch) { AxesOfValues(kernel, batch).run(); }

} // namespace kgen
