// What is asked of the first so many positions of a row only, `sum(x, T, where(index(T) < length))`: folds, and locals
// that nothing else reads.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "plan/index/scopes.h"
#include "plan/plan.h"

namespace kgen {

struct Limit {
  std::vector<ExprId> conditions; // of folds: the position is one of the first; all say the same
  AxisId axis = kNone;            // along which it is counted
  ExprId end = kNone;             // and what it lies before
  std::set<VarId> locals;         // that nobody reads behind it
};

// All that folds of the plan ask for.
std::vector<Limit> limits_of(Plan &plan);

// The condition under which a step takes its value. Nothing of steps that note more than a total.
std::optional<ExprId> condition_of(const PlanNode &step);

// Is it the condition of the step?
bool asks(const Kernel &kernel, const PlanNode &step, const Limit &limit);

// Does the statement set a number that nobody asks for after the round of the loop?
bool is_of_one_round(const Plan &plan, const Scopes &scopes, const PlanNode &node, const PlanNode &loop);

// Has the expression other values inside of loops over these axes, which set these variables?
bool changes(const Kernel &kernel, ExprId id, AxisSet inside, const std::set<VarId> &changed);

// Does the statement set one of them, at the place at hand?
bool sets_one_of(const PlanNode &node, const std::set<VarId> &locals);

} // namespace kgen
