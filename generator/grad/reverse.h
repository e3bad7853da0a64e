// Reverse mode: from the gradients of the outputs back to those of the inputs, each node of the forward graph once,
// last ones first. The transpose of a broadcast is a sum over the axes that the argument lacks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grad/parts.h"
#include "grad/trace.h"

namespace kgen::grad {

// Of what is read at computed places, a sum over all lanes along `over` for each element along `places`.
struct Summed {
  AxisSet over;
  std::vector<AxisId> places;
};

// What an input gets: at its own places, in slices at constant places, stored by the lanes that read it, each of which
// has an element of its own, and added at places that are computed.
struct InputGradient {
  std::vector<Part> whole;
  std::map<AxisId, std::map<int64_t, std::vector<Part>>> slices;
  struct Addition {
    std::vector<std::pair<AxisId, NodeId>> places;
    Part part;
    Place place;
  };
  std::vector<Addition> additions;
  struct Stored {
    Addition there;
    std::optional<Part> whole; // the same at its own places: a sum over lanes
    bool may_add = false;      // or it is added
  };
  std::vector<Stored> stored;
  std::optional<Summed> summed;
};

struct Seed {
  VarId output;
  Part gradient;          // `d_z`, or 0 where that is absent; or a number
  NodeId given = kNoNode; // that it is present; kNoNode: always
};

struct Gradients {
  std::map<std::string, InputGradient> of; // by input or scalar
  std::map<NodeId, NodeId> names;          // gradients of forward nodes that have a name: this node is d_ of that
  // What others may be called, where that forward node has a name in the text: what it gets, what its argument gets,
  // its derivative.
  enum class Word { whole, argument, slope };
  std::map<NodeId, std::vector<std::pair<Word, NodeId>>> words;
  std::map<NodeId, Place> places; // the forward statement that a node of the gradient belongs to
  struct SummedNode {
    NodeId node;
    Summed summed;
    Place place; // of the read
  };
  std::vector<SummedNode> summed; // what is computed, and read at computed places
};

struct ReverseOptions {
  bool additions = true; // gathers give additions at computed places; else sums over all lanes
  std::set<std::string> wanted;
  std::set<std::string> kept_functions; // which parameters choose, or whose derivatives are given
};

Gradients reverse(const Kernel &kernel, Graph &graph, const Trace &trace, const std::vector<Seed> &seeds,
                  const ReverseOptions &options, Trouble &trouble);

// Where all that an input gets is stored by lanes that read it, and no two of them store one element: what they store,
// that of the same places together. Empty: it is not so.
std::vector<InputGradient::Addition> stored_alone(Graph &graph, const InputGradient &gradient);
// What cannot be stored by the lanes that read it is summed.
void settle_stored(Graph &graph, Gradients &gradients, Trouble &trouble);

} // namespace kgen::grad
