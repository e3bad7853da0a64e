// A block for each item is right where the threads of the block find neighbours in the item's own loops. Where these go
// down columns, neighbours are in the next item: there a thread takes a whole one, or some rows of it.
#include "plan/cuda/map_columns.h"

#include <algorithm>
#include <vector>

#include "plan/cut/share_lists.h"
#include "plan/index/access.h"
#include "plan/index/lanes.h"
#include "plan/place/storage.h"
#include "plan/program/anew.h"

namespace kgen {
namespace {

// Is an array gone through row by row?
bool walks_array(const Plan &plan, const PlanNode &walk, AxisId row) {
  const std::vector<Access> accesses = accesses_of(plan.kernel, walk);
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access &a) {
    return plan.storage[a.var].kind == Storage::Kind::argument &&
           plan.kernel.vars[a.var].axes.contains(AxisSet::of(row) | AxisSet::of(walk.axis));
  });
}

// Do neighbouring positions of the loop belong to neighbours in memory, wherever it touches it, in loops that go as far
// for each of them?
bool lies_across(const Plan &plan, const PlanNode &loop) {
  const LaneAnalysis lanes(plan);
  bool fits = std::all_of(loop.body.begin(), loop.body.end(), [&](const PlanNode &n) {
    return n.kind != PlanNode::Kind::loop || walks_array(plan, n, loop.axis);
  });
  for (const PlanNode &inside : loop.body)
    for_each_node(inside, [&](const PlanNode &n) {
      fits = fits && n.kind != PlanNode::Kind::steps && n.kind != PlanNode::Kind::repeat && !n.scatter_add &&
             (n.kind != PlanNode::Kind::loop || plan.kernel.axes[n.axis].ragged == kNone);
    });
  for (const Access &a : accesses_of(plan.kernel, loop)) {
    const Storage::Kind kind = plan.storage[a.var].kind;
    const bool row = plan.kernel.vars[a.var].axes.contains(loop.axis);
    const LaneStep::Kind step = lanes.step_of(a.var, {}, loop.axis).kind;
    fits = fits && kind != Storage::Kind::worker && (row || !a.write || kind == Storage::Kind::scalar) &&
           (!row || kind != Storage::Kind::argument || step == LaneStep::Kind::neighbour);
  }
  return fits;
}

} // namespace

void map_columns(Plan &plan) {
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    Phase &phase = plan.phases[i];
    if (phase.kind != Phase::Kind::parallel || phase.mapping != Phase::Mapping::item_per_block || phase.when != kNone)
      continue;
    ShareLists lists(plan);
    const PlanNode *const loop = lists.find_chain(phase);
    if (loop == nullptr || loop->axis != phase.lane || !lies_across(plan, *loop))
      continue;
    const Size items = lists.items(1);
    if (items.is_integer() && items.value < plan.decide(Decision::many_columns, loop->axis))
      continue;
    phase.mapping = Phase::Mapping::item_per_thread;
    if (items.is_integer())
      continue;
    add_alternative(plan, i,
                    have_at_least(plan.kernel, lists.chain(), plan.decide(Decision::many_columns, phase.lane)));
    plan.phases[++i].mapping = Phase::Mapping::item_per_block;
  }
  place_variables(plan);
}

} // namespace kgen
