// What a value gets from all that is made of it.
#pragma once

#include <utility>
#include <vector>

#include "grad/graph.h"

namespace kgen::grad {

// A gradient of something, where a condition holds; elsewhere it is exactly 0, whatever the value would be.
struct Part {
  NodeId condition = kNoNode; // always
  NodeId value = kNoNode;
  AxisSet later = {}; // in a loop: further lanes, each with a part of its own, that are summed behind it
};

// One value of all parts, and where it is not just 0.
Part whole_of(Graph &graph, const std::vector<Part> &parts);
NodeId value_of(Graph &graph, const std::vector<Part> &parts);
// The same, of which the value counts only where the condition holds.
Part joined(Graph &graph, const std::vector<Part> &parts);
// Rule "infinite extremes": where the greatest value is infinite, as `logsumexp` asks, each of them gets 0. What they
// are made of need not ask again, where they are numbers if their inputs are: 0 times a number is 0.
void settle(Graph &graph, std::vector<Part> &parts, NodeId of);
// That of what is at other places. There is none outside.
Part part_there(Graph &graph, const Part &part, const std::vector<std::pair<AxisId, NodeId>> &places);

} // namespace kgen::grad
