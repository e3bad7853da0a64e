#include "plan/verify/structure.h"

#include <algorithm>
#include <map>
#include <set>

#include "plan/contract/contractions.h"
#include "plan/cuda/blocks.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/place/storage.h"
#include "plan/verify/launches.h"

namespace kgen {
namespace {

class Structure {
public:
  explicit Structure(const Plan &plan) : plan_(plan), kernel_(plan.kernel) {}

  std::string check() {
    for (const Phase &phase : plan_.phases) {
      check_phase(phase);
      list(phase.nodes);
    }
    if (wrong_.empty())
      check_storage();
    return wrong_;
  }

private:
  template <class What> void must(bool holds, const What &what) {
    if (!holds && wrong_.empty())
      wrong_ = what();
  }

  std::string name(VarId var) const { return var == kNone ? "a condition" : "'" + kernel_.vars[var].name + "'"; }
  std::string names(AxisSet axes) const {
    std::string out;
    for (AxisId axis : axes.list())
      out += (out.empty() ? "" : ", ") + kernel_.axes[axis].name;
    return out;
  }

  void check_phase(const Phase &phase) {
    must(!phase.nodes.empty(), [&] { return std::string("a phase without statements"); });
    if (phase.kind == Phase::Kind::serial || phase.nodes.empty())
      return;
    must(phase.nodes.size() == 1, [&] { return std::string("a phase of several workers with several roots"); });
    const PlanNode *loop = &phase.nodes.front();
    for (int i = 0; i < phase.split; ++i) {
      const bool splits = loop->kind == PlanNode::Kind::loop || loop->kind == PlanNode::Kind::steps;
      must(splits && loop->order == PlanNode::Order::parallel,
           [&] { return std::string("a work list over what is no parallel loop"); });
      if (i + 1 == phase.split)
        break;
      must(loop->body.size() == 1, [&] { return std::string("a work list with statements between its loops"); });
      if (!wrong_.empty())
        return;
      loop = &loop->body.front();
    }
  }

  void list(const std::vector<PlanNode> &nodes) {
    for (const PlanNode &node : nodes)
      statement(node);
  }

  void statement(const PlanNode &node) {
    if (node.kind == PlanNode::Kind::loop)
      return loop(node);
    check_lanes(node);
    for (const auto *inner : {&node.body, &node.otherwise, &node.step})
      list(*inner);
  }

  void check_lanes(const PlanNode &node) {
    const AxisSet missing = node.lanes - open_;
    must(missing.empty(), [&] { return name(node.target) + " is set outside of a loop over " + names(missing); });
  }

  void loop(const PlanNode &node) {
    must(node.share == kNone || open_.contains(node.share),
         [&] { return "a share of " + names(AxisSet::of(node.axis)) + " in no loop over shares"; });
    must(node.parts > 0 || !open_.contains(node.axis),
         [&] { return "two loops over " + names(AxisSet::of(node.axis)); });
    must(node.fields == 0 || !gone_over_.contains(node.axis),
         [&] { return "whole records of " + names(AxisSet::of(node.axis)) + " in a loop over parts of it"; });
    const Axis &axis = kernel_.axes[node.axis];
    must(axis.ragged == kNone || open_.contains(axis.over),
         [&] { return "a row of " + axis.name + " in no loop over " + names(AxisSet::of(axis.over)); });
    check_shares(node);
    const AxisSet around = open_, gone_over = gone_over_;
    gone_over_ |= AxisSet::of(node.axis);
    if (node.parts == 0)
      open_ |= AxisSet::of(node.axis);
    list(node.body);
    open_ = around;
    gone_over_ = gone_over;
  }

  // Each share goes over its own part of what is shared.
  void check_shares(const PlanNode &node) {
    if (plan_.shares.contains(node.axis) && node.order == PlanNode::Order::parallel)
      must(shared_by(node.axis, node) != AxisSet(),
           [&] { return "shares of nothing along " + kernel_.axes[node.axis].name; });
    for (AxisId shares : (plan_.shares & open_).list())
      must(node.share == shares || gone_over_.contains(node.axis) || !shared_[shares].contains(node.axis) ||
               is_of_each(shares, node),
           [&] { return "each share goes over all of " + kernel_.axes[node.axis].name; });
  }

  // Does it set only what each share has for itself?
  bool is_of_each(AxisId shares, const PlanNode &loop) const {
    const std::set<VarId> targets = targets_of(loop.body);
    return std::all_of(targets.begin(), targets.end(),
                       [&](VarId var) { return kernel_.vars[var].axes.contains(shares); });
  }

  // The axes of the loops inside that go over a share.
  AxisSet shared_by(AxisId shares, const PlanNode &root) {
    AxisSet out;
    for_each_node(root, [&](const PlanNode &node) {
      if (node.kind == PlanNode::Kind::loop && node.share == shares)
        out |= AxisSet::of(node.axis);
    });
    shared_[shares] |= out;
    return out;
  }

  void check_storage() {
    const std::vector<Storage> places = has_launches(plan_) ? places_in_blocks(plan_) : places_of(plan_);
    for (size_t v = 0; v < kernel_.vars.size(); ++v)
      must(v < plan_.storage.size() && plan_.storage[v] == places[v],
           [&] { return name(static_cast<VarId>(v)) + " lies where not all of its uses reach it"; });
  }

  const Plan &plan_;
  const Kernel &kernel_;
  AxisSet open_;                     // axes of the loops around, which give their positions
  AxisSet gone_over_;                // the same, and those of loops over parts
  std::map<AxisId, AxisSet> shared_; // by the axis that counts the shares
  std::string wrong_;
};

} // namespace

std::string check_structure(const Plan &plan) { return Structure(plan).check(); }

} // namespace kgen
