// Sums of squares.
#pragma once

#include <vector>

#include "grad/graph.h"

namespace kgen::grad {

bool is_square(const Node &n); // x * x

// What a sum adds up: squares, and sums and means of squares along axes. False: something else, too.
bool find_squares(const Graph &graph, NodeId sum, std::vector<NodeId> &out);

} // namespace kgen::grad
