// `require(condition, "text")`: what the caller must keep. It is no statement: launchers ask it before anything is
// written, so that it stands first and reads only what a launcher has.
#include "ir/lowering.h"

#include "ir/op_rows.h"
#include "support/text.h"

namespace kgen::build {
namespace {

// What a launcher computes without the helpers of a kernel.
bool is_asked_by_launchers(Op op) {
  switch (op) {
  case Op::constant:
  case Op::scalar:
  case Op::table:
  case Op::index:
  case Op::size:
  case Op::cast:
  case Op::choose:
  case Op::both:
  case Op::either:
  case Op::min:
  case Op::max:
  case Op::abs:
  case Op::isnan:
  case Op::isinf:
    return true;
  default:
    return is_scalar_op(op) && op_row(op).binds > 0;
  }
}

std::string in_words(const Kernel &kernel, const Expr &e) {
  switch (e.op) {
  case Op::read:
  case Op::element:
  case Op::inside:
  case Op::present:
    return ticked(kernel.vars[e.ref].name);
  case Op::grid_index:
  case Op::grid_size:
  case Op::first:
  case Op::last:
    return "the grid dimension " + ticked(kernel.grid[e.ref].name);
  case Op::window_first:
  case Op::window_last:
    return "the windows of " + ticked(kernel.vars[e.ref].name);
  case Op::block:
    return "the block of " + ticked(kernel.axes[e.axis].name);
  case Op::index:
  case Op::size:
    return ticked(kernel.vars[e.ref].name);
  case Op::fold:
    return "folds";
  case Op::scan:
    return "scans";
  default:
    return ticked(op_name(e.op));
  }
}

} // namespace

void Lowering::require(const body::Stmt &s) {
  const bool on_top = frames_.size() == 1 && out_ == &kernel_.statements && kernel_.statements.empty();
  if (!on_top) {
    Diagnostic &d = build_.diags.add(DiagId::require_late, here(s.place));
    if (frames_.size() > 1)
      d.help = "it is checked before anything is computed: write it in the body, before all other statements";
    return;
  }
  ExprId condition = kNone;
  const std::vector<Stmt> before = collect([&] { condition = this->condition(s.value.args[0]); });
  if (!before.empty()) {
    build_.diags.add(DiagId::require_asks, here(s.place), {"functions that have statements"});
    return;
  }
  if (!may_require(condition))
    return;
  kernel_.requirements.push_back({condition, s.value.args[1].name, here(s.place)});
}

bool Lowering::may_require(ExprId id) {
  const Expr &e = kernel_.expr(id);
  const bool of_array = (e.op == Op::index || e.op == Op::size) && e.ref != kNone;
  if (!is_asked_by_launchers(e.op) || of_array) {
    build_.diags.add(DiagId::require_asks, e.place, {in_words(kernel_, e)});
    return false;
  }
  const std::vector<ExprId> args = e.args;
  for (ExprId arg : args)
    if (!may_require(arg))
      return false;
  return true;
}

} // namespace kgen::build
