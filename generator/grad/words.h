// What values are called that have no name: sum_x, x_there.
#pragma once

#include <string>
#include <utility>

#include "grad/graph.h"

namespace kgen::grad {

// A word for the operation, and whether it stands before what it is of.
std::pair<std::string, bool> word_of(const Graph &graph, NodeId id);

} // namespace kgen::grad
