#include "plan/cut/segments.h"

#include <optional>
#include <set>

#include "ir/conversions.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/index/needed.h"
#include "plan/index/scopes.h"

namespace kgen {
namespace {

// What a fold wants of the positions along an axis: those for which a sorted table has an entry.
struct Wanted {
  ExprId part = kNone; // of its condition, which says so
  TableId table = kNone;
  ExprId entry = kNone;
};

class Segments {
public:
  Segments(Plan &plan, bool settles)
      : plan_(plan), kernel_(plan.kernel), settles_(settles), checked_(plan.target == TargetKind::openmp), lanes_(plan),
        taken_(settles && checked_ && wants_lanes(plan.kernel) ? lanes_.choose() : std::set<const PlanNode *>()) {}

  // Roots are shared among workers by their lengths.
  void run() {
    for (Phase &phase : plan_.phases)
      for (PlanNode &root : phase.nodes) {
        for_each_node(root, [](PlanNode &n) { n.table = n.entry = kNone; });
        inside(root);
      }
  }

private:
  void visit(PlanNode &node) {
    if (node.kind == PlanNode::Kind::loop && node.order == PlanNode::Order::reduction && node.parts == 0)
      end(node);
    inside(node);
  }

  void inside(PlanNode &node) {
    if (node.contraction)
      return;
    const AxisId outer = lane_;
    if (taken_.count(&node) != 0)
      lane_ = node.axis;
    for (std::vector<PlanNode> *list : {&node.body, &node.otherwise, &node.step})
      for (PlanNode &inner : *list)
        visit(inner);
    lane_ = outer;
  }

  void end(PlanNode &loop) {
    bool may_end = false;
    for_each_node(loop, [&](const PlanNode &n) { may_end = may_end || wanted(n, loop.axis); });
    if (!may_end)
      return;
    const Scopes scopes(plan_);
    std::vector<std::pair<PlanNode *, ExprId>> steps; // and the parts of their conditions
    std::optional<Wanted> all;
    AxisSet inside = AxisSet::of(loop.axis);
    std::set<VarId> changed;
    bool fits = true;
    for_each_node(loop, [&](PlanNode &n) {
      if (n.kind == PlanNode::Kind::loop)
        inside |= AxisSet::of(n.axis);
      for (VarId var : {n.target, n.partner})
        if (var != kNone)
          changed.insert(var);
      if (n.kind == PlanNode::Kind::loop || is_of_one_round(plan_, scopes, n, loop))
        return;
      const std::optional<Wanted> own = wanted(n, loop.axis);
      fits = fits && own && (!all || are_same(*all, *own));
      all = own;
      steps.emplace_back(&n, own ? own->part : kNone);
    });
    if (!fits || !all)
      return;
    if (changes(kernel_, all->entry, inside, changed) || (lane_ != kNone && lanes_.varies(all->entry, lane_)))
      return;
    loop.table = all->table;
    loop.entry = all->entry;
    if (settles_ && checked_)
      for (const auto &[step, part] : steps)
        drop(*step, part);
  }

  bool are_same(const Wanted &a, const Wanted &b) const {
    return a.table == b.table && same(kernel_, a.entry, b.entry);
  }

  // What the fold asks for, or its value, which is what folds start from elsewhere.
  std::optional<Wanted> wanted(const PlanNode &step, AxisId axis) const {
    const std::optional<ExprId> condition = asked(step);
    return condition ? entry_of(*condition, axis) : std::nullopt;
  }

  std::optional<ExprId> asked(const PlanNode &step) const {
    return counts(step) ? truth_of(step.value) : condition_of(step);
  }

  // Is it a sum of those for which something holds?
  bool counts(const PlanNode &step) const {
    return step.kind == PlanNode::Kind::fold_step && step.partner == kNone && step.condition == kNone &&
           step.monoid == Monoid::sum && kernel_.expr(truth_of(step.value)).type == Type::boolean &&
           !condition_of(step);
  }

  ExprId truth_of(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    return e.op == Op::cast ? e.args[0] : id;
  }

  bool is_index(ExprId id, AxisId axis) const {
    const Expr &e = kernel_.expr(id);
    return e.op == Op::index && e.axis == axis && e.ref == kNone;
  }

  // `table[index(axis)] == entry`, or that and more.
  std::optional<Wanted> entry_of(ExprId condition, AxisId axis) const {
    const Expr &e = kernel_.expr(condition);
    if (e.op == Op::both)
      for (ExprId part : e.args)
        if (const std::optional<Wanted> found = entry_of(part, axis))
          return found;
    if (e.op != Op::eq)
      return std::nullopt;
    for (const size_t first : {0, 1})
      if (const TableId table = table_along(e.args[first], axis); table != kNone)
        return Wanted{condition, table, e.args[1 - first]};
    return std::nullopt;
  }

  // The sorted table whose entries these are; none where it is another number, or only some entries are meant.
  TableId table_along(ExprId id, AxisId axis) const {
    const Expr &number = kernel_.expr(id);
    const Expr &e = kernel_.expr(widened(id));
    const Axis &along = kernel_.axes[axis];
    if (e.op != Op::table || is_unsigned(number.type) || !is_index(widened(e.args[0]), axis))
      return kNone;
    const Table &table = kernel_.tables[e.ref];
    const bool whole = table.dims.size() == 1 && is_size_of(along, table.dims[0]) && is_size_of(along, along.block);
    return table.sorted && whole && along.ragged == kNone && along.grid == kNone ? e.ref : kNone;
  }

  // What stands in casts that keep every number.
  ExprId widened(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    const bool keeps = e.op == Op::cast && is_integer(e.type) && is_integer(kernel_.expr(e.args[0]).type) &&
                       holds_all(e.type, kernel_.expr(e.args[0]).type);
    return keeps ? widened(e.args[0]) : id;
  }

  // The part of its condition holds in all rounds.
  void drop(PlanNode &step, ExprId part) {
    const ExprId rest = without(*asked(step), part);
    const Expr value = kernel_.expr(step.value);
    if (counts(step))
      step.value = rest == kNone ? make_constant(kernel_, value.type, 1, 1) : make_cast(kernel_, rest, value.type);
    else if (rest == kNone)
      step.condition = kNone;
    else if (step.condition != kNone)
      step.condition = rest;
    else
      step.value = make_op(kernel_, Op::choose, value.type, {rest, value.args[1], value.args[2]});
  }

  ExprId without(ExprId condition, ExprId part) {
    if (condition == part)
      return kNone;
    const Expr e = kernel_.expr(condition);
    if (e.op != Op::both)
      return condition;
    const ExprId first = without(e.args[0], part), second = first == e.args[0] ? without(e.args[1], part) : e.args[1];
    return first == kNone ? second : second == kNone ? first : make_op(kernel_, Op::both, e.type, {first, second});
  }

  Plan &plan_;
  Kernel &kernel_;
  const bool settles_, checked_;
  const LaneAnalysis lanes_;
  const std::set<const PlanNode *> taken_;
  AxisId lane_ = kNone; // all lanes go through a loop together
};

} // namespace

void mark_segments(Plan &plan) { Segments(plan, false).run(); }

void find_segments(Plan &plan) { Segments(plan, true).run(); }

} // namespace kgen
