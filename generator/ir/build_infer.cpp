// Axis sets by a fixpoint: an expression has the axes of what it is made of; a local has those of all values assigned
// to it and of the conditions that it is assigned under. Scratch takes the batch the same way.
#include "ir/build.h"

namespace kgen::build {

namespace {

class Inference {
public:
  explicit Inference(Build &build) : build_(build), kernel_(build.kernel) {}

  void run() {
    settle();
    if (restore_axes(build_))
      settle();
    settle_kept();
    for (Var &var : kernel_.vars)
      if (var.kind == Var::Kind::scratch)
        add_batch_dims(var);
  }

private:
  void settle() {
    do {
      changed_ = false;
      for (Expr &e : kernel_.exprs)
        e.axes = closed(axes_of(e));
      walk(kernel_.statements, AxisSet());
    } while (changed_);
  }

  // Of Op::kept: does its value differ along the axes whose elements are left out?
  bool is_choice(const Expr &e) const { return kernel_.exprs[e.args[0]].axes.contains(e.reduced); }

  // Now that this is known, it is a choice, or what reads it reads the value.
  void settle_kept() {
    std::vector<ExprId> now(kernel_.exprs.size());
    for (size_t i = 0; i < now.size(); ++i) {
      Expr &e = kernel_.exprs[i];
      now[i] = static_cast<ExprId>(i);
      for (ExprId &arg : e.args)
        arg = now[arg];
      for (Coordinate &coord : e.coords)
        coord.value = now[coord.value];
      if (e.op != Op::kept)
        continue;
      const bool choice = is_choice(e);
      e.op = choice ? Op::choose : Op::cast;
      e.args = choice ? std::vector<ExprId>{e.args[1], e.args[0], e.args[2]} : std::vector<ExprId>{e.args[0]};
      e.reduced = AxisSet();
      if (!choice)
        now[i] = e.args[0];
    }
    for_each(kernel_.statements, [&](Stmt &s) {
      for (ExprId &index : s.indices)
        index = now[index];
      for (Coordinate &coord : s.coords)
        coord.value = now[coord.value];
      if (s.value != kNone)
        s.value = now[s.value];
      for (Shown &shown : s.shown)
        if (shown.value != kNone)
          shown.value = now[shown.value];
    });
  }

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
      axes = axes & build_.batch_axes;
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

  void add_batch_dims(Var &var) {
    for (AxisId axis : (var.axes & build_.batch_axes).list()) {
      for (Dim &dim : var.dims)
        ++dim.array_dim;
      Dim dim;
      dim.axis = axis;
      dim.extent = dim.block = Size::axis(kernel_.axes[axis].name);
      var.dims.insert(var.dims.begin(), dim);
    }
  }

  Build &build_;
  Kernel &kernel_;
  bool changed_ = false;
};

} // namespace

void infer_axes(Build &build) { Inference(build).run(); }

} // namespace kgen::build
