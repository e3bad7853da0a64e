// Each value is written once: sums that have all terms of another sum take its value and add the rest, and products
// that have all factors of another product multiply it by the rest. A difference that the forward kernel computes is
// that one. A gradient that is handed from step to step so has a few terms in each, and not those of all steps before.
#pragma once

#include <vector>

#include "grad/graph.h"

namespace kgen::grad {

// Others by which values may be written: those that have a name anyway, and those that are worth it where several
// values take them up.
struct Others {
  std::vector<NodeId> named, shared;
};

// In what the values are made of; `stops`: what is known, whatever it is made of.
void nest(Graph &graph, const std::vector<NodeId> &values, const Others &others,
          const std::map<NodeId, std::string> &stops);

} // namespace kgen::grad
