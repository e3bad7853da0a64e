// A loop `for n { total = 0; for m { total += x[m, n] }; y[n] = total }` reads one line of memory a row, from another
// page each time. Its iterations do not depend on each other, so that each statement may have a loop over n of its own,
// the one inside the loop over m among them.
#include "plan/cut/columns.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "plan/cut/sum_blocks.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/place/storage.h"
#include "plan/program/anew.h"

namespace kgen {
namespace {

class Columns {
public:
  explicit Columns(Plan &plan) : plan_(plan), kernel_(plan.kernel), lanes_(plan) {}

  // Is it a loop over columns? `outer`: the axes of the loops around it.
  bool can_turn(const PlanNode &loop, AxisSet outer) {
    bool found = false;
    outer_ = outer;
    cheap_ = lanes_.possible(loop);
    return loop.kind == PlanNode::Kind::loop && goes_along(loop.body, loop.axis, AxisSet(), found) && found &&
           has_row_in_targets(loop) &&
           (cheap_ || !has_at_most(loop.axis, plan_.decide(Decision::few_columns, loop.axis) - 1));
  }

  // As it is.
  bool takes_lanes() const { return cheap_; }

  void turn(PlanNode &loop) {
    axis_ = loop.axis;
    limits_ = loop.limits;
    loop.parts = plan_.decide(Decision::column_bytes, axis_) / widest(loop);
    loop.body = distributed(std::move(loop.body));
  }

private:
  // Bytes of an element of what the loop touches.
  int64_t widest(const PlanNode &loop) const {
    int64_t bytes = 4;
    for (const Access &a : accesses_of(kernel_, loop))
      bytes = std::max<int64_t>(bytes, bytes_of(kernel_.vars[a.var].type));
    return bytes;
  }

  bool is_walk(const PlanNode &node) const {
    if (node.kind == PlanNode::Kind::steps)
      return contains_loop(node.body);
    return node.kind == PlanNode::Kind::loop && !has_at_most(node.axis, plan_.decide(Decision::few_rows, node.axis));
  }

  bool has_at_most(AxisId axis, int64_t rows) const {
    const std::optional<int64_t> most = most_positions(kernel_.axes[axis]);
    return most && *most <= rows;
  }

  // Does what walks touch lie along the row, and is each input read once, unless there is no other good way? Notes
  // whether there is any. `walked`: their axes.
  bool goes_along(const std::vector<PlanNode> &list, AxisId row, AxisSet walked, bool &found) const {
    for (const PlanNode &walk : list) {
      if (!is_walk(walk))
        continue;
      if (walk.table != kNone) // a segment is short, and each has rows of its own
        return false;
      if (walk.kind == PlanNode::Kind::loop && is_ragged_over(kernel_.axes[walk.axis], row))
        return false; // each column has a length of its own
      const AxisSet all = walk.kind == PlanNode::Kind::loop ? walked | AxisSet::of(walk.axis) : walked;
      if (!goes_along(walk.body, row, all, found))
        return false;
      for (const PlanNode &node : walk.body)
        for (const Access &a : is_walk(node) ? std::vector<Access>() : accesses_of(kernel_, node)) {
          const Var &var = kernel_.vars[a.var];
          if (plan_.storage[a.var].kind != Storage::Kind::argument || !var.axes.contains(row))
            continue;
          const bool stays = (var.axes & all).empty();
          const bool once = !cheap_ || var.kind != Var::Kind::input || stays || var.axes.contains(outer_ | all);
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
      const bool long_sums = sums_floats(kernel_, node) && !has_at_most(node.axis, 4 * row_block(node.axis));
      out.push_back(long_sums ? in_blocks(std::move(node)) : std::move(node));
    }
    flush();
    return out;
  }

  int64_t row_block(AxisId axis) const { return plan_.decide(Decision::column_rows, axis); }

  PlanNode in_blocks(PlanNode walk) {
    const int64_t rows = row_block(walk.axis);
    return kgen::in_blocks(kernel_, std::move(walk), rows, [&](std::vector<PlanNode> list) {
      return std::vector<PlanNode>{along_row(std::move(list))};
    });
  }

  Plan &plan_;
  Kernel &kernel_;
  const LaneAnalysis lanes_;
  AxisSet outer_;     // of the loops around the row's
  bool cheap_ = true; // does the loop take lanes as it is?
  AxisId axis_ = kNone;
  std::vector<std::pair<VarId, int>> limits_;
};

// What walks read again after another one of the part, or keep for it, in bytes of each column.
std::optional<Size> kept_bytes(const Plan &plan, const PlanNode &loop) {
  const std::vector<Axis> &axes = plan.kernel.axes;
  std::map<AxisId, Size> walked;
  std::map<VarId, int> walks; // that touch the array
  for (const PlanNode &walk : loop.body) {
    std::set<VarId> touched;
    for_each_node(walk, [&](const PlanNode &n) {
      if (n.kind != PlanNode::Kind::loop || n.axis == loop.axis || walked.count(n.axis) != 0)
        return;
      const Size &size = axes[n.axis].size;
      walked[n.axis] = n.share == kNone ? size : Size::make(Size::Op::cdiv, {size, axes[n.share].block});
    });
    for (const Access &a : accesses_of(plan.kernel, walk))
      if (touched.insert(a.var).second)
        ++walks[a.var];
  }
  std::vector<std::pair<Size, int64_t>> kept; // rows, and the bytes of each
  for (const auto &[var, count] : walks) {
    const Var &v = plan.kernel.vars[var];
    if (count < 2 || !v.axes.contains(loop.axis))
      continue;
    std::optional<Size> rows;
    for (const auto &[axis, size] : walked)
      if (v.axes.contains(axis))
        rows = rows ? Size::make(Size::Op::multiply, {*rows, size}) : size;
    if (!rows)
      continue;
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const auto &k) { return k.first == *rows; });
    if (same == kept.end())
      kept.push_back({*rows, bytes_of(v.type)});
    else
      same->second += bytes_of(v.type);
  }
  std::optional<Size> all;
  for (const auto &[rows, bytes] : kept) {
    const Size some = Size::make(Size::Op::multiply, {rows, Size::integer(bytes)});
    all = all ? Size::make(Size::Op::add, {*all, some}) : some;
  }
  return all;
}

// Is every loop along a row one that lanes can take, without a buffer that was not there before but for the part?
bool is_better(const Plan &turned, const PlanNode &loop, const std::vector<Storage> &before) {
  for (const Access &a : accesses_of(turned.kernel, loop)) {
    const Storage &storage = turned.storage[a.var];
    const auto v = static_cast<size_t>(a.var);
    if (storage.kind == Storage::Kind::worker && storage.in_parts == kNone &&
        (v >= before.size() || before[v] != storage))
      return false;
  }
  const LaneAnalysis lanes(turned);
  bool fits = true;
  for (const PlanNode &child : loop.body)
    for_each_node(child, [&](const PlanNode &n) {
      if (n.kind == PlanNode::Kind::loop && n.axis == loop.axis && n.parts == 0)
        fits = fits && lanes.possible(n);
    });
  return fits;
}

// A loop of a phase that may go down columns: the place in the bodies of the loops around it, and their axes.
struct Candidate {
  std::vector<size_t> path;
  AxisSet outer;
  bool last = false; // of the work list
};

PlanNode &at(Phase &phase, const std::vector<size_t> &path) {
  PlanNode *node = &phase.nodes.front();
  for (size_t i : path)
    node = &node->body[i];
  return *node;
}

// The last loop of the work list, and the parallel ones inside of it. Those outside come first.
void find_candidates(const Plan &plan, const Phase &phase, const PlanNode &node, Candidate here,
                     std::vector<Candidate> &out) {
  const auto depth = static_cast<int>(here.path.size()) + 1;
  here.last = phase.kind == Phase::Kind::parallel && depth == phase.split;
  const bool loop = node.kind == PlanNode::Kind::loop;
  if (depth >= phase.split && loop && node.order == PlanNode::Order::parallel && node.share == kNone)
    out.push_back(here);
  if (loop && !plan.shares.contains(node.axis))
    here.outer |= AxisSet::of(node.axis);
  here.path.push_back(0);
  for (size_t i = 0; i < node.body.size(); ++i) {
    here.path.back() = i;
    find_candidates(plan, phase, node.body[i], here, out);
  }
}

// Rows that fill no vector are better left as they are, where the sizes of a call say so.
void keep_for_few_columns(Plan &plan, size_t phase, AxisId axis) {
  const Size &columns = plan.kernel.axes[axis].size;
  if (columns.is_integer())
    return;
  add_alternative(plan, phase, have_at_least(plan.kernel, {axis}, plan.decide(Decision::few_columns, axis)));
}

bool turn(Plan &plan, size_t phase, const Candidate &candidate) {
  const PlanNode &loop = at(plan.phases[phase], candidate.path);
  const bool in_question = plan.phases[phase].when != kNone;
  if (Columns columns(plan); !columns.can_turn(loop, candidate.outer) || (in_question && !columns.takes_lanes()))
    return false;
  Plan turned = plan;
  Columns columns(turned);
  columns.can_turn(at(turned.phases[phase], candidate.path), candidate.outer);
  if (candidate.last && !columns.takes_lanes())
    keep_for_few_columns(turned, phase, loop.axis);
  PlanNode &target = at(turned.phases[phase], candidate.path);
  columns.turn(target);
  target.kept = kept_bytes(turned, target);
  if (target.kept)
    target.parts /= turned.decide(Decision::column_parts, target.axis);
  place_variables(turned);
  if (!is_better(turned, target, plan.storage))
    return false;
  plan = std::move(turned);
  return true;
}

} // namespace

void turn_columns(Plan &plan) {
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    const Phase &phase = plan.phases[i];
    if (phase.kind == Phase::Kind::serial || contains_contraction(phase))
      continue;
    std::vector<Candidate> candidates;
    find_candidates(plan, phase, phase.nodes.front(), {}, candidates);
    for (const Candidate &candidate : candidates)
      if (turn(plan, i, candidate))
        break;
  }
}

} // namespace kgen
