#include "grad/squares.h"

namespace kgen::grad {

using Kind = Node::Kind;

bool is_square(const Node &n) {
  return (n.kind == Kind::op && n.op == Op::mul && n.args[0] == n.args[1]) ||
         (n.kind == Kind::call && n.name == "square");
}

namespace {

bool is_at_most_0(const Graph &graph, NodeId id) {
  const Node &n = graph.node(id);
  return n.kind == Kind::number && (kgen::is_floating(n.type) ? n.number <= 0 : n.integer <= 0);
}

} // namespace

bool is_sum_of_squares(const Graph &graph, NodeId id) {
  const Node &n = graph.node(id);
  const auto is_sum = [&](size_t arg) { return is_sum_of_squares(graph, n.args[arg]); };
  if (is_square(n))
    return true;
  if (n.kind == Kind::fold)
    return (n.monoid == Monoid::sum || n.monoid == Monoid::mean) && is_sum(0);
  if (n.kind != Kind::op)
    return false;
  switch (n.op) {
  case Op::add:
    return is_sum(0) && is_sum(1);
  case Op::mul:
    return (graph.is_positive_constant(n.args[0]) && is_sum(1)) || (is_sum(0) && graph.is_positive_constant(n.args[1]));
  case Op::div:
    return is_sum(0) && graph.is_positive_constant(n.args[1]);
  case Op::max: // max(sum, 0)
    return is_sum(0) && is_at_most_0(graph, n.args[1]);
  default:
    return false;
  }
}

size_t scaled_argument(const Graph &graph, const Node &product) {
  return graph.is_positive_constant(product.args[0]) ? 1 : 0;
}

} // namespace kgen::grad
