// The transpose of a read at other places: what each element of the array gets from all lanes that read it.
#pragma once

#include <optional>

#include "grad/reverse.h"

namespace kgen::grad {

// `read` is a node at(base, ...); `lanes` are all along which its gradient `part` counts.
struct Transposed {
  std::optional<Part> part;                        // at the base's own places
  std::optional<std::pair<AxisId, int64_t>> slice; // `part` is for this place of the axis alone
  bool summed = false;                             // over lanes, of which it is not known that there is one at most
};
std::optional<Transposed> transpose(Graph &graph, NodeId read, const Part &part, AxisSet lanes);

// Must its places be computed from values, so that no lane is known to read an element?
bool is_gather(const Graph &graph, NodeId read);

// The node with other places for some axes; kNoNode where that cannot be said. Of some nodes it is known what they are
// there.
NodeId moved(Graph &graph, NodeId node, const std::map<AxisId, NodeId> &places,
             const std::map<NodeId, NodeId> &known = {});

} // namespace kgen::grad
