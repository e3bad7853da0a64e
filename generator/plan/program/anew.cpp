#include "plan/program/anew.h"

#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

std::map<VarId, int> counted(const Kernel &kernel, const std::vector<PlanNode> &list) {
  std::map<VarId, int> out;
  for (const PlanNode &root : list)
    for (const Access &a : accesses_of(kernel, root))
      ++out[a.var];
  return out;
}

void rename(VarId &var, const std::map<VarId, VarId> &names) {
  if (const auto found = names.find(var); found != names.end())
    var = found->second;
}

} // namespace

std::map<VarId, VarId> declare_anew(Plan &plan, const std::vector<PlanNode> &list, std::vector<PlanNode> &again) {
  Kernel &kernel = plan.kernel;
  std::map<VarId, int> all;
  for (const Phase &phase : plan.phases)
    for (const auto &[var, count] : counted(kernel, phase.nodes))
      all[var] += count;
  std::map<VarId, VarId> names;
  for (const auto &[var, count] : counted(kernel, list)) {
    const Var::Kind kind = kernel.vars[var].kind;
    if ((kind != Var::Kind::local && kind != Var::Kind::scratch) || all[var] != count)
      continue;
    names[var] = add_var(kernel, Var(kernel.vars[var]));
    for (PlanNode &root : again)
      replace_reads(kernel, root, var, make_read(kernel, names[var]), true);
  }
  for (PlanNode &root : again)
    for_each_node(root, [&](PlanNode &n) {
      rename(n.target, names);
      rename(n.partner, names);
    });
  follow_too(plan, names);
  return names;
}

void follow_too(Plan &plan, const std::map<VarId, VarId> &copies) {
  std::vector<FollowedTotal> added;
  for (const FollowedTotal &known : plan.followed) {
    FollowedTotal copy = known;
    rename(copy.total, copies);
    rename(copy.seen, copies);
    std::erase_if(copy.followers, [&](VarId var) { return copies.count(var) == 0; });
    for (VarId &var : copy.followers)
      rename(var, copies);
    if (copy.total != known.total || !copy.followers.empty())
      added.push_back(std::move(copy));
  }
  plan.followed.insert(plan.followed.end(), added.begin(), added.end());
}

ExprId have_at_least(Kernel &kernel, const std::vector<AxisId> &axes, int64_t least) {
  return make_op(kernel, Op::ge, Type::boolean,
                 {make_positions(kernel, axes), make_constant(kernel, Type::i64, least, 0)});
}

void add_alternative(Plan &plan, size_t phase, ExprId when) {
  Phase other = plan.phases[phase];
  declare_anew(plan, plan.phases[phase].nodes, other.nodes);
  other.when = plan.phases[phase].when = when;
  other.unless = true;
  plan.phases.insert(plan.phases.begin() + static_cast<std::ptrdiff_t>(phase) + 1, std::move(other));
}

} // namespace kgen
