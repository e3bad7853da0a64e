#include "grad/saving.h"

#include <algorithm>

#include "ir/op_rows.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

constexpr double kUnknownSize = 256; // of an axis whose size the spec leaves open
constexpr double kWorthAByte = 64;   // operations that a processor does in the time in which it moves a byte, or more

double size_of(const Axis &axis) {
  return axis.size.is_integer() && axis.ragged == kNone ? static_cast<double>(axis.size.value) : kUnknownSize;
}

double volume(const Graph &graph, AxisSet axes) {
  double out = 1;
  for (AxisId axis : axes.list())
    out *= size_of(graph.axis(axis));
  return out;
}

// As ops.def counts them; a function that is called is no cheaper than the dearest operation.
double operations(const Node &n) {
  switch (n.kind) {
  case Kind::op:
    return op_row(n.op).again;
  case Kind::product:
    return static_cast<double>(n.args.size());
  case Kind::sum:
    return static_cast<double>(n.args.size()) - 1;
  case Kind::call:
  case Kind::derivative:
    return op_row(Op::exp).again;
  case Kind::fold:
  case Kind::scan:
  case Kind::choose:
    return 1;
  default:
    return 0;
  }
}

class Costs {
public:
  Costs(const Graph &graph, const Trace &trace, const std::vector<Root> &roots)
      : graph_(graph), trace_(trace), roots_(roots) {}

  // Of all that is computed where one value is kept.
  double without(NodeId kept) {
    seen_ = {kept};
    double out = 0;
    for (const Root &root : roots_) {
      out += cost(root.value) + cost(root.condition);
      for (const auto &[axis, place] : root.places)
        out += cost(place);
    }
    return out;
  }

  bool computes(NodeId id) const { return seen_.count(id) != 0; }

private:
  double cost(NodeId first) {
    double out = 0;
    std::vector<NodeId> open = {first};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (id == kNoNode || !seen_.insert(id).second || trace_.saved.count(id) != 0)
        continue;
      const Node &n = graph_.node(id);
      AxisSet along = n.axes | n.reduced;
      if (n.axis != kNone)
        along |= AxisSet::of(n.axis);
      out += operations(n) * volume(graph_, along);
      open.insert(open.end(), n.args.begin(), n.args.end());
    }
    return out;
  }

  const Graph &graph_;
  const Trace &trace_;
  const std::vector<Root> &roots_;
  std::set<NodeId> seen_;
};

} // namespace

std::optional<Saving> best_saving(const Graph &graph, const Trace &trace, const std::vector<Root> &roots,
                                  const std::set<std::string> &locals, int bytes) {
  Costs costs(graph, trace, roots);
  const double all = costs.without(kNoNode);
  std::map<std::string, int> values; // of a local that holds several in turn it is not known which is meant
  for (const auto &[id, name] : trace.names)
    ++values[name];
  std::vector<std::pair<NodeId, std::string>> computed;
  for (const auto &[id, name] : trace.names)
    if (locals.count(name) != 0 && values.at(name) == 1 && costs.computes(id) && trace.saved.count(id) == 0)
      computed.emplace_back(id, name);
  std::optional<Saving> best;
  for (const auto &[id, name] : computed) {
    const double spared = (all - costs.without(id)) / volume(graph, graph.axes(id));
    if (spared >= kWorthAByte * 2 * bytes && (!best || spared > static_cast<double>(best->operations)))
      best = Saving{name, static_cast<int64_t>(spared)};
  }
  return best;
}

} // namespace kgen::grad
