#include "plan/lanes/ahead.h"

#include <algorithm>
#include <functional>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"
#include "plan/lanes/turned.h"

namespace kgen {
namespace {

using What = Ahead::What;
using Reads = std::vector<ExprId>;

class AheadFinder {
public:
  AheadFinder(const Plan &plan, const LaneAnalysis &analysis)
      : plan_(plan), kernel_(plan.kernel), analysis_(analysis) {}

  void find(Phase &phase) {
    if (phase.kind == Phase::Kind::serial)
      return list(phase.nodes);
    PlanNode *last = &phase.nodes.front();
    if (phase.kind == Phase::Kind::parallel)
      last = work_list(phase);
    if (!last->on_lanes && phase.kind != Phase::Kind::contracted)
      list(last->body);
  }

private:
  // What the innermost loop of a work list asks for; gives that loop.
  PlanNode *work_list(const Phase &phase) {
    const std::vector<const PlanNode *> chain = shared_loops(kernel_, phase);
    auto &last = const_cast<PlanNode &>(*chain.back());
    for (const PlanNode *loop : chain)
      if (loop->parts > 0)
        in_parts_ |= AxisSet::of(loop->axis);
    const bool far = phase.when != kNone && plan_.shares.contains(chain.front()->axis); // the next row is too long
    if (last.on_lanes)
      streams(last);
    else if (last.parts > 0)
      next_part(last);
    else if (last.kind == PlanNode::Kind::loop && !far)
      next_row(last);
    return &last;
  }

  void list(std::vector<PlanNode> &nodes) {
    for (PlanNode &n : nodes) {
      if (n.on_lanes || n.contraction)
        continue;
      const AxisSet around = in_parts_;
      if (n.parts > 0) {
        next_block(n);
        in_parts_ |= AxisSet::of(n.axis);
      } else if (n.kind == PlanNode::Kind::loop) {
        next_rows(n);
        if (n.share != kNone)
          next_row(n);
      }
      for (auto *inner : {&n.body, &n.otherwise, &n.step})
        list(*inner);
      in_parts_ = around;
    }
  }

  // What the loop reads along its lanes, of the row of this step where there is one, each array once; loops inside it
  // read further elements.
  Reads row_reads(const PlanNode &loop, AxisId row) const {
    Reads out;
    std::set<VarId> met;
    AxisSet inside;
    for (const PlanNode &child : loop.body)
      for_each_node(child, [&](const PlanNode &node) {
        if (node.kind == PlanNode::Kind::loop)
          inside |= AxisSet::of(node.axis);
      });
    for_each_node(loop, [&](const PlanNode &node) {
      for (ExprId id : expressions_of(node))
        walk(kernel_, id, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          if (e.op == Op::read && is_row_read(e, loop.axis, row) && (kernel_.vars[e.ref].axes & inside).empty() &&
              met.insert(e.ref).second)
            out.push_back(at);
          return true;
        });
    });
    return out;
  }

  bool is_row_read(const Expr &e, AxisId lane, AxisId row) const {
    const Var &var = kernel_.vars[e.ref];
    const bool here =
        std::all_of(e.coords.begin(), e.coords.end(), [&](const Coordinate &c) { return is_identity(kernel_, c); });
    return plan_.storage[e.ref].kind == Storage::Kind::argument && here && !var.optional &&
           (e.safe || !may_be_outside(kernel_, var, e.coords)) &&
           analysis_.step_of(e.ref, e.coords, lane).kind == LaneStep::Kind::neighbour &&
           (row == kNone || analysis_.step_of(e.ref, e.coords, row).kind == LaneStep::Kind::stride);
  }

  static void add(PlanNode &around, What what, const PlanNode &asks, Reads reads) {
    Ahead ahead{what, 0, std::move(reads)};
    size_t count = 0;
    for_each_node(std::as_const(around), [&](const PlanNode &n) {
      if (&n == &asks)
        ahead.asks = count;
      ++count;
    });
    around.ahead.push_back(std::move(ahead));
  }

  // Of some arrays.
  void add_some(PlanNode &around, What what, const PlanNode &asks, Reads reads) const {
    if (!reads.empty() && std::ssize(reads) <= plan_.decide(Decision::ahead_rows))
      add(around, what, asks, std::move(reads));
  }

  void streams(PlanNode &loop) const {
    Reads reads = row_reads(loop, kNone);
    if (loop.on_lanes->crossed == kNone && !contains_loop(loop.body) &&
        std::ssize(reads) >= plan_.decide(Decision::ahead_arrays))
      add(loop, What::streams, loop, std::move(reads));
  }

  // A loop down columns.
  void next_rows(PlanNode &rows) const {
    if (kernel_.axes[rows.axis].ragged != kNone) // these are mostly few, and follow each other
      return;
    const auto is_columns = [&](const PlanNode &n) { return n.on_lanes && in_parts_.contains(n.axis); };
    const auto columns = std::find_if(rows.body.begin(), rows.body.end(), is_columns);
    if (columns != rows.body.end() && walked_.count(&rows) == 0)
      add_some(rows, What::rows, *columns, row_reads(*columns, rows.axis));
  }

  // What several loops of a part go over is in the cache for all but the first of them: the second one asks for the
  // next part's.
  void next_part(PlanNode &part) {
    struct Walk {
      const PlanNode *rows, *columns;
      Reads reads;
    };
    std::vector<Walk> walks;
    const std::function<void(const PlanNode &, const PlanNode *)> find = [&](const PlanNode &node,
                                                                             const PlanNode *rows) {
      if (rows != nullptr && node.axis == part.axis && node.on_lanes)
        return walks.push_back({rows, &node, row_reads(node, rows->axis)});
      const bool is_rows = node.kind == PlanNode::Kind::loop && node.parts == 0;
      for (const PlanNode &child : node.body)
        find(child, is_rows ? &node : rows);
    };
    for (const PlanNode &node : part.body)
      find(node, nullptr);
    std::set<VarId> seen;
    const auto second = std::find_if(walks.begin(), walks.end(), [&](const Walk &walk) {
      const size_t before = seen.size();
      for (ExprId read : walk.reads)
        seen.insert(kernel_.expr(read).ref);
      return seen.size() < before + walk.reads.size();
    });
    if (second == walks.end())
      return;
    for (const Walk &walk : walks)
      walked_.insert(walk.rows);
    add_some(part, What::part, *second->columns, second->reads);
  }

  static std::vector<const PlanNode *> loops_of_block(const PlanNode &block) {
    std::vector<const PlanNode *> out;
    for (const PlanNode &node : block.body)
      if (block.parts > 0 && node.axis == block.axis && node.on_lanes)
        out.push_back(&node);
    return out;
  }

  // A block of a row: the second loop over it asks for what the first one of the next block will read.
  void next_block(PlanNode &block) const {
    const std::vector<const PlanNode *> loops = loops_of_block(block);
    if (loops.size() < 2)
      return;
    Reads reads = row_reads(*loops[0], kNone);
    std::erase_if(reads, [&](ExprId read) { // the same for each row, and at hand
      return kernel_.vars[kernel_.expr(read).ref].axes == AxisSet::of(block.axis);
    });
    add_some(block, What::part, *loops[1], std::move(reads));
  }

  // A later loop over a row fetches what the first one of the next row will read.
  void next_row(PlanNode &rows) const {
    std::vector<const PlanNode *> loops;
    // Of rows that are computed in two ways, by their length, the short ones.
    const bool by_length = rows.body.size() == 1 && rows.body[0].near > 0;
    for (const PlanNode &node : by_length ? rows.body[0].body : rows.body) {
      if (loops_of_block(node).size() > 1) // these ask for the next block
        return;
      for (const PlanNode &inner : node.body)
        if (node.parts > 0 && inner.on_lanes)
          loops.push_back(&inner);
      if (node.on_lanes)
        loops.push_back(&node);
    }
    if (loops.size() == 1 && !folds_over(*loops[0]).empty())
      return add_some(rows, What::soon, *loops[0], row_reads(*loops[0], rows.axis));
    if (loops.size() < 2 || loops[0]->axis != loops[1]->axis || kernel_.axes[rows.axis].ragged != kNone ||
        kernel_.axes[loops[0]->axis].ragged != kNone)
      return;
    const LoopBounds first = bounds_of(kernel_, *loops[0]), second = bounds_of(kernel_, *loops[1]);
    Reads reads = row_reads(*loops[0], rows.axis);
    if (first.begin == second.begin && first.end == second.end && !reads.empty())
      add(rows, What::row, *loops[1], std::move(reads));
  }

  const Plan &plan_;
  const Kernel &kernel_;
  const LaneAnalysis &analysis_;
  AxisSet in_parts_;                  // of which the loops around go over parts
  std::set<const PlanNode *> walked_; // loops over rows of which an earlier part asks
};

} // namespace

void find_ahead(const Plan &plan, const LaneAnalysis &analysis, Phase &phase) {
  AheadFinder(plan, analysis).find(phase);
}

} // namespace kgen
