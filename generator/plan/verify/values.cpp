#include "plan/verify/values.h"

#include <algorithm>
#include <set>

#include "ir/op_rows.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

// Operations that passes neither take apart, join, nor turn into a loop's end.
bool is_lasting(Op op) {
  static const std::set<Op> others = {Op::add, Op::sub, Op::mul, Op::fma, Op::neg};
  return is_scalar_op(op) && !is_comparison(op) && others.count(op) == 0;
}

std::optional<ValueAtom> atom_of(const Expr &e) {
  if (e.op == Op::scalar)
    return ValueAtom{ValueAtom::Kind::scalar, e.ref};
  if (e.op == Op::table)
    return ValueAtom{ValueAtom::Kind::table, e.ref};
  if (is_lasting(e.op))
    return ValueAtom{ValueAtom::Kind::operation, static_cast<int>(e.op)};
  return std::nullopt;
}

void add_new(const Read &read, std::vector<Read> &to) {
  if (std::find(to.begin(), to.end(), read) == to.end())
    to.push_back(read);
}

} // namespace

Parts Values::find(ExprId id) const {
  Parts parts;
  walk(kernel_, id, [&](ExprId at) {
    const Expr &e = kernel_.expr(at);
    if (e.op == Op::read || e.op == Op::element)
      add_new({memory_of(kernel_, e.ref), aligned_axes(kernel_, e.ref, e.coords)}, parts.reads);
    else if (const std::optional<ValueAtom> atom = atom_of(e))
      parts.fixed.add(atoms_.number_of(*atom));
    return true;
  });
  return parts;
}

const Parts &Values::of(ExprId id) {
  if (!known_[id])
    known_[id] = find(id);
  return *known_[id];
}

} // namespace kgen
