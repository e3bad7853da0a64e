// Which loops run their iterations side by side, as lanes of vectors: how each access moves along a loop decides
// whether it becomes a vector, and a small count of instructions which loop of a nest is taken.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "plan/index/scopes.h"
#include "plan/plan.h"

namespace kgen {

// How an access moves when the lane axis moves by one.
struct LaneStep {
  enum class Kind {
    none,      // the same place for all lanes
    neighbour, // the next element
    stride,    // `stride` elements further
    any,       // known lane by lane only
  };
  Kind kind = Kind::none;
  Size stride;
};

class LaneAnalysis {
public:
  explicit LaneAnalysis(const Plan &plan) : plan_(plan), kernel_(plan.kernel) {}

  // Does the value differ between the lanes?
  bool varies(ExprId id, AxisId lane) const;
  // Is the variable one C++ variable, or a small array of such, that has a value for each lane?
  bool is_vector(VarId var, AxisId lane) const;
  // Is what stands there a vector, or something that is no value of each lane?
  bool fits_vectors(VarId var, const std::vector<Coordinate> &coords, AxisId lane) const;
  // Are the indices of a local array the same for all lanes?
  bool is_one_element(const std::vector<ExprId> &indices, AxisId lane) const;
  // Where an access stands, guards aside.
  LaneStep step_of(VarId var, const std::vector<Coordinate> &coords, AxisId lane) const;
  // c where the value is c * index(lane) + something that is the same for all lanes.
  std::optional<int64_t> coefficient(ExprId id, AxisId lane) const;
  // The coordinate along the last dimension of an array, where neighbours stand beside each other, if it differs
  // between the lanes and no other does.
  const Coordinate *place_in_row(const Expr &read, AxisId lane) const;
  // Is it one more from lane to lane, but for where it begins again: `(index(lane) + shift) % count`?
  bool goes_around(ExprId id, AxisId lane) const;
  // A read of neighbours that stays at the ends of a row where it would leave it, `x[clamp(n + k, 0, N - 1)]`: its
  // coordinate, before it is held back to least .. most (kNone: to the row).
  struct Nearest {
    AxisId axis = kNone;
    ExprId at = kNone, least = kNone, most = kNone;
    bool least_wins = false; // where the limits cross
  };
  std::optional<Nearest> nearest(const Expr &read, AxisId lane) const;
  // Must a read be guarded in a way that differs between the lanes?
  bool guarded(const Expr &read, AxisId lane) const;
  // Do lanes go through the loop a different number of times, by its condition or by a jump out of it?
  bool ends_by_lane(const PlanNode &repeat, AxisId lane) const;
  // Does the loop go through an array in strides whose elements are neighbours along the other axis?
  bool crosses(const PlanNode &loop, AxisId other) const;
  // Has an access its neighbours along the other axis, and not along the lanes?
  bool is_crosswise(VarId var, const std::vector<Coordinate> &coords, AxisId lane, AxisId other) const;
  // May loops go on past the window that is read or written, up to the end of another's?
  bool may_end_early(VarId var, const std::vector<Coordinate> &coords) const;
  // May a read be inside its array by a condition around it only?
  bool may_leave(const Expr &read) const;
  // Would evaluating the expression where its condition does not hold touch memory that must not be touched?
  bool hazardous(ExprId id) const;
  // Is whatever must go in order along the loop a scan, all of which is a statement of the loop itself?
  bool has_scans_only(const PlanNode &loop) const;
  // May a scan be regrouped: does that change no more than roundings?
  bool regroups(const PlanNode &scan) const;
  // Can the iterations of the loop be lanes at all?
  bool possible(const PlanNode &loop) const;
  // The loops to take: no two of them nested.
  std::set<const PlanNode *> choose() const;

private:
  const Scopes &scopes() const { return scopes_ ? *scopes_ : scopes_.emplace(plan_); }
  bool find_varying(ExprId id, AxisId lane) const;
  bool possible(const PlanNode &node, const PlanNode &loop, bool masked) const;
  bool held_back(ExprId id, AxisId lane, Nearest &found) const;
  bool chosen_limit(const Expr &choice, AxisId lane, Nearest &found) const;
  bool target_fits(const PlanNode &node, AxisId lane, bool masked) const;
  LaneStep buffer_step(VarId var, const std::vector<Coordinate> &coords, AxisId lane) const;

  double loops_cost(const PlanNode &node, std::set<const PlanNode *> &taken) const;
  double cost(const PlanNode &node, AxisId lane, bool walks) const; // inside a long loop?
  double access_cost(const LaneStep &step, AxisId lane, bool walks) const;
  double expression_cost(ExprId id, AxisId lane, bool walks) const;
  double groups(const PlanNode &loop, AxisId lane) const;
  double trips(const PlanNode &node) const;

  const Plan &plan_;
  const Kernel &kernel_;
  mutable std::optional<Scopes> scopes_; // found when they are asked for
  // Accesses ask of their coordinates, coordinates of the accesses in them: each is answered once.
  mutable std::map<std::pair<ExprId, AxisId>, bool> varying_;
};

// `schedule.openmp.lanes = false` asks for scalar loops.
bool wants_lanes(const Kernel &kernel);

// Does `fold` reduce over the axis (so that it takes part in combining lanes)?
inline bool folds_over(const PlanNode &node, AxisId axis) {
  return node.kind == PlanNode::Kind::fold_step && node.reduced.contains(axis);
}

} // namespace kgen
