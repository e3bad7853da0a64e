// The planner: program, trees, placements, phases, mapping.
#include <algorithm>

#include "plan/contract/contractions.h"
#include "plan/cuda/map_columns.h"
#include "plan/cut/columns.h"
#include "plan/cut/join_rows.h"
#include "plan/cut/one_pass.h"
#include "plan/cut/row_parts.h"
#include "plan/cut/scatters.h"
#include "plan/cut/segments.h"
#include "plan/cut/share_rows.h"
#include "plan/cut/share_scans.h"
#include "plan/cut/shares.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/order.h"
#include "plan/place/forward.h"
#include "plan/place/storage.h"
#include "plan/plan.h"
#include "plan/program/elsewhere.h"
#include "plan/program/lower.h"
#include "plan/program/prune.h"
#include "plan/tidy/ends.h"
#include "plan/tidy/hoist.h"
#include "plan/tidy/narrow.h"
#include "plan/tidy/products.h"
#include "plan/tidy/repeats.h"
#include "plan/tidy/rows_at_once.h"
#include "plan/tidy/short_lanes.h"
#include "plan/tree/tree.h"

namespace kgen {
namespace {

constexpr int kPlacementRounds = 8;

// Accesses that move by one element of memory when `axis` moves by one, less those that jump.
// Arrays of fewer axes than `least` do not count.
int contiguity(const Kernel &kernel, const PlanNode &root, AxisId axis, int least = 0) {
  int score = 0;
  for (const Access &a : accesses_of(kernel, root)) {
    const Var &var = kernel.vars[a.var];
    if (var.kind == Var::Kind::local || var.kind == Var::Kind::scratch || !var.axes.contains(axis) ||
        var.axes.count() < least)
      continue;
    const Dim *last = nullptr;
    for (const Dim &dim : var.dims)
      if (dim.axis != kNone || !dim.block.is_integer(1))
        last = &dim;
    score += last != nullptr && last->axis == axis ? 1 : -1;
  }
  return score;
}

// The loop over neighbouring elements: the innermost parallel one, or a fold inside it that runs along memory.
void find_lanes(const Kernel &kernel, const PlanNode &node, int least, AxisId &best, int &best_score, bool &parallel) {
  if (node.kind == PlanNode::Kind::loop && node.table == kNone) { // segments are short
    const int score = contiguity(kernel, node, node.axis, least);
    const bool inner = least > 0 || node.order == PlanNode::Order::parallel;
    if (best == kNone || score > best_score || (score == best_score && inner && !parallel))
      best = node.axis, best_score = score, parallel = node.order == PlanNode::Order::parallel;
  }
  for (const auto *list : {&node.body, &node.otherwise})
    for (const PlanNode &child : *list)
      find_lanes(kernel, child, least, best, best_score, parallel);
}

// On a GPU the arrays of most axes, which have most elements, say how neighbouring threads go.
int most_axes(const Kernel &kernel, const PlanNode &root) {
  int most = 0;
  for (const Access &a : accesses_of(kernel, root))
    if (const Var &var = kernel.vars[a.var]; var.kind == Var::Kind::input || var.kind == Var::Kind::output)
      most = std::max(most, var.axes.count());
  return most;
}

bool has_inner_parallel_loop(const PlanNode &node, int depth, int split) {
  if (depth >= split && is_parallel_loop(node))
    return true;
  for (const auto *list : {&node.body, &node.otherwise, &node.step})
    for (const PlanNode &child : *list)
      if (has_inner_parallel_loop(child, depth + 1, split))
        return true;
  return false;
}

void map_phase(const Kernel &kernel, Phase &phase, TargetKind target) {
  if (phase.kind == Phase::Kind::serial)
    return;
  const PlanNode &root = phase.nodes.front();
  int score = 0;
  bool parallel = false;
  find_lanes(kernel, root, target == TargetKind::cuda ? most_axes(kernel, root) : 0, phase.lane, score, parallel);
  if (phase.kind == Phase::Kind::chunked)
    return;
  bool lane_in_split = false;
  const PlanNode *node = &root;
  for (int i = 0; i < phase.split; ++i) {
    lane_in_split = lane_in_split || (node->kind == PlanNode::Kind::loop && node->axis == phase.lane);
    if (i + 1 < phase.split)
      node = &node->body.front();
  }
  if (lane_in_split && !has_inner_parallel_loop(root, 0, phase.split))
    phase.mapping = Phase::Mapping::item_per_thread;
}

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

// Workers that share the positions of axes which the target has too meet at none of its elements.
void find_apart(Phase &phase, const Kernel &kernel) {
  AxisSet shared;
  bool steps = phase.kind != Phase::Kind::parallel;
  const PlanNode *loop = &phase.nodes.front();
  for (int i = 0; i < phase.split && !steps; ++i, loop = &loop->body.front()) {
    steps = loop->kind != PlanNode::Kind::loop;
    shared |= steps ? AxisSet() : AxisSet::of(loop->axis);
  }
  if (steps)
    return;
  for_each_node(phase.nodes.front(), [&](PlanNode &node) {
    if (!node.scatter_add)
      return;
    AxisSet fixed = kernel.vars[node.target].axes;
    for (const Coordinate &c : node.coords)
      fixed -= AxisSet::of(c.axis);
    node.apart = fixed.contains(shared);
  });
}

// The phases with their loops, each variable where it belongs. What `recomputing` names is stored in any case.
Plan place(const Kernel &kernel, const Facts &facts, TargetKind target, Recomputing &recomputing) {
  Plan plan;
  plan.target = target;
  plan.kernel = kernel;
  for (size_t id = 0; id < facts.inside.size() && id < kernel.exprs.size(); ++id)
    plan.kernel.exprs[id].safe = facts.inside[id];
  if (target == TargetKind::openmp)
    mark_fused(plan.kernel);
  plan.axis_order = memory_order(kernel);
  std::vector<PlanNode> program = lower(plan.kernel);
  compute_elsewhere(plan.kernel, program);
  int rounds = 0;
  do {
    prune(plan.kernel, program);
    const Numbers numbers = target == TargetKind::openmp ? Numbers::before : Numbers::inside;
    plan.phases =
        make_phases(plan.kernel, build_tree(plan.kernel, plan.axis_order, program, Fusion::greedy, numbers), target);
    place_variables(plan);
  } while (++rounds < kPlacementRounds && recompute_cheap_locals(plan, program, recomputing)); // makes new variables
  return plan;
}

Plan place(const Kernel &kernel, const Facts &facts, TargetKind target) {
  Recomputing recomputing;
  Plan plan = place(kernel, facts, target, recomputing);
  const std::set<VarId> in_vain = computed_again_in_vain(plan, recomputing);
  if (!in_vain.empty()) {
    recomputing = {in_vain, {}};
    plan = place(kernel, facts, target, recomputing);
  }
  merge_copies(plan, recomputing);
  return plan;
}

} // namespace

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

Plan make_plan(const Kernel &kernel, const Facts &facts, TargetKind target) {
  Plan plan = place(kernel, facts, target);
  if (target == TargetKind::openmp) {
    part_contractions(plan);
    part_rows(plan);
  }
  forward_outputs(plan);
  mark_segments(plan);
  for (Phase &phase : plan.phases)
    map_phase(plan.kernel, phase, target);
  if (target == TargetKind::openmp) {
    find_contractions(plan);
    share_folds(plan);
  }
  share_scans(plan);
  if (target == TargetKind::cuda)
    map_columns(plan);
  if (target == TargetKind::openmp)
    copy_small_targets(plan);
  for (Phase &phase : plan.phases)
    if (target == TargetKind::openmp || phase.mapping == Phase::Mapping::item_per_thread)
      find_apart(phase, plan.kernel);
  if (target == TargetKind::openmp) {
    turn_columns(plan);
    fold_in_one_pass(plan);
    share_rows(plan);
    join_rows(plan);
  }
  find_segments(plan);
  if (target == TargetKind::openmp) {
    narrow_locals(plan);
    hoist_heavy(plan);
    forward_buffers(plan);
    end_folds(plan);
    load_once(plan);
    shorten_lanes(plan);
    round_products(plan);
    take_rows_at_once(plan);
  }
  return plan;
}

} // namespace kgen
