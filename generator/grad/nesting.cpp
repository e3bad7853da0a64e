#include "grad/nested_sums.h"

#include <algorithm>
#include <map>
#include <set>

namespace kgen::grad {
namespace {

class Nesting {
public:
  Nesting(Graph &graph, const std::map<NodeId, std::string> &stops) : graph_(graph), stops_(stops) {}

  void visit(NodeId id) {
    if (id == kNoNode || !seen_.insert(id).second || stops_.count(id) != 0)
      return;
    const Node &n = graph_.node(id);
    if (n.kind == Node::Kind::sum && !n.in_loop) {
      sums_.push_back(id);
      for (NodeId term : n.args)
        having_[term].push_back(id);
    }
    for (NodeId arg : n.args)
      visit(arg);
  }

  // All are asked as they were, so that it does not matter which comes first.
  void run() {
    std::vector<std::pair<NodeId, std::vector<NodeId>>> found;
    for (NodeId sum : sums_)
      if (std::vector<NodeId> terms = nested(sum); terms.size() < graph_.node(sum).args.size())
        found.emplace_back(sum, std::move(terms));
    for (auto &[sum, terms] : found)
      graph_.nest(sum, std::move(terms));
  }

private:
  // Its terms, of which some are other sums.
  std::vector<NodeId> nested(NodeId sum) const {
    std::vector<NodeId> rest = graph_.node(sum).args, out;
    for (NodeId part = largest_within(sum, rest); part != kNoNode; part = largest_within(sum, rest)) {
      const std::vector<NodeId> &terms = graph_.node(part).args;
      std::erase_if(rest, [&](NodeId term) { return std::find(terms.begin(), terms.end(), term) != terms.end(); });
      out.push_back(part);
    }
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }

  // The sum computed before that has most of these terms, and no others.
  NodeId largest_within(NodeId sum, const std::vector<NodeId> &terms) const {
    std::map<NodeId, size_t> shared;
    for (NodeId term : terms)
      for (NodeId other : having_.at(term))
        ++shared[other];
    NodeId best = kNoNode;
    size_t most = 1;
    for (const auto &[other, count] : shared)
      if (other < sum && count == graph_.node(other).args.size() && count > most)
        best = other, most = count;
    return best;
  }

  Graph &graph_;
  const std::map<NodeId, std::string> &stops_;
  std::set<NodeId> seen_;
  std::vector<NodeId> sums_;
  std::map<NodeId, std::vector<NodeId>> having_; // of each term, the sums that have it
};

} // namespace

void nest_sums(Graph &graph, const std::vector<NodeId> &values, const std::map<NodeId, std::string> &stops) {
  Nesting nesting(graph, stops);
  for (NodeId value : values)
    nesting.visit(value);
  nesting.run();
}

} // namespace kgen::grad
