// A loop `for n { total = 0; for m { total += x[m, n] }; y[n] = total }` reads one line of memory a row, from another
// page each time. Its iterations do not depend on each other, so that each statement may have a loop over n of its own,
// the one inside the loop over m among them.
#include "plan/columns.h"

#include <algorithm>

#include "plan/access.h"
#include "plan/exprs.h"
#include "plan/lanes.h"
#include "plan/storage.h"

namespace kgen {
namespace {

constexpr int64_t kColumns = 512;  // of a part: a few pages' worth of accumulators stay in the nearest cache
constexpr int64_t kFewRows = 32;   // known to be so few: their lines are at hand anyway
constexpr int64_t kRowBlock = 512; // rows whose sum is taken by itself

class Columns {
public:
  explicit Columns(Plan &plan) : plan_(plan), kernel_(plan.kernel), lanes_(plan) {}

  // Turns the innermost loop of the work list, if that is one down columns.
  bool turn(Phase &phase) {
    PlanNode *loop = &phase.nodes.front();
    for (int i = 1; i < phase.split; ++i, loop = &loop->body.front())
      if (loop->kind == PlanNode::Kind::loop && !plan_.shares.contains(loop->axis))
        outer_ |= AxisSet::of(loop->axis);
    bool found = false;
    if (loop->kind != PlanNode::Kind::loop || !goes_along(loop->body, loop->axis, AxisSet(), found) || !found ||
        !has_row_in_targets(*loop))
      return false;
    axis_ = loop->axis;
    limits_ = loop->limits;
    loop->parts = kColumns;
    loop->body = distributed(std::move(loop->body));
    return true;
  }

private:
  // Rows of different lengths are often short, and lie together.
  bool is_walk(const PlanNode &node) const {
    if (node.kind == PlanNode::Kind::steps)
      return contains_loop(node.body);
    return node.kind == PlanNode::Kind::loop && kernel_.axes[node.axis].ragged == kNone &&
           !has_at_most(node.axis, kFewRows);
  }

  bool has_at_most(AxisId axis, int64_t rows) const {
    const Axis &a = kernel_.axes[axis];
    return a.uniform && a.ragged == kNone && a.block.is_integer() && a.block.value <= rows;
  }

  // Does what walks touch lie along the row, and is each input read once? Notes whether there is any. `walked`: their
  // axes.
  bool goes_along(const std::vector<PlanNode> &list, AxisId row, AxisSet walked, bool &found) const {
    for (const PlanNode &walk : list) {
      if (!is_walk(walk))
        continue;
      const AxisSet all = walk.kind == PlanNode::Kind::loop ? walked | AxisSet::of(walk.axis) : walked;
      if (!goes_along(walk.body, row, all, found))
        return false;
      for (const PlanNode &node : walk.body)
        for (const Access &a : is_walk(node) ? std::vector<Access>() : accesses_of(kernel_, node)) {
          const Var &var = kernel_.vars[a.var];
          if (plan_.storage[a.var].kind != Storage::Kind::argument || !var.axes.contains(row))
            continue;
          const bool stays = (var.axes & all).empty();
          const bool once = var.kind != Var::Kind::input || stays || var.axes.contains(outer_ | all);
          if (lanes_.step_of(a.var, {}, row).kind != LaneStep::Kind::neighbour || !once)
            return false;
          found = found || !stays || walk.kind == PlanNode::Kind::steps;
        }
    }
    return true;
  }

  // What lacks the axis is each column's own: it cannot be computed for all columns before it is read by one.
  bool has_row_in_targets(const PlanNode &loop) const {
    bool all = true;
    for_each_node(loop, [&](const PlanNode &n) {
      for (VarId var : {n.target, n.partner})
        all = all && (var == kNone || kernel_.vars[var].axes.contains(loop.axis));
    });
    return all;
  }

  PlanNode along_row(std::vector<PlanNode> body) const {
    PlanNode loop;
    loop.kind = PlanNode::Kind::loop;
    loop.axis = axis_;
    loop.limits = limits_;
    loop.place = body.front().place;
    loop.body = std::move(body);
    return loop;
  }

  // Each run of statements gets a loop of its own, and so do those inside walks.
  std::vector<PlanNode> distributed(std::vector<PlanNode> list) {
    std::vector<PlanNode> out, run;
    auto flush = [&] {
      if (!run.empty())
        out.push_back(along_row(std::exchange(run, {})));
    };
    for (PlanNode &node : list) {
      if (!is_walk(node)) {
        run.push_back(std::move(node));
        continue;
      }
      flush();
      node.body = distributed(std::move(node.body));
      out.push_back(sums_long(node) ? in_blocks(std::move(node)) : std::move(node));
    }
    flush();
    return out;
  }

  bool is_long_sum(const PlanNode &step, AxisId axis) const {
    return folds_over(step, axis) && (step.monoid == Monoid::sum || step.monoid == Monoid::mean) &&
           is_floating(kernel_.vars[step.target].type);
  }

  bool sums_long(const PlanNode &walk) const {
    bool found = false;
    if (walk.kind == PlanNode::Kind::loop && walk.order != PlanNode::Order::parallel && !walk.reversed &&
        !has_at_most(walk.axis, 4 * kRowBlock))
      for_each_node(walk, [&](const PlanNode &n) { found = found || is_long_sum(n, walk.axis); });
    return found;
  }

  // for m { total += x }  ->  for blocks of m { part = 0; for m { part += x }; total += part }
  PlanNode in_blocks(PlanNode walk) {
    std::vector<PlanNode> before, after;
    AxisSet inside;
    for_each_node(walk, [&](const PlanNode &n) {
      if (n.kind == PlanNode::Kind::loop)
        inside |= AxisSet::of(n.axis);
    });
    split_sums(walk, walk.axis, inside, before, after);
    PlanNode blocks = walk;
    blocks.parts = kRowBlock;
    blocks.body.clear();
    blocks.body.push_back(along_row(std::move(before)));
    blocks.body.push_back(std::move(walk));
    blocks.body.push_back(along_row(std::move(after)));
    return blocks;
  }

  // `inside`: the axes of the walk and of those in it, over which a part is taken; sums over others go on outside.
  void split_sums(PlanNode &node, AxisId axis, AxisSet inside, std::vector<PlanNode> &before,
                  std::vector<PlanNode> &after) {
    if (is_long_sum(node, axis)) {
      Var part = kernel_.vars[node.target];
      part.name = "part";
      const VarId fresh = add_var(kernel_, std::move(part));
      PlanNode add = node, init = node;
      add.value = make_read(kernel_, fresh);
      add.condition = kNone;
      init.kind = PlanNode::Kind::fold_init;
      init.value = init.condition = kNone;
      init.target = node.target = fresh;
      init.reduced = node.reduced = node.reduced & inside;
      before.push_back(std::move(init));
      after.push_back(std::move(add));
    }
    for (std::vector<PlanNode> *list : {&node.body, &node.otherwise, &node.step})
      for (PlanNode &child : *list)
        split_sums(child, axis, inside, before, after);
  }

  Plan &plan_;
  Kernel &kernel_;
  const LaneAnalysis lanes_;
  AxisSet outer_; // of the loops around the row's
  AxisId axis_ = kNone;
  std::vector<std::pair<VarId, int>> limits_;
};

// Is every loop along a row still one that lanes can take, without a buffer that was not there before?
bool is_better(const Plan &turned, const Phase &phase, AxisId axis, const std::vector<Storage> &before) {
  for (size_t v = 0; v < turned.storage.size(); ++v)
    if (turned.storage[v].kind == Storage::Kind::worker && (v >= before.size() || before[v] != turned.storage[v]))
      return false;
  const LaneAnalysis lanes(turned);
  bool fits = true;
  for_each_node(phase.nodes.front(), [&](const PlanNode &n) {
    if (n.kind == PlanNode::Kind::loop && n.axis == axis && n.parts == 0)
      fits = fits && lanes.possible(n);
  });
  return fits;
}

} // namespace

void turn_columns(Plan &plan) {
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind != Phase::Kind::parallel)
      continue;
    Plan turned = plan;
    if (!Columns(turned).turn(turned.phases[i]))
      continue;
    place_variables(turned);
    if (is_better(turned, turned.phases[i], turned.phases[i].lane, plan.storage))
      plan = std::move(turned);
  }
}

} // namespace kgen
