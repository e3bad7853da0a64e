#include "grad/reverse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "grad/reverser.h"
#include "grad/rules.h"
#include "grad/shift.h"
#include "grad/squares.h"
#include "grad/transpose.h"
#include "support/check.h"

namespace kgen::grad {

using Kind = Node::Kind;

Gradients Reverse::run(const std::vector<Seed> &seeds) {
  forward_ = static_cast<NodeId>(graph_.size());
  find_active();
  find_ends();
  parts_.resize(static_cast<size_t>(forward_));
  std::vector<NodeId> roots;
  for (const Seed &seed : seeds)
    if (const auto held = trace_.outputs.find(seed.output); held != trace_.outputs.end())
      roots.push_back(held->second);
  for (const Store &store : trace_.stores)
    roots.push_back(store.value);
  still_ = steady_extremes(graph_, roots, forward_);
  for (const Seed &seed : seeds)
    begin(seed);
  for (NodeId id = forward_ - 1; id >= 0 && !trouble_; --id)
    if (graph_.node(id).kind != Kind::looped) {
      if (!parts_[static_cast<size_t>(id)].empty())
        visit(id);
    } else if (graph_.node(id).integer == 0) { // the first of its results
      unwind(Loop(graph_.loop(graph_.node(id).which)));
    }
  settle_stored(graph_, out_, trouble_);
  return std::move(out_);
}

// Nodes that depend on what is differentiated, continuously.
void Reverse::find_active() {
  active_.assign(static_cast<size_t>(forward_), false);
  std::vector<bool> bits(static_cast<size_t>(forward_), false); // whole numbers that hold those of such a node
  for (NodeId id = 0; id < forward_; ++id) {
    const Node &n = graph_.node(id);
    bool is = false;
    if (kgen::is_floating(n.type))
      for (size_t i = 0; i < n.args.size(); ++i) {
        const bool condition = n.kind == Kind::choose && i == 0;
        const bool place = n.kind == Kind::at && i > 0;
        is = is || (!condition && !place && active_[static_cast<size_t>(n.args[i])]);
      }
    if ((n.kind == Kind::operand || n.kind == Kind::scalar) && kgen::is_floating(n.type))
      is = options_.wanted.count(n.name) != 0;
    if (!kgen::is_floating(n.type) || n.kind == Kind::bitcast)
      for (NodeId arg : n.args)
        bits[static_cast<size_t>(id)] = bits[static_cast<size_t>(id)] || bits[static_cast<size_t>(arg)] ||
                                        (n.kind == Kind::bitcast && active_[static_cast<size_t>(arg)]);
    is = is || (n.kind == Kind::bitcast && bits[static_cast<size_t>(id)] && kgen::is_floating(n.type));
    const bool may_be = n.kind == Kind::carried || n.kind == Kind::handed;
    active_[static_cast<size_t>(id)] = is || (may_be && kgen::is_floating(n.type));
  }
}

// The axes that all inputs have which a gradient of the node can come to.
void Reverse::find_ends() {
  ends_.assign(static_cast<size_t>(forward_), {});
  for (NodeId id = 0; id < forward_; ++id) {
    const Node &n = graph_.node(id);
    AxisSet &ends = ends_[static_cast<size_t>(id)] = n.kind == Kind::operand ? n.axes : AxisSet();
    bool first = true;
    for (NodeId arg : n.args)
      if (active(arg)) {
        const AxisSet own = ends_[static_cast<size_t>(arg)];
        ends = std::exchange(first, false) ? own : ends & own;
      }
  }
}

void Reverse::begin(const Seed &seed) {
  for (const Store &store : trace_.stores)
    if (store.output == seed.output) {
      const Part part = part_of(seed, store.value);
      begin_store({part.condition, graph_.at(part.value, store.places)}, store);
    }
  const auto held = trace_.outputs.find(seed.output);
  if (held != trace_.outputs.end())
    give(held->second, part_of(seed, held->second), kernel_.vars[seed.output].axes);
}

// Rule "absent": an output whose gradient is not given adds nothing, also where its derivative is infinite.
Part Reverse::part_of(const Seed &seed, NodeId value) {
  if (!steep_.may_be(value))
    return seed.gradient;
  return {graph_.both(seed.gradient.condition, seed.given), seed.gradient.value};
}

// What was stored elsewhere gets the gradient of that place, if there is such a place.
void Reverse::begin_store(Part there, const Store &store) {
  there.condition = graph_.both(there.condition, store.condition);
  if (graph_.node(store.value).may_fail)
    there.condition = graph_.both(there.condition, graph_.lies_in(store.places));
  place_ = store.place;
  give(store.value, there, graph_.axes(store.value) | graph_.axes(store.condition) | graph_.axes(there.value));
}

// `part` is the gradient by `to`, of each of the lanes.
void Reverse::give(NodeId to, Part part, AxisSet lanes) {
  if (!active(to) || graph_.is_zero(part.value))
    return;
  lanes |= graph_.axes(part.value) | graph_.axes(part.condition) | part.later;
  const AxisSet over = lanes - graph_.axes(to), later = over & looped_;
  part = summed(part, over - later);
  part.later = later;
  part.condition = graph_.needed_of(part.condition, graph_.axes(to), ends_[static_cast<size_t>(to)]);
  parts_[static_cast<size_t>(to)].push_back(part);
}

// Where there are no lanes it is 0, whatever it is multiplied by later.
Part Reverse::summed(const Part &part, AxisSet over) {
  if (over.empty())
    return part;
  const bool differs = !(graph_.axes(part.condition) & over).empty();
  const NodeId where = differs ? part.condition : kNoNode, rest = differs ? kNoNode : part.condition;
  return {graph_.both(rest, graph_.some(over, where)), graph_.sum(part.value, over, where), part.later - over};
}

AxisSet Reverse::lanes_of(const Node &n) const {
  AxisSet out = n.axes;
  if (n.kind == Kind::at) // its array is asked for at one place a lane
    return out;
  for (NodeId arg : n.args)
    out |= graph_.axes(arg);
  return out;
}

void Reverse::visit(NodeId id) {
  const Node n = graph_.node(id);
  const size_t before = graph_.size();
  if (const auto found = trace_.places.find(id); found != trace_.places.end())
    place_ = found->second;
  settle(graph_, parts_[static_cast<size_t>(id)], id);
  for (AxisSet later : laters(id)) {
    const Part part = joined(graph_, parts_of(id, later));
    if (trace_.names.count(id) != 0)
      out_.names.emplace(part.value, id);
    out_.words[part.value].emplace_back(Gradients::Word::whole, id);
    if (const auto of = argument_of_.find(id); of != argument_of_.end())
      out_.words[part.value].emplace_back(Gradients::Word::argument, of->second);
    if (still_.count(id) == 0)
      propagate(id, n, part);
  }
  for (size_t made = before; made < graph_.size(); ++made)
    out_.places.emplace(static_cast<NodeId>(made), place_);
}

void Reverse::propagate(NodeId id, const Node &n, const Part &part) {
  const AxisSet lanes = lanes_of(n) | part.later;
  switch (n.kind) {
  case Kind::operand:
  case Kind::scalar:
    out_.of[n.name].whole.push_back(part);
    return;
  case Kind::op:
    return operation(id, n, part, lanes);
  case Kind::choose:
    give(n.args[1], {graph_.both(part.condition, n.args[0]), part.value}, lanes);
    give(n.args[2], {graph_.both(part.condition, graph_.no(n.args[0])), part.value}, lanes);
    return;
  case Kind::call:
  case Kind::derivative:
    return call(id, n, part, lanes);
  case Kind::fold:
    return fold(id, n, part);
  case Kind::scan:
    return scan(id, n, part);
  case Kind::at:
    return read(id, n, part, lanes);
  case Kind::sum:
    for (NodeId arg : n.args)
      give(arg, part, lanes);
    return;
  case Kind::product:
    return product_of_powers(n, part, lanes);
  case Kind::carried: {
    if (const auto scattered = trace_.scattered.find(id); scattered != trace_.scattered.end()) {
      give(scattered->second.before, part, lanes);
      return begin_store(part_there(graph_, part, scattered->second.store.places), scattered->second.store);
    }
    const Unknown &why = trace_.unknown.at(id);
    return trouble_.refuse(why.what, why.place, why.help);
  }
  case Kind::bitcast:
    return trouble_.refuse("`bitcast`", place_, "compute with the value itself");
  default:
    return trouble_.refuse("this value", place_, "write it with the operations of the list in docs/gradients.md");
  }
}

void Reverse::product_of_powers(const Node &n, const Part &part, AxisSet lanes) {
  for (size_t i = 0; i < n.args.size(); ++i) {
    NodeId by = graph_.number(n.number * n.powers[i]);
    for (size_t k = 0; k < n.args.size(); ++k)
      for (int power = n.powers[k] - (k == i ? 1 : 0); power != 0; power += power > 0 ? -1 : 1)
        by = power > 0 ? graph_.mul(by, n.args[k]) : graph_.div(by, n.args[k]);
    give(n.args[i], {part.condition, graph_.mul(part.value, by)}, lanes);
  }
}

// Rule "length": a root of a sum of squares has the gradient 0 at 0.
bool Reverse::length(NodeId id, NodeId sum, Part part) {
  if (!is_sum_of_squares(graph_, sum))
    return false;
  part.condition = graph_.both(part.condition, graph_.compare(Op::ne, id, graph_.number(0)));
  part.value = graph_.div(part.value, id);
  give_squares(sum, part, {});
  return true;
}

// Half the gradient of a sum of squares, of each of the lanes.
void Reverse::give_squares(NodeId id, Part part, AxisSet lanes) {
  const Node n = graph_.node(id);
  if (is_square(n))
    return give(n.args[0], {part.condition, graph_.mul(n.args[0], part.value), part.later}, lanes | lanes_of(n));
  if (n.kind == Kind::fold) {
    part = summed(part, part.later & n.reduced);
    part.condition = graph_.both(part.condition, n.args.size() > 1 ? n.args[1] : kNoNode);
    if (n.monoid == Monoid::mean)
      part.value = graph_.div(part.value, graph_.count_of(n));
    return give_squares(n.args[0], part, lanes_of(n));
  }
  switch (n.op) {
  case Op::add:
    give_squares(n.args[0], part, lanes);
    return give_squares(n.args[1], part, lanes);
  case Op::mul: {
    const size_t sum = scaled_argument(graph_, n);
    part.value = graph_.mul(part.value, n.args[1 - sum]);
    return give_squares(n.args[sum], part, lanes);
  }
  case Op::div:
    part.value = graph_.div(part.value, n.args[1]);
    return give_squares(n.args[0], part, lanes);
  default: // max(sum, 0)
    return give_squares(n.args[0], part, lanes);
  }
}

void Reverse::operation(NodeId id, const Node &n, const Part &part, AxisSet lanes) {
  if (n.op == Op::sqrt && length(id, n.args[0], part))
    return;
  for (size_t i = 0; i < n.args.size(); ++i) {
    if (!active(n.args[i]))
      continue;
    const NodeId by = derivative_of(graph_, n.op, n.args, id, i);
    if (by == kNoNode)
      continue;
    if (n.args.size() == 1) {
      argument_of_.emplace(n.args[i], id);
      out_.words[by].emplace_back(Gradients::Word::slope, id);
    }
    give(n.args[i], {part.condition, graph_.mul(part.value, by)}, lanes);
  }
}

void Reverse::call(NodeId id, const Node &n, const Part &part, AxisSet lanes) {
  for (size_t i = 0; i < n.args.size(); ++i) {
    if (!active(n.args[i]))
      continue;
    if (n.by.size() == 2)
      return trouble_.refuse("a third derivative of a function that a parameter chooses", place_,
                             "choose one: -D " + n.name + "=...");
    NodeId by = kNoNode;
    if (options_.kept_functions.count(n.name) == 0) {
      by = library_derivative(graph_, n.name, n.args, id, i);
    } else {
      Node d = n;
      d.kind = Kind::derivative;
      d.by.push_back(static_cast<int>(i));
      by = graph_.intern(d);
    }
    KGEN_CHECK(by != kNoNode);
    give(n.args[i], {part.condition, graph_.mul(part.value, by)}, lanes);
  }
}

void Reverse::fold(NodeId id, const Node &n, Part part) {
  const NodeId element = n.args[0], where = n.args.size() > 1 ? n.args[1] : kNoNode;
  part = summed(part, part.later & n.reduced); // they are not the lanes of the element
  const AxisSet lanes = lanes_of(n) | part.later;
  Part own{graph_.both(part.condition, where), part.value};
  switch (n.monoid) {
  case Monoid::sum:
    return give(element, own, lanes);
  case Monoid::mean:
    own.value = graph_.div(own.value, graph_.count_of(n));
    return give(element, own, lanes);
  case Monoid::max:
  case Monoid::min: {
    // Those that are equal share it.
    const NodeId equal = graph_.compare(Op::eq, element, id);
    const NodeId count = graph_.real(graph_.fold(Monoid::sum, equal, n.reduced, where, Type::i64));
    own.value = graph_.div(own.value, count);
    own.condition = graph_.both(own.condition, equal);
    return give(element, own, lanes);
  }
  case Monoid::product:
    return product(n, own, lanes);
  default:
    return;
  }
}

// What stands before and after it, times each other: right with zeros as well.
void Reverse::product(const Node &n, Part own, AxisSet lanes) {
  NodeId inner = n.args[0];
  if (n.args.size() > 1)
    inner = graph_.choose(n.args[1], inner, graph_.number(1));
  for (AxisId axis : n.reduced.list()) {
    if (!graph_.axes(inner).contains(axis))
      return trouble_.refuse("a product along an axis that its argument lacks", place_, "write `pow`");
    const NodeId before = graph_.scan(ScanKind::product, {inner}, axis, false, true);
    const NodeId after = graph_.scan(ScanKind::product, {inner}, axis, true, true);
    own.value = graph_.mul(own.value, graph_.mul(before, after));
    inner = graph_.fold(Monoid::product, inner, AxisSet::of(axis), kNoNode, Type::f32);
  }
  give(n.args[0], own, lanes);
}

// `value` one place further on, or back, along the axis: 0 where there is none.
NodeId Reverse::neighbour(NodeId value, AxisId axis, int by) {
  const NodeId index = graph_.index(axis), one = graph_.integer(1);
  return graph_.at(value, {{axis, graph_.op(by > 0 ? Op::add : Op::sub, {index, one}, Type::i64)}});
}

void Reverse::scan(NodeId id, const Node &n, const Part &part) {
  const NodeId given = graph_.choose(part.condition, part.value, graph_.number(0));
  const AxisSet lanes = lanes_of(n);
  const NodeId element = n.args[0];
  const int onwards = n.reverse ? -1 : 1;
  const NodeId spread = graph_.spread(given, n.axis); // scans run along an axis that their argument has
  auto back = [&](NodeId factor, NodeId summand) {
    return graph_.scan(ScanKind::linear, {factor, summand}, n.axis, !n.reverse, false);
  };
  switch (n.scan) {
  case ScanKind::sum:
    return give(element, {kNoNode, graph_.scan(ScanKind::sum, {spread}, n.axis, !n.reverse, n.exclusive)}, lanes);
  case ScanKind::linear: {
    const NodeId total = back(neighbour(element, n.axis, onwards), spread);
    give(n.args[1], {kNoNode, total}, lanes);
    if (active(element))
      give(element, {kNoNode, graph_.mul(total, neighbour(id, n.axis, -onwards))}, lanes);
    return;
  }
  case ScanKind::product: {
    const NodeId before = graph_.scan(ScanKind::product, {element}, n.axis, n.reverse, true);
    NodeId total;
    if (n.exclusive)
      total = neighbour(back(element, spread), n.axis, onwards);
    else
      total = back(neighbour(element, n.axis, onwards), spread);
    return give(element, {kNoNode, graph_.mul(before, total)}, lanes);
  }
  case ScanKind::max: {
    // An element that is the greatest so far gets all up to the next such one.
    const NodeId most = graph_.scan(ScanKind::max, {element}, n.axis, n.reverse, false);
    const NodeId leads = graph_.compare(Op::eq, element, most);
    const NodeId reached = n.exclusive ? neighbour(spread, n.axis, onwards) : spread;
    const NodeId next = neighbour(graph_.choose(leads, graph_.number(0), graph_.number(1)), n.axis, onwards);
    return give(element, {leads, back(next, reached)}, lanes);
  }
  }
}

void Reverse::read_arm(const Arm &arm, const Part &part, AxisSet lanes) {
  const Part own{graph_.both(part.condition, arm.condition), part.value};
  if (graph_.is_number(own.condition, 0))
    return;
  const Node n = graph_.node(arm.read);
  if (n.kind == Kind::at)
    read(arm.read, n, own, lanes);
  else
    give(arm.read, own, lanes);
}

void Reverse::read(NodeId id, const Node &n, const Part &part, AxisSet lanes) {
  const NodeId base = n.args[0];
  if (!active(base))
    return;
  if (n.in_loop)
    return read_in_round(n, part, lanes);
  const Node array = graph_.node(base);
  lanes |= graph_.axes(part.value) | graph_.axes(part.condition);
  if (const std::vector<Arm> arms = arms_of(graph_, id, part.condition); !arms.empty()) {
    for (const Arm &arm : arms)
      read_arm(arm, part, lanes);
    return;
  }
  if (array.kind == Kind::operand && options_.additions && is_gather(graph_, id, lanes, kernel_.tables)) {
    InputGradient::Addition addition{{}, part, place_};
    AxisSet own = array.axes;
    for (size_t i = 0; i < n.places.size(); ++i) {
      addition.places.emplace_back(n.places[i], n.args[i + 1]);
      own |= graph_.axes(n.args[i + 1]);
    }
    for (AxisId place : n.places)
      if (!graph_.axes(id).contains(place))
        own -= AxisSet::of(place);
    const AxisSet over = lanes - own;
    if (!over.empty())
      addition.part = summed(part, over);
    addition.part.condition = graph_.needed(addition.part.condition, addition.part.value);
    if (addition.part.condition != kNoNode && graph_.is_number(addition.part.condition, 1))
      addition.part.condition = kNoNode;
    if (over.empty() && has_own_element(graph_, id, lanes, kernel_.tables))
      out_.of[array.name].stored.push_back({std::move(addition), std::nullopt, true});
    else
      out_.of[array.name].additions.push_back(std::move(addition));
    return;
  }
  std::optional<Transposed> back = transpose(graph_, id, part, lanes);
  if (back && back->summed && is_gather(graph_, id, lanes, kernel_.tables)) {
    AxisSet own = array.axes;
    for (AxisId place : n.places)
      own -= AxisSet::of(place);
    const Summed summed{lanes - own, n.places};
    if (array.kind == Kind::operand)
      out_.of[array.name].summed = summed;
    else
      out_.summed.push_back({base, summed, place_});
  }
  if (back && graph_.axes(back->part->value).count() > 60)
    back.reset();
  if (array.kind == Kind::operand && (!back || (back->summed && !back->slice)) &&
      has_own_element(graph_, id, lanes, kernel_.tables)) {
    InputGradient::Stored stored{{{}, part, place_}, back ? back->part : std::nullopt, false};
    for (size_t i = 0; i < n.places.size(); ++i)
      stored.there.places.emplace_back(n.places[i], n.args[i + 1]);
    out_.of[array.name].stored.push_back(std::move(stored));
    return;
  }
  if (!back)
    return trouble_.refuse_read(place_);
  if (!back->slice)
    return give(base, *back->part, graph_.axes(base));
  if (array.kind == Kind::operand) {
    out_.of[array.name].slices[back->slice->first][back->slice->second].push_back(*back->part);
    return;
  }
  const NodeId here = graph_.compare(Op::eq, graph_.index(back->slice->first), graph_.integer(back->slice->second));
  give(base, {graph_.both(back->part->condition, here), back->part->value}, graph_.axes(base));
}

Gradients reverse(const Kernel &kernel, Graph &graph, const Trace &trace, const std::vector<Seed> &seeds,
                  const ReverseOptions &options, Trouble &trouble) {
  graph.end_of_forward();
  return Reverse(kernel, graph, trace, options, trouble).run(seeds);
}

} // namespace kgen::grad
