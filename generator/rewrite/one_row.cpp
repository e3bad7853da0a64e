// The kernel as it is without the inputs is made on a copy, in which coalesce looks for axes to join.
#include "rewrite/one_row.h"

#include <algorithm>

#include "rewrite/coalesce.h"

namespace kgen {
namespace {

bool is_optional_input(const Var &var) { return var.kind == Var::Kind::input && var.optional; }

// Choices that ask for an absent input are settled; what no statement needs then is a plain number.
class Without {
public:
  Without(const Kernel &kernel, std::vector<VarId> absent)
      : out_(kernel), absent_(std::move(absent)), needed_(kernel.exprs.size(), false) {}

  // nullopt: it reads them all the same, as far as the expressions tell.
  std::optional<Kernel> run() {
    for (Expr &e : out_.exprs)
      if (e.op == Op::choose && is_absent(out_.expr(e.args[0]), Op::present))
        e = Expr(out_.expr(e.args[2]));
    statements(out_.statements);
    for (size_t id = 0; id < out_.exprs.size(); ++id)
      if (!needed_[id])
        out_.exprs[id] = Expr();
    for (VarId var : absent_) {
      out_.vars[var].axes = AxisSet();
      out_.vars[var].dims.clear();
    }
    return reads_absent_ ? std::nullopt : std::optional(std::move(out_));
  }

private:
  bool is_absent(const Expr &e, Op op) const {
    return e.op == op && std::ranges::find(absent_, e.ref) != absent_.end();
  }

  void statements(const std::vector<Stmt> &list) {
    for (const Stmt &s : list) {
      need(s.value);
      for (ExprId index : s.indices)
        need(index);
      for (const Coordinate &c : s.coords)
        need(c.value);
      for (const std::vector<Stmt> *inside : {&s.body, &s.otherwise, &s.step})
        statements(*inside);
    }
  }

  void need(ExprId id) {
    if (id == kNone || needed_[id])
      return;
    needed_[id] = true;
    const Expr &e = out_.expr(id);
    reads_absent_ = reads_absent_ || is_absent(e, Op::read) || is_absent(e, Op::present);
    for (ExprId arg : e.args)
      need(arg);
    for (const Coordinate &c : e.coords)
      need(c.value);
  }

  Kernel out_;
  const std::vector<VarId> absent_;
  std::vector<bool> needed_;
  bool reads_absent_ = false;
};

// The axes of a product of sizes that the caller gives; empty: it is another size.
std::vector<AxisId> factors(const Kernel &kernel, const Size &size) {
  std::vector<AxisId> out;
  if (size.op == Size::Op::multiply) {
    for (const Size &arg : size.args) {
      const std::vector<AxisId> some = factors(kernel, arg);
      if (some.empty())
        return {};
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  }
  for (AxisId axis : kernel.size_arguments)
    if (size.op == Size::Op::axis && size.name == kernel.axes[axis].size.name && !kernel.axes[axis].derived)
      return {axis};
  return {};
}

// Are the axes' sizes those of arrays alone?
bool are_free(const Kernel &kernel, const OneRow &row, AxisId outer, AxisId inner) {
  std::vector<AxisId> own = row.outer;
  own.insert(own.end(), row.inner.begin(), row.inner.end());
  for (AxisId id = 0; id < static_cast<AxisId>(kernel.axes.size()); ++id) {
    const bool other = id != outer && id != inner && std::ranges::find(own, id) == own.end();
    for (AxisId axis : own)
      if (other && mentions(kernel.axes[id].size, Size::Op::axis, kernel.axes[axis].size.name))
        return false;
  }
  return kernel.grid.empty() && kernel.tables.empty() && kernel.requirements.empty();
}

} // namespace

std::optional<OneRow> one_row_without_inputs(const Kernel &kernel) {
  OneRow out;
  for (VarId var = 0; var < static_cast<VarId>(kernel.vars.size()); ++var)
    if (is_optional_input(kernel.vars[var]))
      out.absent.push_back(var);
  if (out.absent.empty())
    return std::nullopt;
  const std::optional<Kernel> without = Without(kernel, out.absent).run();
  const auto pair = without ? joined_axes(*without) : std::nullopt;
  if (!pair)
    return std::nullopt;
  out.outer = factors(kernel, kernel.axes[pair->first].size);
  out.inner = factors(kernel, kernel.axes[pair->second].size);
  if (out.outer.empty() || out.inner.empty() || !are_free(kernel, out, pair->first, pair->second))
    return std::nullopt;
  return out;
}

} // namespace kgen
