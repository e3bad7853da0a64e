#include "plan/lanes/turned.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

namespace kgen {
namespace {

class TurnedReads {
public:
  TurnedReads(const Plan &plan, const LaneAnalysis &analysis, const PlanNode &loop, AxisId other)
      : plan_(plan), kernel_(plan.kernel), analysis_(analysis), loop_(loop), other_(other) {
    for (const Access &a : accesses_of(kernel_, loop))
      if (a.write)
        written_.insert(a.memory);
    for_each_node(loop, [&](const PlanNode &node) {
      if (node.kind == PlanNode::Kind::loop && &node != &loop)
        inner_ |= AxisSet::of(node.axis);
      steps_ = steps_ || node.kind == PlanNode::Kind::steps;
    });
  }

  std::vector<LaneLoop::Turned> find() const {
    std::vector<LaneLoop::Turned> found;
    for_each_node(loop_, [&](const PlanNode &node) {
      for (ExprId id : expressions_of(node))
        walk(kernel_, id, [&](ExprId at) {
          if (is_turned(kernel_.expr(at)))
            found.push_back({at, fields_of_record(kernel_.expr(at))});
          return true;
        });
    });
    return found;
  }

private:
  bool is_turned(const Expr &e) const {
    if (e.op != Op::read || plan_.storage[e.ref].kind != Storage::Kind::argument ||
        !analysis_.is_crosswise(e.ref, e.coords, loop_.axis, other_))
      return false;
    const Var &var = kernel_.vars[e.ref];
    const bool here =
        std::all_of(e.coords.begin(), e.coords.end(), [&](const Coordinate &c) { return is_identity(kernel_, c); });
    // The tile is turned outside of the loops inside, and of ordered steps.
    const bool outside = (var.axes & inner_).empty() && (!steps_ || std::all_of(var.dims.begin(), var.dims.end(),
                                                                                [](const Dim &d) { return d.whole; }));
    return here && outside && written_.count(memory_of(kernel_, e.ref)) == 0 && !var.optional &&
           var.type != Type::boolean && (e.safe || !may_be_outside(kernel_, var, e.coords));
  }

  // Where all that lies between neighbours along the lanes is one element for each position of the other axis, and
  // these are few: how many. Else 0.
  int64_t fields_of_record(const Expr &read) const {
    const Axis &axis = kernel_.axes[other_];
    const bool known = axis.uniform && axis.ragged == kNone && axis.start.is_integer(0) && axis.block.is_integer() &&
                       axis.block.value >= 2 && axis.block.value <= 4;
    return known && analysis_.step_of(read.ref, read.coords, loop_.axis).stride.is_integer(axis.block.value) &&
                   analysis_.step_of(read.ref, read.coords, other_).kind == LaneStep::Kind::neighbour
               ? axis.block.value
               : 0;
  }

  const Plan &plan_;
  const Kernel &kernel_;
  const LaneAnalysis &analysis_;
  const PlanNode &loop_;
  const AxisId other_;
  std::set<VarId> written_; // in the loop: a tile would keep what was there before
  AxisSet inner_;
  bool steps_ = false;
};

// A line of each array, or all fields of records.
int64_t columns_of_tiles(const Kernel &kernel, AxisId other, const std::vector<LaneLoop::Turned> &turned) {
  int64_t columns = 1;
  bool all_records = true;
  for (const LaneLoop::Turned &one : turned) {
    columns = std::max<int64_t>(columns, machine_of(TargetKind::openmp).line_bytes /
                                             bytes_of(kernel.vars[kernel.expr(one.read).ref].type));
    all_records = all_records && one.fields > 0;
  }
  return all_records ? most_positions(kernel.axes[other]).value_or(columns) : columns;
}

} // namespace

std::vector<const PlanNode *> shared_loops(const Kernel &kernel, const Phase &phase) {
  std::vector<const PlanNode *> chain;
  const PlanNode *node = &phase.nodes.front();
  for (int i = 0; i < phase.split; ++i, node = &node->body.front()) {
    if (i > 0 && depends_on(kernel, *node, chain))
      break;
    chain.push_back(node);
    if (node->on_lanes)
      break;
  }
  return chain;
}

void find_crossing(const Plan &plan, const LaneAnalysis &analysis, Phase &phase) {
  if (phase.kind != Phase::Kind::parallel)
    return;
  const std::vector<const PlanNode *> chain = shared_loops(plan.kernel, phase);
  if (chain.size() < 2 || !chain.back()->on_lanes)
    return;
  const PlanNode &outer = *chain[chain.size() - 2];
  auto &loop = const_cast<PlanNode &>(*chain.back());
  if (outer.kind != PlanNode::Kind::loop || !analysis.crosses(loop, outer.axis))
    return;
  loop.on_lanes->crossed = outer.axis;
  loop.on_lanes->turned = TurnedReads(plan, analysis, loop, outer.axis).find();
  loop.on_lanes->turned_columns = columns_of_tiles(plan.kernel, outer.axis, loop.on_lanes->turned);
}

} // namespace kgen
