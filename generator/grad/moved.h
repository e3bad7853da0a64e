// Nodes at other places: what they are made of is asked for there.
#pragma once

#include <map>

#include "grad/graph.h"

namespace kgen::grad {

// The node with other places for some axes; kNoNode where that cannot be said. Of some nodes it is known what they are
// there.
NodeId moved(Graph &graph, NodeId node, const std::map<AxisId, NodeId> &places,
             const std::map<NodeId, NodeId> &known = {});

// The same, computed there however much it is. (Else it is read there.)
NodeId computed_there(Graph &graph, NodeId node, const std::map<AxisId, NodeId> &places);

} // namespace kgen::grad
