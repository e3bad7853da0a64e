// What a variable holds when a step of the grid begins, of all steps at once: the value that a step leaves is a
// function of the one it found, and where that is a sum, a greatest value or a linear recurrence, a scan over the steps
// says it.
#pragma once

#include <optional>
#include <vector>

#include "grad/graph.h"

namespace kgen::grad {

struct Carried {
  NodeId found = kNoNode;    // at the beginning of a step
  NodeId left = kNoNode;     // at its end, in terms of `found`
  std::vector<AxisId> along; // the steps, outermost first
};

struct Scanned {
  NodeId found = kNoNode; // in each step
  NodeId last = kNoNode;  // what the last step leaves
};

// nullopt: it is none of these; perhaps because an element of it is a sum of others (`mixes`).
std::optional<Scanned> found_by_scan(Graph &graph, const Carried &carried, bool *mixes = nullptr);

} // namespace kgen::grad
