// Rule "steady shift": a maximum or minimum that everything is shifted by and that cancels in the end, as that of a
// softmax does, has no gradient.
#pragma once

#include <set>

#include "grad/graph.h"

namespace kgen::grad {

// Folds whose value may be shifted by any number without a change in one of `roots`. Of the first `count` nodes.
std::set<NodeId> steady_extremes(const Graph &graph, const std::vector<NodeId> &roots, NodeId count);

} // namespace kgen::grad
