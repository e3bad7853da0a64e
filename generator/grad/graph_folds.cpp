// Folds, scans and reads at other places, with the rules that keep them short.
#include <cmath>
#include <utility>

#include "grad/graph.h"
#include "grad/moved.h"

namespace kgen::grad {

using Kind = Node::Kind;

AxisSet Graph::own_axes(NodeId value, NodeId where) const { return axes(value) | axes(where); }

// The one factor that differs along the axes, if there is one, once.
NodeId Graph::varying_alone(const Factors &factors, AxisSet over) const {
  NodeId varying = kNoNode;
  for (const auto &[factor, power] : factors.powers)
    if (!(axes(factor) & over).empty()) {
      if (varying != kNoNode || power != 1)
        return kNoNode;
      varying = factor;
    }
  return varying;
}

// Rule "centred values": x - mean(x, N) sums to nothing along N.
bool Graph::vanishes(NodeId term, AxisSet over) const {
  const NodeId varying = varying_alone(factors_of(term), over);
  if (varying == kNoNode)
    return false;
  Node n = node(varying);
  while (n.kind == Kind::op && (n.op == Op::mul || n.op == Op::div)) { // by what does not vary
    const bool first = (axes(n.args[1]) & over).empty();
    if (!first && (n.op == Op::div || !(axes(n.args[0]) & over).empty()))
      return false;
    n = node(n.args[first ? 0 : 1]);
  }
  if (n.kind != Kind::op || n.op != Op::sub)
    return false;
  const Node mean = node(n.args[1]);
  return mean.kind == Kind::fold && mean.monoid == Monoid::mean && mean.args.size() == 1 && mean.args[0] == n.args[0] &&
         mean.reduced == over;
}

// Of an axis of known size, by a number.
Graph::Lane Graph::lane_of(NodeId condition) {
  Node n = node(condition);
  bool equal = n.kind == Kind::op && n.op == Op::eq;
  if (n.kind == Kind::op && n.op == Op::logical_not) {
    n = node(n.args[0]);
    equal = n.kind == Kind::op && n.op == Op::ne;
  }
  if (n.kind != Kind::op || (n.op != Op::eq && n.op != Op::ne) || node(n.args[0]).kind != Kind::index ||
      node(n.args[1]).kind != Kind::number)
    return {};
  const AxisId found = node(n.args[0]).axis;
  const Axis &along = axis(found);
  const int64_t place = node(n.args[1]).integer;
  if (along.ragged != kNone || !along.size.is_integer() || place < 0 || place >= along.size.value)
    return {};
  if (equal)
    return {found, integer(place)};
  return along.size.value == 2 ? Lane{found, integer(1 - place)} : Lane{}; // the other of two
}

// By what a table or an array holds, if there is such a lane.
Graph::Lane Graph::read_lane(NodeId condition) {
  const Node n = node(condition);
  if (n.kind != Kind::op || n.op != Op::eq)
    return {};
  for (const size_t first : {0, 1}) {
    const Node index = node(n.args[first]);
    NodeId place = n.args[1 - first];
    while (node(place).kind == Kind::cast && is_integer(node(node(place).args[0]).type))
      place = node(place).args[0];
    const Kind kind = node(place).kind;
    if (index.kind != Kind::index || is_ragged(index.axis) || axes(place).contains(index.axis) ||
        (kind != Kind::table && kind != Kind::operand))
      continue;
    const NodeId low = compare(Op::ge, place, integer(0)), high = compare(Op::lt, place, size_of(index.axis));
    return {index.axis, place, both(low, high)};
  }
  return {};
}

// The one lane of an axis for which the condition may hold, and what it asks of that lane besides.
std::optional<std::pair<Graph::Lane, NodeId>> Graph::lane_alone(AxisSet over, NodeId where) {
  std::vector<NodeId> all = {where};
  for (size_t i = 0; i < all.size();)
    if (const Node n = node(all[i]); n.kind == Kind::both) {
      all[i] = n.args[0];
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, n.args[1]);
    } else {
      ++i;
    }
  for (const NodeId one : all) {
    Lane lane = lane_of(one);
    if (lane.axis == kNone)
      lane = read_lane(one);
    if (lane.axis == kNone || !over.contains(lane.axis))
      continue;
    NodeId rest = lane.exists;
    for (const NodeId other : all)
      if (const NodeId there = moved(*this, other, {{lane.axis, lane.place}}); there == kNoNode)
        return std::nullopt;
      else if (other != one)
        rest = both(rest, there);
    return std::pair(lane, rest);
  }
  return std::nullopt;
}

// Rule "one lane": a sum of what one index alone has is the value there.
NodeId Graph::one_lane(NodeId value, AxisSet over, NodeId where) {
  const auto alone = lane_alone(over, where);
  const NodeId own = alone ? moved(*this, value, {{alone->first.axis, alone->first.place}}) : kNoNode;
  return own == kNoNode ? kNoNode : sum(own, over - AxisSet::of(alone->first.axis), alone->second);
}

// The same of a choice that is 0 but for one lane, and of a product with one.
NodeId Graph::one_lane(NodeId value, AxisSet over) {
  Factors rest = factors_of(value);
  const NodeId varying = varying_alone(rest, over);
  if (varying == kNoNode || node(varying).kind != Kind::choose || !is_zero(node(varying).args[2]))
    return kNoNode;
  rest.powers.erase(varying);
  const Node choice = node(varying);
  return one_lane(mul(product(std::move(rest)), choice.args[1]), over, choice.args[0]);
}

NodeId Graph::sum(NodeId value, AxisSet over, NodeId where) {
  value = known_where(where, real(value));
  where = needed(where, value);
  if (over.empty())
    return choose(where, value, number(0));
  if (is_zero(value) || (where != kNoNode && is_number(where, 0)))
    return number(0);
  if (where != kNoNode)
    if (const NodeId own = one_lane(value, over, where); own != kNoNode)
      return own;
  // Rule "lanes alike": along an axis that nothing differs along, a multiple.
  for (AxisId axis : over.list())
    if (this->axis(axis).ragged != kNone && !own_axes(value, where).contains(axis))
      return sum(mul(value, real(size_of(axis))), over - AxisSet::of(axis), where);
  const AxisSet alike = over - own_axes(value, where);
  for (AxisId axis : alike.list())
    value = mul(value, real(size_of(axis)));
  over -= alike;
  if (over.empty())
    return value;
  if (where == kNoNode) {
    if (vanishes(value, over))
      return number(0);
    if (const NodeId own = one_lane(value, over); own != kNoNode)
      return own;
    // The terms of a sum, also of one that a common factor was taken out of.
    std::vector<std::pair<NodeId, double>> terms;
    const Factors outer = factors_of(value);
    for (const auto &[factor, power] : outer.powers)
      if (node(factor).kind == Kind::sum && power == 1) {
        Factors rest = outer;
        rest.powers.erase(factor);
        std::vector<std::pair<NodeId, double>> inner;
        terms_of(factor, 1, inner);
        for (const auto &[term, count] : inner)
          terms.emplace_back(mul(product(rest), term), count);
        break;
      }
    bool any_vanishes = false, any_alone = false, all_alone = true; // or the same in all lanes
    for (const auto &[term, count] : terms) {
      any_vanishes = any_vanishes || vanishes(term, over);
      const bool varies = !(axes(term) & over).empty(), alone = varies && one_lane(term, over) != kNoNode;
      any_alone = any_alone || alone;
      all_alone = all_alone && (alone || !varies);
    }
    if (any_vanishes || (any_alone && all_alone)) {
      NodeId out = number(0);
      for (const auto &[term, count] : terms)
        if (!vanishes(term, over))
          out = add(out, sum(mul(number(count), term), over));
      return out;
    }
  }
  // Rule "invariant factors": what does not differ along the axes leaves the sum.
  Factors inside = factors_of(value), outside;
  outside.number = std::exchange(inside.number, 1);
  for (const auto &[factor, power] : inside.powers)
    if ((axes(factor) & over).empty())
      outside.powers[factor] = power;
  for (const auto &[factor, power] : outside.powers)
    inside.powers.erase(factor);
  if (const NodeId by_known = by_known_sum(inside, over, where); by_known != kNoNode)
    return mul(product(std::move(outside)), by_known);
  NodeId varying = inside.powers.empty() ? number(1) : product(std::move(inside));
  NodeId folded;
  if (where != kNoNode && is_number(varying, 1))
    folded = real(fold(Monoid::sum, where, over, kNoNode, Type::i64));
  else if ((axes(varying) & over) == over && node(varying).kind == Kind::fold && where == kNoNode &&
           node(varying).monoid == Monoid::sum && node(varying).args.size() == 1)
    folded = fold(Monoid::sum, node(varying).args[0], over | node(varying).reduced, kNoNode, Type::f32);
  else
    folded = fold(Monoid::sum, varying, over, where, Type::f32);
  return mul(product(std::move(outside)), folded);
}

NodeId Graph::fold(Monoid monoid, NodeId element, AxisSet over, NodeId where, Type type) {
  if (where != kNoNode && is_number(where, 1)) // as it is known to be at other places
    where = kNoNode;
  if (monoid == Monoid::any && where == kNoNode && !axes(element).contains(over)) {
    const NodeId lanes = some(over, element);
    return lanes == kNoNode ? truth(true) : lanes;
  }
  Node n;
  n.kind = Kind::fold;
  n.monoid = monoid;
  n.reduced = over;
  n.type = type;
  n.args = {element};
  if (where != kNoNode)
    n.args.push_back(where);
  return intern(n);
}

NodeId Graph::scan(ScanKind kind, std::vector<NodeId> args, AxisId axis, bool reverse, bool exclusive) {
  Node n;
  n.kind = Kind::scan;
  n.scan = kind;
  n.args = std::move(args);
  n.type = node(n.args[0]).type;
  if (kind != ScanKind::max)
    n.type = accumulator_of(n.type);
  n.axis = axis;
  n.reverse = reverse;
  n.exclusive = exclusive;
  return intern(n);
}

NodeId Graph::spread(NodeId value, AxisId axis) {
  if (axes(value).contains(axis))
    return value;
  Node always, n;
  always.kind = Kind::op;
  always.op = Op::ge;
  always.type = Type::boolean;
  always.args = {index(axis), integer(0)};
  n.kind = Kind::choose;
  n.type = node(value).type;
  const NodeId zero = kgen::is_floating(n.type) ? number(0) : integer(0, n.type);
  n.args = {intern(always), value, zero};
  return intern(n);
}

// Rule "last of a scan": the last of a running sum is the sum; so with products and with greatest values.
NodeId Graph::last_of_scan(NodeId base, AxisId along, NodeId place) {
  const Node n = node(base);
  if (n.kind != Kind::scan || n.axis != along || n.reverse || n.exclusive || n.scan == ScanKind::linear ||
      axis(along).ragged != kNone)
    return kNoNode;
  if (place != op(Op::sub, {size_of(along), integer(1)}, Type::i64))
    return kNoNode;
  const Monoid monoid = n.scan == ScanKind::sum       ? Monoid::sum
                        : n.scan == ScanKind::product ? Monoid::product
                                                      : Monoid::max;
  return fold(monoid, n.args[0], AxisSet::of(along), kNoNode, n.type);
}

// Is it an element of an array as it lies there, or one that each type has?
bool Graph::is_element(NodeId id) const {
  const Node &n = node(id);
  switch (n.kind) {
  case Kind::operand:
    return true;
  case Kind::at:
    return is_element(n.args[0]);
  case Kind::choose:
    return is_element(n.args[1]) && is_element(n.args[2]);
  case Kind::number:
    return n.number == 0 || std::isinf(n.number);
  default:
    return false;
  }
}

bool Graph::is_computed_extreme(NodeId id) const {
  const Node &n = node(id);
  const bool extreme = (n.kind == Kind::fold && (n.monoid == Monoid::max || n.monoid == Monoid::min)) ||
                       (n.kind == Kind::scan && n.scan == ScanKind::max);
  return extreme && kgen::is_floating(n.type) && !is_element(n.args[0]); // whole numbers are not rounded
}

bool Graph::asks_for_computed_extreme(NodeId id) const {
  const Node &n = node(id);
  return n.kind == Kind::op && n.op == Op::eq && (is_computed_extreme(n.args[0]) || is_computed_extreme(n.args[1]));
}

NodeId Graph::times_size(AxisSet axes) {
  NodeId out = number(1);
  for (AxisId axis : axes.list())
    out = mul(out, real(size_of(axis)));
  return out;
}

NodeId Graph::count_of(const Node &fold) {
  const AxisSet over = fold.reduced;
  const NodeId where = fold.args.size() > 1 ? fold.args[1] : kNoNode;
  bool ragged = false;
  for (AxisId id : over.list())
    ragged = ragged || (axis(id).over != kNone && over.contains(axis(id).over));
  return where == kNoNode && !ragged ? times_size(over) : sum(number(1), over, where);
}

// Other places of other places are one access.
NodeId Graph::at(NodeId base, const std::vector<std::pair<AxisId, NodeId>> &places) {
  Node n;
  n.kind = Kind::at;
  n.type = node(base).type;
  n.args = {base};
  for (const auto &[axis, value] : places) {
    if ((node(value).kind == Kind::index && node(value).axis == axis) || !axes(base).contains(axis))
      continue; // where it stands anyway, or all are alike
    if (const NodeId whole = last_of_scan(base, axis, value); whole != kNoNode && places.size() == 1)
      return whole;
    n.places.push_back(axis);
    n.args.push_back(value);
  }
  return n.places.empty() ? base : intern(n);
}

} // namespace kgen::grad
