// Rules by which conditions, and what is chosen by them, ask for each thing once.
#include "grad/graph.h"

#include <algorithm>
#include <cstdlib>

namespace kgen::grad {

using Kind = Node::Kind;

NodeId Graph::choose(NodeId condition, NodeId then, NodeId otherwise) {
  if (is_zero(otherwise)) {
    then = known_where(condition, then);
    condition = needed(condition, then);
  }
  if (condition == kNoNode || then == otherwise)
    return then;
  if (const auto known = nothing_outside_.find(then); is_zero(otherwise) && known != nothing_outside_.end() &&
                                                      known->second != kNoNode && is_case_of(known->second, condition))
    return then;
  const Node c = node(condition);
  if (c.kind == Kind::number)
    return c.integer != 0 ? then : otherwise;
  if (c.kind == Kind::op && c.op == Op::logical_not)
    return choose(c.args[0], otherwise, then);
  const bool several = c.kind == Kind::either || node(then).kind == Kind::sum;
  if (is_zero(otherwise) && ((several && covers(condition, then)) || asks_inside(condition, then)))
    return then;
  // Rule "asked already": what stands in an arm knows the condition.
  then = where_holds(condition, then);
  if (const Node inner = node(then);
      inner.kind == Kind::choose && (asks_all(condition, inner.args[0]) || says_some(condition, inner.args[0])))
    return choose(condition, inner.args[1], otherwise);
  if (const Node inner = node(otherwise); inner.kind == Kind::choose && inner.args[0] == condition)
    return choose(condition, then, inner.args[2]);
  if (const NodeId product = common_to_arms(condition, then, otherwise); product != kNoNode)
    return product;
  Node n;
  n.kind = Kind::choose;
  n.type = node(then).type;
  n.args = {condition, then, otherwise};
  return intern(n);
}

// Rule "common factors": c ? d * a : d * b is d * (c ? a : b). Numbers stay in the arms; else kNoNode.
NodeId Graph::common_to_arms(NodeId condition, NodeId then, NodeId otherwise) {
  if (first_of_gradients_ == 0 || !is_floating(then) || is_zero(then) || is_zero(otherwise))
    return kNoNode;
  Factors in_then = factors_of(then), in_other = factors_of(otherwise), common;
  for (const auto &[factor, power] : in_then.powers)
    if (const auto found = in_other.powers.find(factor); found != in_other.powers.end() && found->second * power > 0)
      common.powers[factor] = std::abs(power) < std::abs(found->second) ? power : found->second;
  if (common.powers.empty())
    return kNoNode;
  in_then.divide(common);
  in_other.divide(common);
  const NodeId a = product(in_then), b = product(in_other);
  if (node(a).kind == Kind::number && node(b).kind != Kind::op)
    return kNoNode;
  return mul(product(common), choose(condition, a, b));
}

// A product whose factors do not ask again. What the forward kernel has computed stays whole: it has a name.
NodeId Graph::where_holds(NodeId condition, NodeId value) {
  if (node(value).kind != Kind::product)
    return value;
  Factors factors = factors_of(value);
  const std::map<NodeId, int> powers = factors.powers;
  for (const auto &[factor, power] : powers)
    if (const Node n = node(factor); n.kind == Kind::choose && power == 1 && asks_all(condition, n.args[0]) &&
                                     (factor >= first_of_gradients_ || node(n.args[0]).kind == Kind::present)) {
      factors.powers.erase(factor);
      factors.multiply(factors_of(n.args[1]));
    }
  return factors.powers == powers ? value : product(std::move(factors));
}

NodeId Graph::both(NodeId a, NodeId b) {
  if (a == kNoNode || b == kNoNode || a == b)
    return a == kNoNode ? b : a;
  if (node(a).kind == Kind::number)
    return node(a).integer != 0 ? b : a;
  if (node(b).kind == Kind::number)
    return node(b).integer != 0 ? a : b;
  // Rule "asked already": of c && (e && c) the second c is known.
  if (asks_all(a, b) || implies_bound(a, b) || says_some(a, b))
    return a;
  if (const Node second = node(b); second.kind == Kind::both)
    for (int known : {0, 1})
      if (asks_all(a, second.args[known]) || implies_bound(a, second.args[known]))
        return both(a, second.args[1 - known]);
  if (implies(b, a) || implies_bound(b, a) || says_some(b, a))
    return b;
  if (const Node first = node(a); first.kind == Kind::both && implies(b, first.args[1]))
    return both(first.args[0], b);
  Node n;
  n.kind = Kind::both;
  n.type = Type::boolean;
  n.args = {a, b};
  return intern(n);
}

// Rule "one of them": k == 2 says that k != 1, too.
bool Graph::implies(NodeId a, NodeId b) const {
  const Node &x = node(a), &y = node(b);
  if (y.kind == Kind::both)
    return implies(a, y.args[0]) && implies(a, y.args[1]);
  const Node &asked = y.kind == Kind::op && y.op == Op::logical_not ? node(y.args[0]) : y;
  const bool excludes = asked.kind == Kind::op && asked.op == (&asked == &y ? Op::ne : Op::eq);
  return x.kind == Kind::op && x.op == Op::eq && excludes && x.args[0] == asked.args[0] && x.args[1] != asked.args[1] &&
         node(x.args[1]).kind == Kind::number && node(asked.args[1]).kind == Kind::number;
}

// Rule "inside already": index(C) == k says that 0 <= k and k < size(C), too.
bool Graph::implies_bound(NodeId a, NodeId b) const {
  const Node &x = node(a), &y = node(b);
  if (x.kind == Kind::both)
    return implies_bound(x.args[0], b) || implies_bound(x.args[1], b);
  if (x.kind != Kind::op || x.op != Op::eq || y.kind != Kind::op)
    return false;
  for (int at : {0, 1}) {
    const Node &index = node(x.args[at]), &bound = node(y.args[1]);
    if (index.kind != Kind::index || y.args[0] != strip(x.args[1 - at]))
      continue;
    return (y.op == Op::ge && is_zero(y.args[1])) ||
           (y.op == Op::lt && bound.kind == Kind::size && bound.axis == index.axis);
  }
  return false;
}

NodeId Graph::either(NodeId a, NodeId b) {
  if (a == kNoNode || b == kNoNode)
    return kNoNode;
  for (const auto &[one, other] : {std::pair(a, b), std::pair(b, a)})
    if (node(one).kind == Kind::number)
      return node(one).integer != 0 ? kNoNode : other;
  if (a == b)
    return a;
  if (no(a) == b || opposite(a, b)) // rule "either way"
    return kNoNode;
  if (is_each_place({a, b})) // rule "each place": g == 0 || g == 1, of two
    return kNoNode;
  if (is_any_given(a, b))
    return kNoNode;
  if (const NodeId one = one_of(a, b); one != kNoNode)
    return one;
  if (const Node n = node(a); n.kind == Kind::either)
    for (const size_t at : {0, 1})
      if (const NodeId one = one_of(n.args[at], b); one != kNoNode || opposite(n.args[at], b))
        return one == kNoNode ? kNoNode : either(n.args[1 - at], one);
  for (const auto &[one, other] : {std::pair(a, b), std::pair(b, a)})
    if (is_case_of(other, one))
      return one;
  Node n;
  n.kind = Kind::either;
  n.type = Type::boolean;
  n.args = {a, b};
  return intern(n);
}

// Does one of them hold at each place of an axis of a few?
bool Graph::is_each_place(std::vector<NodeId> conditions) const {
  constexpr int64_t kMost = 64;
  AxisId along = kNone;
  uint64_t missing = 0;
  while (!conditions.empty()) {
    const Node &n = node(conditions.back());
    conditions.pop_back();
    if (n.kind == Kind::either)
      conditions.insert(conditions.end(), n.args.begin(), n.args.end());
    if (n.kind != Kind::op || n.args.size() != 2)
      continue;
    const Node &index = node(strip(n.args[0])), &number = node(strip(n.args[1]));
    if (index.kind != Kind::index || number.kind != Kind::number || (along != kNone && along != index.axis))
      continue;
    const Size &size = axis(index.axis).size;
    if (!size.is_integer() || size.value <= 0 || size.value > kMost)
      continue;
    if (along == kNone)
      missing = ~uint64_t{0} >> (kMost - size.value);
    along = index.axis;
    for (int64_t place = 0; place < size.value; ++place)
      if ((n.op == Op::eq && place == number.integer) || (n.op == Op::lt && place < number.integer) ||
          (n.op == Op::le && place <= number.integer) || (n.op == Op::gt && place > number.integer) ||
          (n.op == Op::ge && place >= number.integer))
        missing &= ~(uint64_t{1} << place);
  }
  return along != kNone && missing == 0;
}

// Rule "one of them is known": of (a || b) || (a && c) the second question is answered by the first.
bool Graph::is_case_of(NodeId condition, NodeId wider) const {
  const Node &n = node(condition), &w = node(wider);
  if (n.kind == Kind::either)
    return is_case_of(n.args[0], wider) && is_case_of(n.args[1], wider);
  if (w.kind == Kind::either && (is_case_of(condition, w.args[0]) || is_case_of(condition, w.args[1])))
    return true;
  return asks_all(condition, wider);
}

// Do they hold whichever gradient is given? One always is.
bool Graph::is_any_given(NodeId a, NodeId b) const {
  return !given_.empty() && std::all_of(given_.begin(), given_.end(), [&](NodeId present) {
    return is_case_of(present, a) || is_case_of(present, b);
  });
}

// Does it ask all that another condition asks?
bool Graph::asks_all(NodeId condition, NodeId other) const {
  const Node &n = node(other);
  return n.kind == Kind::both ? asks_all(condition, n.args[0]) && asks_all(condition, n.args[1])
                              : asks(condition, other);
}

// c && e || c && !e is c; else kNoNode.
NodeId Graph::one_of(NodeId a, NodeId b) const {
  const Node &x = node(a), &y = node(b);
  const bool either_way =
      x.kind == Kind::both && y.kind == Kind::both && x.args[0] == y.args[0] && opposite(x.args[1], y.args[1]);
  return either_way ? x.args[0] : kNoNode;
}

NodeId Graph::any(NodeId a, NodeId b) {
  if (a == kNoNode || b == kNoNode)
    return a == kNoNode ? b : a;
  const NodeId out = either(a, b);
  return out == kNoNode ? truth(true) : out;
}

bool Graph::opposite(NodeId a, NodeId b) const {
  const Node &x = node(a), &y = node(b);
  const auto denies = [](const Node &n, NodeId what) {
    return n.kind == Kind::op && n.op == Op::logical_not && n.args[0] == what;
  };
  if (denies(x, b) || denies(y, a))
    return true;
  if (x.kind != Kind::op || y.kind != Kind::op || x.op == Op::logical_not || y.op == Op::logical_not)
    return false;
  const bool whole = x.args == y.args && is_integer(node(x.args[0]).type);
  for (const auto &[one, other] : {std::pair(Op::eq, Op::ne), std::pair(Op::lt, Op::ge), std::pair(Op::gt, Op::le)})
    if (whole && ((x.op == one && y.op == other) || (x.op == other && y.op == one)))
      return true;
  return false;
}

// Rule "covered": (a || b) ? (a ? x : 0) + (b ? y : 0) : 0 is the sum alone.
bool Graph::covers(NodeId condition, NodeId value) {
  const Node n = node(value), c = node(condition);
  if (n.kind == Kind::sum)
    return std::all_of(n.args.begin(), n.args.end(), [&](NodeId term) { return covers(condition, term); });
  if (c.kind == Kind::either &&
      std::any_of(c.args.begin(), c.args.end(), [&](NodeId one) { return covers(one, value); }))
    return true;
  if (n.kind != Kind::choose)
    return asks_inside(condition, value);
  if (!is_zero(n.args[2]))
    return is_zero(n.args[1]) && opposite(n.args[0], condition);
  const NodeId asked = needed(condition, n.args[1]);
  return asked == kNoNode || asks_all(n.args[0], asked);
}

// Rule "nothing outside": what lies outside of a gradient reads as 0, also where nobody asks.
bool Graph::asks_inside(NodeId condition, NodeId read) {
  const Node n = node(read);
  if (n.kind != Kind::at || !kgen::is_floating(n.type))
    return false;
  NodeId inside = kNoNode;
  for (size_t i = 0; i < n.places.size(); ++i) {
    const NodeId place = n.args[i + 1];
    if (node(place).type != Type::i64)
      return false;
    inside = both(inside, lies_in(n.places[i], place));
  }
  return inside == condition;
}

// An element at its own place is inside.
NodeId Graph::inside(Node n) {
  bool own = true;
  for (size_t i = 0; i < n.places.size(); ++i)
    own = own && node(n.args[i]).kind == Kind::index && node(n.args[i]).axis == n.places[i];
  return own ? truth(true) : intern(std::move(n));
}

NodeId Graph::no(NodeId condition) { return op(Op::logical_not, {condition}, Type::boolean); }

} // namespace kgen::grad
