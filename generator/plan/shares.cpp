// The shares are an axis of their own, so that the totals of each are a buffer with one more dimension.
#include "plan/shares.h"

#include <algorithm>
#include <map>

#include "plan/access.h"
#include "plan/exprs.h"
#include "plan/lanes.h"
#include "plan/storage.h"

namespace kgen {
namespace {

constexpr int64_t kEnough = 64;         // workers that have something to do
constexpr int64_t kLeastRows = 1024;    // of a share, where each has neighbours
constexpr int64_t kLeastRounds = 16384; // of a share, where a round is one element
constexpr int64_t kColumns = 64;        // of neighbours, for a worker
constexpr size_t kMostAxes = 64;

class Shares {
public:
  Shares(Plan &plan, size_t phase) : plan_(plan), kernel_(plan.kernel), lanes_(plan), phase_(phase) {}

  bool run() {
    const Phase &phase = plan_.phases[phase_];
    if (phase.kind != Phase::Kind::parallel || kernel_.axes.size() >= kMostAxes)
      return false;
    const PlanNode *loop = &phase.nodes.front();
    for (int i = 0; i < phase.split; ++i) {
      if (loop->kind != PlanNode::Kind::loop || kernel_.axes[loop->axis].ragged != kNone)
        return false;
      chain_.push_back(loop->axis);
      if (i + 1 < phase.split)
        loop = &loop->body.front();
    }
    if (!find_fold(loop->body))
      return false;
    add_axis();
    split();
    return true;
  }

private:
  // The fold is the first of the statements that does not just start one, leaves nothing but its totals, and reads an
  // input's elements once. Behind it no other loop goes over them: it finds them in the cache.
  bool find_fold(const std::vector<PlanNode> &body) {
    while (fold_ < body.size() && body[fold_].kind == PlanNode::Kind::fold_init)
      ++fold_;
    if (fold_ == body.size())
      return false;
    const PlanNode &fold = body[fold_];
    const bool is_fold = fold.kind == PlanNode::Kind::loop && fold.order == PlanNode::Order::reduction;
    if (!is_fold || !is_long(kernel_.axes[fold.axis]) ||
        contains_loop({body.begin() + static_cast<std::ptrdiff_t>(fold_) + 1, body.end()}))
      return false;
    AxisSet all;
    for (AxisId axis : chain_)
      all |= AxisSet::of(axis);
    const std::vector<Access> accesses = accesses_of(kernel_, fold);
    bool fits = std::any_of(accesses.begin(), accesses.end(), [&](const Access &a) {
      const Var &var = kernel_.vars[a.var];
      return var.kind == Var::Kind::input && var.axes.contains(all | AxisSet::of(fold.axis));
    });
    for_each_node(fold, [&](const PlanNode &n) {
      if (folds_over(n, fold.axis)) {
        totals_[n.target] = kNone;
        fits = fits && n.partner == kNone && kernel_.vars[n.target].axes == all &&
               plan_.storage[n.target].kind == Storage::Kind::scalar;
      } else if (n.target != kNone) {
        fits =
            fits && (kernel_.vars[n.target].axes.contains(all | AxisSet::of(fold.axis)) || is_inside(fold, n.target));
      }
      fits = fits && n.kind != PlanNode::Kind::steps && !n.scatter_add;
    });
    const auto starts = std::count_if(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(fold_),
                                      [&](const PlanNode &n) { return totals_.count(n.target) != 0; });
    return fits && !totals_.empty() && starts == static_cast<std::ptrdiff_t>(totals_.size());
  }

  // A whole axis, of a length that is not known to be short.
  static bool is_long(const Axis &axis) {
    const bool whole = axis.uniform && axis.ragged == kNone && axis.grid == kNone && is_size_of(axis, axis.block) &&
                       axis.start.is_integer(0);
    return whole && !(axis.size.is_integer() && axis.size.value <= kLeastRounds);
  }

  // Does nothing outside of the fold touch the variable?
  bool is_inside(const PlanNode &fold, VarId var) const {
    auto touches = [&](const PlanNode &root) {
      const std::vector<Access> accesses = accesses_of(kernel_, root);
      return std::count_if(accesses.begin(), accesses.end(), [&](const Access &a) { return a.memory == var; });
    };
    std::ptrdiff_t all = 0;
    for (const Phase &phase : plan_.phases)
      for (const PlanNode &root : phase.nodes)
        all += touches(root);
    return all == touches(fold);
  }

  // The last loop of the work list.
  const PlanNode &innermost(const PlanNode &root) const {
    const PlanNode *loop = &root;
    for (size_t i = 1; i < chain_.size(); ++i)
      loop = &loop->body.front();
    return *loop;
  }

  void add_axis() {
    const PlanNode &loop = innermost(plan_.phases[phase_].nodes.front());
    const PlanNode &fold = loop.body[fold_];
    const Axis &folded = kernel_.axes[fold.axis];
    const bool columns = lanes_.possible(loop) && plan_.phases[phase_].lane == chain_.back();
    auto op = [](Size::Op o, Size a, Size b) { return Size::make(o, {std::move(a), std::move(b)}); };
    Size items = Size::integer(1);
    for (AxisId axis : chain_) {
      const Size &size = kernel_.axes[axis].size;
      const bool neighbours = columns && axis == chain_.back();
      items = op(Size::Op::multiply, items, neighbours ? op(Size::Op::cdiv, size, Size::integer(kColumns)) : size);
    }
    const Size for_all = op(Size::Op::divide, Size::integer(kEnough), op(Size::Op::max, Size::integer(1), items));
    const Size for_length = op(Size::Op::cdiv, folded.size, Size::integer(columns ? kLeastRows : kLeastRounds));
    Axis shares;
    shares.size = op(Size::Op::max, Size::integer(1), op(Size::Op::min, for_all, for_length));
    for (AxisId other : plan_.shares.list())
      if (kernel_.axes[other].size == shares.size) {
        axis_ = other; // of another fold that is shared alike
        return;
      }
    shares.name = free_share_name(kernel_, folded);
    shares.derived = true;
    shares.start = Size::integer(0);
    shares.block = shares.size.is_integer() ? shares.size : Size::axis(shares.name);
    shares.place = folded.place;
    kernel_.axes.push_back(std::move(shares));
    axis_ = static_cast<AxisId>(kernel_.axes.size()) - 1;
    plan_.axis_order.insert(plan_.axis_order.begin(), axis_);
    plan_.shares |= AxisSet::of(axis_);
  }

  VarId copy_of(VarId var, const std::string &name, AxisSet axes) {
    Var copy = kernel_.vars[var];
    copy.name = name;
    copy.axes |= axes;
    return add_var(kernel_, std::move(copy));
  }

  // The list's loops, with this body.
  PlanNode in_chain(const PlanNode &root, size_t depth, std::vector<PlanNode> body) const {
    PlanNode loop = root;
    loop.body.clear();
    if (depth + 1 == chain_.size())
      loop.body = std::move(body);
    else
      loop.body.push_back(in_chain(root.body.front(), depth + 1, std::move(body)));
    return loop;
  }

  PlanNode over_shares(PlanNode::Order order, std::vector<PlanNode> body) const {
    PlanNode loop;
    loop.kind = PlanNode::Kind::loop;
    loop.axis = axis_;
    loop.order = order;
    loop.place = body.front().place;
    loop.body = std::move(body);
    return loop;
  }

  void split() {
    Phase &phase = plan_.phases[phase_];
    const PlanNode root = phase.nodes.front();
    const PlanNode &loop = innermost(root);
    std::vector<PlanNode> first, second, added;
    PlanNode fold = loop.body[fold_];
    fold.share = axis_;
    std::map<VarId, VarId> parts;
    for (auto &[total, own] : totals_) {
      own = copy_of(total, kernel_.vars[total].name, AxisSet());
      parts[total] = copy_of(total, kernel_.vars[total].name + "_part", AxisSet::of(axis_));
    }
    for_each_node(fold, [&](PlanNode &n) {
      if (!folds_over(n, fold.axis))
        return;
      PlanNode add = n;
      add.condition = kNone;
      add.value = make_read(kernel_, parts.at(n.target));
      add.reduced = AxisSet::of(axis_);
      add.lanes = kernel_.vars[parts.at(n.target)].axes;
      added.push_back(std::move(add));
      n.target = totals_.at(n.target);
    });
    for (size_t i = 0; i < fold_; ++i) {
      PlanNode init = loop.body[i];
      second.push_back(init);
      if (totals_.count(init.target) == 0)
        continue;
      init.target = totals_.at(init.target);
      first.push_back(std::move(init));
    }
    first.push_back(std::move(fold));
    for (const auto &[total, own] : totals_) {
      PlanNode keep;
      keep.target = parts.at(total);
      keep.value = make_read(kernel_, own);
      keep.lanes = kernel_.vars[keep.target].axes;
      keep.place = first.front().place;
      first.push_back(std::move(keep));
    }
    second.push_back(over_shares(PlanNode::Order::reduction, std::move(added)));
    second.insert(second.end(), loop.body.begin() + static_cast<std::ptrdiff_t>(fold_) + 1, loop.body.end());

    Phase before = phase;
    before.nodes = {over_shares(PlanNode::Order::parallel, {in_chain(root, 0, std::move(first))})};
    ++before.split;
    phase.nodes = {in_chain(root, 0, std::move(second))};
    plan_.phases.insert(plan_.phases.begin() + static_cast<std::ptrdiff_t>(phase_), std::move(before));
  }

  Plan &plan_;
  Kernel &kernel_;
  const LaneAnalysis lanes_;
  const size_t phase_;
  std::vector<AxisId> chain_;
  size_t fold_ = 0; // its place in the innermost loop
  AxisId axis_ = kNone;
  std::map<VarId, VarId> totals_; // and what stands for each in a share
};

} // namespace

std::string free_share_name(const Kernel &kernel, const Axis &shared) {
  constexpr const char *kShares = "_shares";
  std::string base = shared.rest ? "rows" : shared.name;
  std::erase(base, '*');
  std::string name = base + kShares;
  auto named = [&](const auto &thing) { return thing.name == name; };
  int next = 2;
  while (std::any_of(kernel.vars.begin(), kernel.vars.end(), named) ||
         std::any_of(kernel.axes.begin(), kernel.axes.end(), named) ||
         std::any_of(kernel.scalars.begin(), kernel.scalars.end(), named))
    name = base + std::to_string(next++) + kShares;
  return name;
}

void share_folds(Plan &plan) {
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind != Phase::Kind::parallel)
      continue;
    Plan shared = plan;
    if (!Shares(shared, i).run())
      continue;
    place_variables(shared);
    plan = std::move(shared);
    ++i; // the second half has its fold behind it
  }
}

} // namespace kgen
