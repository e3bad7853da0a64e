// Shift a value by t, another one for each of its lanes. What depends on it is then changed by adding t times a number,
// or by a factor exp(t) to the power of a number; where neither is known, the value is no steady one. Which lane's t it
// is: its own, or that which a place says, as for the elements of a segment. A fold over those of one place has its own
// again.
#include "grad/shift.h"

#include <cmath>
#include <optional>

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

struct Change {
  enum class Kind { none, adds, times } kind = Kind::none;
  double number = 0;
  NodeId place = kNoNode; // the lane along an axis that it has been read along; none: its own
  AxisId along = kNone;   // that axis
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
      return at_one_place(operation(n), n);
    case Kind::choose:
      return at_one_place(choice(n), n);
    case Kind::cast:
      return kgen::is_floating(n.type) ? change(n.args[0]) : std::nullopt;
    case Kind::at:
      return elsewhere(n);
    case Kind::fold:
      return fold(n);
    default:
      return std::nullopt;
    }
  }

  // Of what is changed alike: by one lane's t.
  Known at_one_place(Known result, const Node &n) const {
    const Change *one = nullptr;
    for (NodeId arg : n.args)
      if (const Known &c = change(arg); c && c->kind != Change::Kind::none) {
        if (one != nullptr && (one->place != c->place || one->along != c->along))
          return std::nullopt;
        one = &*c;
      }
    if (result && result->kind != Change::Kind::none) {
      result->place = one->place;
      result->along = one->along;
    }
    return result;
  }

  NodeId without_casts(NodeId id) const {
    while (graph_.node(id).kind == Kind::cast)
      id = graph_.node(id).args[0];
    return id;
  }

  // Read along one axis of what is shifted, the lanes' t are those of other places.
  Known elsewhere(const Node &n) const {
    Known out = change(n.args[0]);
    AxisSet along;
    for (size_t i = 0; i < n.places.size(); ++i) {
      if (change(n.args[i + 1]) != Known(Change{}))
        return std::nullopt;
      along |= AxisSet::of(n.places[i]);
    }
    if (!out || out->place != kNoNode)
      return out && (graph_.axes(out->place) & along).empty() ? out : std::nullopt;
    along = along & graph_.axes(of_);
    if (along.count() > 1)
      return std::nullopt;
    for (size_t i = 0; i < n.places.size(); ++i)
      if (along.contains(n.places[i])) {
        out->place = without_casts(n.args[i + 1]);
        out->along = n.places[i];
      }
    return out;
  }

  // Does it hold only for lanes whose place is the own one?
  bool asks_for_own_place(NodeId condition, const Change &of) const {
    const Node &c = graph_.node(condition);
    if (c.kind == Kind::both)
      return asks_for_own_place(c.args[0], of) || asks_for_own_place(c.args[1], of);
    if (c.kind != Kind::op || c.op != Op::eq)
      return false;
    const auto is_own = [&](NodeId id) {
      const Node &lane = graph_.node(without_casts(id));
      return lane.kind == Kind::index && lane.axis == of.along;
    };
    return (without_casts(c.args[0]) == of.place && is_own(c.args[1])) ||
           (without_casts(c.args[1]) == of.place && is_own(c.args[0]));
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
    Known a = change(n.args[0]);
    if (!a)
      return std::nullopt;
    if (!(graph_.axes(a->place) & n.reduced).empty()) {
      if (n.args.size() < 2 || !asks_for_own_place(n.args[1], *a))
        return std::nullopt;
      a = Change{a->kind, a->number};
    }
    const bool adds_up = n.monoid == Monoid::sum && a->kind == Change::Kind::adds;
    const bool is_known =
        n.monoid == Monoid::sum || n.monoid == Monoid::mean || n.monoid == Monoid::max || n.monoid == Monoid::min;
    return is_known && !adds_up ? a : std::nullopt;
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
