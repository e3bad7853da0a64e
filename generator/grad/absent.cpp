#include "grad/absent.h"

namespace kgen::grad {

using Kind = Node::Kind;

const Absent::Inputs &Absent::read_by(NodeId id) {
  if (const auto known = reads_.find(id); known != reads_.end())
    return known->second;
  Inputs found = graph_.node(id).kind == Kind::looped ? Inputs() : find(graph_.node(id)); // a loop asks for itself
  return reads_.emplace(id, std::move(found)).first->second;
}

Absent::Inputs Absent::asked_by(NodeId condition, bool value) const {
  const Node &n = graph_.node(condition);
  if (named_.count(condition) != 0)
    return {};
  if (n.kind == Kind::present && value && optional_.count(n.name) != 0)
    return {n.name};
  if (n.kind == Kind::op && n.op == Op::logical_not)
    return asked_by(n.args[0], !value);
  if (n.kind != (value ? Kind::both : Kind::either))
    return {};
  Inputs out = asked_by(n.args[0], value);
  out.merge(asked_by(n.args[1], value));
  return out;
}

void Absent::add(Inputs &out, NodeId id, const Inputs &known) {
  if (named_.count(id) != 0 || saved_.count(id) != 0 || graph_.node(id).kind == Kind::looped)
    return;
  for (const std::string &name : read_by(id))
    if (known.count(name) == 0)
      out.insert(name);
}

Absent::Inputs Absent::read_by_all(const Node &sum) {
  Inputs out;
  add(out, sum.args[0]);
  for (const NodeId term : sum.args) {
    Inputs own;
    add(own, term);
    std::erase_if(out, [&](const std::string &name) { return own.count(name) == 0; });
  }
  return out;
}

Absent::Inputs Absent::read_by_term(const Node &sum, NodeId term) {
  Inputs out;
  add(out, term, read_by_all(sum));
  return out;
}

Absent::Inputs Absent::find(const Node &n) {
  if (n.kind == Kind::sum)
    return read_by_all(n);
  Inputs out;
  if (n.kind == Kind::operand && optional_.count(n.name) != 0)
    out.insert(n.name);
  for (size_t i = 0; i < n.args.size(); ++i)
    if (n.kind == Kind::choose && i > 0)
      add(out, n.args[i], asked_by(n.args[0], i == 1));
    else if ((n.kind == Kind::both || n.kind == Kind::either) && i == 1)
      add(out, n.args[i], asked_by(n.args[0], n.kind == Kind::both));
    else if (n.kind == Kind::fold && i == 0 && n.args.size() > 1)
      add(out, n.args[i], asked_by(n.args[1]));
    else
      add(out, n.args[i]);
  return out;
}

} // namespace kgen::grad
