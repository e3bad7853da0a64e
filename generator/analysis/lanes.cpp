#include "analysis/lanes.h"

#include <algorithm>

#include "analysis/affine.h"
#include "analysis/flow.h"

namespace kgen::analysis {
namespace {

bool is_operand(const Var &var) { return var.kind == Var::Kind::input || var.kind == Var::Kind::output; }

// Inputs are read outside where their windows say an offset.
bool reads_outside(const Var &var, const Dim &dim) { return var.kind == Var::Kind::input && dim.offset; }

bool end_alike(const Dim &a, const Dim &b) { return a.start == b.start && a.extent == b.extent; }

Size left(const Dim &dim) { return Size::make(Size::Op::subtract, {dim.extent, dim.start}); }

} // namespace

Lanes::Lanes(const Kernel &kernel) : kernel_(kernel) {
  find_differing();
  if (!differing_.empty())
    find_locals();
}

void Lanes::find_differing() {
  std::map<AxisId, const Dim *> first;
  for (const Var &var : kernel_.vars)
    for (const Dim &dim : var.dims)
      if (is_operand(var) && dim.axis != kNone && kernel_.axes[dim.axis].ragged == kNone && !reads_outside(var, dim))
        if (const auto [known, fresh] = first.emplace(dim.axis, &dim); !fresh && !end_alike(*known->second, dim))
          differing_ |= AxisSet::of(dim.axis);
}

// A local has the lanes of what is assigned to it; one that is only assigned under conditions has theirs, too.
void Lanes::find_locals() {
  std::set<VarId> plain;
  visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind == Stmt::Kind::assign && stmt.context.empty())
      plain.insert(stmt.target);
  });
  for (bool changed = true; changed;) {
    changed = false;
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const std::vector<const Stmt *> &enclosing) {
      const bool conditional = !stmt.context.empty();
      if (stmt.kind != Stmt::Kind::assign || kernel_.vars[stmt.target].kind != Var::Kind::local ||
          (conditional && plain.count(stmt.target) != 0))
        return;
      Windows found = of(stmt.value);
      if (conditional)
        found.merge(under(enclosing));
      Windows &known = locals_[stmt.target];
      const size_t before = known.size();
      known.merge(found);
      changed = changed || known.size() != before;
    });
  }
}

bool Lanes::limits(VarId id, const Dim &dim) const {
  const Var &var = kernel_.vars[id];
  return dim.axis != kNone && differing_.contains(dim.axis) && is_operand(var) && !dim.whole &&
         !reads_outside(var, dim);
}

void Lanes::add(VarId id, const std::vector<Coordinate> &elsewhere, Windows &out) const {
  const Var &var = kernel_.vars[id];
  if (var.kind == Var::Kind::local) {
    if (const auto known = locals_.find(id); known != locals_.end())
      for (const Window &window : known->second)
        if (var.axes.contains(dim(window).axis) && find_coordinate(elsewhere, dim(window).axis) == nullptr)
          out.insert(window);
    return;
  }
  for (size_t d = 0; d < var.dims.size(); ++d)
    if (limits(id, var.dims[d]) && find_coordinate(elsewhere, var.dims[d].axis) == nullptr)
      out.insert({id, static_cast<int>(d)});
}

Windows Lanes::of(ExprId root) const {
  Windows out;
  if (root != kNone && !differing_.empty())
    collect(root, out);
  return out;
}

void Lanes::collect(ExprId id, Windows &out) const {
  const Expr &e = kernel_.expr(id);
  if (e.op == Op::read || e.op == Op::inside || e.op == Op::element)
    add(e.ref, e.coords, out);
  Windows inner;
  for (const ExprId arg : e.args)
    collect(arg, inner);
  if (e.op == Op::fold)
    std::erase_if(inner, [&](const Window &window) { return e.reduced.contains(dim(window).axis); });
  out.merge(inner);
  for (const Coordinate &coordinate : e.coords)
    collect(coordinate.value, out);
}

Windows Lanes::under(const std::vector<const Stmt *> &enclosing) const {
  Windows out;
  for (const Stmt *stmt : enclosing)
    if (stmt->value != kNone && !stmt->axes.empty())
      out.merge(of(stmt->value));
  return out;
}

bool Lanes::proved(const Size &more, const Size &less) const { // that it is no less
  Symbols symbols(kernel_);
  bool exhausted = false;
  return symbols.nonnegative(symbols.polynomial(more) - symbols.polynomial(less)) ||
         impossible(kernel_, {Size::make(Size::Op::less, {more, less})}, {}, exhausted);
}

bool Lanes::covers(const Window &outer, const Window &inner) const {
  const Dim &a = dim(outer), &b = dim(inner);
  const bool whole_block = reads_outside(kernel_.vars[inner.var], b);
  if (end_alike(a, b) && !whole_block)
    return true;
  const auto [known, fresh] = known_.emplace(std::pair(outer, inner), false);
  if (!fresh)
    return known->second;
  const bool begins = !a.offset || proved(a.start, Size::integer(0)) || (!whole_block && proved(a.start, b.start));
  return known->second = begins && (proved(left(a), b.block) || (!whole_block && proved(left(a), left(b))));
}

std::optional<Window> Lanes::ends_before(const Windows &outer, const Windows &inner) const {
  for (const Window &window : outer)
    if (!covers_one_of(window, inner))
      return window;
  return std::nullopt;
}

bool Lanes::covers_one_of(const Window &outer, const Windows &inner) const {
  const AxisId axis = dim(outer).axis;
  if (std::ranges::any_of(inner, [&](const Window &w) { return dim(w).axis == axis && covers(outer, w); }))
    return true;
  for (size_t v = 0; v < kernel_.vars.size(); ++v) // no lane lies beyond all arrays
    for (size_t d = 0; d < kernel_.vars[v].dims.size(); ++d)
      if (is_operand(kernel_.vars[v]) && kernel_.vars[v].dims[d].axis == axis &&
          !covers(outer, {static_cast<VarId>(v), static_cast<int>(d)}))
        return false;
  return true;
}

} // namespace kgen::analysis
