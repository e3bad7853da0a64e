// The transpose of a read at other places: what each element of the array gets from all lanes that read it.
#pragma once

#include <optional>

#include "grad/moved.h"
#include "grad/reverse.h"

namespace kgen::grad {

// `read` is a node at(base, ...); `lanes` are all along which its gradient `part` counts.
struct Transposed {
  std::optional<Part> part;                        // at the base's own places
  std::optional<std::pair<AxisId, int64_t>> slice; // `part` is for this place of the axis alone
  bool summed = false; // over lanes of which not each is known, or for places that rows of other lengths lack
};
std::optional<Transposed> transpose(Graph &graph, NodeId read, const Part &part, AxisSet lanes);

// Does each lane read an element of its own? Each axis of the lanes is then an index times a number, and others that
// the lanes share, at one place of the array, or says which entry of a table whose entries differ.
bool has_own_element(Graph &graph, NodeId read, AxisSet lanes, const std::vector<Table> &tables);

// Does the value depend on what arrays or tables hold?
bool reads_memory(const Graph &graph, NodeId id);

// Are two places along an axis different for all lanes?
bool never_meet(Graph &graph, NodeId a, NodeId b);

// Must its places be computed from values or in floating numbers, so that no lane is known to read an element? Those
// that a sorted table picks are known: a segment of the table reads each element.
bool is_gather(Graph &graph, NodeId read, AxisSet lanes, const std::vector<Table> &tables);

} // namespace kgen::grad
