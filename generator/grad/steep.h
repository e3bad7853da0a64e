// Where derivatives may be infinite, or no numbers, though their arguments are numbers.
#pragma once

#include <map>

#include "grad/graph.h"

namespace kgen::grad {

class Steep {
public:
  explicit Steep(const Graph &graph) : graph_(graph) {}

  bool may_be(NodeId id); // of the forward kernel, or anything that it is made of

private:
  bool by_itself(const Node &n) const;
  bool is_apart_from_0(NodeId id) const;
  bool is_positive(NodeId id) const;
  bool is_no_less(NodeId id) const;
  bool is_below_maximum(NodeId id) const;

  const Graph &graph_;
  std::map<NodeId, bool> known_;
};

} // namespace kgen::grad
