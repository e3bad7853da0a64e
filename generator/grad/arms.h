// Places that are one of several, each in lanes of its own: max(N - 1, 0) is N - 1 in some lanes and 0 in the others.
// Of each one alone, the lane that reads an element can be computed.
#pragma once

#include <optional>
#include <vector>

#include "grad/graph.h"

namespace kgen::grad {

struct Arm {
  NodeId read, condition; // at the one place, where that is it
};

// Of a read at other places, where the condition holds; empty where no place is such a choice.
std::vector<Arm> arms_of(Graph &graph, NodeId read, NodeId condition);

// What the condition says that the remainder of a quotient is; none where it says nothing.
std::optional<int64_t> remainder_where(Graph &graph, NodeId quotient, NodeId condition);

} // namespace kgen::grad
