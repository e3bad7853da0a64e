// What values are called that have no name, by what they do and what they are made of: sum_x, x_at_token, one_minus_z.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "grad/graph.h"

namespace kgen::grad {

// at(p, C = 0)
bool is_slice(const Graph &graph, const Node &n);

class Words {
public:
  // `names`: of those that have one, by now; `prefix`: of gradients.
  Words(const Graph &graph, const std::map<NodeId, std::string> &names, const std::string &prefix)
      : graph_(graph), names_(names), prefix_(prefix) {}

  // And whether it is the next one of that role.
  std::pair<std::string, bool> role_of(NodeId id) const;
  // What tells it from others of its role; empty: nothing does.
  std::string along(NodeId id) const;
  std::string operand_beside(NodeId id) const;

private:
  std::string operand(NodeId id) const;
  std::string description(NodeId id) const;
  std::string of_two(const Node &n) const;
  std::string gradient_among(const Node &n) const;
  std::string place_of(const Node &at) const;

  const Graph &graph_;
  const std::map<NodeId, std::string> &names_;
  const std::string &prefix_;
};

} // namespace kgen::grad
