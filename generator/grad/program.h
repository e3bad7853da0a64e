// The statements of a backward kernel: which values have names, in which order they are computed, and what is said of
// them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "grad/functions.h"
#include "grad/reverse.h"
#include "grad/widths.h"

namespace kgen::grad {

// d_x = value; or at(d_x, C = 0) = value; or if (condition) at(d_x, V = token) += value;
struct Root {
  std::string target;
  std::vector<std::pair<AxisId, NodeId>> places;
  NodeId value = kNoNode, condition = kNoNode;
  bool adds = false;
};

struct Program {
  std::string body;
  std::set<std::string> operands;  // that it reads: inputs, outputs of the forward, gradients, scalars, tables
  std::set<std::string> functions; // parameters and library functions that it calls
  std::map<std::string, CalledDerivatives> derivatives; // of parameters
  std::set<AxisId> made;                                // axes that the forward kernel does not have
  AxisSet axes;                                         // that it goes along
  NodeId unknown = kNoNode;                             // a value that it needs and nobody knows
};

struct Naming {
  std::set<std::string> taken;
  std::string prefix = "d_";
  std::map<NodeId, std::string> given; // names that some nodes have
  std::string (*statement)(const Spec &, const Place &) = nullptr;
};

Program write_program(const Spec &spec, Graph &graph, const Trace &trace, const Gradients &gradients,
                      const std::vector<Root> &roots, const Naming &naming, const Widths &widths);

} // namespace kgen::grad
