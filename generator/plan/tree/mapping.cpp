#include "plan/tree/mapping.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/tree/tree.h"

namespace kgen {

int contiguity(const Kernel &kernel, const PlanNode &root, AxisId axis, int least) {
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

namespace {

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

} // namespace

void map_phases(Plan &plan) {
  for (Phase &phase : plan.phases)
    map_phase(plan.kernel, phase, plan.target);
}

void find_apart_adds(Plan &plan) {
  for (Phase &phase : plan.phases)
    if (plan.target == TargetKind::openmp || phase.mapping == Phase::Mapping::item_per_thread)
      find_apart(phase, plan.kernel);
}

} // namespace kgen
