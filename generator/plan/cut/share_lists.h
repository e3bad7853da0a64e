// What all plans with shares need: the axis that counts them, and the loops of a work list around other statements.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace kgen {

Size of_two(Size::Op op, Size a, Size b);

// A whole axis, of a length that is not known to be as short as this.
bool is_long_axis(const Axis &axis, int64_t least);

// The same, or rows of their own length of an axis that the loops of the work list go over.
bool is_long_row(const Kernel &kernel, AxisId axis, AxisSet chain, int64_t least);

// What the axis that counts shares of this one may be called: `N_shares`.
std::string free_share_name(const Kernel &kernel, const Axis &shared);

// Where the phase is not always gone through: ", where N <= 524288".
std::string condition_words(const Plan &plan, const Phase &phase);

// Has what this axis counts several shares? A question of sizes.
ExprId has_several(Kernel &kernel, AxisId shares);

// Is there one at all?
ExprId has_any(Kernel &kernel, AxisId shares);

class ShareLists {
public:
  explicit ShareLists(Plan &plan) : plan_(plan), kernel_(plan.kernel) {}

  // Can the kernel have one more axis?
  bool has_room() const;

  // The loops of the work list, of which none goes over ragged rows. Null: others.
  const PlanNode *find_chain(const Phase &phase);

  const std::vector<AxisId> &chain() const { return chain_; }
  AxisSet chain_axes() const;
  AxisId axis() const { return axis_; } // that counts the shares

  // The last loop of the work list.
  const PlanNode &innermost(const PlanNode &root) const;

  // The number of items of the work list; in columns, of so many neighbours.
  Size items(int64_t columns) const;

  ExprId count(); // of the shares
  ExprId has_several();

  // Takes the axis of another phase that is shared alike, or adds one.
  void add_axis(AxisId shared, Size size);

  // The list's loops, with this body.
  PlanNode in_chain(const PlanNode &root, std::vector<PlanNode> body, size_t depth = 0) const;
  PlanNode over_shares(PlanNode::Order order, std::vector<PlanNode> body) const;

  VarId copy_of(VarId var, const std::string &name, AxisSet axes);

private:
  Plan &plan_;
  Kernel &kernel_;
  std::vector<AxisId> chain_;
  AxisId axis_ = kNone;
};

} // namespace kgen
