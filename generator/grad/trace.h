// The forward kernel as a graph: each variable is what was assigned to it last, and an assignment under a condition is
// a choice between the value and what the variable held before.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grad/graph.h"
#include "grad/steps.h"
#include "grad/trouble.h"

namespace kgen::grad {

// at(o, N = e) = value, or += value.
struct Store {
  VarId output;
  std::vector<std::pair<AxisId, NodeId>> places;
  NodeId value, condition;
  bool adds;
  Place place;
};

// What an output holds behind `at(o, N = e) += value`, at places that are computed, where it is read again.
struct Scattered {
  NodeId before; // what it held before
  Store store;
};

// A value that the trace does not follow: a gradient that needs it is refused.
struct Unknown {
  std::string what;
  Place place;
  std::string help;
};

struct Trace {
  std::map<NodeId, Unknown> unknown;
  std::map<VarId, NodeId> outputs; // what each output holds in the end, where it is written at its own places
  std::vector<Store> stores;
  std::map<NodeId, Scattered> scattered; // only the last one of an output is known, by what the output holds
  std::map<NodeId, std::string> names;   // of the forward's locals
  std::map<NodeId, Place> places;        // the statement that computes it
  std::map<NodeId, std::string> saved;   // what an output holds in the end: it need not be computed again
  std::set<std::string> written_over;    // inputs whose memory an output takes
  std::vector<AxisId> steps;             // axes that stand for the grid and its blocks
};

// `graph` has the kernel's axes, and gets those of its grid.
// `exact`: the outputs of which the backward kernel may read what they hold.
Trace trace(const Kernel &kernel, const WholeDims &dims, Graph &graph, const std::set<std::string> &exact,
            Trouble &trouble);

} // namespace kgen::grad
