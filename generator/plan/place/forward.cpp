// Outputs that one statement writes, where every reader stands after it in the same round of the same loops: nothing
// reads their memory then. And locals that other loops or phases need, which one statement or fold sets: they are in
// memory as well, but the round at hand has them in a variable.
#include "plan/place/forward.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/place/storage.h"
#include "support/naming.h"

namespace kgen {
namespace {

class Forward {
public:
  Forward(Plan &plan, const std::set<Storage::Kind> &kinds)
      : plan_(plan), kernel_(plan.kernel), kinds_(kinds), uses_(plan.kernel.vars.size()) {}

  bool run() {
    for (const Phase &phase : plan_.phases)
      for (const PlanNode &root : phase.nodes)
        count(root, uses_);
    for (Phase &phase : plan_.phases)
      list(phase.nodes);
    return changed_;
  }

private:
  struct Uses {
    int writes = 0, reads = 0; // reads at the current point
    bool others = false;       // reads at other points
  };

  void count(const PlanNode &root, std::vector<Uses> &uses) const {
    for_each_node(root, [&](const PlanNode &n) {
      for (VarId var : {n.target, n.partner})
        if (var != kNone)
          ++uses[memory_of(kernel_, var)].writes;
      for (ExprId id : expressions_of(n))
        walk(kernel_, id, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          if (e.op != Op::read && e.op != Op::element)
            return true;
          Uses &own = uses[memory_of(kernel_, e.ref)];
          ++own.reads;
          own.others = own.others || e.op == Op::element || !e.coords.empty() || memory_of(kernel_, e.ref) != e.ref;
          return true;
        });
    });
  }

  void list(std::vector<PlanNode> &nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (is_forwarded(nodes, i)) {
        keep(nodes, i);
        ++i;
      } else if (const size_t fold = fold_of(nodes, i); fold != i) {
        keep_fold(nodes, i, fold);
      }
      for (std::vector<PlanNode> *inner : {&nodes[i].body, &nodes[i].otherwise, &nodes[i].step})
        list(*inner);
    }
  }

  bool is_forwarded(const std::vector<PlanNode> &nodes, size_t at) const {
    const PlanNode &n = nodes[at];
    const bool plain = n.kind == PlanNode::Kind::assign && n.coords.empty() && n.indices.empty() && !n.scatter_add;
    if (!plain || uses_[n.target].writes != 1)
      return false;
    const int later = reads_after(nodes, at, n.target);
    if (kernel_.vars[n.target].kind == Var::Kind::output)
      return later > 0 && later == uses_[n.target].reads && !uses_[n.target].others;
    return later > 0 && is_kept_for_later(n.target, n.lanes);
  }

  // At the current point, in the statements behind this one.
  int reads_after(const std::vector<PlanNode> &nodes, size_t at, VarId var) const {
    std::vector<Uses> later(kernel_.vars.size());
    for (size_t i = at + 1; i < nodes.size(); ++i)
      count(nodes[i], later);
    return later[var].reads;
  }

  // In memory, one element for each round of the loops around it. Threads of a block on CUDA share their memory.
  bool is_kept_for_later(VarId var, AxisSet lanes) const {
    const Var &v = kernel_.vars[var];
    return plan_.target == TargetKind::openmp && v.kind == Var::Kind::local && v.array.empty() && v.axes == lanes &&
           kinds_.count(plan_.storage[var].kind) != 0 && !plan_.storage[var].dims.empty() && !uses_[var].others;
  }

  // Where this starts a fold whose total is kept for later: the loop behind it that has its only step; else `at`.
  size_t fold_of(const std::vector<PlanNode> &nodes, size_t at) const {
    const PlanNode &init = nodes[at];
    if (init.kind != PlanNode::Kind::fold_init || init.partner != kNone || uses_[init.target].writes != 2 ||
        !is_kept_for_later(init.target, init.lanes))
      return at;
    for (size_t i = at + 1; i < nodes.size(); ++i)
      if (has_step(nodes[i], init.target))
        return nodes[i].kind == PlanNode::Kind::loop ? i : at;
    return at;
  }

  // In loops over what it folds only.
  static bool has_step(const PlanNode &node, VarId total) {
    if (node.kind == PlanNode::Kind::fold_step)
      return node.target == total;
    return std::any_of(node.body.begin(), node.body.end(), [&](const PlanNode &inner) {
      return has_step(inner, total) && (node.kind != PlanNode::Kind::loop || folds_along(inner, node.axis, total));
    });
  }
  static bool folds_along(const PlanNode &node, AxisId axis, VarId total) {
    bool found = false;
    for_each_node(node, [&](const PlanNode &n) {
      found = found || (n.kind == PlanNode::Kind::fold_step && n.target == total && n.reduced.contains(axis));
    });
    return found;
  }

  // y = value; ... y ...  ->  kept = value; y = kept; ... kept ...
  void keep(std::vector<PlanNode> &nodes, size_t at) {
    const VarId output = nodes[at].target, fresh = variable_for(nodes[at]);
    for (size_t i = at + 1; i < nodes.size(); ++i)
      replace_reads(kernel_, nodes[i], output, make_read(kernel_, fresh), true);
    PlanNode first = nodes[at];
    first.target = fresh;
    nodes[at].value = make_read(kernel_, fresh);
    nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(at), std::move(first));
    changed_ = true;
  }

  // The variable is what is folded, and is put into memory behind the loop.
  void keep_fold(std::vector<PlanNode> &nodes, size_t init, size_t loop) {
    const VarId total = nodes[init].target, fresh = variable_for(nodes[init]);
    nodes[init].target = fresh;
    for_each_node(nodes[loop], [&](PlanNode &n) {
      if (n.target == total)
        n.target = fresh;
    });
    for (size_t i = loop + 1; i < nodes.size(); ++i)
      replace_reads(kernel_, nodes[i], total, make_read(kernel_, fresh), true);
    PlanNode put;
    put.target = total;
    put.value = make_read(kernel_, fresh);
    put.lanes = nodes[init].lanes;
    put.place = nodes[init].place;
    nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(loop) + 1, std::move(put));
    changed_ = true;
  }

  VarId variable_for(const PlanNode &node) {
    const Var &var = kernel_.vars[node.target];
    Var kept;
    kept.kind = Var::Kind::local;
    kept.name = name_of_parts(var.name, "here");
    kept.type = var.type;
    kept.axes = node.lanes;
    kept.place = var.place;
    return add_var(kernel_, std::move(kept));
  }

  Plan &plan_;
  Kernel &kernel_;
  const std::set<Storage::Kind> &kinds_; // of locals that are looked at
  std::vector<Uses> uses_;               // by the memory's variable
  bool changed_ = false;
};

} // namespace

namespace {
void forward(Plan &plan, const std::set<Storage::Kind> &kinds) {
  Plan forwarded = plan;
  if (!Forward(forwarded, kinds).run())
    return;
  place_variables(forwarded);
  for (size_t v = plan.storage.size(); v < forwarded.storage.size(); ++v)
    if (forwarded.storage[v].kind != Storage::Kind::scalar)
      return; // memory instead of memory
  plan = std::move(forwarded);
}
} // namespace

void forward_outputs(Plan &plan) { forward(plan, {Storage::Kind::program}); }

void forward_buffers(Plan &plan) { forward(plan, {Storage::Kind::worker, Storage::Kind::array}); }

} // namespace kgen
