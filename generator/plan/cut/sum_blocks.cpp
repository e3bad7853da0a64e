#include "plan/cut/sum_blocks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "plan/contract/contractions.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/place/storage.h"

namespace kgen {
namespace {

using Nodes = std::vector<PlanNode>;

bool is_floating_sum(const Kernel &kernel, const PlanNode &step, AxisId axis) {
  return folds_over(step, axis) && (step.monoid == Monoid::sum || step.monoid == Monoid::mean) &&
         is_floating(kernel.vars[step.target].type);
}

AxisSet loops_in(const PlanNode &loop) {
  AxisSet axes;
  for_each_node(loop, [&](const PlanNode &n) {
    if (n.kind == PlanNode::Kind::loop)
      axes |= AxisSet::of(n.axis);
  });
  return axes;
}

// Its sums go on in parts, which `before` starts and `after` adds.
class Splitting {
public:
  Splitting(Kernel &kernel, const PlanNode &loop) : kernel_(kernel), axis_(loop.axis), inside_(loops_in(loop)) {}

  void split(PlanNode &node) {
    if (is_floating_sum(kernel_, node, axis_))
      take_part(node);
    for (Nodes *list : {&node.body, &node.otherwise, &node.step})
      for (PlanNode &child : *list)
        split(child);
  }

  Nodes before, after;

private:
  // A part is taken over the axes of the loop and of those in it; sums over others go on outside.
  void take_part(PlanNode &step) {
    Var part = kernel_.vars[step.target];
    part.name += "_in_block";
    const VarId fresh = add_var(kernel_, std::move(part));
    PlanNode add = step, init = step;
    add.value = make_read(kernel_, fresh);
    add.condition = kNone;
    init.kind = PlanNode::Kind::fold_init;
    init.value = init.condition = kNone;
    init.target = step.target = fresh;
    add.reduced = (step.reduced - inside_) | AxisSet::of(axis_);
    init.reduced = step.reduced = step.reduced & inside_;
    init.lanes = add.lanes = step.lanes - inside_;
    before.push_back(std::move(init));
    after.push_back(std::move(add));
  }

  Kernel &kernel_;
  const AxisId axis_;
  const AxisSet inside_;
};

class BlockSums {
public:
  explicit BlockSums(Plan &plan) : plan_(plan) {}

  bool run() {
    for (Phase &phase : plan_.phases)
      if (!contains_contraction(phase))
        take(phase.nodes, AxisSet(), 0);
    return changed_;
  }

private:
  // `in_parts`: axes of which a loop around goes over parts, which are short. `around`: how many of those are cut. (Of
  // a nest of dozens of loops each would be two.)
  void take(Nodes &nodes, AxisSet in_parts, int around) {
    constexpr int kMostAround = 3;
    for (PlanNode &n : nodes) {
      const bool taken = around <= kMostAround && is_taken(n) && !in_parts.contains(n.axis);
      const bool parts = n.kind == PlanNode::Kind::loop && n.parts > 0;
      for (Nodes *list : {&n.body, &n.otherwise, &n.step})
        take(*list, parts ? in_parts | AxisSet::of(n.axis) : in_parts, around + (taken ? 1 : 0));
      if (!taken)
        continue;
      n = in_blocks(plan_.kernel, std::move(n), block(), [](Nodes list) { return list; });
      changed_ = true;
    }
  }

  bool is_taken(const PlanNode &n) {
    return sums_floats(plan_.kernel, n) && n.parts == 0 && n.table == kNone && !n.at_once &&
           !plan_.shares.contains(n.axis) && !goes_along_lanes(n) && may_be_split(n) && is_long(n.axis);
  }

  // Asked first before any loop is cut.
  bool goes_along_lanes(const PlanNode &loop) {
    if (!lanes_)
      lanes_ = wants_lanes(plan_.kernel) ? LaneAnalysis(plan_).choose() : std::set<const PlanNode *>();
    return lanes_->count(&loop) != 0;
  }

  bool is_long(AxisId axis) const {
    const std::optional<int64_t> positions = most_positions(plan_.kernel.axes[axis]);
    return !positions || *positions > block();
  }

  int64_t block() const { return plan_.decide(Decision::sum_block); }

  // Totals that stand in an array are those of columns, which have blocks already. And what follows another total is
  // put right when that changes.
  bool may_be_split(const PlanNode &loop) const {
    bool may = true;
    for_each_node(loop, [&](const PlanNode &n) {
      if (is_floating_sum(plan_.kernel, n, loop.axis))
        may = may && plan_.storage[n.target].kind == Storage::Kind::scalar && !follows(n.target);
    });
    return may;
  }

  bool follows(VarId total) const {
    return std::any_of(plan_.followed.begin(), plan_.followed.end(), [&](const FollowedTotal &f) {
      return std::find(f.followers.begin(), f.followers.end(), total) != f.followers.end();
    });
  }

  Plan &plan_;
  std::optional<std::set<const PlanNode *>> lanes_; // the loops that they will go along
  bool changed_ = false;
};

} // namespace

bool sums_floats(const Kernel &kernel, const PlanNode &loop) {
  bool found = false;
  if (loop.kind == PlanNode::Kind::loop && loop.order != PlanNode::Order::parallel && !loop.reversed)
    for_each_node(loop, [&](const PlanNode &n) { found = found || is_floating_sum(kernel, n, loop.axis); });
  return found;
}

PlanNode in_blocks(Kernel &kernel, PlanNode loop, int64_t block, const AroundBlock &around) {
  Splitting splitting(kernel, loop);
  splitting.split(loop);
  PlanNode blocks = loop;
  blocks.parts = block;
  loop.end = kNone; // no block goes further
  blocks.body = around(std::move(splitting.before));
  blocks.body.push_back(std::move(loop));
  for (PlanNode &n : around(std::move(splitting.after)))
    blocks.body.push_back(std::move(n));
  return blocks;
}

void block_sums(Plan &plan) {
  if (BlockSums(plan).run())
    place_variables(plan);
}

} // namespace kgen
