// Folds on lanes. A fold along the lanes has a vector of totals, which joins the total behind the loop; one along
// another axis keeps a total a lane.
#pragma once

#include "emit/openmp/lanes/stores.h"

namespace kgen {

// The totals of the loop at hand.
struct LaneTotals {
  std::string first;                                              // where the loop, or its block, begins
  std::vector<std::pair<const PlanNode *, std::string>> of_lanes; // folds along the lanes -> their vectors of totals
  std::map<VarId, std::string> in_registers;                      // totals of columns while rows go by
  std::map<const PlanNode *, std::string> chosen;                 // the lanes for which conditions of folds hold
};

// The names of what folds along the lanes find.
std::vector<std::pair<const PlanNode *, std::string>> totals_of_lanes(LaneScope &lanes, const PlanNode &loop);
// Before the loop, and behind it, where they join what it found before.
void declare_total(LaneScope &lanes, const PlanNode &fold, const std::string &of_lanes);
void combine(LaneScope &lanes, const std::string &first, const PlanNode &fold, const std::string &of_lanes);

// Each lane has its own total.
void fold_step(LaneScope &lanes, LaneTotals &totals, const LaneOutputs &outputs, const PlanNode &node,
               const std::vector<PlanNode> &siblings);
void fold_across(LaneScope &lanes, LaneTotals &totals, const PlanNode &node, const std::vector<PlanNode> &siblings);

} // namespace kgen
