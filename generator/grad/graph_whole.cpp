// Rules for whole numbers: what is known of them, and how sums of them are joined.
#include "grad/graph.h"

#include <algorithm>
#include <cstdlib>

namespace kgen::grad {

using Kind = Node::Kind;

namespace {
constexpr int64_t kFew = 64; // multiples of what has a size, with which sums do not overflow

bool is_ordered(Op op) { return op == Op::lt || op == Op::le || op == Op::gt || op == Op::ge; }
} // namespace

// A whole number without the conversions that keep it as it is.
NodeId Graph::strip(NodeId id) const {
  const Node &n = node(id);
  if (n.kind != Kind::cast || !is_integer(n.type) || !is_integer(node(n.args[0]).type))
    return id;
  const Type from = node(n.args[0]).type;
  const bool same = is_unsigned(from) == is_unsigned(n.type) ? bytes_of(n.type) >= bytes_of(from)
                                                             : is_unsigned(from) && bytes_of(n.type) > bytes_of(from);
  return same ? strip(n.args[0]) : id;
}

// What a whole number is one of, as far as its outermost operation says it.
Graph::Range Graph::range_of(NodeId id) const {
  const Node &n = node(strip(id));
  if (n.kind == Kind::number)
    return {n.integer, n.integer};
  if (n.kind != Kind::op || n.args.size() < 2)
    return {};
  const Range a = range_of(n.args[0]), b = range_of(n.args[1]);
  switch (n.op) {
  case Op::clamp:
    return {b.low, range_of(n.args[2]).high};
  case Op::min:
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  case Op::max:
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  case Op::rem:
    return b.low > 0 && b.high < INT64_MAX ? Range{1 - b.high, b.high - 1} : Range{};
  case Op::bit_and:
    return b.low >= 0 ? Range{0, b.high} : Range{};
  default:
    return {};
  }
}

bool Graph::adds(const Node &n, Type type) {
  return n.kind == Kind::op && n.type == type && (n.op == Op::add || n.op == Op::sub || n.op == Op::neg);
}

// So many parts it is written with.
int Graph::parts_of_sum(NodeId id, Type type) const {
  const Node &n = node(id);
  if (!adds(n, type))
    return 1;
  return parts_of_sum(n.args[0], type) + (n.op == Op::neg ? 0 : parts_of_sum(n.args[1], type));
}

bool Graph::is_extent(NodeId id) const { return node(id).kind == Kind::index || node(id).kind == Kind::size; }

void Graph::add_terms(NodeId id, int64_t times, Terms &out) const {
  const Node &n = node(id);
  if (n.kind == Kind::op && n.op == Op::mul && n.type == out.type)
    for (const size_t at : {0, 1})
      if (const Node &by = node(n.args[at]); by.kind == Kind::number && std::abs(by.integer) <= kFew &&
                                             std::abs(times) <= kFew && is_extent(n.args[1 - at]))
        return add_terms(n.args[1 - at], times * by.integer, out);
  if (n.kind == Kind::number)
    out.add(times, n.integer);
  else if (adds(n, out.type)) {
    add_terms(n.args[0], n.op == Op::neg ? -times : times, out);
    if (n.op != Op::neg)
      add_terms(n.args[1], n.op == Op::add ? times : -times, out);
  } else if ((out.of[id] += times) == 0)
    out.of.erase(id);
}

Graph::Terms Graph::difference(NodeId a, NodeId b) const {
  Terms out;
  add_terms(a, 1, out);
  add_terms(b, -1, out);
  return out;
}

// What an index or a table's entry, which are at least 0, are less than.
NodeId Graph::end_of(NodeId id) {
  const Node &n = node(strip(id));
  if (n.kind == Kind::index)
    return size_of(n.axis);
  const auto known = n.kind == Kind::table ? table_ends_.find(n.name) : table_ends_.end();
  return known != table_ends_.end() ? known->second : kNoNode;
}

// Those that are computed of others.
std::vector<NodeId> Graph::sizes_in(const Terms &terms) const {
  std::vector<NodeId> out;
  for (const auto &[id, times] : terms.of)
    if (const Node &n = node(id);
        n.kind == Kind::size && !is_ragged(n.axis) && !(axis(n.axis).size == Size::axis(axis(n.axis).name)))
      out.push_back(id);
  return out;
}

// Sums of multiples of the sizes of other axes.
bool Graph::add_size(const Size &size, int64_t times, Terms &out) {
  switch (size.op) {
  case Size::Op::integer:
    out.add(times, size.value);
    return std::abs(size.value) <= INT32_MAX;
  case Size::Op::axis: {
    const auto found = std::find_if(axes_.begin(), axes_.end(), [&](const Axis &a) { return a.name == size.name; });
    if (found != axes_.end())
      add_terms(size_of(static_cast<AxisId>(found - axes_.begin())), times, out);
    return found != axes_.end();
  }
  case Size::Op::add:
  case Size::Op::subtract:
    return add_size(size.args[0], times, out) && add_size(size.args[1], size.op == Size::Op::add ? times : -times, out);
  case Size::Op::multiply:
    for (const size_t number : {0, 1})
      if (const Size &by = size.args[number]; by.is_integer() && std::abs(by.value) <= kFew && std::abs(times) <= kFew)
        return add_size(size.args[1 - number], times * by.value, out);
    return false;
  default:
    return false;
  }
}

// Of indices, which are less than the sizes of their axes, and of what has a range.
std::optional<int64_t> Graph::least_of(Terms terms) {
  constexpr int64_t kMost = 1 << 30; // numbers whose sums do not overflow
  for (const auto &[id, times] : Terms(terms).of)
    if (const NodeId end = end_of(id); end != kNoNode) {
      terms.of.erase(id);
      if (times < 0) {
        add_terms(end, times, terms);
        terms.constant -= times;
      }
    }
  for (const NodeId id : sizes_in(terms))
    if (const auto found = terms.of.find(id); found != terms.of.end()) {
      Terms with = terms;
      with.of.erase(id);
      if (add_size(axis(node(id).axis).size, found->second, with))
        terms = with;
    }
  int64_t least = terms.constant;
  for (const auto &[id, times] : terms.of) {
    const Range range = node(id).kind == Kind::size ? Range{0, INT64_MAX} : range_of(id);
    const int64_t end = times > 0 ? range.low : range.high;
    if (std::abs(times) > kFew || end < -kMost || end > kMost)
      return std::nullopt;
    least += times * end;
  }
  return std::abs(terms.constant) <= kMost ? std::optional(least) : std::nullopt;
}

// Rule "known comparisons": a whole number is equal to itself, an index is one of 0 to the size of its axis, and an
// entry of a table lies in the range that is declared.
std::optional<NodeId> Graph::known_comparison(Op op, NodeId a, NodeId b) {
  if (!is_ordered(op) && op != Op::eq && op != Op::ne)
    return std::nullopt;
  if (a == b)
    return truth(op == Op::eq || op == Op::le || op == Op::ge);
  const auto least = least_of(difference(a, b)), most = least_of(difference(b, a)); // of a - b, and of b - a
  const bool above = least && *least > 0, below = most && *most > 0, not_below = least && *least >= 0;
  const bool not_above = most && *most >= 0;
  switch (op) {
  case Op::lt:
  case Op::ge:
    return below || not_below ? std::optional(truth(below == (op == Op::lt))) : std::nullopt;
  case Op::gt:
  case Op::le:
    return above || not_above ? std::optional(truth(above == (op == Op::gt))) : std::nullopt;
  default:
    return above || below ? std::optional(truth(op == Op::ne)) : std::nullopt;
  }
}

bool Graph::is_known(Op relation, NodeId a, NodeId b) { return is_number(compare(relation, a, b), 1); }

// At each position of the axes: so `size(N) - 1` is not below 0.
bool Graph::is_below(NodeId low, NodeId high, AxisSet axes) {
  return is_known(Op::le, low, high) || std::ranges::any_of(axes.list(), [&](AxisId axis) {
           return is_known(Op::le, op(Op::add, {low, index(axis)}, node(low).type), high);
         });
}

// Rule "known comparisons": an index is its own magnitude, the larger one of it and 0, and within its axis. What does
// not hold of two whole numbers is the opposite, as none is NaN.
NodeId Graph::known_whole(Op op, const std::vector<NodeId> &args, Type type) {
  const Node first = node(args[0]);
  if (op == Op::logical_not && first.kind == Kind::op && is_ordered(first.op) && is_integer(node(first.args[0]).type))
    return this->op(negated(first.op), first.args, type);
  if (!is_integer(type))
    return kNoNode;
  if (op == Op::neg && first.kind == Kind::op && first.op == Op::neg)
    return first.args[0];
  if (op == Op::max || op == Op::min)
    for (const bool second : {false, true})
      if (is_known(op == Op::max ? Op::ge : Op::le, args[second], args[!second]))
        return args[second];
  if (op == Op::clamp && is_known(Op::ge, args[0], args[1]))
    return this->op(Op::min, {args[0], args[2]}, type);
  if (op == Op::clamp && is_known(Op::le, args[0], args[2]) && is_below(args[1], args[2], axes(args[0])))
    return this->op(Op::max, {args[0], args[1]}, type);
  if (op == Op::abs)
    for (const bool below : {false, true})
      if (is_known(below ? Op::le : Op::ge, args[0], integer(0)))
        return below ? this->op(Op::neg, args, type) : args[0];
  return kNoNode;
}

// What is added stands before what is subtracted.
NodeId Graph::sum_of(const Terms &terms) {
  NodeId out = kNoNode;
  const auto take = [&](NodeId part, bool added) {
    if (out == kNoNode)
      out = added ? part : op(Op::neg, {part}, terms.type);
    else
      out = op(added ? Op::add : Op::sub, {out, part}, terms.type);
  };
  const auto take_all = [&](bool added) {
    for (const auto &[id, times] : terms.of)
      if ((times > 0) == added)
        take(std::abs(times) == 1 ? id : op(Op::mul, {integer(std::abs(times), terms.type), id}, terms.type), added);
  };
  take_all(true);
  const bool begins = out == kNoNode && (terms.constant > 0 || terms.of.empty()); // with the number
  if (begins)
    take(integer(terms.constant, terms.type), true);
  take_all(false);
  if (terms.constant != 0 && !begins)
    take(integer(std::abs(terms.constant), terms.type), terms.constant > 0);
  return out;
}

int Graph::parts_of(const Terms &terms) {
  return std::max(static_cast<int>(terms.of.size()) + (terms.constant != 0 ? 1 : 0), 1);
}

// Do they read well, and do sums of few of them not overflow?
bool Graph::is_few(const Terms &terms) {
  return terms.constant >= -INT32_MAX && terms.constant <= INT32_MAX &&
         std::all_of(terms.of.begin(), terms.of.end(), [](const auto &term) { return std::abs(term.second) <= kFew; });
}

// Rule "whole numbers": n - i + 1 + i - 1 is n, and n - (i + 1) has no brackets. Sums that wrap around are the same.
NodeId Graph::shorter_sum(Op op, NodeId a, NodeId b, Type type) {
  if ((op != Op::add && op != Op::sub) || (type != Type::i32 && type != Type::i64))
    return kNoNode;
  Terms terms;
  terms.type = type;
  add_terms(a, 1, terms);
  add_terms(b, op == Op::add ? 1 : -1, terms);
  const int saved = parts_of_sum(a, type) + parts_of_sum(b, type) - parts_of(terms);
  const bool has_brackets = op == Op::sub && adds(node(b), type);
  return is_few(terms) && (saved > 0 || (saved == 0 && has_brackets)) ? sum_of(terms) : kNoNode;
}

// Rule "whole numbers": i - 1 >= 0 is i >= 1. Of indices and sizes, whose sums do not overflow.
NodeId Graph::shorter_comparison(Op op, NodeId a, NodeId b) {
  if (!is_ordered(op))
    return kNoNode;
  const Terms all = difference(a, b);
  const bool of_sizes = std::all_of(all.of.begin(), all.of.end(), [&](const auto &term) {
    return node(term.first).kind == Kind::index || node(term.first).kind == Kind::size;
  });
  if (!of_sizes || !is_few(all))
    return kNoNode;
  Terms left, right;
  for (const auto &[id, times] : all.of)
    (times > 0 ? left : right).of[id] = std::abs(times);
  (all.constant > 0 ? left : right).constant = std::abs(all.constant);
  const bool plain = parts_of(left) == 1 && parts_of(right) == 1; // longer ones may stand elsewhere as they are
  if (!plain || parts_of_sum(a, all.type) + parts_of_sum(b, all.type) == 2)
    return kNoNode;
  if (left.of.empty()) { // what is known stands on the right
    std::swap(left, right);
    op = mirrored(op);
  }
  return compare(op, sum_of(left), sum_of(right));
}

// The same in fewer words, if there are.
NodeId Graph::shorter(Op op, NodeId a, NodeId b, Type type) {
  if (op == Op::add)
    for (const auto &[one, other] : {std::pair(a, b), std::pair(b, a)})
      if (const NodeId whole = joined_digits(one, other); whole != kNoNode)
        return whole;
  if (const NodeId known = shorter_digits(op, a, b, type); known != kNoNode)
    return known;
  const NodeId sum = shorter_sum(op, a, b, type);
  return sum != kNoNode ? sum : shorter_comparison(op, a, b);
}

// Rule "digits": (2 * i + 1) / 2 is i, and (2 * i + 1) % 2 is 1, of indices; b * n % b is 0. A multiple of b has no
// part in the remainder: (b * n + i) % b is i % b.
NodeId Graph::shorter_digits(Op op, NodeId a, NodeId b, Type type) {
  const Node divided = node(a), by = node(b);
  const auto is_multiple = [&](NodeId id) {
    const Node &n = node(id);
    return id == b || (n.kind == Kind::op && n.op == Op::mul && std::ranges::count(n.args, b) != 0);
  };
  const auto is_natural = [&](NodeId id) { return is_number(compare(Op::ge, id, integer(0)), 1); };
  if (op == Op::rem && is_multiple(a))
    return integer(0, type);
  if (op == Op::rem && by.kind == Kind::size && divided.kind == Kind::op && divided.op == Op::add)
    for (const size_t rest : {0, 1})
      if (is_multiple(divided.args[1 - rest]) && is_natural(divided.args[1 - rest]) && is_natural(divided.args[rest]))
        return this->op(Op::rem, {divided.args[rest], b}, type);
  if ((op != Op::div && op != Op::rem) || by.kind != Kind::number || by.integer < 2 || divided.kind == Kind::number)
    return kNoNode;
  Terms all;
  all.type = type;
  add_terms(a, 1, all);
  const std::optional<int64_t> least = least_of(all);
  const bool whole =
      std::all_of(all.of.begin(), all.of.end(), [&](const auto &term) { return term.second % by.integer == 0; });
  if (!whole || all.constant < 0 || !least || *least < 0)
    return kNoNode;
  if (op == Op::rem)
    return integer(all.constant % by.integer, type);
  for (auto &[id, times] : all.of)
    times /= by.integer;
  all.constant /= by.integer;
  return sum_of(all);
}

// Rule "digits": (n / b) * b + n % b is n.
NodeId Graph::joined_digits(NodeId a, NodeId b) const {
  const Node &blocks = node(a), &rest = node(b);
  if (blocks.kind != Kind::op || blocks.op != Op::mul || rest.kind != Kind::op || rest.op != Op::rem)
    return kNoNode;
  for (const size_t by : {0, 1}) {
    const Node &quotient = node(blocks.args[1 - by]);
    if (blocks.args[by] == rest.args[1] && quotient.kind == Kind::op && quotient.op == Op::div &&
        quotient.args == rest.args)
      return rest.args[0];
  }
  return kNoNode;
}

} // namespace kgen::grad
