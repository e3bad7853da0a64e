// Rows do not depend on each other. So each statement may have a loop of its own over the rows of a part, inside of the
// ordered steps around it. Such a loop around one fold is a contraction, or the statement stays with its neighbours.
#include "plan/row_parts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "plan/access.h"
#include "plan/anew.h"
#include "plan/contractions.h"
#include "plan/exprs.h"
#include "plan/fold_alone.h"
#include "plan/lanes.h"
#include "plan/order.h"
#include "plan/storage.h"
#include "plan/tree.h"

namespace kgen {
namespace {

constexpr int64_t kMostRows = 384; // of a part
constexpr int64_t kManyRows = 32;  // fewer are better taken one by one

// How a loop in a row's list is taken: it is all of a contraction, or its first fold is, or it stays as it is.
enum class Way { whole, fold, as_it_is };

class RowParts {
public:
  // Of the first `count` loops of the work list, `row` is the one that goes over rows. It becomes the last one.
  RowParts(const Plan &plan, size_t phase, int count, size_t row) : given_(plan), phase_(phase) {
    const std::vector<const PlanNode *> loops = leading_loops(plan.phases[phase].nodes.front(), count);
    for (const PlanNode *loop : loops)
      loops_.push_back(without_body(*loop));
    std::rotate(loops_.begin() + static_cast<std::ptrdiff_t>(row),
                loops_.begin() + static_cast<std::ptrdiff_t>(row) + 1, loops_.end());
    list_ = &loops.back()->body;
  }

  AxisId rows() const { return row().axis; }

  // The plan in which the phase goes over parts of rows; nothing where that brings no contraction.
  std::optional<Plan> run() {
    if (!may_be_parted())
      return std::nullopt;
    choose_ways(*list_);
    while (any_taken()) {
      Plan plan = given_;
      marked_.clear();
      PlanNode parts = row();
      parts.parts = kMostRows;
      parts.row_by_row = true;
      parts.body = distributed(plan, *list_);
      Nodes loops(loops_.begin(), loops_.end() - 1);
      loops.push_back(parts);
      plan.phases[phase_].nodes = {wrapped(loops, parts.body)};
      plan.phases[phase_].split = static_cast<int>(loops.size());
      place_variables(plan);
      if (marked_are_contractions(plan))
        return with_room(std::move(plan));
    }
    return std::nullopt;
  }

private:
  const PlanNode &row() const { return loops_.back(); }

  bool may_be_parted() const {
    const std::vector<Axis> &axes = given_.kernel.axes;
    bool fits = row().kind == PlanNode::Kind::loop && is_loop(row(), PlanNode::Order::parallel) &&
                axes[rows()].ragged == kNone && !given_.shares.contains(rows()) && !sets_lengths() &&
                most_positions(axes[rows()]).value_or(kManyRows) >= kManyRows &&
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
      return axis != nullptr && axis->ragged != kNone && axis->over == rows();
    });
  }

  static bool is_ordered_steps(const PlanNode &node) {
    return node.kind == PlanNode::Kind::steps && node.order == PlanNode::Order::ordered;
  }

  void choose_ways(const Nodes &list) {
    for (const PlanNode &node : list) {
      if (is_ordered_steps(node))
        choose_ways(node.body);
      if (node.kind == PlanNode::Kind::loop && contains_loop(node.body))
        ways_[&node] = is_parallel_loop(node) ? Way::whole : Way::fold;
    }
  }
  bool is_taken(const PlanNode &node) const {
    const auto way = ways_.find(&node);
    return way != ways_.end() && way->second != Way::as_it_is;
  }
  bool any_taken() const {
    return std::any_of(ways_.begin(), ways_.end(), [](const auto &way) { return way.second != Way::as_it_is; });
  }
  void next_way(const PlanNode &node) {
    Way &way = ways_[&node];
    way = way == Way::whole ? Way::fold : Way::as_it_is;
  }

  // The statements, each run of them, and each contraction, in a loop over the rows of the part.
  Nodes distributed(Plan &plan, const Nodes &list) {
    Nodes out, run; // run: what comes next
    const auto put = [&](Nodes some) {
      if (!some.empty())
        out.push_back(over_rows(std::move(some)));
    };
    for (const PlanNode &node : list) {
      if (is_ordered_steps(node) && contains_taken(node.body)) {
        put(std::exchange(run, {}));
        out.push_back(without_body(node));
        out.back().body = distributed(plan, node.body);
        continue;
      }
      const std::optional<FoldAlone> fold = is_taken(node) ? take(plan, node) : std::nullopt;
      if (!fold) {
        run.push_back(node);
        continue;
      }
      put(needed_before(plan.kernel, fold->alone, run));
      out.push_back(over_rows({fold->alone}));
      out.back().contraction = Contraction{}; // it is to be one
      marked_.push_back(&node);
      run.insert(run.end(), fold->rest.begin(), fold->rest.end());
    }
    put(run);
    return out;
  }

  bool contains_taken(const Nodes &list) const {
    return std::any_of(list.begin(), list.end(), [&](const PlanNode &node) {
      return is_taken(node) || (is_ordered_steps(node) && contains_taken(node.body));
    });
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

  std::optional<FoldAlone> take(Plan &plan, const PlanNode &node) {
    if (ways_.at(&node) == Way::whole)
      return FoldAlone{node, {}};
    std::optional<FoldAlone> fold = take_out_fold(plan, node);
    if (!fold)
      next_way(node);
    return fold;
  }

  PlanNode over_rows(Nodes body) const {
    PlanNode loop = row();
    loop.body = std::move(body);
    return loop;
  }

  // Makes them so; where one cannot be, it is taken in another way.
  bool marked_are_contractions(Plan &plan) {
    bool all = true;
    auto marked = marked_.begin();
    for_each_node(plan.phases[phase_].nodes.front(), [&](PlanNode &node) {
      if (!node.contraction || marked == marked_.end() || node.axis != rows())
        return;
      node.contraction.reset();
      const PlanNode &given = **marked++;
      if (make_contraction(plan, node))
        return;
      next_way(given);
      all = false;
    });
    return all && !marked_.empty();
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
    PlanNode *parts = &plan.phases[phase_].nodes.front();
    for (size_t i = 1; i < loops_.size(); ++i)
      parts = &parts->body.front();
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
  Nodes loops_; // of the work list, outermost first
  const Nodes *list_ = nullptr;
  std::map<const PlanNode *, Way> ways_;
  std::vector<const PlanNode *> marked_; // of the loops that are to be contractions, what they are made of, in order
};

// In parts where rows are many; for calls with fewer it is as it was.
std::optional<Plan> parted(const Plan &plan, size_t phase, int count, size_t row) {
  RowParts parts(plan, phase, count, row);
  if (!parts.run())
    return std::nullopt;
  Plan both = plan;
  add_alternative(both, phase, have_at_least(both.kernel, {parts.rows()}, kManyRows));
  both.phases[phase + 1].whole = true;
  return RowParts(both, phase, count, row).run();
}

// Rows may be what any of the loops goes over.
std::optional<Plan> parted(const Plan &plan, size_t phase) {
  for (int count : work_lists(plan.phases[phase]))
    for (int row = count; row-- > 0;)
      if (std::optional<Plan> out = parted(plan, phase, count, static_cast<size_t>(row)))
        return out;
  return std::nullopt;
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
