// Shift a value by t. What depends on it is then changed by adding t times a number, or by a factor exp(t) to the power
// of a number; where neither is known, the value is no steady one.
#include "grad/shift.h"

#include <cmath>
#include <optional>

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

struct Change {
  enum class Kind { none, adds, times, any } kind = Kind::none;
  double number = 0;
  bool operator==(const Change &) const = default;
};
using Known = std::optional<Change>;

class Shift {
public:
  Shift(const Graph &graph, NodeId of) : graph_(graph), of_(of) {}

  // Nodes are asked for in order.
  void note(NodeId id) { changes_.push_back(id < of_ ? Known(Change{}) : id == of_ ? adds(1) : of(id)); }
  const Known &change(NodeId id) const { return changes_[static_cast<size_t>(id)]; }

private:
  static Known adds(double n) { return n == 0 ? Change{} : Change{Change::Kind::adds, n}; }
  static Known times(double n) { return n == 0 ? Change{} : Change{Change::Kind::times, n}; }
  static std::optional<double> as_added(const Known &c) {
    return !c || c->kind == Change::Kind::times ? std::nullopt : std::optional(c->number);
  }
  static std::optional<double> as_factor(const Known &c) {
    return !c || c->kind == Change::Kind::adds ? std::nullopt : std::optional(c->number);
  }
  bool is_infinite(NodeId id) const {
    return graph_.node(id).kind == Kind::number && std::isinf(graph_.node(id).number);
  }

  Known of(NodeId id) const {
    const Node &n = graph_.node(id);
    if (n.in_loop)
      return std::nullopt; // what it depends on is said of the loop
    bool all_steady = true;
    for (NodeId arg : n.args)
      all_steady = all_steady && change(arg) == Known(Change{});
    if (all_steady)
      return Change{};
    switch (n.kind) {
    case Kind::op:
      return operation(n);
    case Kind::choose:
      return choice(n);
    case Kind::fold:
      return fold(n);
    default:
      return std::nullopt;
    }
  }

  Known operation(const Node &n) const {
    const Known a = change(n.args[0]), b = n.args.size() > 1 ? change(n.args[1]) : Known(Change{});
    const auto aa = as_added(a), ba = as_added(b), af = as_factor(a), bf = as_factor(b);
    switch (n.op) {
    case Op::add:
      return aa && ba ? adds(*aa + *ba) : af && bf && *af == *bf ? times(*af) : std::nullopt;
    case Op::sub:
      return aa && ba ? adds(*aa - *ba) : af && bf && *af == *bf ? times(*af) : std::nullopt;
    case Op::neg:
      return aa ? adds(-*aa) : af ? times(*af) : std::nullopt;
    case Op::mul:
      return af && bf ? times(*af + *bf) : std::nullopt;
    case Op::div:
      return af && bf ? times(*af - *bf) : std::nullopt;
    case Op::exp:
      return aa ? times(*aa) : std::nullopt;
    case Op::log:
      return af ? adds(*af) : std::nullopt;
    case Op::max:
    case Op::min:
      return aa && ba && *aa == *ba ? adds(*aa) : std::nullopt;
    case Op::eq:
    case Op::ne: // what is infinite stays so
      return (aa && is_infinite(n.args[1])) || (ba && is_infinite(n.args[0])) ? Known(Change{}) : std::nullopt;
    case Op::isinf:
      return aa ? Known(Change{}) : std::nullopt;
    case Op::gt:
    case Op::ge:
    case Op::lt:
    case Op::le: // signs stay
      if (aa && ba && *aa == *ba)
        return Change{};
      return (af && graph_.is_zero(n.args[1])) || (bf && graph_.is_zero(n.args[0])) ? Known(Change{}) : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  // `m == -inf ? m : ...`, `isinf(m) ? m : ...`: of an infinite value all changes are the same.
  bool is_arm_at_infinity(const Node &choose, size_t arm) const {
    const Node &c = graph_.node(choose.args[0]);
    if (c.kind != Kind::op || choose.args[arm] != c.args[0])
      return false;
    return (c.op == Op::isinf && arm == 1) || (c.op == (arm == 1 ? Op::eq : Op::ne) && is_infinite(c.args[1]));
  }

  Known choice(const Node &n) const {
    if (change(n.args[0]) != Known(Change{}))
      return std::nullopt;
    const Known a = change(n.args[1]), b = change(n.args[2]);
    if (a == b || is_arm_at_infinity(n, 1) || graph_.is_zero(n.args[1]))
      return is_factor_or_same(a, b, n.args[1]) ? b : std::nullopt;
    if (is_arm_at_infinity(n, 2) || graph_.is_zero(n.args[2]))
      return is_factor_or_same(b, a, n.args[2]) ? a : std::nullopt;
    return std::nullopt;
  }
  // Zero times any factor is zero; but zero plus something is not.
  bool is_factor_or_same(const Known &arm, const Known &other, NodeId node) const {
    return arm == other || !graph_.is_zero(node) || as_factor(other).has_value();
  }

  Known fold(const Node &n) const {
    if (n.args.size() > 1 && change(n.args[1]) != Known(Change{}))
      return std::nullopt;
    if (!(graph_.axes(of_) & n.reduced).empty())
      return std::nullopt; // lanes are shifted by different numbers
    const Known a = change(n.args[0]);
    const auto added = as_added(a), factor = as_factor(a);
    if (n.monoid == Monoid::sum)
      return factor ? times(*factor) : std::nullopt;
    if (n.monoid == Monoid::mean)
      return factor ? times(*factor) : added ? adds(*added) : std::nullopt;
    if (n.monoid == Monoid::max || n.monoid == Monoid::min)
      return factor ? times(*factor) : added ? adds(*added) : std::nullopt;
    return std::nullopt;
  }

  const Graph &graph_;
  NodeId of_;
  std::vector<Known> changes_;
};

} // namespace

std::set<NodeId> steady_extremes(const Graph &graph, const std::vector<NodeId> &roots, NodeId count) {
  std::set<NodeId> out;
  for (NodeId of = 0; of < count; ++of) {
    const Node &n = graph.node(of);
    if (n.kind != Kind::fold || (n.monoid != Monoid::max && n.monoid != Monoid::min) || !kgen::is_floating(n.type))
      continue;
    if (n.in_loop)
      continue; // the roots say nothing of what depends on it
    Shift shift(graph, of);
    for (NodeId id = 0; id < count; ++id)
      shift.note(id);
    bool steady = true;
    for (NodeId root : roots)
      steady = steady && shift.change(root) == Known(Change{});
    if (steady)
      out.insert(of);
  }
  return out;
}

} // namespace kgen::grad
