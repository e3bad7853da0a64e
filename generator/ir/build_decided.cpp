// What constants decided is not lowered, `sum(use ? x : 1, N)` with params.use = 0 is a sum of ones. It stays a sum
// along N, as it was written: a choice of a parameter does not make a spec wrong. So what was left out is kept in mind,
// by its axes and locals, and folds and scans that have lost an axis so are told to go along it.
#include <algorithm>

#include "ir/lowering.h"

namespace kgen::build {

void Lowering::leave_out(const body::Expr &e) {
  Dropped dropped;
  note_left_out(e, dropped);
  dropped_.push_back(std::move(dropped));
}

void Lowering::leave_out(const Block &block) {
  Dropped dropped;
  std::set<VarId> assigned;
  note_left_out(block, dropped, assigned);
  for (VarId var : assigned)
    build_.dropped_of_local[var].add(dropped);
  dropped_.push_back(std::move(dropped));
}

void Lowering::note_left_out(const body::Expr &e, Dropped &out) {
  using Kind = body::Expr::Kind;
  if (e.kind == Kind::operand)
    if (const auto found = build_.operand_ids.find(e.name); found != build_.operand_ids.end())
      out.axes |= kernel_.vars[found->second].axes;
  if (e.kind == Kind::axis && e.local < 0)
    if (const AxisId axis = build_.axis_of(e.name); axis != kNone)
      out.axes |= AxisSet::of(axis);
  if (e.kind == Kind::local && frames_.back().vars[e.local] != kNone)
    out.locals.insert(frames_.back().vars[e.local]);
  else if (e.kind == Kind::local)
    if (const auto bound = frames_.back().values.find(e.local); bound != frames_.back().values.end())
      out.values.insert(bound->second);
  for (const body::Expr &arg : e.args)
    note_left_out(arg, out);
}

void Lowering::note_left_out(const Block &block, Dropped &out, std::set<VarId> &assigned) {
  for (const body::Stmt *s : block) {
    note_left_out(s->value, out);
    if (s->target.kind == body::Expr::Kind::local && frames_.back().vars[s->target.local] != kNone)
      assigned.insert(frames_.back().vars[s->target.local]);
    for (const auto *list : {&s->init, &s->step, &s->body, &s->otherwise})
      note_left_out(flatten(*list), out, assigned);
  }
}

// A condition that holds for each element along these axes, for a fold or a scan that may have lost them.
ExprId Lowering::along(AxisSet axes, const Place &place) {
  ExprId out = kNone;
  for (AxisId axis : dropped_.empty() ? std::vector<AxisId>() : axes.list()) {
    const ExprId index = node(Op::index, Type::i64, place, kNone, axis);
    out = both(out, make(Op::ge, Type::boolean, {index, integer(Type::i64, 0, place)}, place), place);
  }
  return out;
}

void Lowering::keep_along(ExprId id, ExprId along, size_t from) {
  if (along == kNone)
    return;
  build_.along_of_fold[id] = along;
  build_.dropped_of_fold[id] = left_out_since(from);
}

Dropped Lowering::left_out_since(size_t from) const {
  Dropped out;
  for (size_t i = from; i < dropped_.size(); ++i)
    out.add(dropped_[i]);
  return out;
}

void Lowering::note_left_out_of(int local, size_t from) {
  if (const Dropped dropped = left_out_since(from); local >= 0 && !dropped.empty())
    build_.dropped_of_local[this->local(local)].add(dropped);
}

namespace {

class Restore {
public:
  explicit Restore(Build &build) : build_(build), kernel_(build.kernel) {}

  // Did any get an axis back?
  bool run() {
    if (build_.dropped_of_fold.empty() && build_.dropped_of_local.empty())
      return false;
    lost_.resize(kernel_.vars.size());
    lost_in_.resize(kernel_.exprs.size());
    do {
      changed_ = false;
      for (const auto &[var, dropped] : build_.dropped_of_local)
        lose(var, axes_of(dropped));
      for (size_t i = 0; i < kernel_.exprs.size(); ++i) // arguments stand before
        lost_in_[i] = lost_in(static_cast<ExprId>(i));
      for_each(kernel_.statements, [&](const Stmt &s) {
        if (s.kind == Stmt::Kind::assign)
          lose(s.target, lost_in_[s.value]);
      });
    } while (changed_);
    for (const auto &[id, condition] : build_.along_of_fold)
      restore(id, condition);
    return changed_;
  }

private:
  void lose(VarId var, AxisSet axes) {
    changed_ = changed_ || !lost_[var].contains(axes);
    lost_[var] |= axes;
  }

  AxisSet axes_of(const Dropped &dropped) const {
    AxisSet out = dropped.axes;
    for (VarId var : dropped.locals)
      out |= kernel_.vars[var].axes | lost_[var];
    for (ExprId value : dropped.values)
      out |= kernel_.exprs[value].axes | lost_in_[value];
    return out;
  }

  AxisSet lost_in(ExprId id) const {
    const Expr &e = kernel_.exprs[id];
    AxisSet out;
    if (const auto found = build_.dropped_of_fold.find(id); found != build_.dropped_of_fold.end())
      out |= axes_of(found->second);
    if (e.op == Op::read)
      out |= lost_[e.ref];
    for (ExprId arg : e.args)
      out |= lost_in_[arg];
    return out;
  }

  void restore(ExprId id, ExprId along) {
    Expr &e = kernel_.exprs[id];
    AxisSet have;
    for (ExprId arg : e.args)
      have |= kernel_.exprs[arg].axes;
    const AxisSet reduced = e.op == Op::fold ? e.reduced : AxisSet::of(e.axis), missing = reduced - have;
    const std::vector<AxisId> axes = reduced.list();
    const bool uniform = std::ranges::all_of(axes, [&](AxisId axis) { return kernel_.axes[axis].uniform; });
    if (missing.empty() || !uniform || !lost_in_[id].contains(missing))
      return;
    changed_ = true;
    if (e.op == Op::scan)
      e.args[0] = along;
    else
      e.args = {e.args[0], along};
  }

  Build &build_;
  Kernel &kernel_;
  // Axes that values would have but for what was left out: of locals, and of expressions.
  std::vector<AxisSet> lost_, lost_in_;
  bool changed_ = false;
};

} // namespace

bool restore_axes(Build &build) { return Restore(build).run(); }

} // namespace kgen::build
