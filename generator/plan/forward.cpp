// Only outputs that one statement writes, and of which every reader stands after it in the same round of the same
// loops.
#include "plan/forward.h"

#include <algorithm>

#include "plan/access.h"
#include "plan/exprs.h"
#include "plan/storage.h"

namespace kgen {
namespace {

class Forward {
public:
  explicit Forward(Plan &plan) : plan_(plan), kernel_(plan.kernel), uses_(plan.kernel.vars.size()) {}

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
      }
      for (std::vector<PlanNode> *inner : {&nodes[i].body, &nodes[i].otherwise, &nodes[i].step})
        list(*inner);
    }
  }

  bool is_forwarded(const std::vector<PlanNode> &nodes, size_t at) const {
    const PlanNode &n = nodes[at];
    const bool plain = n.kind == PlanNode::Kind::assign && n.coords.empty() && n.indices.empty() && !n.scatter_add;
    if (!plain || kernel_.vars[n.target].kind != Var::Kind::output)
      return false;
    const Uses &all = uses_[n.target];
    if (all.writes != 1 || all.reads == 0 || all.others)
      return false;
    std::vector<Uses> later(kernel_.vars.size());
    for (size_t i = at + 1; i < nodes.size(); ++i)
      count(nodes[i], later);
    return later[n.target].reads == all.reads;
  }

  // y = value; ... y ...  ->  kept = value; y = kept; ... kept ...
  void keep(std::vector<PlanNode> &nodes, size_t at) {
    const VarId output = nodes[at].target;
    Var var = kernel_.vars[output];
    Var kept;
    kept.kind = Var::Kind::local;
    kept.name = var.name + "_here";
    kept.type = var.type;
    kept.axes = nodes[at].lanes;
    kept.place = var.place;
    const VarId fresh = add_var(kernel_, std::move(kept));
    for (size_t i = at + 1; i < nodes.size(); ++i)
      replace_reads(kernel_, nodes[i], output, fresh, true);
    PlanNode first = nodes[at];
    first.target = fresh;
    nodes[at].value = make_read(kernel_, fresh);
    nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(at), std::move(first));
    changed_ = true;
  }

  Plan &plan_;
  Kernel &kernel_;
  std::vector<Uses> uses_; // by the memory's variable
  bool changed_ = false;
};

} // namespace

void forward_outputs(Plan &plan) {
  Plan forwarded = plan;
  if (!Forward(forwarded).run())
    return;
  place_variables(forwarded);
  for (size_t v = plan.storage.size(); v < forwarded.storage.size(); ++v)
    if (forwarded.storage[v].kind != Storage::Kind::scalar)
      return; // memory instead of memory
  plan = std::move(forwarded);
}

} // namespace kgen
