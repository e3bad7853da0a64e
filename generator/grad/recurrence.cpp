#include "grad/recurrence.h"

#include <cmath>
#include <limits>

#include "grad/transpose.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

// factor * found + summand, or the greatest (least) of found, where it is kept, and of a value.
struct Form {
  enum class Kind { linear, most, least } kind = Kind::linear;
  NodeId factor = kNoNode, summand = kNoNode;
  NodeId kept = kNoNode, greater = kNoNode, less = kNoNode; // the value for either kind
};
using Found = std::optional<Form>;

class Recurrence {
public:
  Recurrence(Graph &graph, const Carried &carried) : graph_(graph), carried_(carried), along_(carried.along) {
    type_ = graph.node(carried.found).type;
  }

  std::optional<Scanned> run() {
    const Found form = of(carried_.left);
    if (!form || along_.empty())
      return std::nullopt;
    if (form->kind != Form::Kind::linear)
      return extreme(*form);
    NodeId factor = form->factor;
    if (along_.size() > 1 && is_zero(there(factor, along_.back(), graph_.integer(0))))
      along_ = {along_.back()};
    if (is_zero(factor))
      return Scanned{before(form->summand, along_), at_last(form->summand)};
    if (is_one_away(factor))
      return added(form->summand);
    const std::optional<NodeId> after = linear(factor, form->summand, along_);
    return after ? std::optional(Scanned{before(*after, along_), at_last(*after)}) : std::nullopt;
  }

  bool mixes() const { return mixes_; }

private:
  bool floating() const { return kgen::is_floating(type_); }
  NodeId zero() { return floating() ? graph_.number(0) : graph_.integer(0, type_); }
  NodeId one() { return floating() ? graph_.number(1) : graph_.integer(1, type_); }
  bool is_zero(NodeId id) const { return graph_.is_number(id, 0); }
  bool is_one(NodeId id) const { return graph_.is_number(id, 1); }
  NodeId add(NodeId a, NodeId b) { return floating() ? graph_.add(a, b) : graph_.op(Op::add, {a, b}, type_); }
  NodeId mul(NodeId a, NodeId b) {
    if (is_zero(a) || is_zero(b))
      return zero();
    return floating() ? graph_.mul(a, b) : graph_.op(Op::mul, {a, b}, type_);
  }
  NodeId neg(NodeId a) { return floating() ? graph_.neg(a) : graph_.op(Op::neg, {a}, type_); }
  NodeId choose(NodeId condition, NodeId then, NodeId otherwise) { return graph_.choose(condition, then, otherwise); }

  bool hangs(NodeId id) {
    const auto [known, is_new] = hangs_.emplace(id, false);
    if (!is_new)
      return known->second;
    bool out = id == carried_.found;
    const std::vector<NodeId> args = graph_.node(id).args;
    for (NodeId arg : args)
      out = out || hangs(arg);
    return hangs_[id] = out;
  }

  // What changes no greatest value, or no least one.
  NodeId never(Form::Kind kind) {
    const bool most = kind == Form::Kind::most;
    if (!floating())
      return graph_.integer(most ? bounds_of(type_).low + 1 : bounds_of(type_).high, type_);
    return graph_.number(most ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  }

  Found of(NodeId id) {
    if (!hangs(id))
      return Form{Form::Kind::linear, zero(), id, graph_.truth(false), id, id};
    if (id == carried_.found)
      return Form{Form::Kind::linear,      one(), zero(), graph_.truth(true), never(Form::Kind::most),
                  never(Form::Kind::least)};
    const Node n = graph_.node(id);
    if (n.type != type_)
      return std::nullopt;
    if (n.kind == Kind::choose)
      return choice(n);
    if (n.kind == Kind::fold)
      return sum(n);
    if (n.kind != Kind::op)
      return std::nullopt;
    std::vector<Found> args;
    for (NodeId arg : n.args) {
      args.push_back(of(arg));
      if (!args.back())
        return std::nullopt;
    }
    return operation(n, args);
  }

  Found linear_form(NodeId factor, NodeId summand) {
    return Form{Form::Kind::linear, factor, summand, kNoNode, kNoNode, kNoNode};
  }

  // The sum of what is linear is so, too; but no element is linear in its own alone where it is a sum of them.
  Found sum(const Node &n) {
    const NodeId where = n.args.size() > 1 ? n.args[1] : kNoNode;
    const bool adds = n.monoid == Monoid::sum || n.monoid == Monoid::mean;
    mixes_ = mixes_ || (adds && !(graph_.axes(carried_.found) & n.reduced).empty());
    if (mixes_ || n.monoid != Monoid::sum || !floating() || (where != kNoNode && hangs(where)))
      return std::nullopt;
    const Found element = of(n.args[0]);
    if (!element || element->kind != Form::Kind::linear)
      return std::nullopt;
    return linear_form(graph_.sum(element->factor, n.reduced, where), graph_.sum(element->summand, n.reduced, where));
  }

  Found operation(const Node &n, const std::vector<Found> &args) {
    const Form &a = *args[0];
    if (n.op == Op::max || n.op == Op::min)
      return greater(n.op == Op::max ? Form::Kind::most : Form::Kind::least, a, *args[1]);
    for (const Found &arg : args)
      if (arg->kind != Form::Kind::linear)
        return std::nullopt;
    switch (n.op) {
    case Op::neg:
      return linear_form(neg(a.factor), neg(a.summand));
    case Op::add:
      return linear_form(add(a.factor, args[1]->factor), add(a.summand, args[1]->summand));
    case Op::sub:
      return linear_form(add(a.factor, neg(args[1]->factor)), add(a.summand, neg(args[1]->summand)));
    case Op::mul: {
      const Form &b = *args[1];
      if (!is_zero(a.factor) && !is_zero(b.factor))
        return std::nullopt;
      const Form &fixed = is_zero(a.factor) ? a : b, &moving = is_zero(a.factor) ? b : a;
      return linear_form(mul(moving.factor, fixed.summand), mul(moving.summand, fixed.summand));
    }
    case Op::div:
      if (!floating() || !is_zero(args[1]->factor))
        return std::nullopt;
      return linear_form(graph_.div(a.factor, args[1]->summand), graph_.div(a.summand, args[1]->summand));
    default:
      return std::nullopt;
    }
  }

  // As one of a greatest or least value: `found` itself, a value that does not depend on it, or such a form.
  Found as(Form::Kind kind, Form form) {
    if (form.kind != kind && (form.kind != Form::Kind::linear || form.kept == kNoNode))
      return std::nullopt;
    form.kind = kind;
    return form;
  }
  NodeId value(const Form &form) const { return form.kind == Form::Kind::most ? form.greater : form.less; }

  NodeId extreme_of(Form::Kind kind, NodeId a, NodeId b) {
    if (a == never(kind) || b == never(kind))
      return a == never(kind) ? b : a;
    return graph_.op(kind == Form::Kind::most ? Op::max : Op::min, {a, b}, type_);
  }

  Found greater(Form::Kind kind, const Form &a, const Form &b) {
    const Found x = as(kind, a), y = as(kind, b);
    if (!x || !y)
      return std::nullopt;
    const NodeId kept = graph_.is_number(x->kept, 0)   ? y->kept
                        : graph_.is_number(y->kept, 0) ? x->kept
                                                       : graph_.either(x->kept, y->kept);
    const NodeId both = extreme_of(kind, value(*x), value(*y));
    return Form{kind, kNoNode, kNoNode, kept == kNoNode ? graph_.truth(true) : kept, both, both};
  }

  Found choice(const Node &n) {
    if (hangs(n.args[0]))
      return std::nullopt;
    const Found a = of(n.args[1]), b = of(n.args[2]);
    if (!a || !b)
      return std::nullopt;
    Form out;
    if (a->kind == Form::Kind::linear && b->kind == Form::Kind::linear) {
      out.factor = choose(n.args[0], a->factor, b->factor);
      out.summand = choose(n.args[0], a->summand, b->summand);
      if (a->kept == kNoNode || b->kept == kNoNode)
        return out;
    }
    const Form::Kind kind = a->kind == Form::Kind::linear ? b->kind : a->kind;
    const Found x = as(kind, *a), y = as(kind, *b);
    if (!x || !y)
      return std::nullopt;
    out.kind = kind;
    out.kept = which(n.args[0], x->kept, y->kept);
    out.greater = choose(n.args[0], x->greater, y->greater);
    out.less = choose(n.args[0], x->less, y->less);
    return out;
  }

  NodeId which(NodeId condition, NodeId then, NodeId otherwise) {
    if (then == otherwise)
      return then;
    if (graph_.is_number(then, 0) && graph_.is_number(otherwise, 1))
      return graph_.no(condition);
    if (graph_.is_number(then, 1) && graph_.is_number(otherwise, 0))
      return condition;
    return choose(condition, then, otherwise);
  }

  // Is it 1, or true, in all steps but the first one, in which nothing is found?
  bool is_one_away(NodeId id) {
    const Node n = graph_.node(id);
    if (n.kind == Kind::choose && n.args[0] == first())
      return is_one_away(n.args[2]);
    if (n.kind == Kind::choose)
      return is_one_away(n.args[1]) && is_one_away(n.args[2]);
    return is_one(id) || id == graph_.no(first());
  }

  NodeId first() {
    NodeId out = kNoNode;
    for (AxisId axis : along_)
      out = graph_.both(out, graph_.compare(Op::eq, graph_.index(axis), graph_.integer(0)));
    return out;
  }
  NodeId last_of(AxisId axis) { return graph_.op(Op::sub, {graph_.size_of(axis), graph_.integer(1)}, Type::i64); }
  NodeId there(NodeId value, AxisId axis, NodeId place) { return moved(graph_, value, {{axis, place}}); }

  NodeId at_last(NodeId value) {
    std::vector<std::pair<AxisId, NodeId>> places;
    for (AxisId axis : along_)
      places.emplace_back(axis, last_of(axis));
    return graph_.at(value, places);
  }

  // What the step before left; in the first one nothing that is known.
  NodeId before(NodeId left, const std::vector<AxisId> &along) {
    const AxisId axis = along.back();
    const NodeId back = graph_.op(Op::sub, {graph_.index(axis), graph_.integer(1)}, Type::i64);
    const NodeId neighbour = graph_.at(left, {{axis, back}});
    NodeId earlier = nothing();
    if (along.size() > 1)
      earlier = before(graph_.at(left, {{axis, last_of(axis)}}), {along.begin(), along.end() - 1});
    return choose(graph_.compare(Op::eq, graph_.index(axis), graph_.integer(0)), earlier, neighbour);
  }
  NodeId nothing() {
    Node n;
    n.kind = Kind::undefined;
    n.type = type_;
    return graph_.intern(n);
  }

  // The sum of what the steps before added.
  Scanned added(NodeId summand) {
    NodeId out = zero(), each = summand;
    for (size_t i = along_.size(); i-- > 0;) {
      const NodeId spread = graph_.spread(each, along_[i]);
      out = add(out, graph_.scan(ScanKind::sum, {spread}, along_[i], false, true));
      each = graph_.fold(Monoid::sum, spread, AxisSet::of(along_[i]), kNoNode, type_);
    }
    return {out, each};
  }

  std::optional<Scanned> extreme(const Form &form) {
    if (along_.size() > 1 && graph_.is_number(there(form.kept, along_.back(), graph_.integer(0)), 0))
      along_ = {along_.back()};
    if (!is_one_away(form.kept))
      return std::nullopt;
    const bool most = form.kind == Form::Kind::most;
    NodeId out = kNoNode, each = most ? form.greater : neg(form.less);
    for (size_t i = along_.size(); i-- > 0;) {
      const NodeId spread = graph_.spread(each, along_[i]);
      const NodeId so_far = graph_.scan(ScanKind::max, {spread}, along_[i], false, true);
      out = out == kNoNode ? so_far : graph_.op(Op::max, {out, so_far}, type_);
      each = graph_.fold(Monoid::max, spread, AxisSet::of(along_[i]), kNoNode, type_);
    }
    return Scanned{most ? out : neg(out), most ? each : neg(each)};
  }

  // What each step leaves.
  std::optional<NodeId> linear(NodeId factor, NodeId summand, const std::vector<AxisId> &along) {
    const AxisId inner = along.back();
    const NodeId factors = graph_.spread(factor, inner), summands = graph_.spread(summand, inner);
    const NodeId own = graph_.scan(ScanKind::linear, {factors, summands}, inner, false, false);
    if (along.size() == 1)
      return own;
    const std::vector<AxisId> outer(along.begin(), along.end() - 1);
    const NodeId all = graph_.fold(Monoid::product, factors, AxisSet::of(inner), kNoNode, Type::f32);
    const std::optional<NodeId> left = linear(all, graph_.at(own, {{inner, last_of(inner)}}), outer);
    if (!left)
      return std::nullopt;
    const NodeId so_far = graph_.scan(ScanKind::product, {factors}, inner, false, false);
    return graph_.add(own, graph_.mul(so_far, before(*left, outer)));
  }

  Graph &graph_;
  const Carried &carried_;
  std::vector<AxisId> along_;
  Type type_;
  std::map<NodeId, bool> hangs_;
  bool mixes_ = false;
};

} // namespace

std::optional<Scanned> found_by_scan(Graph &graph, const Carried &carried, bool *mixes) {
  Recurrence recurrence(graph, carried);
  const std::optional<Scanned> out = recurrence.run();
  if (mixes != nullptr)
    *mixes = recurrence.mixes();
  return out;
}

} // namespace kgen::grad
