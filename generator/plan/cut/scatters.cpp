// A phase that scatters becomes two: over shares of its outermost loop, each with its copies of the targets, then over
// the elements of the targets, which take in what the shares have found. Shares depend on sizes only.
#include "plan/cut/scatters.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "plan/cut/share_lists.h"
#include "plan/index/exprs.h"
#include "plan/index/order.h"
#include "plan/place/storage.h"
#include "plan/program/anew.h"

namespace kgen {
namespace {

class Copies {
public:
  Copies(Plan &plan, size_t phase) : plan_(plan), kernel_(plan.kernel), phase_(phase) {}

  bool run() {
    const Phase &phase = plan_.phases[phase_];
    if (phase.kind != Phase::Kind::parallel || !ShareLists(plan_).has_room() || !find_loops(phase))
      return false;
    for_each_node(phase.nodes.front(), [&](const PlanNode &n) {
      if (n.scatter_add && may_copy(n))
        copies_.emplace(n.target, kNone);
    });
    if (copies_.empty())
      return false;
    add_axis();
    split();
    return true;
  }

private:
  // The loops of the work list: whole axes.
  bool find_loops(const Phase &phase) {
    const PlanNode *loop = &phase.nodes.front();
    for (int i = 0; i < phase.split; ++i) {
      if (loop->kind != PlanNode::Kind::loop || !is_whole(loop->axis) || loop->share != kNone || loop->parts > 0)
        return false;
      loops_.push_back(loop->axis);
      if (i + 1 < phase.split)
        loop = &loop->body.front();
    }
    return true;
  }

  bool is_whole(AxisId id) const {
    const Axis &axis = kernel_.axes[id];
    return axis.uniform && axis.ragged == kNone && axis.grid == kNone && is_size_of(axis, axis.block) &&
           axis.start.is_integer(0);
  }

  // May the target be small, is all of it reached by coordinates, and may these additions come after all else that the
  // phase does with it?
  bool may_copy(const PlanNode &scatter) const {
    const Var &var = kernel_.vars[scatter.target];
    if (is_half(var.type) || var.type == Type::boolean || var.strided || var.axes.empty())
      return false;
    for (const Dim &dim : var.dims)
      if (dim.axis == kNone || !dim.whole || !is_whole(dim.axis) || kernel_.axes[dim.axis].size != dim.extent ||
          find_coordinate(scatter.coords, dim.axis) == nullptr)
        return false;
    const Size elements = elements_of(var);
    if (elements.is_integer() ? elements.value > plan_.decide(Decision::scatter_elements, var)
                              : plan_.phases[phase_].when != kNone)
      return false;
    const Accesses additions = {{scatter.target, scatter.target, true, AxisSet(), true}};
    bool may = true;
    for_each_node(plan_.phases[phase_].nodes.front(), [&](const PlanNode &n) {
      const bool by_other_places = n.target == scatter.target && n.coords.size() != scatter.coords.size();
      may = may && !by_other_places && may_exchange(own_accesses_of(kernel_, n), additions);
    });
    return may;
  }

  Size elements_of(const Var &var) const {
    Size out = Size::integer(1);
    for (const Dim &dim : var.dims)
      out = of_two(Size::Op::multiply, out, dim.extent);
    return out;
  }

  // Each copy serves so many additions, and no fewer than it has elements. There is none of what turns out to be large,
  // by itself or beside the additions.
  void add_axis() {
    std::optional<Size> largest;
    int64_t limit = std::numeric_limits<int64_t>::max();
    for (const auto &[target, copy] : copies_) {
      const Size elements = elements_of(kernel_.vars[target]);
      largest = largest ? of_two(Size::Op::max, *largest, elements) : elements;
      limit = std::min(limit, plan_.decide(Decision::scatter_elements, kernel_.vars[target]));
    }
    Size rounds = Size::integer(1);
    for (AxisId axis : loops_)
      rounds = of_two(Size::Op::multiply, rounds, kernel_.axes[axis].size);
    const Axis &outer = kernel_.axes[loops_.front()];
    Axis shares;
    shares.name = free_share_name(kernel_, outer);
    shares.derived = true;
    const Size most =
        of_two(Size::Op::min, Size::integer(plan_.decide(Decision::scatter_shares, loops_.front())), outer.size);
    const Size least =
        of_two(Size::Op::max, Size::integer(plan_.decide(Decision::scatter_rounds, loops_.front())), *largest);
    shares.size =
        of_two(Size::Op::max, Size::integer(1), of_two(Size::Op::min, most, of_two(Size::Op::divide, rounds, least)));
    is_known_ = largest->is_integer();
    if (!is_known_)
      shares.size =
          Size::make(Size::Op::choose,
                     {of_two(Size::Op::less_equal, *largest, of_two(Size::Op::min, Size::integer(limit), rounds)),
                      std::move(shares.size), Size::integer(0)});
    shares.start = Size::integer(0);
    shares.block = shares.size.is_integer() ? shares.size : Size::axis(shares.name);
    shares.place = outer.place;
    kernel_.axes.push_back(std::move(shares));
    axis_ = static_cast<AxisId>(kernel_.axes.size()) - 1;
    plan_.axis_order.insert(plan_.axis_order.begin(), axis_);
    plan_.shares |= AxisSet::of(axis_);
  }

  PlanNode loop_over(AxisId axis, PlanNode::Order order, std::vector<PlanNode> body) const {
    PlanNode loop;
    loop.kind = PlanNode::Kind::loop;
    loop.axis = axis;
    loop.order = order;
    loop.place = body.front().place;
    loop.body = std::move(body);
    return loop;
  }

  PlanNode over_elements(VarId target, std::vector<PlanNode> body) const {
    const std::vector<Dim> &dims = kernel_.vars[target].dims;
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim)
      body = {loop_over(dim->axis, PlanNode::Order::parallel, std::move(body))};
    return std::move(body.front());
  }

  PlanNode node(PlanNode::Kind kind, VarId target, ExprId value, AxisSet lanes) const {
    PlanNode out;
    out.kind = kind;
    out.target = target;
    out.value = value;
    out.lanes = lanes;
    out.place = kernel_.vars[target].place;
    return out;
  }

  VarId local(const std::string &name, Type type, AxisSet axes, const Place &place) {
    Var var;
    var.name = name;
    var.type = type;
    var.axes = axes;
    var.place = place;
    return add_var(kernel_, std::move(var));
  }

  void split() {
    if (!is_known_)
      add_alternative(plan_, phase_, has_any(kernel_, axis_));
    const Phase phase = plan_.phases[phase_];
    PlanNode root = phase.nodes.front();
    root.share = axis_;
    std::vector<PlanNode> share;
    std::vector<Phase> sums;
    for (auto &[target, copy] : copies_) {
      const Var var = kernel_.vars[target];
      copy = local(var.name + "_copy", var.type, var.axes | AxisSet::of(axis_), var.place);
      share.push_back(over_elements(
          target, {node(PlanNode::Kind::assign, copy, make_constant(kernel_, type_row(var.type).arithmetic, 0, 0),
                        kernel_.vars[copy].axes)}));
      sums.push_back(sum_of(target, copy));
      sums.back().when = phase.when; // for calls that make the copies
      sums.back().unless = phase.unless;
    }
    for_each_node(root, [&](PlanNode &n) {
      const auto copy = copies_.find(n.target);
      if (!n.scatter_add || copy == copies_.end())
        return;
      n.target = copy->second;
      n.lanes |= AxisSet::of(axis_);
    });
    share.push_back(std::move(root));
    Phase first = phase;
    first.nodes = {loop_over(axis_, PlanNode::Order::parallel, std::move(share))};
    first.split = 1;
    const auto at = plan_.phases.begin() + static_cast<std::ptrdiff_t>(phase_);
    *at = std::move(first);
    plan_.phases.insert(at + 1, sums.begin(), sums.end());
  }

  // For each element: target += sum of its copies.
  Phase sum_of(VarId target, VarId copy) {
    const Var var = kernel_.vars[target];
    const Type type = type_row(var.type).arithmetic;
    const VarId total = local(var.name + "_sum", type, var.axes, var.place);
    PlanNode init = node(PlanNode::Kind::fold_init, total, kNone, var.axes);
    PlanNode add = node(PlanNode::Kind::fold_step, total, make_read(kernel_, copy), kernel_.vars[copy].axes);
    init.reduced = add.reduced = AxisSet::of(axis_);
    const ExprId sum = make_op(kernel_, Op::add, type, {make_read(kernel_, target), make_read(kernel_, total)});
    const Size elements = elements_of(var);
    Phase out; // of one thread, where the target is known to be small
    if (!elements.is_integer() || elements.value > plan_.decide(Decision::serial_below)) {
      out.kind = Phase::Kind::parallel;
      out.split = static_cast<int>(var.dims.size());
    }
    out.nodes = {over_elements(target, {init, loop_over(axis_, PlanNode::Order::reduction, {add}),
                                        node(PlanNode::Kind::assign, target, sum, var.axes)})};
    return out;
  }

  Plan &plan_;
  Kernel &kernel_;
  const size_t phase_;
  std::vector<AxisId> loops_;
  AxisId axis_ = kNone;
  bool is_known_ = true;          // that all targets are small
  std::map<VarId, VarId> copies_; // of the targets
};

} // namespace

void copy_small_targets(Plan &plan) {
  const auto scatters = [](const Phase &phase) {
    bool found = false;
    for (const PlanNode &root : phase.nodes)
      for_each_node(root, [&](const PlanNode &n) { found = found || n.scatter_add; });
    return found;
  };
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (!scatters(plan.phases[i]))
      continue;
    Plan copied = plan;
    if (!Copies(copied, i).run())
      continue;
    place_variables(copied);
    plan = std::move(copied);
  }
}

} // namespace kgen
