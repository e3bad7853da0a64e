// What can be taken together is: see fuse_folds. Then rows are left whose exponentials are kept for a later loop. Those
// are better computed again once neither they nor what they are made of stay in the cache.
#include "plan/cut/one_pass.h"

#include <algorithm>
#include <set>

#include "plan/cut/fuse_folds.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/index/order.h"
#include "plan/place/storage.h"
#include "plan/program/anew.h"

namespace kgen {
namespace {

using Nodes = std::vector<PlanNode>;

// Rows by their length: the long ones get a list of statements of their own.
class LongRows {
public:
  LongRows(Plan &plan, Nodes &list, std::set<VarId> &kept)
      : plan_(plan), kernel_(plan.kernel), list_(list), kept_(kept) {}

  bool split(const std::set<const PlanNode *> &lanes) {
    for (size_t second = 1; second < list_.size(); ++second)
      for (size_t first = second; first-- > 0;)
        if (is_fold_over_row(second) && is_fold_over_row(first) && list_[first].axis == list_[second].axis &&
            split(first, second, lanes))
          return true;
    return false;
  }

private:
  bool is_fold_over_row(size_t at) const {
    return list_[at].kind == PlanNode::Kind::loop && list_[at].order == PlanNode::Order::reduction &&
           list_[at].parts == 0 && !contains_loop(list_[at].body);
  }

  bool split(size_t first, size_t second, const std::set<const PlanNode *> &lanes) {
    const AxisId axis = list_[second].axis;
    const auto kept = std::find_if(list_[second].body.begin(), list_[second].body.end(), [&](const PlanNode &n) {
      return is_kept_row(n, axis) && kept_.count(n.target) == 0;
    });
    if (kept == list_[second].body.end() || !is_computable_later(*kept, second))
      return false;
    const VarId row = kept->target;
    const ExprId value = kept->value;
    Nodes again = list_;
    std::erase_if(again[second].body, [&](const PlanNode &n) { return n.target == row; });
    for (PlanNode &root : again)
      for_each_node(root, [&](PlanNode &n) {
        for (ExprId *id : {&n.value, &n.second, &n.condition})
          *id = replace(kernel_, *id, [&](ExprId at) {
            const Expr &e = kernel_.expr(at);
            return e.op == Op::read && e.ref == row ? make_cast(kernel_, value, kernel_.expr(at).type) : kNone;
          });
      });
    // The loops of `again` are those of the list, as far as vectors are concerned.
    std::set<const PlanNode *> own_lanes;
    for (size_t i : {first, second})
      if (lanes.count(&list_[i]) != 0)
        own_lanes.insert(&again[i]);
    if (!fuse_folds(plan_, again, first, second, own_lanes))
      return false;
    kept_.insert(row);
    declare_anew(plan_, list_, again);
    PlanNode choice;
    choice.kind = PlanNode::Kind::branch;
    choice.axis = axis;
    choice.near = most_near(axis, row, value);
    choice.condition =
        make_op(kernel_, Op::le, Type::boolean,
                {make_size(kernel_, axis, kSizeOfAxis), make_constant(kernel_, Type::i64, choice.near, 0)});
    choice.place = list_.front().place;
    choice.lanes = kernel_.expr(choice.condition).axes;
    choice.body = std::move(list_);
    choice.otherwise = std::move(again);
    list_ = {std::move(choice)};
    return true;
  }

  // A value for each position, which lies in a buffer of the worker, and is set and read at the current point only.
  bool is_kept_row(const PlanNode &n, AxisId axis) const {
    if (n.kind != PlanNode::Kind::assign || !n.coords.empty() || n.target == kNone)
      return false;
    const Storage &storage = plan_.storage[n.target];
    if (storage.kind != Storage::Kind::worker || storage.dims != std::vector<AxisId>{axis} ||
        !kernel_.vars[n.target].array.empty())
      return false;
    int writers = 0, reads = 0;
    bool here = true;
    for (const Phase &phase : plan_.phases)
      for (const Access &a : accesses_of(kernel_, phase.nodes)) {
        writers += a.var == n.target && a.write;
        reads += a.var == n.target && !a.write;
        here = here && (a.var != n.target || a.aligned.contains(axis));
      }
    for (const Access &a : accesses_of(kernel_, list_)) // nobody reads it elsewhere
      reads -= a.var == n.target && !a.write;
    return writers == 1 && reads == 0 && here;
  }

  // From inputs, and from totals that no later statement changes.
  bool is_computable_later(const PlanNode &kept, size_t loop) const {
    const AxisId axis = list_[loop].axis;
    const Nodes later = {list_.begin() + static_cast<std::ptrdiff_t>(loop) + 1, list_.end()};
    Accesses made_of = own_accesses_of(kernel_, kept);
    std::erase_if(made_of, [](const Access &a) { return a.write; });
    if (!may_exchange(made_of, accesses_of(kernel_, later)))
      return false;
    bool stable = true;
    walk(kernel_, kept.value, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op == Op::element)
        stable = false;
      if (e.op != Op::read)
        return stable;
      const Var &var = kernel_.vars[e.ref];
      const bool total = var.kind == Var::Kind::local && plan_.storage[e.ref].kind == Storage::Kind::scalar &&
                         !var.axes.contains(axis);
      stable = stable && e.coords.empty() && (total || (var.kind == Var::Kind::input && var.alias == kNone));
      return stable;
    });
    return stable;
  }

  // Of so many positions a core finds the row, and what it is made of, in its cache again.
  int64_t most_near(AxisId axis, VarId row, ExprId value) const {
    int64_t bytes = bytes_of(kernel_.vars[row].type);
    std::set<VarId> inputs;
    walk(kernel_, value, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op == Op::read && kernel_.vars[e.ref].axes.contains(axis) && inputs.insert(e.ref).second)
        bytes += bytes_of(kernel_.vars[e.ref].type);
      return true;
    });
    return plan_.decide(Decision::near_bytes, axis) / bytes;
  }

  Plan &plan_;
  Kernel &kernel_;
  Nodes &list_;
  std::set<VarId> &kept_;
};

// Changes the first list that can be changed.
bool change_any(Plan &plan, Nodes &list, const std::set<const PlanNode *> &lanes, std::set<VarId> &kept) {
  for (size_t second = 1; second < list.size(); ++second)
    for (size_t first = second; first-- > 0;)
      if (fuse_folds(plan, list, first, second, lanes))
        return true;
  if (LongRows(plan, list, kept).split(lanes))
    return true;
  return std::any_of(list.begin(), list.end(), [&](PlanNode &n) {
    return !n.contraction && (change_any(plan, n.body, lanes, kept) || change_any(plan, n.otherwise, lanes, kept));
  });
}

} // namespace

void fold_in_one_pass(Plan &plan) {
  std::set<VarId> kept; // rows of which it is settled when they are
  const auto change = [&] {
    const std::set<const PlanNode *> lanes = LaneAnalysis(plan).choose();
    return std::any_of(plan.phases.begin(), plan.phases.end(),
                       [&](Phase &phase) { return change_any(plan, phase.nodes, lanes, kept); });
  };
  while (change())
    place_variables(plan);
}

} // namespace kgen
