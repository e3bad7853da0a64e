#include "grad/place_of_rounds.h"

#include <cstdlib>

#include "grad/affine.h"

namespace kgen::grad {

using Kind = Node::Kind;

namespace {

struct Linear {
  int64_t step = 0; // by which it grows in each round
  NodeId first = kNoNode;
};

std::optional<Linear> linear(Graph &graph, NodeId id) {
  id = graph.strip(id);
  const Node n = graph.node(id);
  if (n.kind == Kind::round)
    return Linear{1, graph.integer(0)};
  if (!n.in_loop)
    return Linear{0, wide(graph, id)};
  if (n.kind != Kind::op)
    return std::nullopt;
  std::vector<Linear> args;
  for (NodeId arg : n.args)
    if (const auto one = linear(graph, arg))
      args.push_back(*one);
    else
      return std::nullopt;
  switch (n.op) {
  case Op::add:
  case Op::sub:
    return Linear{args[0].step + (n.op == Op::add ? args[1].step : -args[1].step),
                  plus(graph, args[0].first, args[1].first, n.op)};
  case Op::neg:
    return Linear{-args[0].step, graph.op(Op::neg, {args[0].first}, Type::i64)};
  case Op::mul:
    for (const size_t which : {0, 1})
      if (const Node factor = graph.node(args[which].first); args[which].step == 0 && factor.kind == Kind::number)
        return Linear{args[1 - which].step * factor.integer,
                      times_of(graph, args[1 - which].first, factor.integer, kNoNode)};
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<PlaceOfRounds> place_of_rounds(Graph &graph, const Node &read) {
  PlaceOfRounds out;
  if (graph.node(read.args[0]).in_loop)
    return std::nullopt;
  for (size_t i = 0; i < read.places.size(); ++i) {
    const NodeId place = read.args[i + 1];
    if (!graph.node(place).in_loop) {
      out.others.emplace_back(read.places[i], place);
      continue;
    }
    const auto moves = linear(graph, place);
    if (out.axis != kNone || !moves || moves->step == 0)
      return std::nullopt;
    out.axis = read.places[i];
    out.step = moves->step;
    out.first = moves->first;
  }
  return out.axis == kNone ? std::nullopt : std::optional(out);
}

RoundOf round_of(Graph &graph, const PlaceOfRounds &place, NodeId rounds) {
  const NodeId index = graph.index(place.axis), zero = graph.integer(0);
  const NodeId step = graph.integer(std::abs(place.step));
  const NodeId from =
      place.step > 0 ? plus(graph, index, place.first, Op::sub) : plus(graph, place.first, index, Op::sub);
  const NodeId end = graph.op(Op::mul, {step, wide(graph, rounds)}, Type::i64);
  NodeId exists = graph.both(graph.compare(Op::ge, from, zero), graph.compare(Op::lt, from, end));
  if (std::abs(place.step) > 1)
    exists = graph.both(exists, graph.compare(Op::eq, graph.op(Op::rem, {from, step}, Type::i64), zero));
  if (graph.is_number(exists, 1))
    exists = kNoNode;
  return {std::abs(place.step) > 1 ? graph.op(Op::div, {from, step}, Type::i64) : from, exists};
}

} // namespace kgen::grad
