#include "plan/cut/share_lists.h"

#include <algorithm>

#include "plan/index/exprs.h"

namespace kgen {
namespace {

constexpr size_t kMostAxes = 64;

} // namespace

Size of_two(Size::Op op, Size a, Size b) { return Size::make(op, {std::move(a), std::move(b)}); }

bool is_long_axis(const Axis &axis, int64_t least) {
  const bool whole = axis.uniform && axis.grid == kNone && is_size_of(axis, axis.block) && axis.start.is_integer(0);
  return whole && axis.ragged == kNone && axis.most == 0 && !(axis.size.is_integer() && axis.size.value <= least);
}

bool is_long_row(const Kernel &kernel, AxisId axis, AxisSet chain, int64_t least) {
  Axis whole = kernel.axes[axis];
  if (whole.mean > 0)
    return false;
  if (whole.ragged != kNone && chain.contains(whole.over))
    whole.ragged = kNone;
  return is_long_axis(whole, least);
}

std::string free_share_name(const Kernel &kernel, const Axis &shared) {
  constexpr const char *kShares = "_shares";
  std::string base = shared.rest ? "rows" : shared.name;
  std::erase(base, '*');
  std::string name = base + kShares;
  auto named = [&](const auto &thing) { return thing.name == name; };
  int next = 2;
  while (std::any_of(kernel.vars.begin(), kernel.vars.end(), named) ||
         std::any_of(kernel.axes.begin(), kernel.axes.end(), named) ||
         std::any_of(kernel.scalars.begin(), kernel.scalars.end(), named))
    name = base + std::to_string(next++) + kShares;
  return name;
}

namespace {
std::string words(const Kernel &kernel, ExprId condition) {
  const Expr &e = kernel.expr(condition);
  if (e.op == Op::both)
    return words(kernel, e.args[0]) + " and " + words(kernel, e.args[1]);
  const bool negated = e.op == Op::logical_not;
  const Expr &asked = negated ? kernel.expr(e.args[0]) : e;
  const Expr &first = kernel.expr(asked.args[0]);
  if (first.op != Op::block)
    return print(kernel, condition);
  const bool any = kernel.expr(asked.args[1]).integer == 0;
  return (any ? (negated ? "there are no " : "there are ") : (negated ? "there is one of " : "there are several ")) +
         kernel.axes[first.axis].name;
}
} // namespace

std::string condition_words(const Plan &plan, const Phase &phase) {
  if (phase.when == kNone)
    return "";
  return std::string(phase.unless ? ", unless " : ", where ") + words(plan.kernel, phase.when);
}

namespace {
ExprId count_of(Kernel &kernel, AxisId shares) {
  Expr count;
  count.op = Op::block; // by its name, where the size is a formula
  count.type = Type::i64;
  count.axis = shares;
  return kernel.add(std::move(count));
}

ExprId has_more(Kernel &kernel, AxisId shares, int64_t than) {
  return make_op(kernel, Op::gt, Type::boolean, {count_of(kernel, shares), make_constant(kernel, Type::i64, than, 0)});
}
} // namespace

ExprId has_several(Kernel &kernel, AxisId shares) { return has_more(kernel, shares, 1); }

ExprId has_any(Kernel &kernel, AxisId shares) { return has_more(kernel, shares, 0); }

bool ShareLists::has_room() const { return kernel_.axes.size() < kMostAxes; }

const PlanNode *ShareLists::find_chain(const Phase &phase) {
  if (phase.kind != Phase::Kind::parallel || phase.whole || !has_room())
    return nullptr;
  const PlanNode *loop = &phase.nodes.front();
  for (int i = 0; i < phase.split; ++i) {
    if (loop->kind != PlanNode::Kind::loop || kernel_.axes[loop->axis].ragged != kNone)
      return nullptr;
    chain_.push_back(loop->axis);
    if (i + 1 < phase.split)
      loop = &loop->body.front();
  }
  return loop;
}

AxisSet ShareLists::chain_axes() const {
  AxisSet all;
  for (AxisId axis : chain_)
    all |= AxisSet::of(axis);
  return all;
}

const PlanNode &ShareLists::innermost(const PlanNode &root) const {
  const PlanNode *loop = &root;
  for (size_t i = 1; i < chain_.size(); ++i)
    loop = &loop->body.front();
  return *loop;
}

Size ShareLists::items(int64_t columns) const {
  Size items = Size::integer(1);
  for (AxisId axis : chain_) {
    Size size = kernel_.axes[axis].size;
    if (axis == chain_.back())
      size = Size::make(Size::Op::cdiv, {std::move(size), Size::integer(columns)});
    items = Size::make(Size::Op::multiply, {std::move(items), std::move(size)});
  }
  return items;
}

void ShareLists::add_axis(AxisId shared, Size size) {
  for (AxisId other : plan_.shares.list())
    if (kernel_.axes[other].size == size) {
      axis_ = other;
      return;
    }
  const Axis &whole = kernel_.axes[shared];
  Axis shares;
  shares.size = std::move(size);
  shares.name = free_share_name(kernel_, whole);
  shares.derived = true;
  shares.start = Size::integer(0);
  shares.block = shares.size.is_integer() ? shares.size : Size::axis(shares.name);
  shares.place = whole.place;
  kernel_.axes.push_back(std::move(shares));
  axis_ = static_cast<AxisId>(kernel_.axes.size()) - 1;
  plan_.axis_order.insert(plan_.axis_order.begin(), axis_);
  plan_.shares |= AxisSet::of(axis_);
}

ExprId ShareLists::count() { return count_of(kernel_, axis_); }

ExprId ShareLists::has_several() { return kgen::has_several(kernel_, axis_); }

PlanNode ShareLists::in_chain(const PlanNode &root, std::vector<PlanNode> body, size_t depth) const {
  PlanNode loop = root;
  loop.body.clear();
  if (depth + 1 == chain_.size())
    loop.body = std::move(body);
  else
    loop.body.push_back(in_chain(root.body.front(), std::move(body), depth + 1));
  return loop;
}

PlanNode ShareLists::over_shares(PlanNode::Order order, std::vector<PlanNode> body) const {
  PlanNode loop;
  loop.kind = PlanNode::Kind::loop;
  loop.axis = axis_;
  loop.order = order;
  loop.place = body.front().place;
  loop.body = std::move(body);
  return loop;
}

VarId ShareLists::copy_of(VarId var, const std::string &name, AxisSet axes) {
  Var copy = kernel_.vars[var];
  copy.name = name;
  copy.axes |= axes;
  return add_var(kernel_, std::move(copy));
}

} // namespace kgen
