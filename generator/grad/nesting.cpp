#include "grad/nesting.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace kgen::grad {
namespace {

using Kind = Node::Kind;
using Parts = std::map<NodeId, int>; // the terms of a sum, or the factors of a product with their powers

Parts parts_of(const Node &n) {
  Parts out;
  for (size_t i = 0; i < n.args.size(); ++i)
    out[n.args[i]] += n.kind == Kind::product ? n.powers[i] : 1;
  return out;
}

class Nesting {
public:
  Nesting(Graph &graph, const std::map<NodeId, std::string> &stops, bool in_rounds = false)
      : graph_(graph), stops_(stops), in_rounds_(in_rounds) {}

  void visit(NodeId id) {
    if (id == kNoNode || !seen_.insert(id).second || stops_.count(id) != 0)
      return;
    add(id);
    for (NodeId arg : graph_.node(id).args)
      visit(arg);
  }

  // Without what it is made of.
  void visit_alone(NodeId id) {
    if (stops_.count(id) == 0 && seen_.insert(id).second)
      add(id);
  }

  // A product that stands in several.
  void add_shared(NodeId id) {
    const Node &n = graph_.node(id);
    if (n.kind != Kind::product || n.in_loop != in_rounds_ || n.number != 1 || stops_.count(id) != 0 ||
        seen_.count(id) != 0)
      return;
    const Parts parts = parts_of(n);
    const auto found = having_.find(parts.begin()->first);
    if (!is_worth_it(parts) || found == having_.end())
      return;
    const auto has = [&](NodeId whole) {
      return whole > id && graph_.node(whole).kind == Kind::product && has_all(parts_.at(whole), parts);
    };
    if (std::ranges::count_if(found->second, has) > 1)
      visit_alone(id);
  }

  // All are asked as they were, so that it does not matter which comes first.
  void run() {
    std::vector<std::pair<NodeId, Nested>> found;
    for (NodeId whole : wholes_)
      if (Nested other = nested(whole); other.parts != parts_.at(whole))
        found.emplace_back(whole, std::move(other));
    for (const auto &[whole, other] : found)
      replace(whole, other);
  }

private:
  struct Nested {
    Parts parts;
    double number; // of a product
  };

  void add(NodeId id) {
    const Node &n = graph_.node(id);
    if ((n.kind != Kind::sum && n.kind != Kind::product) || n.in_loop != in_rounds_)
      return;
    wholes_.push_back(id);
    for (const auto &[part, power] : parts_[id] = parts_of(n))
      having_[part].push_back(id);
  }

  static int count(const Parts &parts) {
    int out = 0;
    for (const auto &[part, power] : parts)
      out += std::abs(power);
    return out;
  }

  // More than a product of two arrays, which is as short as a name.
  bool is_worth_it(const Parts &parts) const {
    const bool computes = std::ranges::any_of(parts, [&](const auto &part) {
      const Kind kind = graph_.node(part.first).kind;
      return kind != Kind::operand && kind != Kind::scalar;
    });
    return count(parts) > (computes ? 1 : 2);
  }

  static bool has_all(const Parts &whole, const Parts &of) {
    return std::all_of(of.begin(), of.end(), [&](const auto &entry) {
      const auto own = whole.find(entry.first);
      return own != whole.end() && own->second * entry.second > 0 && std::abs(own->second) >= std::abs(entry.second);
    });
  }

  // What it is made of, some of it together in others.
  Nested nested(NodeId whole) const {
    Parts rest = parts_.at(whole);
    Nested out{{}, graph_.node(whole).number};
    for (NodeId part = largest_within(whole, rest, out.number); part != kNoNode;
         part = largest_within(whole, rest, out.number)) {
      for (const auto &[own, power] : parts_.at(part))
        if ((rest[own] -= power) == 0)
          rest.erase(own);
      ++out.parts[part];
      if (graph_.node(part).kind == Kind::product)
        out.number /= graph_.node(part).number;
    }
    for (const auto &[part, power] : rest)
      out.parts[part] += power;
    return out;
  }

  // The one computed before that has most of these parts, and no others.
  NodeId largest_within(NodeId whole, const Parts &parts, double number) const {
    std::set<NodeId> others;
    for (const auto &[part, power] : parts)
      others.insert(having_.at(part).begin(), having_.at(part).end());
    NodeId best = kNoNode;
    int most = 1;
    for (NodeId other : others) {
      const Node &n = graph_.node(other);
      const bool fits = n.kind == Kind::sum || n.number == 1 || n.number == number ||
                        (n.number > 0 && n.number == -number && parts_.at(other) == parts);
      const bool worth = n.kind == Kind::sum || parts_.at(other) == parts || is_worth_it(parts_.at(other));
      if (other >= whole || !worth || n.kind != graph_.node(whole).kind || !fits || !has_all(parts, parts_.at(other)))
        continue;
      if (const int own = count(parts_.at(other)); own > most)
        best = other, most = own;
    }
    return best;
  }

  // What is together comes first.
  void replace(NodeId whole, const Nested &nested) {
    std::vector<NodeId> args;
    std::vector<int> powers;
    for (const bool together : {true, false})
      for (const auto &[part, power] : nested.parts)
        if ((parts_.at(whole).count(part) == 0) == together) {
          args.push_back(part);
          powers.push_back(power);
        }
    graph_.nest(whole, std::move(args), std::move(powers), nested.number);
  }

  Graph &graph_;
  const std::map<NodeId, std::string> &stops_;
  const bool in_rounds_; // of a loop
  std::set<NodeId> seen_;
  std::vector<NodeId> wholes_;
  std::map<NodeId, Parts> parts_;
  std::map<NodeId, std::vector<NodeId>> having_; // of each part, the wholes that have it
};

// Sums of two terms that the forward kernel computes, too, in one operation: its value takes their place. And multiples
// of what a condition chooses: they need not ask again.
class Again {
public:
  Again(Graph &graph, const std::map<NodeId, std::string> &stops) : graph_(graph), stops_(stops) {}

  void visit(NodeId id) {
    if (id == kNoNode || !seen_.insert(id).second || stops_.count(id) != 0)
      return;
    const Node &n = graph_.node(id);
    if (n.kind == Kind::op && (n.op == Op::add || n.op == Op::sub) && graph_.is_floating(id))
      computed_.emplace(Terms(graph_, n), id);
    visit_alone(id);
    for (NodeId arg : n.args)
      visit(arg);
  }

  // Without what it is made of.
  void visit_alone(NodeId id) {
    if (const Node &n = graph_.node(id); is_chosen(n))
      chosen_.emplace(multiple(n).of, id);
  }

  void run() {
    for (NodeId id : seen_)
      if (std::vector<NodeId> args = graph_.node(id).args; stops_.count(id) == 0) {
        for (NodeId &arg : args)
          arg = computed(arg);
        if (const Node &n = graph_.node(id); args != n.args)
          graph_.nest(id, std::move(args), n.powers, n.number);
        take_multiple(id);
      }
  }

private:
  struct Terms {
    Terms(const Graph &graph, const Node &n) {
      add(graph, n.args[0], 1);
      add(graph, n.args[1], n.kind == Kind::op && n.op == Op::sub ? -1 : 1);
    }
    void add(const Graph &graph, NodeId id, double times) {
      const Node &n = graph.node(id);
      if (n.kind == Kind::number)
        number += times * (kgen::is_floating(n.type) ? n.number : static_cast<double>(n.integer));
      else if (n.kind == Kind::product && n.args.size() == 1 && n.powers[0] == 1)
        of[n.args[0]] += times * n.number;
      else
        of[id] += times;
    }
    auto operator<=>(const Terms &) const = default;
    std::map<NodeId, double> of;
    double number = 0;
  };

  bool is_chosen(const Node &n) const {
    return n.kind == Kind::choose && kgen::is_floating(n.type) && graph_.is_zero(n.args[2]);
  }

  // Of what a condition chooses, if it is the number times that.
  struct Multiple {
    double number;
    std::pair<NodeId, Parts> of; // the condition, and factors
  };
  Multiple multiple(const Node &chosen) const {
    const Node &then = graph_.node(chosen.args[1]);
    if (then.kind == Kind::product)
      return {then.number, {chosen.args[0], parts_of(then)}};
    return {1, {chosen.args[0], {{chosen.args[1], 1}}}};
  }

  // c ? -x : 0 is -(c ? x : 0).
  void take_multiple(NodeId id) {
    const Node n = graph_.node(id);
    if (!is_chosen(n) || n.in_loop)
      return;
    const Multiple own = multiple(n);
    const auto found = chosen_.find(own.of);
    if (found == chosen_.end() || found->second >= id)
      return;
    const double times = own.number / multiple(graph_.node(found->second)).number;
    if (std::fabs(times) == 1 || times == own.number)
      graph_.make_multiple(id, times, found->second);
  }

  NodeId computed(NodeId id) const {
    const Node &n = graph_.node(id);
    if (n.kind != Kind::sum || n.args.size() != 2)
      return id;
    const auto found = computed_.find(Terms(graph_, n));
    return found != computed_.end() && found->second < id ? found->second : id;
  }

  Graph &graph_;
  const std::map<NodeId, std::string> &stops_;
  std::set<NodeId> seen_;
  std::map<Terms, NodeId> computed_;
  std::map<std::pair<NodeId, Parts>, NodeId> chosen_;
};

} // namespace

void nest(Graph &graph, const std::vector<NodeId> &values, const Others &others,
          const std::map<NodeId, std::string> &stops) {
  Again again(graph, stops);
  for (NodeId value : values)
    again.visit(value);
  for (NodeId value : others.named)
    again.visit_alone(value);
  again.run();
  Nesting nesting(graph, stops);
  for (NodeId value : values)
    nesting.visit(value);
  for (NodeId value : others.named)
    nesting.visit_alone(value);
  for (NodeId value : others.shared)
    nesting.add_shared(value);
  nesting.run();
  for (int which = 0; which < graph.loop_count(); ++which) {
    Nesting in_rounds(graph, stops, true);
    for (NodeId value : graph.body_of(graph.loop(which)))
      in_rounds.visit_alone(value);
    for (NodeId value : others.shared)
      in_rounds.add_shared(value);
    in_rounds.run();
  }
}

} // namespace kgen::grad
