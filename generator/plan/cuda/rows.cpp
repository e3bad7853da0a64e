#include "plan/cuda/rows.h"

#include <algorithm>
#include <map>

#include "plan/cuda/blocks.h"
#include "plan/cuda/packs.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

namespace kgen {
namespace {

// Is it a value that each thread can compute for itself, or one of them write?
bool is_value(const PlanNode &node) {
  return (node.kind == PlanNode::Kind::assign && node.coords.empty() && !node.scatter_add) ||
         node.kind == PlanNode::Kind::fold_init;
}

bool is_free_loop(const PlanNode &node) {
  return node.kind == PlanNode::Kind::loop && node.order != PlanNode::Order::ordered;
}

bool all_loops(const Nest &nest) {
  return std::all_of(nest.begin(), nest.end(), [](const PlanNode *n) { return n->kind == PlanNode::Kind::loop; });
}

Nest joined(Nest outer, const Nest &inner) {
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

// ---- lists of folds -------------------------------------------------------------------------------------------------

// Can the loop be shared by threads that have the same item? Notes what its folds find.
bool fits_list(const Plan &plan, const PlanNode &loop, const Nest &items, std::set<VarId> &targets) {
  const Nest own = nest_of(plan, loop, loop.order);
  if (own.empty() || !counted_by_arrays(plan.kernel, joined(items, own)) || !host_counts(plan.kernel, own))
    return false;
  for (const PlanNode *fold : folds_over(loop)) {
    if (!axes_of(items).contains(fold->lanes - fold->reduced))
      return false;
    targets.insert({fold->target, fold->partner});
  }
  return true;
}

// Threads beyond the last column repeat it: they may not add to what lies in memory.
bool adds_up(const Plan &plan, const PlanNode &node, const std::set<VarId> &targets) {
  bool found = false;
  for_each_node(node, [&](const PlanNode &n) {
    found = found || (n.kind == PlanNode::Kind::fold_step && in_memory(plan, n.target) && targets.count(n.target) == 0);
  });
  return found;
}

// Is all of the item a list of folds over elements of arrays, of values from what they give, and of loops that write
// elements?
bool is_list_of_folds(const Plan &plan, const Scopes &scopes, const Nest &items) {
  const std::vector<PlanNode> &body = items.back()->body;
  if (!all_loops(items))
    return false;
  const std::set<VarId> shared = exchanged(plan, scopes, body);
  bool folds = false;
  for (const PlanNode &node : body) {
    const bool loop = is_free_loop(node) && node.table == kNone;
    std::set<VarId> targets;
    if ((!loop && !is_value(node)) || (loop && !fits_list(plan, node, items, targets)) || adds_up(plan, node, targets))
      return false;
    folds = folds || (loop && node.order == PlanNode::Order::reduction);
    // What one thread of the column writes to memory, no other may read.
    for (const Access &a : accesses_of(plan.kernel, node))
      if (in_memory(plan, a.var) && targets.count(a.var) == 0 && shared.count(a.memory) != 0 &&
          (loop || !in_memory(plan, node.target)))
        return false;
  }
  return folds;
}

} // namespace

bool folds_columns(const Plan &plan, const Scopes &scopes, const Phase &phase) {
  const Nest items = items_of(plan, phase);
  return items.back()->kind == PlanNode::Kind::loop && items.back()->axis == phase.lane &&
         is_list_of_folds(plan, scopes, items);
}

const PlanNode *split_fold(const Plan &plan, const std::vector<PlanNode> &body) {
  const PlanNode *found = nullptr;
  for (const PlanNode &node : body) {
    if (node.kind == PlanNode::Kind::assign && found == nullptr && in_memory(plan, node.target))
      return nullptr;
    if (node.kind != PlanNode::Kind::loop)
      continue;
    const auto pairs = [](const PlanNode *fold) { return fold->partner != kNone; };
    const std::vector<const PlanNode *> folds = folds_over(node);
    if (found != nullptr || node.order != PlanNode::Order::reduction || plan.kernel.axes[node.axis].ragged != kNone ||
        std::any_of(folds.begin(), folds.end(), pairs) || !goes_by_points(plan, node) || sets_elements(plan, node.body))
      return nullptr;
    found = &node;
  }
  return found;
}

const PlanNode *split_row(const Plan &plan, const Scopes &scopes, const Nest &items) {
  const std::vector<PlanNode> &body = items.back()->body;
  return is_list_of_folds(plan, scopes, items) && !uses_buffers(plan, body) ? split_fold(plan, body) : nullptr;
}

// ---- rows of several loops ------------------------------------------------------------------------------------------

namespace {

// May the statement stand in a row whose loops go over the nest? Then no thread reads what another writes.
bool fits_row(const Plan &plan, const PlanNode &node, const Nest &items, const Nest &nest,
              const std::set<VarId> &shared, int together) {
  const bool loop = is_free_loop(node);
  if (!loop && !is_value(node))
    return false;
  std::set<VarId> targets;
  bool same_threads = false; // as in the first loop, for each point
  if (loop) {
    const Nest own = nest_of(plan, node, node.order);
    if (!all_loops(own) || !same_axes(own, nest) ||
        goes_by_groups(plan, own, together) != goes_by_groups(plan, nest, together))
      return false;
    same_threads = (positions_of(plan, own) > 1) == (positions_of(plan, nest) > 1);
    for (const PlanNode *fold : folds_over(node)) {
      if (!axes_of(items).contains(fold->lanes - fold->reduced) ||
          (fold->partner != kNone && in_memory(plan, fold->target)))
        return false;
      targets.insert(fold->target);
    }
  }
  const AxisSet points = axes_of(nest) | axes_of(items);
  const std::vector<Access> accesses = accesses_of(plan.kernel, node);
  return std::none_of(accesses.begin(), accesses.end(), [&](const Access &a) {
    const bool own =
        loop ? targets.count(a.var) != 0 || (same_threads && a.aligned.contains(points)) : in_memory(plan, node.target);
    return shared.count(a.memory) != 0 && !own;
  });
}

// Arrays of which the thread loads the elements at its own points in wide accesses.
std::set<VarId> packed_reads(const Plan &plan, const PlanNode &loop) {
  std::set<VarId> reads;
  for (const Pack &pack : packs_of(plan, loop))
    if (pack.load && pack.coords.empty() && pack.access.fields == 1 &&
        (pack.safe || !may_be_outside(plan.kernel, plan.kernel.vars[pack.var], {})))
      reads.insert(pack.var);
  return reads;
}

// What more than one loop reads of the row, and none writes before the last of them has read it.
std::vector<VarId> kept_by(const Plan &plan, const Nest &items, const Nest &nest, int together) {
  std::map<VarId, int> loops;
  std::set<VarId> written, spoilt;
  for (const PlanNode &node : items.back()->body) {
    const Nest own = nest_of(plan, node, node.order);
    if (!own.empty() && together > 1 && positions_of(plan, own) > 1)
      for (VarId var : packed_reads(plan, *own.back())) {
        ++loops[var];
        if (written.count(memory_of(plan.kernel, var)) != 0)
          spoilt.insert(var);
      }
    for (const Access &a : accesses_of(plan.kernel, node))
      if (a.write)
        written.insert(a.memory);
  }
  std::vector<VarId> kept;
  for (const auto &[var, times] : loops) {
    const AxisSet axes = plan.kernel.vars[var].axes;
    if (times > 1 && spoilt.count(var) == 0 && plan.storage[var].kind == Storage::Kind::argument &&
        axes.contains(axes_of(nest)) && !(axes & axes_of(items)).empty())
      kept.push_back(var);
  }
  return kept;
}

// May blocks take parts of the nest? Rows of their own length begin at 0 then; others are all as long.
bool splits(const Plan &plan, const Nest &items, const Nest &nest) {
  bool ragged = false, all = true;
  for (const PlanNode *loop : nest) {
    ragged = ragged || plan.kernel.axes[loop->axis].ragged != kNone;
    all = all && (ragged ? nest.size() == 1 && bounds_of(plan.kernel, *loop).begin.is_integer(0)
                         : !depends_on(plan.kernel, *loop, items));
  }
  return all;
}

// Is all that it assigns to memory stored in packs, and nothing of that loaded, but for what is kept? Threads that take
// no part load the first one's packs.
bool stores_packs_apart(const Plan &plan, const PlanNode &loop, const std::vector<VarId> &kept) {
  std::set<VarId> stored;
  bool all = true;
  for (const Pack &pack : packs_of(plan, loop)) {
    if (!pack.load)
      stored.insert(pack.var);
    else
      all = all && (is_only_read(plan.kernel, pack.var) || std::ranges::find(kept, pack.var) != kept.end());
  }
  for_each_node(loop, [&](const PlanNode &node) {
    if (node.kind == PlanNode::Kind::assign && in_memory(plan, node.target))
      all = all && !node.scatter_add && stored.count(node.target) != 0;
  });
  return all;
}

// Does it compute with the positions of the loop?
bool asks_positions(const Plan &plan, const PlanNode &loop) {
  bool asks = false;
  for_each_node(loop, [&](const PlanNode &node) {
    for (ExprId id : expressions_of(node))
      asks = asks || any_node(plan.kernel, id, [&](const Expr &e) {
               return e.op == Op::index && e.axis == loop.axis && e.ref == kNone;
             });
  });
  return asks;
}

} // namespace

int packs_held(const Plan &plan, const Phase &phase) {
  const std::vector<VarId> &kept = phase.launch.kept;
  if (kept.empty())
    return 0;
  bool positions = false; // they take registers as another array does
  for (const PlanNode &node : items_of(plan, phase).back()->body) {
    if (node.kind != PlanNode::Kind::loop)
      continue;
    if (!node.packs || !node.packs->whole || !stores_packs_apart(plan, node, kept))
      return 0;
    positions = positions || asks_positions(plan, node);
  }
  constexpr int kPackBytes = 16;
  const int arrays = static_cast<int>(kept.size()) + static_cast<int>(positions);
  return static_cast<int>(plan.decide(Decision::held_bytes)) / kPackBytes / arrays;
}

bool is_ragged(const Kernel &kernel, const Nest &nest) {
  return std::any_of(nest.begin(), nest.end(),
                     [&](const PlanNode *loop) { return kernel.axes[loop->axis].ragged != kNone; });
}

Nest nest_of_row(const Plan &plan, const Nest &items) {
  const std::vector<PlanNode> &body = items.back()->body;
  const auto first =
      std::find_if(body.begin(), body.end(), [](const PlanNode &node) { return node.kind == PlanNode::Kind::loop; });
  return first == body.end() ? Nest{} : nest_of(plan, *first, PlanNode::Order::reduction);
}

std::optional<TeamRow> team_row(const Plan &plan, const Scopes &scopes, const Nest &items) {
  const std::vector<PlanNode> &body = items.back()->body;
  TeamRow row;
  row.nest = nest_of_row(plan, items);
  if (row.nest.empty() || !all_loops(items) || uses_buffers(plan, body) || split_row(plan, scopes, items) != nullptr ||
      !counted_by_arrays(plan.kernel, joined(items, row.nest)) || !host_counts(plan.kernel, row.nest))
    return std::nullopt;
  const std::set<VarId> shared = exchanged(plan, scopes, body);
  const int together = positions_shared(plan, body);
  if (!std::all_of(body.begin(), body.end(),
                   [&](const PlanNode &node) { return fits_row(plan, node, items, row.nest, shared, together); }))
    return std::nullopt;
  row.splits = splits(plan, items, row.nest);
  if (row.splits && !is_ragged(plan.kernel, row.nest))
    row.kept = kept_by(plan, items, row.nest, together);
  return row;
}

} // namespace kgen
