#include "plan/contract/fold_alone.h"

#include <algorithm>
#include <set>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/order.h"
#include "plan/index/scopes.h"
#include "plan/tree/tree.h"

namespace kgen {

bool is_loop(const PlanNode &node, PlanNode::Order order) {
  return node.kind == PlanNode::Kind::loop && node.order == order && node.parts == 0 && node.share == kNone &&
         node.end == kNone && node.table == kNone && !node.reversed;
}

PlanNode without_body(const PlanNode &loop) {
  PlanNode out = loop;
  out.body.clear();
  return out;
}

PlanNode wrapped(const Nodes &loops, Nodes body) {
  for (size_t i = loops.size(); i-- > 0;) {
    PlanNode loop = loops[i];
    loop.body = std::move(body);
    body = {std::move(loop)};
  }
  return body.front();
}

std::vector<int> work_lists(const Phase &phase) {
  const Nodes &list = leading_loops(phase.nodes.front(), phase.split).back()->body;
  int folds = 0;
  for (const PlanNode &node : list)
    for_each_node(node, [&](const PlanNode &n) { folds += n.kind == PlanNode::Kind::fold_step; });
  std::vector<int> out = {phase.split};
  if (folds > 1 && phase.split > 1)
    out.push_back(phase.split - 1);
  return out;
}

Nodes without_names(Plan &plan, Nodes list) {
  while (list.size() > 1 && list.front().kind == PlanNode::Kind::assign && list.front().coords.empty() &&
         list.front().indices.empty() && plan.storage[list.front().target].kind == Storage::Kind::scalar &&
         plan.kernel.vars[list.front().target].type == plan.kernel.expr(list.front().value).type) {
    const PlanNode name = list.front();
    list.erase(list.begin());
    for (PlanNode &node : list)
      replace_reads(plan.kernel, node, name.target, name.value, true);
  }
  return list;
}

namespace {

class TakenOut {
public:
  TakenOut(Plan &plan, PlanNode loop) : plan_(plan), kernel_(plan.kernel), scopes_(plan), loop_(std::move(loop)) {}

  std::optional<FoldAlone> run() {
    const auto nest =
        std::find_if(loop_.body.begin(), loop_.body.end(), [](const PlanNode &n) { return contains_loop({n}); });
    PlanNode *const inner = nest == loop_.body.end() ? nullptr : innermost(*nest);
    if (inner == nullptr)
      return std::nullopt;
    inner->body = without_names(plan_, inner->body);
    if (inner->body.front().kind != PlanNode::Kind::fold_step)
      return std::nullopt;
    const PlanNode step = inner->body.front();
    const auto starts = [&](const PlanNode &n) {
      return n.kind == PlanNode::Kind::fold_init && n.target == step.target;
    };
    const auto init = std::find_if(loop_.body.begin(), loop_.body.end(), starts);
    if (init == loop_.body.end() || init > nest)
      return std::nullopt;
    PlanNode start = *init, fold = *nest;
    keep_only_first(fold, fresh(step.target));
    start.target = fresh_;
    inner->body.erase(inner->body.begin());
    const auto behind = inner->body.empty() ? loop_.body.erase(nest) : nest + 1;
    const Nodes made = made_of_total(step, static_cast<size_t>(behind - loop_.body.begin()));
    loop_.body.erase(std::find_if(loop_.body.begin(), loop_.body.end(), starts));
    FoldAlone out;
    out.alone = without_body(loop_);
    out.alone.order = PlanNode::Order::parallel;
    out.alone.body = {std::move(start), std::move(fold)};
    out.alone.body.insert(out.alone.body.end(), made.begin(), made.end());
    if (!loop_.body.empty())
      out.rest.push_back(std::move(loop_));
    plan_.storage.resize(kernel_.vars.size());
    return out;
  }

private:
  static PlanNode *innermost(PlanNode &nest) {
    PlanNode *inner = &nest;
    while (is_loop(*inner, PlanNode::Order::reduction) && inner->body.size() == 1 &&
           is_loop(inner->body.front(), PlanNode::Order::reduction))
      inner = &inner->body.front();
    return is_loop(*inner, PlanNode::Order::reduction) ? inner : nullptr;
  }

  // The total of the fold that stands alone.
  VarId fresh(VarId total) {
    Var var = kernel_.vars[total];
    var.name += "_here";
    return fresh_ = add_var(kernel_, std::move(var));
  }

  static void keep_only_first(PlanNode &nest, VarId total) {
    nest.body.resize(1);
    if (nest.body.front().kind == PlanNode::Kind::loop)
      return keep_only_first(nest.body.front(), total);
    nest.body.front().target = total;
  }

  // Takes the statements from `behind` on that only set what the total says; who else wants the total finds it under
  // its name.
  Nodes made_of_total(const PlanNode &step, size_t behind) {
    const bool known_outside = !is_own(step.target);
    Nodes taken, stay;
    for (size_t i = 0; i < loop_.body.size(); ++i) {
      PlanNode node = std::move(loop_.body[i]);
      PlanNode of_fresh = node;
      replace_reads(kernel_, of_fresh, step.target, make_read(kernel_, fresh_), false);
      const bool again = known_outside && is_own(node.target); // what is kept of it anyway gives that again
      if (i >= behind && !again && may_go(of_fresh, stay, i))
        taken.push_back(std::move(of_fresh));
      else
        stay.push_back(std::move(node));
    }
    loop_.body = std::move(stay);
    say_once(taken);
    const auto asks = [&](const PlanNode &n) { return n.kind != PlanNode::Kind::fold_init && touches(n, step.target); };
    if (taken.empty() || known_outside || std::any_of(loop_.body.begin(), loop_.body.end(), asks))
      taken.insert(taken.begin(), make_assign(kernel_, step.target, make_read(kernel_, fresh_), step.place));
    return taken;
  }

  // Does nobody outside of the loop know it?
  bool is_own(VarId var) const { return var != kNone && scopes_.of(var).open.contains(loop_.axis); }

  bool touches(const PlanNode &node, VarId var) const {
    const Accesses all = accesses_of(kernel_, node);
    return std::any_of(all.begin(), all.end(), [&](const Access &a) { return a.var == var; });
  }

  // Is it a value of each round, of nothing that statements which stay change? `stay`: those before it; from `at` on
  // the others.
  bool may_go(const PlanNode &node, const Nodes &stay, size_t at) const {
    if (node.kind != PlanNode::Kind::assign || !node.coords.empty() || !node.indices.empty() ||
        !kernel_.vars[node.target].axes.contains(loop_.axis))
      return false;
    const Accesses own = own_accesses_of(kernel_, node);
    const Nodes later(loop_.body.begin() + static_cast<std::ptrdiff_t>(at) + 1, loop_.body.end());
    Accesses changes = accesses_of(kernel_, later);
    std::erase_if(changes, [](const Access &a) { return !a.write; });
    return may_exchange(own, accesses_of(kernel_, stay)) && may_exchange(own, changes);
  }

  // Of two that set the same, which none of them changes, the loop's own one goes; the other stands in its place.
  void say_once(Nodes &taken) {
    const std::set<VarId> set = targets_of(taken);
    const auto is_fixed = [&](ExprId value) {
      return std::none_of(set.begin(), set.end(), [&](VarId var) { return reads(kernel_, value, var); });
    };
    for (size_t i = 0; i < taken.size(); ++i) {
      const VarId gone = taken[i].target;
      const auto twin = std::find_if(taken.begin(), taken.end(), [&](const PlanNode &n) {
        return n.target != gone && same(kernel_, n.value, taken[i].value) &&
               kernel_.vars[n.target].type == kernel_.vars[gone].type;
      });
      if (twin == taken.end() || !is_own(gone) || !is_fixed(twin->value))
        continue;
      const auto first = std::min(twin, taken.begin() + static_cast<std::ptrdiff_t>(i));
      first->target = twin->target;
      const ExprId other = make_read(kernel_, first->target);
      taken.erase(std::max(twin, taken.begin() + static_cast<std::ptrdiff_t>(i)));
      for (Nodes *list : {&taken, &loop_.body})
        for (PlanNode &node : *list)
          replace_reads(kernel_, node, gone, other, true);
      i = 0;
    }
  }

  Plan &plan_;
  Kernel &kernel_;
  const Scopes scopes_; // of the plan as it was
  PlanNode loop_;
  VarId fresh_ = kNone;
};

} // namespace

std::optional<FoldAlone> take_out_fold(Plan &plan, PlanNode loop) { return TakenOut(plan, std::move(loop)).run(); }

} // namespace kgen
