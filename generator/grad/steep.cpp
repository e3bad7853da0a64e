#include "grad/steep.h"

#include <algorithm>

namespace kgen::grad {

using Kind = Node::Kind;

bool Steep::may_be(NodeId id) {
  if (const auto known = known_.find(id); known != known_.end())
    return known->second;
  const Node &n = graph_.node(id);
  const bool is = kgen::is_floating(n.type) &&
                  (by_itself(n) || std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return may_be(arg); }));
  return known_[id] = is;
}

bool Steep::by_itself(const Node &n) const {
  switch (n.kind) {
  case Kind::op:
    switch (n.op) {
    case Op::div:
      return !is_apart_from_0(n.args[1]);
    case Op::log:
    case Op::log2:
    case Op::sqrt:
    case Op::rsqrt:
      return !is_positive(n.args[0]);
    case Op::log1p:
      return !is_no_less(n.args[0]);
    case Op::pow:
      return graph_.node(n.args[1]).kind != Kind::number || graph_.node(n.args[1]).number < 1;
    default:
      return !gives_numbers(n.op);
    }
  case Kind::scan:
    return n.scan != ScanKind::sum && n.scan != ScanKind::max;
  case Kind::looped: {
    const std::vector<NodeId> body = graph_.body_of(graph_.loop(n.which));
    return std::any_of(body.begin(), body.end(), [&](NodeId id) { return by_itself(graph_.node(id)); });
  }
  case Kind::bitcast:
  case Kind::call:
    return true;
  default:
    return false;
  }
}

bool Steep::is_apart_from_0(NodeId id) const {
  const Node &n = graph_.node(id);
  const bool number = n.kind == Kind::number && kgen::is_floating(n.type);
  return (number && n.number < 0) || is_positive(id);
}

// As far as the range of its type allows.
bool Steep::is_positive(NodeId id) const {
  const Node &n = graph_.node(id);
  if (graph_.is_positive_constant(id))
    return true;
  switch (n.kind) {
  case Kind::cast:
    return is_positive(n.args[0]);
  case Kind::fold: // the greatest of the exponentials below their maximum is 1
    return n.monoid == Monoid::sum && n.args.size() == 1 && is_below_maximum(n.args[0]);
  case Kind::op:
    break;
  default:
    return false;
  }
  const auto positive = [&](NodeId arg) { return is_positive(arg); };
  switch (n.op) {
  case Op::add:
    return (is_positive(n.args[0]) && is_no_less(n.args[1])) || (is_no_less(n.args[0]) && is_positive(n.args[1]));
  case Op::mul:
  case Op::div:
  case Op::min:
    return std::all_of(n.args.begin(), n.args.end(), positive);
  case Op::max:
    return std::any_of(n.args.begin(), n.args.end(), positive);
  case Op::sqrt:
  case Op::rsqrt:
    return is_positive(n.args[0]);
  default:
    return false;
  }
}

// At least 0.
bool Steep::is_no_less(NodeId id) const {
  const Node &n = graph_.node(id);
  if (n.kind == Kind::number)
    return kgen::is_floating(n.type) ? n.number >= 0 : n.integer >= 0;
  if (n.kind == Kind::fold)
    return (n.monoid == Monoid::sum || n.monoid == Monoid::mean || n.monoid == Monoid::product) &&
           is_no_less(n.args[0]);
  if (n.kind != Kind::op)
    return is_positive(id);
  switch (n.op) {
  case Op::mul:
    return n.args[0] == n.args[1] || (is_no_less(n.args[0]) && is_no_less(n.args[1]));
  case Op::add:
  case Op::div:
    return is_no_less(n.args[0]) && is_no_less(n.args[1]);
  case Op::max:
    return is_no_less(n.args[0]) || is_no_less(n.args[1]);
  case Op::exp:
  case Op::exp2:
  case Op::abs:
  case Op::sqrt:
  case Op::sigmoid:
    return true;
  default:
    return is_positive(id);
  }
}

// exp(v - max(v, N))
bool Steep::is_below_maximum(NodeId id) const {
  const Node &n = graph_.node(id);
  if (n.kind != Kind::op || (n.op != Op::exp && n.op != Op::exp2))
    return false;
  const Node &below = graph_.node(n.args[0]);
  if (below.kind != Kind::op || below.op != Op::sub)
    return false;
  const Node &greatest = graph_.node(below.args[1]);
  return greatest.kind == Kind::fold && greatest.monoid == Monoid::max && greatest.args[0] == below.args[0];
}

} // namespace kgen::grad
