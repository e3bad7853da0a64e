// Rows do not depend on each other. So each statement may have a loop of its own over the rows of a part, inside of the
// ordered steps around it. Such a loop around one fold is a contraction, or the statement stays with its neighbours.
#include "plan/cut/row_parts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "plan/contract/contractions.h"
#include "plan/contract/fold_alone.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/index/order.h"
#include "plan/place/storage.h"
#include "plan/program/anew.h"
#include "plan/tree/tree.h"

namespace kgen {
namespace {

int64_t least_rows(const Plan &plan, AxisId rows) { return plan.decide(Decision::rows_for_parts, rows); }

// How a loop in a row's list is taken: it is all of a contraction, or its first fold is, or it stays as it is.
enum class Way { whole, fold, as_it_is };

class RowParts {
public:
  // Of the first `count` loops of the work list, `row` is the one that goes over rows. It becomes the last one.
  RowParts(const Plan &plan, size_t phase, int count, size_t row) : RowParts(plan, phase, count) {
    std::rotate(loops_.begin() + static_cast<std::ptrdiff_t>(row),
                loops_.begin() + static_cast<std::ptrdiff_t>(row) + 1, loops_.end());
    row_ = loops_.back();
    loops_.pop_back();
  }
  // Rows are what this statement in the list of an item goes over.
  static RowParts inside(const Plan &plan, size_t phase, size_t at) {
    RowParts out(plan, phase, plan.phases[phase].split);
    out.at_ = at;
    const PlanNode &loop = (*out.list_)[at];
    out.row_ = without_body(loop);
    out.list_ = &loop.body;
    return out;
  }

  AxisId rows() const { return row_.axis; }

  // The plan in which the phase goes over parts of rows; nothing where that brings no contraction.
  std::optional<Plan> run() {
    if (!contains_taken(*list_) || !may_be_parted())
      return std::nullopt;
    while (true) {
      Plan plan = given_;
      marked_.clear();
      PlanNode parts = row_;
      parts.parts = given_.decide(Decision::rows_of_part, rows());
      parts.row_by_row = true;
      parts.body = distributed(plan, *list_);
      if (marked_.empty())
        return std::nullopt;
      put(plan, std::move(parts));
      place_variables(plan);
      if (marked_are_contractions(plan))
        return with_room(std::move(plan));
    }
  }

private:
  // A loop in the list, and what is left of it when so many folds have been taken out.
  using Candidate = std::pair<const PlanNode *, int>;

  RowParts(const Plan &plan, size_t phase, int count) : given_(plan), phase_(phase) {
    const std::vector<const PlanNode *> loops = leading_loops(plan.phases[phase].nodes.front(), count);
    for (const PlanNode *loop : loops)
      loops_.push_back(without_body(*loop));
    list_ = &loops.back()->body;
  }

  void put(Plan &plan, PlanNode parts) const {
    Phase &phase = plan.phases[phase_];
    Nodes list = {std::move(parts)};
    if (at_) {
      std::swap(list, leading_list(phase));
      list[*at_] = std::move(leading_list(phase).front());
    } else {
      phase.split = static_cast<int>(loops_.size()) + 1;
    }
    phase.nodes = loops_.empty() ? list : Nodes{wrapped(loops_, std::move(list))};
  }
  Nodes &leading_list(Phase &phase) const {
    Nodes *list = &phase.nodes;
    for (size_t i = 0; i < loops_.size(); ++i)
      list = &list->front().body;
    return *list;
  }

  bool may_be_parted() const {
    const std::vector<Axis> &axes = given_.kernel.axes;
    bool fits = row_.kind == PlanNode::Kind::loop && is_loop(row_, PlanNode::Order::parallel) &&
                axes[rows()].ragged == kNone && !given_.shares.contains(rows()) && !sets_lengths() &&
                most_positions(axes[rows()]).value_or(least_rows(given_, rows())) >= least_rows(given_, rows()) &&
                std::none_of(list_->begin(), list_->end(), jumps_out);
    for (const PlanNode &node : *list_)
      for_each_node(node, [&](const PlanNode &n) {
        for (VarId var : {n.target, n.partner})
          fits = fits && (var == kNone || given_.kernel.vars[var].axes.contains(rows()));
      });
    return fits;
  }

  // Does it depend on the row how far another loop goes?
  bool sets_lengths() const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const PlanNode &loop) {
      const Axis *axis = loop.kind == PlanNode::Kind::loop ? &given_.kernel.axes[loop.axis] : nullptr;
      return axis != nullptr && is_ragged_over(*axis, rows());
    });
  }

  static bool is_ordered_steps(const PlanNode &node) {
    return node.kind == PlanNode::Kind::steps && node.order == PlanNode::Order::ordered;
  }

  // `node`: what the candidate is by now.
  Way &way_of(const Candidate &candidate, const PlanNode &node) {
    const bool fits = node.kind == PlanNode::Kind::loop && contains_loop(node.body);
    const Way first = !fits ? Way::as_it_is : is_parallel_loop(node) ? Way::whole : Way::fold;
    return ways_.try_emplace(candidate, first).first->second;
  }
  static void go_on(Way &way) { way = way == Way::whole ? Way::fold : Way::as_it_is; }

  // The statements, each run of them, and each contraction, in a loop over the rows of the part.
  Nodes distributed(Plan &plan, const Nodes &list) {
    Nodes out, run; // run: what comes next
    const auto put_run = [&](Nodes some) {
      if (!some.empty())
        out.push_back(over_rows(std::move(some)));
    };
    for (const PlanNode &node : list) {
      if (is_ordered_steps(node) && contains_taken(node.body)) {
        put_run(std::exchange(run, {}));
        out.push_back(without_body(node));
        out.back().body = distributed(plan, node.body);
        continue;
      }
      Nodes left = {node};
      for (int taken = 0; !left.empty(); ++taken) {
        const Candidate candidate = {&node, taken};
        const std::optional<FoldAlone> fold = take(plan, way_of(candidate, left.front()), left.front());
        if (!fold) {
          run.push_back(std::move(left.front()));
          break;
        }
        put_run(needed_before(plan.kernel, fold->alone, run));
        out.push_back(over_rows({fold->alone}));
        out.back().contraction = Contraction{}; // it is to be one
        marked_.push_back(candidate);
        left = fold->rest;
      }
    }
    put_run(run);
    return out;
  }

  bool contains_taken(const Nodes &list) {
    return std::any_of(list.begin(), list.end(), [&](const PlanNode &node) {
      return way_of({&node, 0}, node) != Way::as_it_is || (is_ordered_steps(node) && contains_taken(node.body));
    });
  }

  static std::optional<FoldAlone> take(Plan &plan, Way &way, const PlanNode &node) {
    if (way == Way::whole)
      return FoldAlone{node, {}};
    std::optional<FoldAlone> fold = way == Way::fold ? take_out_fold(plan, node) : std::nullopt;
    if (!fold)
      way = Way::as_it_is;
    return fold;
  }

  // Takes out of the run what must come before the node; the rest may as well come after it, beside what reads it.
  static Nodes needed_before(const Kernel &kernel, const PlanNode &node, Nodes &run) {
    Nodes before, after;
    Accesses behind = accesses_of(kernel, node);
    for (auto one = run.rbegin(); one != run.rend(); ++one) {
      const Accesses own = accesses_of(kernel, *one);
      const bool stays = !may_exchange(own, behind);
      if (stays)
        behind.insert(behind.end(), own.begin(), own.end());
      (stays ? before : after).insert((stays ? before : after).begin(), *one);
    }
    run = std::move(after);
    return before;
  }

  PlanNode over_rows(Nodes body) const {
    PlanNode loop = row_;
    loop.body = std::move(body);
    return loop;
  }

  // Makes them so; where one cannot be, it is taken in another way.
  bool marked_are_contractions(Plan &plan) {
    bool all = true;
    auto marked = marked_.begin();
    for_each_node(plan.phases[phase_].nodes.front(), [&](PlanNode &node) {
      if (!node.contraction || node.contraction->left != kNone)
        return;
      node.contraction.reset();
      Way &way = ways_.at(*marked++);
      if (make_contraction(plan, node))
        return;
      go_on(way);
      all = false;
    });
    return all;
  }

  // What rows keep lies in memory for a part of them; nothing where it cannot.
  std::optional<Plan> with_room(Plan plan) const {
    std::vector<std::pair<Size, int64_t>> kept; // elements of a row, and the bytes of each
    for (VarId var = 0; var < static_cast<VarId>(plan.storage.size()); ++var) {
      const Storage &storage = plan.storage[var];
      const bool of_rows = std::find(storage.dims.begin(), storage.dims.end(), rows()) != storage.dims.end();
      if (storage.kind == Storage::Kind::argument || !of_rows || storage == given_place(var))
        continue;
      if (storage.in_parts != rows())
        return std::nullopt;
      if (storage.kind != Storage::Kind::worker)
        continue;
      const Size elements = elements_of_row(plan.kernel, storage);
      const int64_t bytes = bytes_of(plan.kernel.vars[var].type);
      const auto same = std::find_if(kept.begin(), kept.end(), [&](const auto &k) { return k.first == elements; });
      if (same == kept.end())
        kept.push_back({elements, bytes});
      else
        same->second += bytes;
    }
    PlanNode *const parts = &leading_list(plan.phases[phase_])[at_.value_or(0)];
    for (const auto &[elements, bytes] : kept) {
      const Size some = Size::make(Size::Op::multiply, {elements, Size::integer(bytes)});
      parts->kept = parts->kept ? Size::make(Size::Op::add, {*parts->kept, some}) : some;
    }
    place_variables(plan);
    return plan;
  }

  Size elements_of_row(const Kernel &kernel, const Storage &storage) const {
    std::optional<Size> all;
    for (AxisId id : storage.dims) {
      const Axis &axis = kernel.axes[id];
      const Size &size = axis.uniform ? axis.block : axis.size;
      if (id != rows())
        all = all ? Size::make(Size::Op::multiply, {*all, size}) : size;
    }
    return all.value_or(Size::integer(1));
  }

  Storage given_place(VarId var) const {
    const auto v = static_cast<size_t>(var);
    return v < given_.storage.size() ? given_.storage[v] : Storage{};
  }

  const Plan &given_;
  const size_t phase_;
  std::optional<size_t> at_; // where in the list of an item its rows are gone through
  Nodes loops_;              // of the work list, outermost first, less that over rows
  PlanNode row_;
  const Nodes *list_ = nullptr;
  std::map<Candidate, Way> ways_;
  std::vector<Candidate> marked_; // of the loops that are to be contractions, what they are made of, in order
};

// Items of the work list in which rows are gone through, by parts of those.
std::optional<Plan> with_inner_parts(const Plan &plan, size_t phase, AxisId &rows) {
  std::optional<Plan> out;
  const Nodes &list = leading_loops(plan.phases[phase].nodes.front(), plan.phases[phase].split).back()->body;
  for (size_t at = 0; at < list.size(); ++at) {
    if (!is_parallel_loop(list[at]))
      continue;
    std::optional<Plan> one = RowParts::inside(out ? *out : plan, phase, at).run();
    if (!one)
      continue;
    out = std::move(one);
    rows = list[at].axis;
  }
  return out;
}

// Rows may be what any of the loops goes over, or what items go over inside.
std::optional<Plan> in_parts(const Plan &plan, size_t phase, AxisId &rows) {
  for (int count : work_lists(plan.phases[phase]))
    for (int row = count; row-- > 0;) {
      RowParts parts(plan, phase, count, static_cast<size_t>(row));
      rows = parts.rows();
      if (std::optional<Plan> out = parts.run())
        return out;
    }
  return with_inner_parts(plan, phase, rows);
}

// In parts where rows are many; for calls with fewer it is as it was.
std::optional<Plan> parted(const Plan &plan, size_t phase) {
  AxisId rows = kNone;
  if (!in_parts(plan, phase, rows))
    return std::nullopt;
  Plan both = plan;
  add_alternative(both, phase, have_at_least(both.kernel, {rows}, least_rows(both, rows)));
  both.phases[phase + 1].whole = true;
  place_variables(both);
  return in_parts(both, phase, rows);
}

} // namespace

void part_rows(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind != Phase::Kind::parallel)
      continue;
    if (std::optional<Plan> one = parted(plan, i)) {
      plan = std::move(*one);
      ++i; // what follows is as it was
    }
  }
}

} // namespace kgen
