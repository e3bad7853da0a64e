// The shares are an axis of their own, so that the totals of each are a buffer with one more dimension.
#include "plan/cut/shares.h"

#include <algorithm>
#include <map>

#include "plan/cut/share_lists.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/index/order.h"
#include "plan/place/storage.h"
#include "plan/program/anew.h"

namespace kgen {
namespace {

constexpr int64_t kColumns = 64; // of neighbours, for a worker: a line of memory and more

class Shares {
public:
  Shares(Plan &plan, size_t phase) : plan_(plan), kernel_(plan.kernel), lanes_(plan), lists_(plan), phase_(phase) {}

  bool run() {
    const PlanNode *const loop = lists_.find_chain(plan_.phases[phase_]);
    if (loop == nullptr || !find_fold(loop->body))
      return false;
    const bool columns = lanes_.possible(*loop) && plan_.phases[phase_].lane == loop->axis;
    add_axis(columns);
    // Where there is but one share, its total is the row's. A few columns more or less do not matter.
    if (!kernel_.axes[lists_.axis()].size.is_integer() && !(columns && lists_.chain().size() == 1)) {
      add_alternative(plan_, phase_, lists_.has_several());
      plan_.phases[phase_ + 1].whole = true;
    }
    split();
    return true;
  }

private:
  // The fold is the first of the statements that does not just start one, leaves nothing but its totals, and reads an
  // array's elements once. Behind it no other loop goes over them: it finds them in the cache.
  bool find_fold(const std::vector<PlanNode> &body) {
    while (fold_ < body.size() && body[fold_].kind == PlanNode::Kind::fold_init)
      ++fold_;
    if (fold_ == body.size())
      return false;
    const PlanNode &fold = body[fold_];
    const bool is_fold = fold.kind == PlanNode::Kind::loop && fold.order == PlanNode::Order::reduction;
    if (!is_fold || !is_long_row(kernel_, fold.axis, lists_.chain_axes(), share_elements(fold.axis)) ||
        contains_loop({body.begin() + static_cast<std::ptrdiff_t>(fold_) + 1, body.end()}))
      return false;
    const AxisSet all = lists_.chain_axes();
    const std::vector<Access> accesses = accesses_of(kernel_, fold);
    bool fits = std::any_of(accesses.begin(), accesses.end(), [&](const Access &a) {
      const Var &var = kernel_.vars[a.var];
      return (var.kind == Var::Kind::input || var.kind == Var::Kind::output) && !a.write &&
             var.axes.contains(all | AxisSet::of(fold.axis));
    });
    for_each_node(fold, [&](const PlanNode &n) {
      if (folds_over(n, fold.axis)) {
        totals_[n.target] = kNone;
        fits = fits && n.partner == kNone && kernel_.vars[n.target].axes == all &&
               plan_.storage[n.target].kind == Storage::Kind::scalar;
      }
      fits = fits && n.kind != PlanNode::Kind::steps && !n.scatter_add;
    });
    const auto starts = std::count_if(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(fold_),
                                      [&](const PlanNode &n) { return totals_.count(n.target) != 0; });
    std::set<VarId> totals;
    for (const auto &[total, own] : totals_)
      totals.insert(total);
    fits = fits && rounds_are_apart(accesses, fold.axis, Scopes(plan_), totals);
    return fits && !totals_.empty() && starts == static_cast<std::ptrdiff_t>(totals_.size());
  }

  void add_axis(bool columns) {
    const AxisId folded = lists_.innermost(plan_.phases[phase_].nodes.front()).body[fold_].axis;
    const Size items = lists_.items(columns ? kColumns : 1);
    const Size some = of_two(Size::Op::max, Size::integer(1), items);
    const Size for_all = columns ? of_two(Size::Op::cdiv, Size::integer(plan_.decide(Decision::enough_parts)), some)
                                 : of_two(Size::Op::divide, Size::integer(plan_.decide(Decision::enough_items)), some);
    const Axis &rows = kernel_.axes[folded];
    const Size length = rows.ragged == kNone // else on average
                            ? rows.size
                            : of_two(Size::Op::divide, rows.size,
                                     of_two(Size::Op::max, Size::integer(1), kernel_.axes[rows.over].size));
    const Size for_length =
        of_two(Size::Op::cdiv, length, columns ? least_rows(folded) : Size::integer(share_elements(folded)));
    lists_.add_axis(folded, of_two(Size::Op::max, Size::integer(1), of_two(Size::Op::min, for_all, for_length)));
  }

  int64_t share_elements(AxisId axis) const { return plan_.decide(Decision::share_elements, axis); }

  Size least_rows(AxisId folded) const {
    const Size some = Size::make(Size::Op::max, {Size::integer(1), kernel_.axes[lists_.chain().back()].size});
    return Size::make(
        Size::Op::max,
        {Size::integer(plan_.decide(Decision::share_rows, folded)),
         Size::make(Size::Op::divide, {Size::integer(plan_.decide(Decision::share_numbers, folded)), some})});
  }

  void split() {
    Phase &phase = plan_.phases[phase_];
    const PlanNode root = phase.nodes.front();
    const PlanNode &loop = lists_.innermost(root);
    const AxisId axis = lists_.axis();
    std::vector<PlanNode> first, second, added;
    PlanNode fold = loop.body[fold_];
    fold.share = axis;
    std::map<VarId, VarId> parts;
    for (auto &[total, own] : totals_) {
      own = lists_.copy_of(total, kernel_.vars[total].name, AxisSet());
      parts[total] = lists_.copy_of(total, kernel_.vars[total].name + "_part", AxisSet::of(axis));
    }
    for_each_node(fold, [&](PlanNode &n) {
      if (!folds_over(n, fold.axis))
        return;
      PlanNode add = n;
      add.condition = kNone;
      add.value = make_read(kernel_, parts.at(n.target));
      add.reduced = AxisSet::of(axis);
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
    for (const auto &[total, own] : totals_)
      first.push_back(make_assign(kernel_, parts.at(total), make_read(kernel_, own), Place(first.front().place)));
    second.push_back(lists_.over_shares(PlanNode::Order::reduction, std::move(added)));
    second.insert(second.end(), loop.body.begin() + static_cast<std::ptrdiff_t>(fold_) + 1, loop.body.end());

    Phase before = phase;
    before.nodes = {lists_.over_shares(PlanNode::Order::parallel, {lists_.in_chain(root, std::move(first))})};
    ++before.split;
    phase.nodes = {lists_.in_chain(root, std::move(second))};
    plan_.phases.insert(plan_.phases.begin() + static_cast<std::ptrdiff_t>(phase_), std::move(before));
  }

  Plan &plan_;
  Kernel &kernel_;
  const LaneAnalysis lanes_;
  ShareLists lists_;
  const size_t phase_;
  size_t fold_ = 0;               // its place in the innermost loop
  std::map<VarId, VarId> totals_; // and what stands for each in a share
};

} // namespace

void share_folds(Plan &plan) {
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind != Phase::Kind::parallel || contains_contraction(plan.phases[i]))
      continue;
    Plan shared = plan;
    if (!Shares(shared, i).run())
      continue;
    place_variables(shared);
    i += shared.phases.size() - plan.phases.size(); // the second half has its fold behind it
    plan = std::move(shared);
  }
}

} // namespace kgen
