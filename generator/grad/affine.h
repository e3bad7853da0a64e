// Places as sums of indices, each taken so many times, and the whole numbers that they are made of.
#pragma once

#include <cstdlib>
#include <map>

#include "grad/graph.h"

namespace kgen::grad {

// So many times an index is taken: a number times the product of strides, which are greater than 0.
struct Times {
  int64_t number = 0;
  NodeId strides = kNoNode;

  bool is_one() const { return std::abs(number) == 1 && strides == kNoNode; }
};

// Sum of times * index(axis) and a rest.
struct Affine {
  std::map<AxisId, Times> times;
  NodeId rest = kNoNode;
  bool good = true;
};

NodeId wide(Graph &graph, NodeId id); // in 64 bits
NodeId plus(Graph &graph, NodeId a, NodeId b, Op op = Op::add);
NodeId times_of(Graph &graph, NodeId node, int64_t number, NodeId strides);
Affine affine(Graph &graph, NodeId id);
// With quotients and remainders instead of bits, of what is not negative: i >> 3 is i / 8, and i & -8 is i - i % 8.
NodeId without_bits(Graph &graph, NodeId id);

} // namespace kgen::grad
