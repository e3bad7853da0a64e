#include "plan/index/counted.h"

#include <algorithm>
#include <set>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/order.h"

namespace kgen {
namespace {

// What a loop sets for fewer axes than it has, and what is touched once more elsewhere: by what starts it.
std::set<VarId> find_started(const Kernel &kernel, const PlanNode &repeat, const std::map<VarId, int> &uses) {
  std::map<VarId, int> counts;
  for (const Access &a : accesses_of(kernel, repeat))
    ++counts[a.var];
  AxisSet all;
  for_each_node(repeat, [&](const PlanNode &n) { all |= n.lanes; });
  std::set<VarId> out;
  for_each_node(repeat, [&](const PlanNode &n) {
    const bool local = n.target != kNone && kernel.vars[n.target].kind == Var::Kind::local;
    if (local && !n.lanes.contains(all) && counts[n.target] + 1 == uses.at(n.target))
      out.insert(n.target);
  });
  return out;
}

bool is_assignment(const PlanNode &node) {
  return node.kind == PlanNode::Kind::assign && node.coords.empty() && node.indices.empty();
}

bool reads_any(const Kernel &kernel, ExprId id, const std::set<VarId> &vars) {
  return any_node(kernel, id, [&](const Expr &e) { return e.op == Op::read && vars.count(e.ref) != 0; });
}

} // namespace

std::map<size_t, size_t> find_starts(const Kernel &kernel, const std::vector<PlanNode> &list,
                                     const std::map<VarId, int> &uses) {
  std::map<size_t, size_t> loop_of;
  for (size_t loop = 0; loop < list.size(); ++loop) {
    if (list[loop].kind != PlanNode::Kind::repeat)
      continue;
    std::set<VarId> missing = find_started(kernel, list[loop], uses);
    std::vector<Access> between;
    for (size_t i = loop; i-- > 0 && !missing.empty();) {
      const PlanNode &start = list[i];
      const std::vector<Access> own = accesses_of(kernel, start);
      const bool starts = is_assignment(start) && missing.erase(start.target) != 0;
      if (starts && list[loop].lanes.contains(start.lanes) && may_exchange(own, between))
        loop_of[i] = loop;
      else
        between.insert(between.end(), own.begin(), own.end());
    }
  }
  return loop_of;
}

namespace {

// Few enough to have their rows side by side: what the loop counts is known to keep to a few numbers.
bool has_few_rounds(const Kernel &kernel, const PlanNode &repeat) {
  constexpr int64_t kFew = 16;
  if (repeat.step.size() != 1 || !is_assignment(repeat.step.front()))
    return false;
  const PlanNode &step = repeat.step.front();
  const Expr &next = kernel.expr(step.value);
  if (next.op != Op::add && next.op != Op::sub)
    return false;
  const Expr &now = kernel.expr(next.args[0]), &by = kernel.expr(next.args[1]);
  return now.op == Op::read && now.ref == step.target && now.coords.empty() && by.op == Op::constant &&
         by.integer != 0 && is_bounded(now) && now.bounds.low > INT32_MIN && now.bounds.high < now.bounds.low + kFew;
}

} // namespace

bool shares_rounds(const Kernel &kernel, const PlanNode &repeat, AxisId axis) {
  if (has_few_rounds(kernel, repeat))
    return false;
  const std::set<VarId> changing = targets_of({repeat});
  bool shares = false;
  for_each_node(repeat, [&](const PlanNode &n) {
    for (ExprId id : expressions_of(n)) {
      shares = shares || (n.kind == PlanNode::Kind::assign && !n.lanes.contains(axis) && !is_light(kernel, id));
      walk(kernel, id, [&](ExprId at) {
        const Expr &e = kernel.expr(at);
        if (e.op == Op::read && e.axes.contains(axis))
          for (const Coordinate &c : e.coords)
            shares = shares || (c.axis != axis && reads_any(kernel, c.value, changing));
        return !shares;
      });
    }
  });
  return shares;
}

} // namespace kgen
