// A loop that does more than one fold: the fold becomes a loop of its own, so that it can be a contraction.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.h"

namespace kgen {

using Nodes = std::vector<PlanNode>;

// An axis' own loop, over all of its range.
bool is_loop(const PlanNode &node, PlanNode::Order order);

PlanNode without_body(const PlanNode &loop);
PlanNode wrapped(const Nodes &loops, Nodes body); // outermost first

// How many loops around each other may be taken for the work list: all, where one of several statements in them is a
// loop over columns; or all but the last, where that is the loop over columns, with several folds in it.
std::vector<int> work_lists(const Phase &phase);

// The statements of a loop, with what only names a part of another's value put in there.
Nodes without_names(Plan &plan, Nodes list);

struct FoldAlone {
  PlanNode alone; // over the axis of the loop: the fold, and what is made of its total alone
  Nodes rest;     // the loop without these, if anything is left
};

// The first fold of the loop, if there is one that can stand alone. Makes variables, which the plan knows the places of
// when it places them anew.
std::optional<FoldAlone> take_out_fold(Plan &plan, PlanNode loop);

} // namespace kgen
