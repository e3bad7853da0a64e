// Sums that have all terms of another one: they take its value and add the rest. A gradient that is handed from step to
// step so has a few terms in each, and not those of all steps before.
#pragma once

#include <vector>

#include "grad/graph.h"

namespace kgen::grad {

// In what the values are made of; `stops`: what is known, whatever it is made of.
void nest_sums(Graph &graph, const std::vector<NodeId> &values, const std::map<NodeId, std::string> &stops);

} // namespace kgen::grad
