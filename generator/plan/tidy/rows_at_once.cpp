// for blocks of m { for n { part = 0 }; for m { for n { part += x[m, n] } }; for n { total += part } }: where x has
// n right behind m and nothing else tells rows apart, x[m, n] with n beyond a row is in the next one. A part then has
// a number for each column of several rows, which are added up behind the walk.
#include "plan/tidy/rows_at_once.h"

#include <algorithm>
#include <set>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"

namespace kgen {
namespace {

class FlatRows {
public:
  FlatRows(const Plan &plan, AxisId rows, AxisId columns)
      : plan_(plan), kernel_(plan.kernel), rows_(rows), columns_(columns) {}

  // Is the statement the same for all elements of rows that follow each other?
  bool fit(const PlanNode &n) const {
    const bool adds = n.kind == PlanNode::Kind::fold_step && n.partner == kNone &&
                      (n.monoid == Monoid::sum || n.monoid == Monoid::mean);
    const bool sets = n.kind == PlanNode::Kind::assign && n.coords.empty() && n.indices.empty() &&
                      plan_.storage[n.target].kind == Storage::Kind::scalar;
    return (adds || sets) && std::ranges::all_of(expressions_of(n), [&](ExprId id) { return fits(id); });
  }

  bool are_plain() const {
    return std::ranges::all_of(std::vector{rows_, columns_}, [&](AxisId axis) {
      const Axis &a = kernel_.axes[axis];
      const bool over = std::ranges::any_of(kernel_.axes, [&](const Axis &other) { return other.over == axis; });
      return a.uniform && a.ragged == kNone && !over && a.start.is_integer(0) && is_size_of(a, a.block);
    });
  }

private:
  bool fits(ExprId id) const {
    bool all = true;
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      const bool moves = std::ranges::any_of(e.coords, [&](const Coordinate &c) { return is_own(c.axis); });
      all = all && !moves && !is_own(e.axis) && (e.op != Op::read || lies_flat(kernel_.vars[e.ref])) &&
            e.op != Op::element;
      return all;
    });
    return all;
  }

  bool is_own(AxisId axis) const { return axis == rows_ || axis == columns_; }

  bool lies_flat(const Var &var) const {
    if (var.dims.empty())
      return var.axes.contains(rows_) == var.axes.contains(columns_);
    for (size_t d = 0; d < var.dims.size(); ++d) {
      const Dim &dim = var.dims[d];
      const bool follows = d > 0 && var.dims[d - 1].axis == rows_;
      const bool last = d + 1 == var.dims.size();
      if (follows != (dim.axis == columns_) || (dim.axis == rows_ && last))
        return false;
      if (is_own(dim.axis) &&
          (!dim.whole || dim.offset || dim.may_miss || var.strided || !is_size_of(kernel_.axes[dim.axis], dim.extent)))
        return false;
    }
    return true;
  }

  const Plan &plan_;
  const Kernel &kernel_;
  const AxisId rows_, columns_;
};

bool is_plain_loop(const PlanNode &n) {
  return n.kind == PlanNode::Kind::loop && n.limits.empty() && n.end == kNone && n.table == kNone && !n.reversed;
}

// The targets of statements of one kind; what else there is, is not among them.
std::set<VarId> targets(const std::vector<PlanNode> &list, PlanNode::Kind kind) {
  std::set<VarId> out;
  for (const PlanNode &n : list)
    if (n.kind == kind)
      out.insert(n.target);
  return out;
}

// How many numbers there is room for; 0: its rows go one by one.
int64_t numbers_at_once(const Plan &plan, const PlanNode &blocks) {
  if (!is_plain_loop(blocks) || blocks.parts == 0 || blocks.kept || blocks.body.size() != 3)
    return 0;
  const PlanNode &start = blocks.body[0], &walk = blocks.body[1];
  const bool is_walk = is_plain_loop(start) && is_plain_loop(walk) && walk.axis == blocks.axis && walk.parts == 0 &&
                       walk.body.size() == 1 && is_plain_loop(walk.body[0]) && walk.body[0].axis == start.axis;
  if (!is_walk || start.axis == walk.axis)
    return 0;
  const FlatRows flat(plan, walk.axis, start.axis);
  const std::set<VarId> parts = targets(start.body, PlanNode::Kind::fold_init);
  int64_t room = plan.decide(Decision::rows_at_once_numbers);
  for (VarId part : parts) {
    const Storage &storage = plan.storage[part];
    const bool own = storage.kind == Storage::Kind::array && storage.in_parts == start.axis;
    room = std::min(room, own ? storage.part : 0);
  }
  const bool fits = flat.are_plain() && parts.size() == start.body.size() &&
                    targets(walk.body[0].body, PlanNode::Kind::fold_step) == parts &&
                    std::ranges::all_of(walk.body[0].body, [&](const PlanNode &n) { return flat.fit(n); });
  return fits ? room : 0;
}

// As many rows as have so many numbers, but no more than there are; one, where a row fills vectors.
Size rows_with(const Plan &plan, int64_t numbers, AxisId rows, AxisId columns) {
  const Kernel &kernel = plan.kernel;
  const auto op = [](Size::Op o, std::vector<Size> args) { return Size::make(o, std::move(args)); };
  const Size one = Size::integer(1), &width = kernel.axes[columns].size;
  const Size some = op(Size::Op::divide, {Size::integer(numbers), op(Size::Op::max, {one, width})});
  const Size all = op(Size::Op::max, {one, kernel.axes[rows].size});
  return op(Size::Op::choose,
            {op(Size::Op::less_equal, {width, Size::integer(plan.decide(Decision::rows_at_once_columns))}),
             op(Size::Op::min, {some, all}), one});
}

void take(const Plan &plan, const std::set<const PlanNode *> &lanes, std::vector<PlanNode> &list) {
  for (PlanNode &n : list) {
    const int64_t numbers = numbers_at_once(plan, n);
    if (numbers > 0 && lanes.count(&n.body[0]) != 0 && lanes.count(&n.body[1].body[0]) != 0) {
      n.at_once = n.body[1].at_once = rows_with(plan, numbers, n.axis, n.body[0].axis);
      n.body[0].along = n.body[1].body[0].along = n.axis;
    }
    for (std::vector<PlanNode> *inside : {&n.body, &n.otherwise, &n.step})
      take(plan, lanes, *inside);
  }
}

} // namespace

void take_rows_at_once(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  const std::set<const PlanNode *> lanes = LaneAnalysis(plan).choose();
  for (Phase &phase : plan.phases)
    take(plan, lanes, phase.nodes);
}

} // namespace kgen
