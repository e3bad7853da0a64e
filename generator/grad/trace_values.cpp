// Expressions of the forward kernel as nodes.
#include "grad/tracer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "grad/recurrence.h"
#include "ir/op_rows.h"
#include "support/text.h"

namespace kgen::grad {

using Kind = Node::Kind;

NodeId Tracer::value(ExprId id) {
  const Expr &e = kernel_.expr(id);
  const bool floating = kgen::is_floating(e.type);
  Node n;
  n.type = e.type;
  switch (e.op) {
  case Op::constant:
    return floating ? graph_.number(e.number) : graph_.integer(e.integer, e.type);
  case Op::scalar:
    n.kind = Kind::scalar;
    n.name = kernel_.scalars[e.ref].name;
    return graph_.intern(n);
  case Op::read:
    return read(e);
  case Op::element:
    return element(e);
  case Op::table:
    n.kind = Kind::table;
    n.name = kernel_.tables[e.ref].name;
    n.args = values(e.args);
    return graph_.intern(n);
  case Op::index:
    return steps_.index(e);
  case Op::block:
    return steps_.value(kernel_.axes[e.axis].block);
  case Op::grid_index:
    return graph_.index(steps_.steps(e.ref));
  case Op::grid_size:
    return graph_.size_of(steps_.steps(e.ref));
  case Op::first:
    return steps_.first(e.ref);
  case Op::last:
    return steps_.last(e.ref);
  case Op::window_first:
  case Op::window_last:
    return steps_.edge(e.ref, e.op == Op::window_last);
  case Op::size:
    if (e.ref != kNone)
      return extent(e);
    return graph_.size_of(e.axis);
  case Op::present:
    if (kernel_.vars[e.ref].kind == Var::Kind::output)
      return graph_.truth(true); // its gradient is asked for
    n.kind = Kind::present;
    n.name = kernel_.vars[e.ref].name;
    return graph_.intern(n);
  case Op::inside:
    return inside(e);
  case Op::cast:
    return cast(value(e.args[0]), e);
  case Op::bitcast:
    n.kind = Kind::bitcast;
    n.args = values(e.args);
    return graph_.intern(n);
  case Op::round_like:
    return value(e.args[0]); // gradients are computed in `real`
  case Op::choose: {
    const NodeId condition = value(e.args[0]);
    const Node &c = graph_.node(condition);
    if (c.kind == Kind::number)
      return value(e.args[c.integer != 0 ? 1 : 2]);
    Type type = e.type;
    const std::vector<NodeId> arms = in_one_width({e.args[1], e.args[2]}, is_bounded(e), type);
    return graph_.choose(condition, arms[0], arms[1]);
  }
  case Op::both:
  case Op::either: {
    const NodeId a = value(e.args[0]);
    if (graph_.node(a).kind == Kind::number && (graph_.node(a).integer != 0) == (e.op == Op::either))
      return a;
    const NodeId b = value(e.args[1]);
    if (e.op == Op::both)
      return graph_.both(a, b);
    if (graph_.node(a).kind == Kind::number)
      return b;
    const NodeId out = graph_.either(a, b);
    return out == kNoNode ? graph_.truth(true) : out;
  }
  case Op::fold:
    return fold(e);
  case Op::scan:
    return scan(e);
  case Op::named_call:
    return named_call(e);
  default:
    break;
  }
  if (is_scalar_op(e.op)) {
    Type type = e.type;
    const std::vector<NodeId> args = in_one_width(e.args, is_comparison(e.op) || is_bounded(e), type);
    const NodeId out = graph_.op(e.op, args, type);
    graph_.know_product(out);
    out_.places.emplace(out, place_);
    return out;
  }
  trouble_.refuse("`" + std::string(op_name(e.op)) + "`, which asks about steps of the grid,", e.place,
                  "write the kernel without a grid");
  return undefined(e.type);
}

// What an int holds of indices is what it is, of 64 bits, and so is what is made of them, unless it may wrap around.
std::vector<NodeId> Tracer::in_one_width(const std::vector<ExprId> &list, bool never_wraps, Type &type) {
  std::vector<NodeId> out = values(list);
  const auto is_held = [&](size_t i) {
    return kernel_.expr(list[i]).type == Type::i32 && graph_.node(out[i]).type == Type::i64;
  };
  bool any = false;
  for (size_t i = 0; i < out.size(); ++i)
    any = any || is_held(i);
  const bool widens = never_wraps && (type == Type::i32 || type == Type::boolean);
  for (size_t i = 0; i < out.size() && any; ++i)
    if (widens ? graph_.node(out[i]).type == Type::i32 : is_held(i))
      out[i] = cast_to(out[i], widens ? Type::i64 : Type::i32);
  if (any && widens && type == Type::i32)
    type = Type::i64;
  return out;
}

// Also of a derivative: act'3 is that of `act` by argument 3.
NodeId Tracer::named_call(const Expr &e) {
  Node n;
  n.kind = Kind::call;
  n.type = e.type;
  n.args = values(e.args);
  const std::vector<std::string> parts = split(kernel_.named_functions[e.ref], '\'');
  n.name = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    n.kind = Kind::derivative;
    n.by.push_back(parts[i].empty() ? 0 : std::stoi(parts[i]));
  }
  return graph_.intern(n);
}

std::vector<NodeId> Tracer::values(const std::vector<ExprId> &list) {
  std::vector<NodeId> out;
  for (ExprId id : list)
    out.push_back(value(id));
  return out;
}

NodeId Tracer::extent(const Expr &e) {
  for (const Dim &dim : kernel_.vars[e.ref].dims)
    if (dim.axis == e.axis && dim.extent.is_integer())
      return graph_.integer(dim.extent.value);
  return graph_.size_of(steps_.whole(e.ref, e.axis));
}

NodeId Tracer::cast(NodeId id, const Expr &e) {
  const Node &from = graph_.node(id);
  if (kgen::is_floating(e.type))
    return graph_.real(id);
  if (from.type == e.type)
    return id;
  if (from.kind == Kind::number && !kgen::is_floating(from.type) && e.type != Type::boolean)
    return graph_.integer(from.integer, e.type);
  if (e.type == Type::boolean) {
    const bool floating = kgen::is_floating(from.type);
    return graph_.compare(Op::ne, id, floating ? graph_.number(0) : graph_.integer(0, from.type));
  }
  const bool is_held = e.type == Type::i32 && from.type == Type::i64 && is_bounded(e);
  return is_held ? id : cast_to(id, e.type);
}

NodeId Tracer::operand(VarId v) {
  const Var &var = kernel_.vars[v];
  Node n;
  n.kind = Kind::operand;
  n.name = var.name;
  n.type = type_row(var.type).arithmetic;
  n.axes = steps_.whole_axes(v);
  return graph_.intern(n);
}

NodeId Tracer::read(const Expr &e) {
  const Var &var = kernel_.vars[e.ref];
  if (var.kind == Var::Kind::output && stored_.count(e.ref) != 0) {
    trouble_.refuse("a read of `" + var.name + "`, which is written elsewhere,", e.place,
                    "keep what is needed of it in a local");
    return undefined(e.type);
  }
  if (var.kind != Var::Kind::input)
    return read_held(e);
  std::vector<std::pair<AxisId, NodeId>> places;
  for (const Coordinate &c : e.coords)
    places.emplace_back(steps_.whole(e.ref, c.axis), value(c.value));
  const auto others = steps_.places(e.ref, e.coords);
  places.insert(places.end(), others.begin(), others.end());
  const NodeId base = operand(e.ref), there = graph_.at(base, places);
  const bool zero = std::bit_cast<uint64_t>(var.outside) == 0;
  const bool overhangs = std::any_of(var.dims.begin(), var.dims.end(), [](const Dim &dim) { return dim.offset; });
  if (zero || there == base || (e.coords.empty() ? !overhangs : e.safe))
    return there;
  const double outside = var.outside;
  const NodeId otherwise =
      graph_.is_floating(there) ? graph_.number(outside) : graph_.integer(static_cast<int64_t>(outside), e.type);
  return graph_.choose(inside(e), there, otherwise);
}

NodeId Tracer::read_held(const Expr &e) {
  const NodeId base = held(e.ref);
  std::vector<std::pair<AxisId, NodeId>> places;
  NodeId exists = kNoNode;
  for (const Coordinate &c : e.coords) {
    NodeId place = value(c.value);
    if (const AxisId within = steps_.position(c.axis); within != c.axis) {
      place = in_block_at(e.ref, c.axis, place);
      const NodeId lanes = kernel_.vars[e.ref].kind == Var::Kind::local ? steps_.known_lanes(e.ref, c.axis)
                                                                        : steps_.lanes(std::vector<ExprId>{}, c.axis);
      exists = graph_.both(exists, lanes == kNoNode ? lanes : moved(graph_, lanes, {{within, place}}));
      places.emplace_back(within, place);
    } else {
      places.emplace_back(c.axis, place);
    }
    if (const auto &[axis, there] = places.back(); !graph_.axes(base).contains(axis)) // the same at all places it has
      exists = graph_.both(exists, graph_.lies_in(axis, there));
  }
  NodeId there = graph_.at(base, places);
  if (const NodeId computed = there == base ? kNoNode : gathered(there, places); computed != kNoNode) {
    if (!e.safe)
      exists = graph_.both(exists, graph_.lies_in(places));
    there = computed;
    Var var = kernel_.vars[e.ref];
    var.name += "_there";
    note_name(there, var, place_);
  }
  return graph_.choose(exists, there, graph_.is_floating(there) ? graph_.number(0) : graph_.integer(0, e.type));
}

// What is read at computed places, computed there: so what it is made of is read there, and gradients of inputs are
// added up at the places. (An element of it would get a sum over all lanes that might have read it.)
NodeId Tracer::gathered(NodeId there, const std::vector<std::pair<AxisId, NodeId>> &places) {
  const Node n = graph_.node(there);
  const bool computes = n.kind == Kind::at && graph_.node(n.args[0]).kind != Kind::operand && steps_.empty();
  if (!computes || !graph_.is_floating(there) || !is_gather(graph_, there, graph_.axes(there), kernel_.tables))
    return kNoNode;
  return computed_there(graph_, n.args[0], std::map<AxisId, NodeId>(places.begin(), places.end()));
}

NodeId Tracer::inside(const Expr &e) {
  const Var &var = kernel_.vars[e.ref];
  NodeId out = kNoNode;
  if (var.kind != Var::Kind::input) { // whole axes
    for (const Coordinate &c : e.coords) {
      const NodeId place = value(c.value);
      if (steps_.position(c.axis) != c.axis) {
        out = graph_.both(out, in_block(e.ref, c.axis, place));
        continue;
      }
      out = graph_.both(out, graph_.lies_in(c.axis, place));
    }
    return out == kNoNode ? graph_.truth(true) : out;
  }
  Node n;
  n.kind = Kind::inside;
  n.type = Type::boolean;
  n.name = var.name;
  AxisSet others; // a coordinate may be the same along axes that its variables have
  for (const Dim &dim : var.dims)
    if (dim.axis != kNone && find_coordinate(e.coords, dim.axis) == nullptr)
      others |= AxisSet::of(dim.axis);
  n.axes = steps_.positions(others & e.axes);
  for (const Coordinate &c : e.coords) {
    n.places.push_back(steps_.whole(e.ref, c.axis));
    n.args.push_back(value(c.value));
  }
  for (const Dim &dim : var.dims)
    if (dim.offset && dim.axis != kNone && find_coordinate(e.coords, dim.axis) == nullptr)
      for (const auto &[axis, place] : steps_.places(e.ref, e.coords))
        if (axis == steps_.whole(e.ref, dim.axis)) {
          n.places.push_back(axis);
          n.args.push_back(place);
        }
  return n.places.empty() ? graph_.truth(true) : graph_.intern(n);
}

// Without a conversion that goes without saying.
NodeId Tracer::accumulated(NodeId element) const {
  const Node &n = graph_.node(element);
  const bool converts = n.kind == Kind::cast && !kgen::is_floating(n.type);
  return converts && accumulator_of(graph_.node(n.args[0]).type) == n.type ? n.args[0] : element;
}

NodeId Tracer::fold(const Expr &e) {
  NodeId element = value(e.args[0]), where = e.args.size() > 1 ? value(e.args[1]) : kNoNode;
  const bool adds = is_integer(e.type) && (e.monoid == Monoid::sum || e.monoid == Monoid::product);
  if (adds)
    element = accumulated(element);
  const Type type = adds ? accumulator_of(graph_.node(element).type) : e.type;
  // What a loop or a branch left may differ along fewer axes than the variable that it is in.
  const AxisSet over = steps_.empty() ? e.reduced : steps_.positions(e.reduced);
  for (const AxisId axis : (over - graph_.own_axes(element, where)).list())
    element = graph_.spread(element, axis);
  if (!steps_.empty())
    where = graph_.both(where, steps_.lanes(e.args, e.reduced));
  NodeId out = graph_.fold(e.monoid, element, over, where, type);
  if (adds)
    return cast_to(out, e.type); // fewer bits wrap to the same
  if (steps_.empty())
    return out;
  const AxisId along = e.reduced.list().front();
  if ((e.monoid == Monoid::argmax || e.monoid == Monoid::argmin) && steps_.position(along) != along)
    out = graph_.op(Op::add, {out, steps_.start(along)}, e.type);
  return out;
}

NodeId Tracer::scan(const Expr &e) {
  std::vector<NodeId> args = values(e.args);
  const NodeId lanes = steps_.empty() ? kNoNode : steps_.lanes(e.args, e.axis);
  const bool adds = is_integer(e.type) && e.scan != ScanKind::max;
  for (NodeId &arg : args) {
    arg = adds ? accumulated(arg) : arg;
    const bool floating = graph_.is_floating(arg);
    const double neutral = e.scan == ScanKind::product ? 1 : 0;
    NodeId nothing =
        floating ? graph_.number(neutral) : graph_.integer(static_cast<int64_t>(neutral), graph_.node(arg).type);
    if (e.scan == ScanKind::max)
      nothing = floating ? graph_.number(-HUGE_VAL) : graph_.integer(bounds_of(e.type).low, e.type);
    arg = graph_.spread(graph_.choose(lanes, arg, nothing), steps_.position(e.axis));
  }
  const NodeId out = graph_.scan(e.scan, args, steps_.position(e.axis), e.reverse, e.exclusive);
  return adds ? cast_to(out, e.type) : out;
}

} // namespace kgen::grad
