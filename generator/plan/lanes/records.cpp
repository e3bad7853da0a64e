#include "plan/lanes/records.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

namespace kgen {
namespace {

constexpr int64_t kMostFields = 4;

class Records {
public:
  Records(const Plan &plan, const LaneAnalysis &analysis, AxisId lane, AxisSet in_parts)
      : plan_(plan), kernel_(plan.kernel), analysis_(analysis), lane_(lane), in_parts_(in_parts) {}

  // Where conditions take no lanes away. `in_rounds`: inside a loop over fields.
  void list(std::vector<PlanNode> &nodes, bool in_rounds) const {
    for (size_t i = 0; i < nodes.size(); ++i) {
      PlanNode &n = nodes[i];
      const bool parts = n.kind == PlanNode::Kind::branch   ? analysis_.varies(n.condition, lane_)
                         : n.kind == PlanNode::Kind::repeat ? analysis_.ends_by_lane(n, lane_)
                                                            : false;
      if (parts)
        continue;
      const bool rounds = in_rounds || take_rounds(n);
      if (const size_t count = take_statements(nodes, i); count > 0)
        i += count - 1;
      for (auto *inner : {&n.body, &n.otherwise, &n.step})
        list(*inner, rounds);
    }
  }

private:
  bool reads_any(const PlanNode &node, VarId var) const {
    bool found = false;
    for_each_node(node, [&](const PlanNode &n) {
      for (ExprId id : expressions_of(n))
        found = found || reads(kernel_, id, var);
    });
    return found;
  }

  bool may_have_fields(const PlanNode &n) const {
    const bool stores = n.kind == PlanNode::Kind::assign && n.indices.empty() && !n.scatter_add;
    if (!stores || plan_.storage[n.target].kind != Storage::Kind::argument)
      return false;
    const Var &var = kernel_.vars[n.target];
    return !var.strided && var.type != Type::boolean && !var.dims.empty();
  }

  // Its rounds, where all of them are met; else 0.
  int64_t rounds_of(const PlanNode &loop) const {
    const bool plain = loop.kind == PlanNode::Kind::loop && !loop.reversed && loop.parts == 0 &&
                       !in_parts_.contains(loop.axis) && loop.share == kNone && loop.end == kNone &&
                       loop.table == kNone;
    const std::optional<int64_t> most = plain ? most_positions(kernel_.axes[loop.axis]) : std::nullopt;
    if (!most || *most < 2 || *most > kMostFields)
      return 0;
    const LoopBounds bounds = bounds_of(kernel_, loop);
    return !bounds.to_row && bounds.begin.is_integer(0) && bounds.end.is_integer(*most) ? *most : 0;
  }

  bool is_field_of_round(const PlanNode &n, const PlanNode &loop, int64_t fields) const {
    if (!may_have_fields(n) || !n.coords.empty())
      return false;
    const Dim &last = kernel_.vars[n.target].dims.back();
    return last.axis == loop.axis && last.start == origin_of(kernel_, loop.axis) &&
           analysis_.step_of(n.target, {}, lane_).stride.is_integer(fields) && !reads_any(loop, n.target);
  }

  // A loop over fields.
  bool take_rounds(PlanNode &loop) const {
    const int64_t fields = rounds_of(loop);
    std::set<VarId> taken;
    for (PlanNode &n : loop.body)
      if (fields > 0 && is_field_of_round(n, loop, fields) && taken.insert(n.target).second)
        n.field = 0;
    if (!taken.empty())
      loop.fields = fields;
    return !taken.empty();
  }

  // Which field of its records the statement writes: `at(o, C = 1) = v`.
  std::optional<int64_t> field_of(const PlanNode &n) const {
    if (!may_have_fields(n) || kernel_.vars[n.target].alias != kNone)
      return std::nullopt;
    const Var &var = kernel_.vars[n.target];
    const Coordinate *given = find_coordinate(n.coords, var.dims.back().axis);
    if (given == nullptr || kernel_.expr(given->value).op != Op::constant || may_be_outside(kernel_, var, n.coords))
      return std::nullopt;
    const Expr &at = kernel_.expr(given->value);
    const Size &fields = var.dims.back().extent;
    const bool fits = fields.is_integer() && fields.value >= 2 && fields.value <= kMostFields && at.integer >= 0 &&
                      at.integer < fields.value && analysis_.step_of(n.target, n.coords, lane_).stride == fields;
    return fits ? std::optional(at.integer) : std::nullopt;
  }

  // Do both write records at the same places?
  bool have_one_place(const PlanNode &a, const PlanNode &b) const {
    const AxisId field = kernel_.vars[a.target].dims.back().axis;
    return a.target == b.target && a.coords.size() == b.coords.size() &&
           std::all_of(a.coords.begin(), a.coords.end(), [&](const Coordinate &c) {
             const Coordinate *other = find_coordinate(b.coords, c.axis);
             return c.axis == field || (other != nullptr && same(kernel_, c.value, other->value));
           });
  }

  // Statements that write all of a record: how many.
  size_t take_statements(std::vector<PlanNode> &nodes, size_t at) const {
    PlanNode &first = nodes[at];
    if (!field_of(first))
      return 0;
    const auto count = static_cast<size_t>(kernel_.vars[first.target].dims.back().extent.value);
    if (at + count > nodes.size())
      return 0;
    std::set<int64_t> met;
    for (size_t i = at; i < at + count; ++i) {
      const PlanNode &n = nodes[i];
      const std::optional<int64_t> field = have_one_place(first, n) ? field_of(n) : std::nullopt;
      if (!field || !met.insert(*field).second || reads_any(n, n.target))
        return 0;
    }
    for (size_t i = at; i < at + count; ++i)
      nodes[i].field = field_of(nodes[i]);
    first.fields = static_cast<int64_t>(count);
    return count;
  }

  const Plan &plan_;
  const Kernel &kernel_;
  const LaneAnalysis &analysis_;
  const AxisId lane_;
  const AxisSet in_parts_;
};

} // namespace

void find_records(const Plan &plan, const LaneAnalysis &analysis, PlanNode &loop, AxisSet in_parts) {
  Records(plan, analysis, loop.axis, in_parts).list(loop.body, false);
}

} // namespace kgen
