// kgen with a planted fault: in each plan two neighbouring statements that depend on each other are swapped. Linked in
// place of make_plan. KGEN_SWAP says which: `list` swaps none and names the kinds of pairs in the plan on stderr, one a
// line, as `openmp fold > read`; else one such line, and the first pair of that kind is swapped.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>
#include <string>

#include "plan/index/access.h"
#include "plan/plan.h"

namespace kgen {
namespace {

struct Touch {
  VarId memory;
  bool write;
  std::string kind; // of statement
};

std::string kind_of(const Kernel &kernel, const PlanNode &node, const Access &access) {
  const bool elsewhere = !(kernel.vars[access.var].axes - access.aligned).empty();
  if (!access.write)
    return elsewhere ? "read elsewhere" : "read";
  switch (node.kind) {
  case PlanNode::Kind::fold_init:
  case PlanNode::Kind::scan_init:
    return "start";
  case PlanNode::Kind::fold_step:
    return "fold";
  case PlanNode::Kind::scan_step:
    return "scan";
  default:
    return access.adds ? "addition" : elsewhere ? "store elsewhere" : "store";
  }
}

// `conditional` where an `if` stands around the statement, within what may be swapped or outside.
void note(const Kernel &kernel, const PlanNode &node, std::vector<Touch> &out) {
  for_each_node(node, [&](const PlanNode &n) {
    for (const Access &access : own_accesses_of(kernel, n)) {
      const std::string kind = kind_of(kernel, n, access);
      out.push_back({access.memory, access.write, n.context.empty() || !access.write ? kind : "conditional " + kind});
    }
  });
}

std::vector<Touch> touches_of(const Plan &plan, const PlanNode &node) {
  std::vector<Touch> out;
  note(plan.kernel, node, out);
  return out;
}

std::vector<Touch> touches_of(const Plan &plan, const Phase &phase) {
  std::vector<Touch> out;
  for (const PlanNode &node : phase.nodes)
    note(plan.kernel, node, out);
  return out;
}

bool always_commute(const Touch &a, const Touch &b) {
  return a.kind.ends_with("addition") && b.kind.ends_with("addition");
}

class Swapper {
public:
  Swapper(Plan &plan, const std::string &wanted)
      : plan_(plan), wanted_(wanted), target_(plan.target == TargetKind::cuda ? "cuda " : "openmp ") {}

  void run() {
    swap_in(plan_.phases);
    for (Phase &phase : plan_.phases)
      below(phase.nodes);
    if (wanted_ == "list")
      for (const std::string &kind : kinds_)
        std::cerr << kind << "\n";
  }

private:
  void below(std::vector<PlanNode> &nodes) {
    swap_in(nodes);
    for (PlanNode &node : nodes)
      for (auto *list : {&node.body, &node.otherwise})
        below(*list);
  }

  template <class Item> void swap_in(std::vector<Item> &items) {
    for (size_t i = 0; i + 1 < items.size() && !done_; ++i)
      if (depend(items[i], items[i + 1])) {
        std::swap(items[i], items[i + 1]);
        done_ = true;
      }
  }

  template <class Item> bool depend(const Item &first, const Item &second) {
    bool found = false;
    for (const Touch &a : touches_of(plan_, first))
      for (const Touch &b : touches_of(plan_, second)) {
        if (a.memory != b.memory || (!a.write && !b.write) || always_commute(a, b))
          continue;
        const std::string kind = target_ + a.kind + " > " + b.kind;
        kinds_.insert(kind);
        found = found || kind == wanted_;
      }
    return found;
  }

  Plan &plan_;
  const std::string &wanted_;
  const std::string target_;
  std::set<std::string> kinds_;
  bool done_ = false;
};

} // namespace
} // namespace kgen

extern "C" {
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wreturn-type-c-linkage"
#endif
kgen::Plan __real__ZN4kgen9make_planERKNS_6KernelERKNS_5FactsENS_10TargetKindE(const kgen::Kernel &,
                                                                               const kgen::Facts &, kgen::TargetKind);
kgen::Plan __wrap__ZN4kgen9make_planERKNS_6KernelERKNS_5FactsENS_10TargetKindE(const kgen::Kernel &kernel,
                                                                               const kgen::Facts &facts,
                                                                               kgen::TargetKind target) {
  kgen::Plan plan = __real__ZN4kgen9make_planERKNS_6KernelERKNS_5FactsENS_10TargetKindE(kernel, facts, target);
  const char *wanted = std::getenv("KGEN_SWAP");
  const std::string text = wanted ? wanted : "";
  if (!text.empty())
    kgen::Swapper(plan, text).run();
  return plan;
}
#pragma GCC diagnostic pop
}
