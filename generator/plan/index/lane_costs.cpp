// What should be lanes: the loops in which they cost least.
#include "plan/index/lanes.h"

#include <algorithm>
#include <cmath>

#include "ir/op_rows.h"
#include "plan/contract/contractions.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

// The machine that costs are counted for: lanes a vector, iterations where the extent is not known, instructions.
constexpr double kLanes = 8, kUnknownTrips = 256, kCallCost = 20, kGatherCost = 1.5, kStoreCost = 1.5, kLoopCost = 2,
                 kAcrossCost = 10, kVectorCalls = 2, kFarCost = 4, kNearestCost = 3, kDivisionCost = 4;
constexpr int64_t kNearStride = 16; // elements; and rounds of a loop that is no walk

} // namespace

double LaneAnalysis::trips(const PlanNode &node) const {
  if (node.kind != PlanNode::Kind::loop)
    return kUnknownTrips;
  const Axis &axis = kernel_.axes[node.axis];
  if (axis.mean > 0)
    return static_cast<double>(axis.mean);
  const std::optional<int64_t> most = most_positions(axis);
  return most ? static_cast<double>(*most) : kUnknownTrips;
}

// A group that is not full costs twice.
double LaneAnalysis::groups(const PlanNode &loop, AxisId) const {
  const double count = trips(loop), full = std::floor(count / kLanes);
  return full + (count > full * kLanes ? 2 : 0);
}

double LaneAnalysis::access_cost(const LaneStep &step, AxisId lane, bool walks) const {
  if (lane == kNone || step.kind == LaneStep::Kind::none || step.kind == LaneStep::Kind::neighbour)
    return 1;
  if (step.kind == LaneStep::Kind::any)
    return kLanes * kGatherCost;
  // Walks beside each other, whole rows apart, are on lines that evict each other.
  const bool near = step.stride.is_integer() && step.stride.value <= kNearStride;
  return near || !walks ? kLanes : kLanes * kFarCost;
}

double LaneAnalysis::expression_cost(ExprId id, AxisId lane, bool walks) const {
  double total = 0;
  walk(kernel_, id, [&](ExprId at) {
    const Expr &e = kernel_.expr(at);
    const double lanes = lane != kNone && varies(at, lane) ? kLanes : 1;
    if (e.op == Op::read) {
      if (lane != kNone && nearest(e, lane)) {
        total += kNearestCost;
        return true;
      }
      if (const Coordinate *along = lane == kNone ? nullptr : place_in_row(e, lane);
          along != nullptr && goes_around(along->value, lane)) {
        total += kNearestCost + 2 * kCallCost; // the first place and the last one
        return false;
      }
      total += guarded(e, lane) ? lanes * kGatherCost : access_cost(step_of(e.ref, e.coords, lane), lane, walks);
    } else if (e.op == Op::element) {
      total += lane == kNone || is_one_element(e.args, lane) ? 1 : kLanes * kGatherCost;
    } else if (e.op == Op::table) {
      total += lanes;
    } else if (is_scalar_op(e.op)) {
      const double calls = is_floating(e.type) && lanes > 1 ? kVectorCalls : lanes;
      total += divides_by_number(kernel_, e) ? kDivisionCost : has(e.op, op::call) ? kCallCost * calls : 1;
    }
    return true;
  });
  return total;
}

// Of one execution: of a single iteration, or of a group of lanes.
double LaneAnalysis::cost(const PlanNode &node, AxisId lane, bool walks) const {
  double total = 1;
  for (ExprId id : expressions_of(node))
    total += expression_cost(id, lane, walks);
  if (node.target != kNone)
    total += kStoreCost * access_cost(step_of(node.target, node.coords, lane), lane, walks);
  if (node.kind == PlanNode::Kind::scan_step && node.axis == lane)
    total += kAcrossCost;
  const bool repeats =
      node.kind == PlanNode::Kind::loop || node.kind == PlanNode::Kind::steps || node.kind == PlanNode::Kind::repeat;
  double inner = 0;
  for (const auto *list : {&node.body, &node.otherwise, &node.step})
    for (const PlanNode &child : *list)
      inner += cost(child, lane, walks || (repeats && trips(node) > kNearStride));
  return total + inner * (repeats ? trips(node) : 1);
}

double LaneAnalysis::loops_cost(const PlanNode &node, std::set<const PlanNode *> &taken) const {
  if (node.contraction) {
    taken.insert(&column_loop(node));
    return 1;
  }
  double total = 1;
  for (ExprId id : expressions_of(node))
    total += expression_cost(id, kNone, false);
  if (node.target != kNone)
    total += 1;
  std::set<const PlanNode *> inner_taken;
  double inner = 0;
  for (const auto *list : {&node.body, &node.otherwise, &node.step})
    for (const PlanNode &child : *list)
      inner += loops_cost(child, inner_taken);
  const bool repeats =
      node.kind == PlanNode::Kind::loop || node.kind == PlanNode::Kind::steps || node.kind == PlanNode::Kind::repeat;
  total += inner * (repeats ? trips(node) : 1);
  if (possible(node)) {
    double group = kLoopCost, after = 0;
    for (const PlanNode &child : node.body) {
      group += cost(child, node.axis, false);
      for_each_node(child, [&](const PlanNode &n) { after += folds_over(n, node.axis) ? kAcrossCost : 0; });
    }
    const double vectors = group * groups(node, node.axis) + after + kLoopCost;
    if (vectors < total) {
      taken.insert(&node);
      return vectors;
    }
  }
  taken.insert(inner_taken.begin(), inner_taken.end());
  return total;
}

bool wants_lanes(const Kernel &kernel) {
  return std::none_of(kernel.schedule.begin(), kernel.schedule.end(), [](const ScheduleEntry &entry) {
    return entry.target == "openmp" && entry.key == "lanes" && entry.value == ParamValue(int64_t{0});
  });
}

std::set<const PlanNode *> LaneAnalysis::choose() const {
  std::set<const PlanNode *> taken;
  for (const Phase &phase : plan_.phases)
    if (phase.kind == Phase::Kind::contracted)
      taken.insert(&column_loop(nest_of(phase)));
    else
      for (const PlanNode &node : phase.nodes)
        loops_cost(node, taken);
  return taken;
}

} // namespace kgen
