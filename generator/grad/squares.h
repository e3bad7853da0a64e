// Sums of squares.
#pragma once

#include "grad/graph.h"

namespace kgen::grad {

bool is_square(const Node &n); // x * x, or square(x)

// Sums and means of squares, each perhaps times a positive number: 0 only where all of them are.
bool is_sum_of_squares(const Graph &graph, NodeId id);
// Of two arguments that are multiplied, of which one is a positive number: which one is not.
size_t scaled_argument(const Graph &graph, const Node &product);

} // namespace kgen::grad
