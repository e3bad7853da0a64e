#include "grad/arms.h"

#include <algorithm>

#include "grad/transpose.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

struct Choice {
  NodeId place, condition;
};

constexpr int64_t kMostArms = 32;      // borders of three directions have 27
constexpr int64_t kMostRemainders = 4; // of which each has a read of its own

NodeId remainder_is(Graph &graph, const Node &quotient, int64_t rest) {
  return graph.compare(Op::eq, graph.op(Op::rem, quotient.args, quotient.type), graph.integer(rest));
}

std::vector<Choice> by_remainder(Graph &graph, NodeId quotient, NodeId condition) {
  const Node n = graph.node(graph.strip(quotient));
  if (n.kind != Kind::op || n.op != Op::div)
    return {};
  const Node by = graph.node(graph.strip(n.args[1]));
  if (by.kind != Kind::number || by.integer < 2 || by.integer > kMostRemainders ||
      !graph.is_number(graph.compare(Op::ge, n.args[0], graph.integer(0)), 1) ||
      remainder_where(graph, quotient, condition))
    return {};
  std::vector<Choice> out;
  for (int64_t rest = 0; rest < by.integer; ++rest)
    out.push_back({quotient, remainder_is(graph, n, rest)});
  return out;
}

// i ^ 1, the other one of two neighbours.
std::vector<Choice> neighbours_of(Graph &graph, const Node &n) {
  for (const size_t number : {1, 0})
    if (const NodeId place = n.args[1 - number]; graph.is_number(graph.strip(n.args[number]), 1) &&
                                                 graph.is_number(graph.compare(Op::ge, place, graph.integer(0)), 1)) {
      const NodeId one = graph.integer(1, n.type);
      const NodeId last_bit = graph.op(Op::rem, {place, graph.integer(2, n.type)}, n.type);
      return {{graph.op(Op::add, {place, one}, n.type), graph.compare(Op::eq, last_bit, graph.integer(0, n.type))},
              {graph.op(Op::sub, {place, one}, n.type), graph.compare(Op::eq, last_bit, one)}};
    }
  return {};
}

// Also in a sum, a difference or a multiple, which then has an arm for each of the choice's.
std::vector<Choice> choices_of(Graph &graph, NodeId place) {
  const Node n = graph.node(graph.strip(place));
  if (n.kind == Kind::choose)
    return {{n.args[1], n.args[0]}, {n.args[2], graph.no(n.args[0])}};
  const auto two = [&](Op where, Op elsewhere, NodeId bound, NodeId other) -> std::vector<Choice> {
    return {{n.args[0], graph.compare(where, n.args[0], bound)}, {other, graph.compare(elsewhere, n.args[0], bound)}};
  };
  if (n.kind != Kind::op)
    return {};
  switch (n.op) {
  case Op::bit_xor:
    return neighbours_of(graph, n);
  case Op::max:
    return two(Op::gt, Op::le, n.args[1], n.args[1]);
  case Op::min:
    return two(Op::lt, Op::ge, n.args[1], n.args[1]);
  case Op::abs:
    return two(Op::ge, Op::lt, graph.integer(0), graph.op(Op::neg, {n.args[0]}, n.type));
  case Op::clamp:
    return choices_of(graph, graph.op(Op::min, {graph.op(Op::max, {n.args[0], n.args[1]}, n.type), n.args[2]}, n.type));
  case Op::add:
  case Op::sub:
  case Op::mul:
  case Op::neg:
    for (size_t i = 0; i < n.args.size(); ++i)
      if (std::vector<Choice> out = choices_of(graph, n.args[i]); !out.empty()) {
        for (Choice &choice : out) {
          std::vector<NodeId> args = n.args;
          args[i] = choice.place;
          choice.place = graph.op(n.op, args, n.type);
        }
        return out;
      }
    return {};
  default:
    return {};
  }
}

// Of the choices inside of each other.
int64_t count_of(Graph &graph, NodeId place) {
  int64_t out = 0;
  for (const Choice &choice : choices_of(graph, place))
    out += count_of(graph, choice.place);
  return std::max<int64_t>(out, 1);
}

} // namespace

std::vector<Arm> arms_of(Graph &graph, NodeId read, NodeId condition) {
  const Node n = graph.node(read);
  const auto is_known = [&](size_t i) { return !reads_memory(graph, n.args[i + 1]); }; // else no lane is, for no arm
  int64_t all = 1;
  for (size_t i = 0; i < n.places.size() && all <= kMostArms; ++i)
    all *= is_known(i) ? count_of(graph, n.args[i + 1]) : 1;
  if (all > kMostArms)
    return {};
  for (size_t i = 0; i < n.places.size(); ++i) {
    if (!is_known(i))
      continue;
    std::vector<Choice> choices = choices_of(graph, n.args[i + 1]);
    if (choices.empty())
      choices = by_remainder(graph, n.args[i + 1], condition);
    std::vector<Arm> out;
    for (const Choice &choice : choices) {
      std::vector<std::pair<AxisId, NodeId>> places;
      for (size_t j = 0; j < n.places.size(); ++j)
        places.emplace_back(n.places[j], j == i ? choice.place : n.args[j + 1]);
      out.push_back({graph.at(n.args[0], places), choice.condition});
    }
    if (!out.empty())
      return out;
  }
  return {};
}

std::optional<int64_t> remainder_where(Graph &graph, NodeId quotient, NodeId condition) {
  const Node n = graph.node(graph.strip(quotient));
  if (n.kind != Kind::op || n.op != Op::div || condition == kNoNode)
    return std::nullopt;
  const NodeId divisor = graph.strip(n.args[1]);
  const Node by = graph.node(divisor);
  constexpr int64_t kLargest = 64;
  const int64_t rests = by.kind == Kind::number ? by.integer : graph.is_stride(divisor) ? 1 : 0;
  for (int64_t rest = 0; rest < std::min(rests, kLargest); ++rest)
    if (graph.asks(condition, remainder_is(graph, n, rest)))
      return rest;
  return std::nullopt;
}

} // namespace kgen::grad
