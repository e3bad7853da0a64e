// Which memory a node of the program touches, and along which axes it stays at the current point.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "plan/plan.h"

namespace kgen {

struct Access {
  VarId memory; // an input with an alias is its output
  VarId var;
  bool write;
  AxisSet aligned;   // axes of the variable at which the access is at the current point
  bool adds = false; // a scattered addition: they may come in any order
};

// An input that lies in an output's memory is that output.
VarId memory_of(const Kernel &kernel, VarId var);
// Does the kernel write nothing of it?
bool is_only_read(const Kernel &kernel, VarId var);

// Those of the variable along which such coordinates stay at the current point.
AxisSet aligned_axes(const Kernel &kernel, VarId var, const std::vector<Coordinate> &coords);

std::vector<Access> accesses_of(const Kernel &kernel, const PlanNode &node);
std::vector<Access> own_accesses_of(const Kernel &kernel, const PlanNode &node); // not those of its children

// Every node below and including this one.
void for_each_node(const PlanNode &node, const std::function<void(const PlanNode &)> &visit);

void for_each_node(PlanNode &node, const std::function<void(PlanNode &)> &visit);
// But not those of contractions, which are as they must be.
void for_each_node_of_loops(PlanNode &node, const std::function<void(PlanNode &)> &visit);
bool contains_contraction(const Phase &phase);

// What the statements, and those inside them, set.
std::set<VarId> targets_of(const std::vector<PlanNode> &nodes);

bool contains_steps(const std::vector<PlanNode> &nodes);
bool contains_loop(const std::vector<PlanNode> &nodes); // of any kind

bool is_composite(const PlanNode &node); // has statements inside
bool is_jump(const PlanNode &node);

// Does the statement end a round, or all rounds, of a loop around it?
bool jumps_out(const PlanNode &node);

// The fold steps inside a loop that finish with it.
std::vector<const PlanNode *> folds_over(const PlanNode &loop);

// The expressions that the node itself evaluates (not those of its children).
std::vector<ExprId> expressions_of(const PlanNode &node);

// Are there windows by `offset`, which may begin before their arrays? Those of inputs read `outside` there.
bool sticks_out(const Kernel &kernel, AxisId axis);

// Or do arrays end elsewhere than the axis?
bool has_other_ends(const Kernel &kernel, AxisId axis);

// Does the expression have values only where the array or local in it does? (One that is asked for is as good as read.)
inline bool ends_lanes(const Expr &e) { return e.op == Op::read || e.op == Op::inside || e.op == Op::element; }

// The operand dimensions that bound the lanes of the node along `axis`, beyond the axis' own size. Where arrays have
// other ends, {kNone, 0} is that size: for nodes with an array that ends there, or with the index only.
std::vector<std::pair<VarId, int>> own_limits(const Kernel &kernel, const PlanNode &node, AxisId axis);

// The axes of loops inside that may go on for long.
AxisSet long_loops(const Plan &plan, const PlanNode &loop);
// Do they go from row to row of arrays whose elements differ along the loop, too?
bool reads_rows(const Plan &plan, const PlanNode &loop);

} // namespace kgen
