// Reads whose place moves on from round to round of a loop: at(x, T = first + step * round).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "grad/graph.h"

namespace kgen::grad {

struct PlaceOfRounds {
  AxisId axis = kNone;
  int64_t step = 0;
  NodeId first = kNoNode;                        // the place of round 0
  std::vector<std::pair<AxisId, NodeId>> others; // places along other axes, the same in all rounds
};
// Of a read of what no round changes.
std::optional<PlaceOfRounds> place_of_rounds(Graph &graph, const Node &read);

// Which round reads the element at index(axis), and whether one does: always where `exists` is kNoNode.
struct RoundOf {
  NodeId round = kNoNode, exists = kNoNode;
};
RoundOf round_of(Graph &graph, const PlaceOfRounds &place, NodeId rounds);

} // namespace kgen::grad
