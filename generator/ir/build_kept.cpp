// Functions over several axes, and over the elements that a `where` keeps. An axis parameter stands for a list of axes
// and a condition; folds along it take both. What else such a function computes of an element that is left out must not
// be computed: its statements and its result become choices (Op::kept), which are settled once it is known which of
// them differ along these axes at all.
#include "ir/lowering.h"

#include <algorithm>

#include "support/text.h"

namespace kgen::build {

namespace {

bool reads_memory(const Kernel &kernel, ExprId id) {
  const Expr &e = kernel.expr(id);
  return e.op == Op::read || e.op == Op::element || e.op == Op::table || e.op == Op::fold || e.op == Op::scan ||
         std::any_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return reads_memory(kernel, arg); });
}

} // namespace

using Kind = body::Expr::Kind;

// What an argument for an axis parameter stands for; the condition of a `where` is that of the caller.
Lowering::BoundAxes Lowering::bound_axes(const body::Expr &e) {
  if (e.kind != Kind::axes)
    return elements_of(e);
  BoundAxes out;
  for (const body::Expr &arg : e.args) {
    if (arg.kind == Kind::where) {
      out.kept = both(out.kept, condition(arg.args[0]), arg.place);
      if (!is_plain(out.kept) && reads_memory(kernel_, out.kept)) { // it is asked in each statement
        const VarId kept = fresh("kept", Type::boolean, arg.place);
        emit_assign(kept, out.kept, arg.place);
        out.kept = node(Op::read, Type::boolean, arg.place, kept);
      }
      continue;
    }
    const BoundAxes more = elements_of(arg);
    for (AxisId axis : more.list)
      if (std::ranges::find(out.list, axis) == out.list.end())
        out.list.push_back(axis);
      else
        build_.diags
            .add(DiagId::axes_of_function, here(e.place),
                 {e.name, "is given axis " + ticked(kernel_.axes[axis].name) + " twice", "each axis once"})
            .help = "name each axis once";
    out.kept = both(out.kept, more.kept, arg.place);
  }
  if (out.kept != kNone && is_constant(out.kept) && kernel_.expr(out.kept).integer != 0)
    out.kept = kNone;
  return out;
}

// An axis, or an axis parameter.
Lowering::BoundAxes Lowering::elements_of(const body::Expr &e) {
  if (e.local >= 0)
    return frames_.back().axes.at(e.local);
  return {{build_.axis_of(e.name)}, kNone};
}

// Conditions, of which either may be none; the second is asked where the first holds.
ExprId Lowering::both(ExprId a, ExprId b, const Place &place) {
  if (a == kNone || b == kNone)
    return a == kNone ? b : a;
  if (is_constant(a))
    return kernel_.expr(a).integer != 0 ? b : a;
  return a == b ? a : make(Op::both, Type::boolean, {a, b}, place);
}

void Lowering::keep_elements(const BoundAxes &axes) {
  if (axes.kept == kNone)
    return;
  Kept kept{axes.kept, AxisSet()};
  for (AxisId axis : axes.list)
    kept.along |= AxisSet::of(axis);
  if (std::ranges::none_of(kept_, [&](const Kept &k) { return k.condition == kept.condition; }))
    kept_.push_back(kept);
}

// The value where all conditions from number `from` on hold.
ExprId Lowering::keep(ExprId value, ExprId otherwise, size_t from) {
  for (size_t k = from; k < kept_.size() && !is_constant(value) && value != kept_[k].condition; ++k) {
    value = make(Op::kept, type(value), {value, kept_[k].condition, otherwise}, kernel_.expr(value).place);
    kernel_.exprs[value].reduced = kept_[k].along;
  }
  return value;
}

ExprId Lowering::keep_value(ExprId value, size_t from) {
  if (from == kept_.size())
    return value;
  const Place place = kernel_.expr(value).place;
  const Type type = this->type(value);
  return keep(value, is_floating(type) ? number(type, 0, false, place) : integer(type, 0, place), from);
}

void Lowering::keep_statement(Stmt &s) {
  switch (s.kind) {
  case Stmt::Kind::assign:
    s.value = keep_value(s.value);
    return;
  case Stmt::Kind::branch:
    s.value = keep(s.value, integer(Type::boolean, 0, s.place));
    return;
  case Stmt::Kind::loop:
    if (s.value != kNone)
      s.value = keep(s.value, integer(Type::boolean, 0, s.place));
    else // what leaves it would never be asked for the others
      build_.diags
          .add(DiagId::axes_of_function, s.place,
               {frames_.back().function->name, "goes round until a `break`", "no `where`"})
          .help = "give the loop a condition: it ends where that fails";
    return;
  case Stmt::Kind::check:
    s.value = keep(s.value, integer(Type::boolean, 1, s.place));
    return;
  case Stmt::Kind::print:
    for (Shown &shown : s.shown)
      if (shown.value != kNone)
        shown.value = keep_value(shown.value);
    return;
  case Stmt::Kind::declare:
  case Stmt::Kind::leave:
  case Stmt::Kind::next:
    return;
  }
}

// For what has no meaning along several axes, or of some elements only.
AxisId Lowering::one_axis(const body::Expr &e, const char *because, bool of_all) {
  const BoundAxes axes = elements_of(e);
  auto refuse = [&](const char *takes) {
    build_.diags.add(DiagId::axes_of_function, here(e.place), {frames_.back().function->name, because, takes}).help =
        axes.list.size() > 1 ? "call it along one axis; folds go along several"
                             : "give it a value that counts for nothing in place of what is left out";
  };
  if (axes.list.size() > 1)
    refuse("one axis");
  else if (of_all && axes.kept != kNone)
    refuse("no `where`");
  return axes.list.front();
}

} // namespace kgen::build
