#include "grad/squares.h"

namespace kgen::grad {

bool is_square(const Node &n) { return n.kind == Node::Kind::op && n.op == Op::mul && n.args[0] == n.args[1]; }

bool find_squares(const Graph &graph, NodeId sum, std::vector<NodeId> &out) {
  const Node &n = graph.node(sum);
  if (n.kind == Node::Kind::op && n.op == Op::add)
    return find_squares(graph, n.args[0], out) && find_squares(graph, n.args[1], out);
  out.push_back(sum);
  const bool folds = n.kind == Node::Kind::fold && (n.monoid == Monoid::sum || n.monoid == Monoid::mean);
  return is_square(n) || (folds && is_square(graph.node(n.args[0])));
}

} // namespace kgen::grad
