// Which optional inputs a value reads without having asked whether they are there: a name for it, which is computed in
// any case, must ask first.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "grad/graph.h"

namespace kgen::grad {

class Absent {
public:
  using Inputs = std::set<std::string>;
  // What is named asks for itself, and so does a loop; what is saved is read.
  Absent(const Graph &graph, Inputs optional, const std::set<NodeId> &named, const std::map<NodeId, std::string> &saved)
      : graph_(graph), optional_(std::move(optional)), named_(named), saved_(saved) {}

  const Inputs &read_by(NodeId id);                           // asked for once what it is made of has its names
  Inputs asked_by(NodeId condition, bool value = true) const; // those that are there if it has this value
  // Those that a term of a sum must ask for itself, as others add something where these are absent.
  Inputs read_by_term(const Node &sum, NodeId term);

private:
  Inputs find(const Node &n);
  Inputs read_by_all(const Node &sum);
  void add(Inputs &out, NodeId id, const Inputs &known = {});

  const Graph &graph_;
  const Inputs optional_;
  const std::set<NodeId> &named_;
  const std::map<NodeId, std::string> &saved_;
  std::map<NodeId, Inputs> reads_;
};

} // namespace kgen::grad
