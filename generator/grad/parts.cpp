#include "grad/parts.h"

#include <algorithm>
#include <map>

#include "grad/moved.h"

namespace kgen::grad {

Part joined(Graph &graph, const std::vector<Part> &parts) {
  std::vector<Part> groups;
  for (const Part &part : parts) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const Part &other) { return other.condition == part.condition; });
    if (group == groups.end())
      groups.push_back(part);
    else
      group->value = graph.add(group->value, part.value);
  }
  if (groups.size() == 1)
    return groups[0];
  if (groups.size() == 2) {
    const NodeId first = graph.needed(groups[0].condition, groups[0].value);
    const NodeId second = graph.needed(groups[1].condition, groups[1].value);
    if (first != kNoNode && second != kNoNode && graph.opposite(first, second)) // one of them holds
      return {kNoNode, graph.choose(first, groups[0].value, groups[1].value), groups[0].later};
  }
  Part out{groups[0].condition, graph.number(0), groups[0].later};
  for (const Part &group : groups) {
    out.value = graph.add(out.value, graph.choose(group.condition, group.value, graph.number(0)));
    if (&group != &groups[0])
      out.condition = graph.either(out.condition, group.condition);
  }
  return out;
}

Part whole_of(Graph &graph, const std::vector<Part> &parts) {
  if (parts.empty())
    return {kNoNode, graph.number(0)};
  const bool alike =
      std::all_of(parts.begin(), parts.end(), [&](const Part &part) { return part.condition == parts[0].condition; });
  Part out = joined(graph, parts);
  if (alike)
    out.value = graph.choose(out.condition, out.value, graph.number(0));
  return out;
}

NodeId value_of(Graph &graph, const std::vector<Part> &parts) { return whole_of(graph, parts).value; }

namespace {
// !isinf(max(value, N))
bool asks_for_infinite_extreme(const Graph &graph, NodeId condition, NodeId value) {
  const Node &no = graph.node(condition);
  const Node *asked = no.kind == Node::Kind::op && no.op == Op::logical_not ? &graph.node(no.args[0]) : nullptr;
  if (asked == nullptr || asked->kind != Node::Kind::op || asked->op != Op::isinf)
    return false;
  const Node &extreme = graph.node(asked->args[0]);
  return extreme.kind == Node::Kind::fold && (extreme.monoid == Monoid::max || extreme.monoid == Monoid::min) &&
         extreme.args[0] == value;
}
} // namespace

void settle(Graph &graph, std::vector<Part> &parts, NodeId of) {
  if (graph.node(of).may_fail)
    return;
  for (Part &part : parts) {
    const NodeId rest = graph.without(
        part.condition, [&](NodeId condition) { return asks_for_infinite_extreme(graph, condition, of); });
    if (rest != part.condition)
      part = {rest, graph.choose(part.condition, part.value, graph.number(0)), part.later};
  }
}

Part part_there(Graph &graph, const Part &part, const std::vector<std::pair<AxisId, NodeId>> &places) {
  const std::map<AxisId, NodeId> by_axis(places.begin(), places.end());
  Part out = {moved(graph, part.condition, by_axis), moved(graph, part.value, by_axis), part.later};
  if (out.value == kNoNode || (part.condition != kNoNode && out.condition == kNoNode))
    out = {kNoNode, graph.at(value_of(graph, {part}), places), part.later};
  const Node read = graph.node(out.value);
  for (const auto &[axis, place] : places) // what is read along it is 0 outside
    if (read.kind != Node::Kind::at || std::count(read.places.begin(), read.places.end(), axis) == 0)
      out.condition = graph.both(out.condition, graph.lies_in(axis, place));
  return out;
}

} // namespace kgen::grad
