// What a node is at other places: each node once, however many read it.
#include "grad/moved.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace kgen::grad {

using Kind = Node::Kind;

namespace {

class Moving {
public:
  Moving(Graph &graph, const std::map<AxisId, NodeId> &places, const std::map<NodeId, NodeId> &known, bool reads_much)
      : graph_(graph), places_(places), known_(known), reads_much_(reads_much), done_(known) {
    for (const auto &[axis, place] : places)
      asked_ |= AxisSet::of(axis);
  }

  NodeId of(NodeId id) {
    if ((graph_.axes(id) & asked_).empty())
      return id;
    if (const auto found = done_.find(id); found != done_.end())
      return found->second;
    return done_[id] = anew(id);
  }

private:
  // The arguments of a fold: in its own lanes, what is known of others is not so.
  std::vector<NodeId> within(const Node &fold) {
    std::map<NodeId, NodeId> known = known_;
    std::erase_if(known, [&](const auto &entry) {
      return !((graph_.axes(entry.first) | graph_.axes(entry.second)) & fold.reduced).empty();
    });
    std::vector<NodeId> out;
    Moving apart(graph_, places_, known, reads_much_);
    Moving &here = known.size() == known_.size() ? *this : apart;
    for (NodeId arg : fold.args)
      out.push_back(here.of(arg));
    return out;
  }

  // A number, or a condition, that is made of so many such that it is better read at the other places than written anew
  // for them.
  bool is_much(NodeId id) const {
    constexpr size_t kMost = 6;
    const Node &whole = graph_.node(id);
    const auto is_such = [&](const Node &n) {
      return whole.type == Type::boolean ? n.type == Type::boolean : is_floating(n.type);
    };
    if ((whole.type != Type::boolean && !is_floating(whole.type)) || whole.in_loop)
      return false;
    std::set<NodeId> seen;
    std::vector<NodeId> waiting = {id};
    while (!waiting.empty() && seen.size() <= kMost) {
      const NodeId at = waiting.back();
      waiting.pop_back();
      const Node &n = graph_.node(at);
      const bool computed = is_such(n) && n.kind != Kind::operand && !(graph_.axes(at) & asked_).empty();
      if (computed && seen.insert(at).second)
        waiting.insert(waiting.end(), n.args.begin(), n.args.end());
    }
    return seen.size() > kMost;
  }

  // Rule "one of them": a lane that reads there whether any of the lanes holds is one that does.
  bool holds_for_reader(const Node &fold, AxisSet readers) {
    return fold.monoid == Monoid::any && fold.args.size() == 1 && readers.contains(fold.reduced) &&
           always_holds(of(fold.args[0]));
  }
  bool always_holds(NodeId condition) const {
    if (condition == kNoNode)
      return false;
    const Node &n = graph_.node(condition);
    if (n.kind == Kind::both)
      return always_holds(n.args[0]) && always_holds(n.args[1]);
    const bool same = n.kind == Kind::op && n.op == Op::eq && is_integer(graph_.node(n.args[0]).type) &&
                      graph_.strip(n.args[0]) == graph_.strip(n.args[1]);
    return same || graph_.is_number(condition, 1);
  }

  NodeId there(NodeId base) {
    std::vector<std::pair<AxisId, NodeId>> list;
    for (const auto &[axis, place] : places_)
      if (graph_.axes(base).contains(axis))
        list.emplace_back(axis, place);
    return graph_.at(base, list);
  }

  NodeId times_power(NodeId product, NodeId factor, int power) {
    for (int times = std::abs(power); times > 0; --times)
      product = power > 0 ? graph_.mul(product, factor) : graph_.div(product, factor);
    return product;
  }

  // A product has as many elements as all of its factors together. So what is read at the other places are those of
  // one of them that is much, with what goes along; each other factor is asked for itself.
  NodeId factors_there(NodeId id) {
    const Node product = graph_.node(id);
    size_t whole = product.args.size();
    for (size_t i = 0; i < product.args.size(); ++i)
      if (is_much(product.args[i]) &&
          (whole == product.args.size() || graph_.axes(product.args[i]).contains(graph_.axes(product.args[whole]))))
        whole = i;
    const AxisSet axes = whole == product.args.size() ? asked_ : graph_.axes(product.args[whole]);
    const auto goes_along = [&](size_t i) {
      const AxisSet own = graph_.axes(product.args[i]);
      return whole == product.args.size() ? !(own & asked_).empty() : axes.contains(own);
    };
    NodeId together = graph_.number(product.number), others = graph_.number(1);
    for (size_t i = 0; i < product.args.size(); ++i) {
      const bool along = goes_along(i);
      NodeId &to = along ? together : others;
      const NodeId factor = along ? product.args[i] : of(product.args[i]);
      if (factor == kNoNode)
        return kNoNode;
      to = times_power(to, factor, product.powers[i]);
    }
    return together == id ? there(id) : graph_.mul(of(together), others);
  }

  NodeId anew(NodeId id) {
    const Node n = graph_.node(id);
    switch (n.kind) {
    case Kind::index:
      return places_.at(n.axis);
    case Kind::operand:
    case Kind::carried:
    case Kind::scan:
    case Kind::looped:
    case Kind::element:
      return there(id);
    case Kind::handed:
      return kNoNode;
    case Kind::fold: {
      AxisSet mentioned;
      for (const auto &[axis, place] : places_)
        mentioned |= graph_.axes(place) | AxisSet::of(axis);
      if (!(mentioned & n.reduced).empty()) // its own axes would be taken for those
        return holds_for_reader(n, mentioned) ? graph_.truth(true) : there(id);
      const std::vector<NodeId> args = within(n);
      if (std::count(args.begin(), args.end(), kNoNode) != 0)
        return there(id);
      return graph_.fold(n.monoid, args[0], n.reduced, args.size() > 1 ? args[1] : kNoNode, n.type);
    }
    case Kind::size:
      return kNoNode;
    case Kind::at: {
      std::vector<std::pair<AxisId, NodeId>> list;
      AxisSet named;
      for (size_t i = 0; i < n.places.size(); ++i) {
        const NodeId place = of(n.args[i + 1]);
        if (place == kNoNode)
          return kNoNode;
        list.emplace_back(n.places[i], place);
        named |= AxisSet::of(n.places[i]);
      }
      for (const auto &[axis, place] : places_)
        if (graph_.axes(n.args[0]).contains(axis) && !named.contains(axis))
          list.emplace_back(axis, place);
      return graph_.at(n.args[0], list);
    }
    default:
      if (graph_.asks_for_computed_extreme(id))
        return there(id);
      if (reads_much_ && is_much(id))
        return n.kind == Kind::product ? factors_there(id) : there(id);
      break;
    }
    Node copy = n;
    copy.axes = n.kind == Kind::inside ? n.axes - asked_ : AxisSet();
    for (NodeId &arg : copy.args) {
      arg = of(arg);
      if (arg == kNoNode)
        return kNoNode;
    }
    switch (n.kind) { // what is known of the new arguments counts
    case Kind::op:
      return graph_.op(n.op, copy.args, n.type);
    case Kind::inside:
      return graph_.inside(std::move(copy));
    case Kind::choose:
      return graph_.choose(copy.args[0], copy.args[1], copy.args[2]);
    case Kind::both:
      return graph_.both(copy.args[0], copy.args[1]);
    case Kind::either: {
      const NodeId out = graph_.either(copy.args[0], copy.args[1]);
      return out == kNoNode ? graph_.truth(true) : out;
    }
    default:
      break;
    }
    if (n.kind == Kind::product || n.kind == Kind::sum) { // in the order of the new nodes
      NodeId out = graph_.number(n.kind == Kind::sum ? 0 : n.number);
      for (size_t i = 0; i < copy.args.size(); ++i) {
        if (n.kind == Kind::sum) {
          out = graph_.add(out, copy.args[i]);
          continue;
        }
        out = times_power(out, copy.args[i], n.powers[i]);
      }
      return out;
    }
    return graph_.intern(std::move(copy));
  }

  Graph &graph_;
  const std::map<AxisId, NodeId> &places_;
  const std::map<NodeId, NodeId> &known_;
  const bool reads_much_;
  std::map<NodeId, NodeId> done_;
  AxisSet asked_;
};

} // namespace

NodeId moved(Graph &graph, NodeId id, const std::map<AxisId, NodeId> &places, const std::map<NodeId, NodeId> &known) {
  return places.empty() ? id : Moving(graph, places, known, true).of(id);
}

NodeId computed_there(Graph &graph, NodeId id, const std::map<AxisId, NodeId> &places) {
  return Moving(graph, places, {}, false).of(id);
}

} // namespace kgen::grad
