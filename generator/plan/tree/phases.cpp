#include "plan/tree/phases.h"

#include <algorithm>
#include <optional>

#include "plan/index/access.h"
#include "plan/index/order.h"
#include "plan/tree/mapping.h"
#include "plan/tree/tree.h"

namespace kgen {
namespace {

// Does the loop go over neighbours in memory, more than a thread has?
bool is_row(const Kernel &kernel, const PlanNode &node) {
  constexpr int64_t kFew = 64;
  if (node.kind != PlanNode::Kind::loop || node.order == PlanNode::Order::ordered)
    return false;
  const Size &size = kernel.axes[node.axis].size;
  return !(size.is_integer() && size.value <= kFew) && contiguity(kernel, node, node.axis) > 0;
}

// CUDA. A fold over work items with rows inside leaves their loop and goes over the items once more, in a phase of its
// own. Teams of threads can then share the rows. Nothing where there is none, or where it must stay.
std::optional<PlanNode> take_folds_of_rows(const Kernel &kernel, PlanNode &loop) {
  const auto row = [&](const PlanNode &node) { return is_row(kernel, node); };
  if (loop.kind != PlanNode::Kind::loop || loop.order != PlanNode::Order::reduction ||
      kernel.axes[loop.axis].ragged != kNone || std::none_of(loop.body.begin(), loop.body.end(), row))
    return std::nullopt;
  PlanNode folds = loop;
  folds.body.clear();
  std::vector<PlanNode> rest;
  for (const PlanNode &node : loop.body) {
    const bool fold = node.kind == PlanNode::Kind::fold_step && node.reduced.contains(loop.axis);
    if (!fold && !may_exchange(accesses_of(kernel, folds.body), accesses_of(kernel, node)))
      return std::nullopt;
    (fold ? folds.body : rest).push_back(node);
  }
  if (folds.body.empty() || folds.body.size() != folds_over(loop).size())
    return std::nullopt;
  loop.body = std::move(rest);
  loop.order = PlanNode::Order::parallel;
  return folds;
}

} // namespace

std::vector<Phase> make_phases(const Kernel &kernel, std::vector<PlanNode> trees, TargetKind target) {
  std::vector<Phase> phases;
  std::vector<PlanNode> nodes;
  for (PlanNode &node : trees) {
    const std::optional<PlanNode> folds = target == TargetKind::cuda ? take_folds_of_rows(kernel, node) : std::nullopt;
    nodes.push_back(std::move(node));
    if (folds)
      nodes.push_back(*folds);
  }
  for (PlanNode &node : nodes) {
    Phase phase;
    if (is_parallel_loop(node)) {
      phase.kind = Phase::Kind::parallel;
      phase.split = leading_parallel_loops(node);
    } else if (node.kind == PlanNode::Kind::loop && node.order == PlanNode::Order::reduction) {
      phase.kind = Phase::Kind::chunked;
      for_each_node(node, [&](const PlanNode &n) {
        if (n.kind != PlanNode::Kind::fold_step || !n.reduced.contains(node.axis))
          return;
        phase.partials.push_back(n.target);
        if (n.partner != kNone)
          phase.partials.push_back(n.partner);
      });
    } else if (!phases.empty() && phases.back().kind == Phase::Kind::serial) {
      phases.back().nodes.push_back(std::move(node));
      continue;
    }
    phase.nodes.push_back(std::move(node));
    phases.push_back(std::move(phase));
  }
  return phases;
}

bool starts_chunks(const Plan &plan, const PlanNode &node) {
  return node.kind == PlanNode::Kind::fold_init &&
         std::any_of(plan.phases.begin(), plan.phases.end(), [&](const Phase &p) {
           return std::find(p.partials.begin(), p.partials.end(), node.target) != p.partials.end();
         });
}

bool sets_numbers(const Plan &plan, const Phase &phase) {
  return phase.kind == Phase::Kind::serial &&
         std::all_of(phase.nodes.begin(), phase.nodes.end(), [&](const PlanNode &n) {
           return n.kind == PlanNode::Kind::assign && plan.kernel.vars[n.target].kind == Var::Kind::local &&
                  accesses_of(plan.kernel, n).size() == 1;
         });
}

bool is_kernel(const Plan &plan, size_t phase) {
  const Phase &p = plan.phases[phase];
  if (p.kind != Phase::Kind::serial)
    return true;
  return (phase == 0 || plan.phases[phase - 1].kind != Phase::Kind::chunked) &&
         !std::all_of(p.nodes.begin(), p.nodes.end(), [&](const PlanNode &node) { return starts_chunks(plan, node); });
}

} // namespace kgen
