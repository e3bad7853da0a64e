// Loops: their bodies are nodes like others, which depend on the round.
#include <algorithm>
#include <set>

#include "grad/graph.h"
#include "support/check.h"

namespace kgen::grad {

using Kind = Node::Kind;

NodeId Graph::handed(const std::string &name, Type type, AxisSet axes) {
  Node n;
  n.kind = Kind::handed;
  n.name = name;
  n.type = type;
  n.axes = axes;
  n.which = ++handed_;
  return intern(n);
}

NodeId Graph::round(Type type) {
  Node n;
  n.kind = Kind::round;
  n.type = type;
  n.which = ++handed_;
  return intern(n);
}

std::vector<NodeId> Graph::body_of(const Loop &loop) const {
  std::set<NodeId> seen;
  std::vector<NodeId> open;
  for (const Loop::Variable &variable : loop.variables)
    open.push_back(variable.next);
  for (const Loop::Array &array : loop.arrays)
    open.push_back(array.value);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!node(id).in_loop || !seen.insert(id).second)
      continue;
    open.insert(open.end(), node(id).args.begin(), node(id).args.end());
  }
  return {seen.begin(), seen.end()};
}

std::vector<NodeId> Graph::outside_of(const Loop &loop) const {
  std::set<NodeId> out;
  const auto note = [&](NodeId id) {
    if (!node(id).in_loop && node(id).kind != Kind::number)
      out.insert(id);
  };
  for (NodeId id : body_of(loop))
    for (NodeId arg : node(id).args)
      note(arg);
  for (const Loop::Variable &variable : loop.variables)
    note(variable.next);
  for (const Loop::Array &array : loop.arrays)
    note(array.value);
  return {out.begin(), out.end()};
}

std::pair<int, size_t> Graph::variable_of(NodeId handed) const {
  for (size_t which = 0; which < loops_.size(); ++which)
    for (size_t v = 0; v < loops_[which].variables.size(); ++v)
      if (loops_[which].variables[v].found == handed)
        return {static_cast<int>(which), v};
  KGEN_UNREACHABLE("a value that no loop hands on");
}

void Graph::add_loop(Loop &loop) {
  std::vector<NodeId> args = outside_of(loop);
  for (const Loop::Variable &variable : loop.variables)
    args.push_back(variable.entry);
  if (loop.count != kNoNode)
    args.push_back(loop.count);
  int64_t results = 0;
  const auto result = [&](NodeId like) {
    Node n;
    n.kind = Kind::looped;
    n.which = static_cast<int>(loops_.size());
    n.integer = results++;
    n.type = node(like).type;
    n.axes = axes(like);
    n.args = args;
    return intern(n);
  };
  for (Loop::Variable &variable : loop.variables)
    variable.result = result(variable.found);
  for (Loop::Array &array : loop.arrays)
    array.result = result(array.value);
  loops_.push_back(loop);
}

NodeId Graph::element(NodeId array, NodeId round) {
  Node n;
  n.kind = Kind::element;
  n.type = node(array).type;
  n.args = {array, round};
  return intern(n);
}

} // namespace kgen::grad
