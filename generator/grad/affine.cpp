#include "grad/affine.h"

#include <cstdlib>
#include <optional>

namespace kgen::grad {

using Kind = Node::Kind;

NodeId wide(Graph &graph, NodeId id) {
  if (graph.node(id).type == Type::i64)
    return id;
  if (graph.node(id).kind == Kind::number)
    return graph.integer(graph.node(id).integer);
  Node n;
  n.kind = Kind::cast;
  n.type = Type::i64;
  n.args = {id};
  return graph.intern(n);
}

NodeId plus(Graph &graph, NodeId a, NodeId b, Op op) {
  a = wide(graph, a), b = wide(graph, b);
  const Node &x = graph.node(a);
  if (op == Op::sub && x.kind == Kind::number && x.integer == 0)
    return graph.op(Op::neg, {b}, Type::i64);
  const Node &y = graph.node(b);
  if (y.kind == Kind::number && y.integer < 0) {
    const NodeId positive = graph.integer(-y.integer);
    return graph.op(op == Op::add ? Op::sub : Op::add, {a, positive}, Type::i64);
  }
  return graph.op(op, {a, b}, Type::i64);
}

NodeId times_of(Graph &graph, NodeId node, int64_t number, NodeId strides) {
  if (strides != kNoNode)
    node = graph.is_number(node, 1) ? strides : graph.op(Op::mul, {strides, wide(graph, node)}, Type::i64);
  return graph.op(Op::mul, {graph.integer(number), wide(graph, node)}, Type::i64);
}

namespace {

Affine scaled(Graph &graph, Affine a, int64_t number, NodeId stride = kNoNode) {
  for (auto &[axis, times] : a.times) {
    times.number *= number;
    if (stride != kNoNode)
      times.strides = times.strides == kNoNode ? stride : times_of(graph, stride, 1, times.strides);
  }
  if (graph.is_number(a.rest, 0))
    return a;
  a.rest = stride != kNoNode ? times_of(graph, a.rest, number, stride)
           : number == -1    ? graph.op(Op::neg, {wide(graph, a.rest)}, Type::i64)
                             : graph.op(Op::mul, {wide(graph, a.rest), graph.integer(number)}, Type::i64);
  return a;
}

// Nothing, where an index is taken so many times that neither a number nor a product says it.
std::optional<Affine> sum(Graph &graph, Affine a, const Affine &b, Op op) {
  for (const auto &[axis, times] : b.times) {
    Times &both = a.times[axis];
    if (both.number != 0 && both.strides != times.strides)
      return std::nullopt;
    both = {both.number + (op == Op::add ? times.number : -times.number), times.strides};
  }
  if (!graph.is_number(b.rest, 0))
    a.rest = plus(graph, a.rest, b.rest, op);
  a.good = a.good && b.good;
  return a;
}

} // namespace

Affine affine(Graph &graph, NodeId id) {
  id = graph.strip(id);
  const Node n = graph.node(id);
  if (n.kind == Kind::index)
    return {{{n.axis, {1, kNoNode}}}, graph.integer(0), true};
  if (n.kind == Kind::op && (n.op == Op::add || n.op == Op::sub))
    if (const auto out = sum(graph, affine(graph, n.args[0]), affine(graph, n.args[1]), n.op))
      return *out;
  if (n.kind == Kind::op && n.op == Op::neg)
    return scaled(graph, affine(graph, n.args[0]), -1);
  if (n.kind == Kind::op && n.op == Op::mul)
    for (const size_t which : {0, 1}) {
      const NodeId factor = graph.strip(n.args[which]), other = n.args[1 - which];
      if (const Node number = graph.node(factor); number.kind == Kind::number)
        return scaled(graph, affine(graph, other), number.integer);
      if (graph.is_stride(factor))
        return scaled(graph, affine(graph, other), 1, wide(graph, factor));
    }
  return {{}, id, false}; // it may hold indices that are not seen
}

NodeId without_bits(Graph &graph, NodeId id) {
  Node n = graph.node(graph.strip(id));
  if (n.kind != Kind::op)
    return id;
  for (NodeId &arg : n.args)
    arg = without_bits(graph, arg);
  const Node bits = n.args.size() == 2 ? graph.node(graph.strip(n.args[1])) : Node();
  const bool is_number = bits.kind == Kind::number && is_integer(bits.type);
  const bool is_natural = is_number && graph.is_number(graph.compare(Op::ge, n.args[0], graph.integer(0)), 1);
  const auto is_power = [](int64_t value) { return value > 0 && (value & (value - 1)) == 0; };
  const auto with = [&](Op op, int64_t number) {
    return graph.op(op, {n.args[0], graph.integer(number, n.type)}, n.type);
  };
  constexpr int64_t kFew = 6;
  if (n.op == Op::shl && is_number && bits.integer >= 0 && bits.integer <= kFew)
    return with(Op::mul, int64_t{1} << bits.integer);
  if (n.op == Op::shr && is_natural && bits.integer >= 0 && bits.integer < 31)
    return with(Op::div, int64_t{1} << bits.integer);
  if (n.op == Op::bit_and && is_natural && bits.integer < INT32_MAX && is_power(bits.integer + 1))
    return with(Op::rem, bits.integer + 1);
  if (n.op == Op::bit_and && is_natural && bits.integer > INT32_MIN && is_power(-bits.integer))
    return graph.op(Op::sub, {n.args[0], with(Op::rem, -bits.integer)}, n.type);
  return graph.op(n.op, n.args, n.type);
}

} // namespace kgen::grad
