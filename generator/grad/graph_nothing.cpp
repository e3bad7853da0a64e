// Sums of no lanes are 0, also times what is then infinite or no number: conditions that ask whether there is a lane.
#include <algorithm>

#include "grad/graph.h"

namespace kgen::grad {

using Kind = Node::Kind;

namespace {

// Of numbers they give numbers, as far as these are not too large.
constexpr Op kFinite[] = {Op::add,  Op::sub,   Op::mul,   Op::fma,     Op::neg,  Op::abs,   Op::min,
                          Op::max,  Op::sign,  Op::clamp, Op::exp,     Op::exp2, Op::expm1, Op::sinh,
                          Op::cosh, Op::tanh,  Op::erf,   Op::sigmoid, Op::sin,  Op::cos,   Op::floor,
                          Op::ceil, Op::round, Op::trunc, Op::random};

} // namespace

bool gives_numbers(Op op) { return std::find(std::begin(kFinite), std::end(kFinite), op) != std::end(kFinite); }

bool Graph::may_fail(const Node &n) const {
  if (!kgen::is_floating(n.type))
    return false;
  bool out = false;
  switch (n.kind) {
  case Kind::op:
    out = !gives_numbers(n.op);
    break;
  case Kind::fold:
    out = n.monoid != Monoid::sum && n.monoid != Monoid::product; // of nothing
    break;
  case Kind::product:
    out = std::any_of(n.powers.begin(), n.powers.end(), [](int power) { return power < 0; });
    break;
  case Kind::bitcast:
  case Kind::call:
  case Kind::derivative:
  case Kind::looped:
    out = true;
    break;
  default:
    break;
  }
  return out || std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return node(arg).may_fail; });
}

bool Graph::asks(NodeId condition, NodeId part) const {
  const Node &n = node(condition);
  return condition == part || (n.kind == Kind::both && (asks(n.args[0], part) || asks(n.args[1], part)));
}

NodeId Graph::some(AxisSet over, NodeId where) {
  if (where != kNoNode)
    if (const auto alone = lane_alone(over, where))
      return some(over - AxisSet::of(alone->first.axis), alone->second);
  const AxisSet differs = over & axes(where);
  NodeId out = differs.empty() ? where : fold(Monoid::any, where, differs, kNoNode, Type::boolean);
  for (AxisId id : (over - differs).list())
    if (may_be_empty(id) && !over.contains(axis(id).over) && !is_ended_by(id))
      out = both(out, compare(Op::gt, size_of(id), integer(0)));
  return out;
}

// Where a whole axis of all outputs is empty, there is no gradient.
bool Graph::is_ended_by(AxisId id) const { return axes_of_all_outputs_.contains(id) && !is_ragged(id); }

bool Graph::may_be_empty(AxisId id) const {
  return axis(id).ragged != kNone || !axis(id).size.is_integer() || axis(id).size.value == 0;
}

// The axis that such a condition asks to have elements.
AxisId Graph::asked_axis(NodeId condition) const {
  const Node &n = node(condition);
  const bool asks =
      n.kind == Kind::op && n.op == Op::gt && node(n.args[0]).kind == Kind::size && is_number(n.args[1], 0);
  return asks ? node(n.args[0]).axis : kNone;
}

// Does it ask whether there is a lane, or whether a place lies within an axis?
bool Graph::is_some(NodeId condition) const {
  const Node &n = node(condition);
  if (n.kind == Kind::either)
    return is_some(n.args[0]) && is_some(n.args[1]);
  const bool bounds = n.kind == Kind::op && (n.op == Op::ge || n.op == Op::lt) && is_integer(node(n.args[0]).type);
  return bounds || asked_axis(condition) != kNone || is_any(condition);
}

bool Graph::is_any(NodeId condition) const {
  const Node &n = node(condition);
  return n.kind == Kind::fold && n.monoid == Monoid::any && n.args.size() == 1;
}

// Does a lane for which the condition holds say that there is one?
bool Graph::says_some(NodeId condition, NodeId some) const {
  return is_any(some) && asks(condition, node(some).args[0]);
}

bool Graph::is_nothing(NodeId value, NodeId unless) {
  if (const auto known = nothing_.find({value, unless}); known != nothing_.end())
    return known->second;
  const bool found = find_nothing(value, unless);
  nothing_[{value, unless}] = found;
  return found;
}

bool Graph::find_nothing(NodeId value, NodeId unless) {
  const Node &n = node(value), &asked = node(unless);
  const auto nothing = [&](NodeId id) { return is_nothing(id, unless); };
  if (asked.kind == Kind::either && n.kind == Kind::fold &&
      (is_nothing(value, asked.args[0]) || is_nothing(value, asked.args[1])))
    return true;
  switch (n.kind) {
  case Kind::number:
    return is_zero(value);
  case Kind::fold: {
    if (n.monoid != Monoid::sum || !(axes(unless) & n.reduced).empty()) // asked of other lanes
      return false;
    if (const AxisId asks = asked_axis(unless); asks != kNone && n.reduced.contains(asks))
      return true;
    if (is_any(unless) && n.reduced.contains(asked.reduced) && is_nothing(n.args[0], asked.args[0]))
      return true; // of each lane that might have been one
    const bool same = n.args.size() > 1 && says_some(n.args[1], unless);
    return (same && n.reduced.contains(asked.reduced)) || nothing(n.args[0]);
  }
  case Kind::product: {
    bool is = false;
    for (size_t i = 0; i < n.args.size(); ++i)
      if (n.powers[i] > 0 && nothing(n.args[i]))
        is = true;
      else if ((n.powers[i] < 0 || node(n.args[i]).may_fail) && !is_made_of_sizes(n.args[i], n.axes) &&
               fails_with(n.args[i], unless))
        return false;
    return is;
  }
  case Kind::sum:
    return std::all_of(n.args.begin(), n.args.end(), nothing);
  case Kind::choose:
    return (nothing(n.args[1]) || asks(n.args[0], unless)) && nothing(n.args[2]);
  case Kind::cast:
    return nothing(n.args[0]);
  default:
    return false;
  }
}

// Of sizes that are greater than 0 where there are such lanes, and positive numbers?
bool Graph::is_made_of_sizes(NodeId id, AxisSet lanes) const {
  const Node &n = node(id);
  const auto all = [&] {
    return std::all_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return is_made_of_sizes(arg, lanes); });
  };
  switch (n.kind) {
  case Kind::number:
    return is_positive_constant(id);
  case Kind::size:
    return lanes.contains(n.axis);
  case Kind::cast:
    return all();
  case Kind::product:
    return n.number > 0 && all();
  case Kind::op:
    return (n.op == Op::mul || n.op == Op::sqrt || n.op == Op::rsqrt) && all();
  default:
    return false;
  }
}

// Perhaps because such a condition does not hold? Whether a whole axis is empty is no matter of what does not ask.
bool Graph::fails_with(NodeId value, NodeId unless) {
  const AxisId whole = asked_axis(unless);
  if (whole == kNone || is_ragged(whole))
    return true;
  const auto [known, is_new] = hangs_on_.try_emplace({value, whole}, false);
  if (!is_new)
    return known->second;
  const Node &n = node(value);
  const bool asks = n.reduced.contains(whole) || (n.kind == Kind::size && n.axis == whole);
  const bool hangs =
      asks || std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return fails_with(arg, unless); });
  return hangs_on_[{value, whole}] = hangs;
}

NodeId Graph::without(NodeId condition, const std::function<bool(NodeId)> &part) {
  if (condition == kNoNode)
    return kNoNode;
  if (node(condition).kind != Kind::both)
    return part(condition) ? kNoNode : condition;
  const std::vector<NodeId> parts = node(condition).args;
  const NodeId first = without(parts[0], part), second = without(parts[1], part);
  return first == parts[0] && second == parts[1] ? condition : both(first, second);
}

// Rule "nothing summed": a sum of no lanes is 0, and nobody has to ask whether there are any.
NodeId Graph::needed(NodeId condition, NodeId value) {
  return without(condition, [&](NodeId part) { return is_some(part) && is_nothing(value, part); });
}

NodeId Graph::needed_of(NodeId condition, AxisSet lanes, AxisSet ends) {
  return without(condition, [&](NodeId part) {
    const AxisId axis = asked_axis(part);
    return axis != kNone && (lanes.contains(axis) || (ends.contains(axis) && !is_ragged(axis)));
  });
}

} // namespace kgen::grad
