#include "rewrite/fold_locals.h"

#include <algorithm>
#include <string>

#include "ir/roles.h"
#include "support/naming.h"

namespace kgen {
namespace {

std::string name_for(const Kernel &kernel, const Expr &fold) {
  return free_name(fold_names(kernel, fold), [&](const std::string &name) {
    const auto has = [&](const auto &list) {
      return std::any_of(list.begin(), list.end(), [&](const auto &e) { return e.name == name; });
    };
    return has(kernel.vars) || has(kernel.axes) || has(kernel.scalars) || has(kernel.tables);
  });
}

} // namespace

Stmt keep_fold(Kernel &kernel, ExprId id, const std::set<ExprId> &members) {
  const Expr fold = kernel.expr(id);
  Var local;
  local.name = name_for(kernel, fold);
  local.type = fold.type;
  local.axes = fold.axes;
  local.place = fold.place;
  Stmt assign;
  assign.target = static_cast<VarId>(kernel.vars.size());
  assign.value = kernel.add(fold);
  assign.axes = fold.axes;
  assign.place = fold.place;
  kernel.vars.push_back(local);
  for (ExprId member : members) {
    Expr read;
    read.op = Op::read;
    read.type = fold.type;
    read.axes = fold.axes;
    read.ref = assign.target;
    read.place = kernel.expr(member).place;
    kernel.exprs[member] = read;
  }
  return assign;
}

} // namespace kgen
