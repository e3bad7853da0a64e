// What the steps of a grid store, and what they hand on.
#include "grad/tracer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "grad/recurrence.h"

namespace kgen::grad {

using Kind = Node::Kind;

void Tracer::finish(VarId v) {
  const Var &var = kernel_.vars[v];
  if (var.alias != kNone) {
    out_.written_over.insert(kernel_.vars[var.alias].name);
    held_.emplace(v, held(v));
    if (!has_windows_everywhere(var))
      return trouble_.refuse("what `" + var.name + "` keeps where no step writes", var.place,
                             "leave out `alias`, so that both arrays are kept");
  }
  const auto held = held_.find(v);
  if (held == held_.end())
    return;
  if (!steps_.empty())
    return finish_steps(v, left_by(v));
  out_.outputs[v] = held->second;
  if (out_.scattered.count(held->second) != 0 && exact_.count(var.name) != 0 && !var.optional)
    out_.saved.emplace(held->second, var.name);
  save(v, held->second);
}

bool Tracer::has_windows_everywhere(const Var &output) const {
  return std::all_of(output.dims.begin(), output.dims.end(), [&](const Dim &dim) {
    return dim.whole || (dim.axis != kNone && kernel_.axes[dim.axis].uniform && kernel_.axes[dim.axis].grid != kNone);
  });
}

NodeId Tracer::left_by(VarId v) {
  const NodeId exists = is_carried(v) ? steps_.exists({}) : kNoNode;
  return exists == kNoNode ? held_.at(v) : graph_.choose(exists, held_.at(v), carried(v));
}

void Tracer::finish_steps(VarId v, NodeId value) {
  std::map<AxisId, NodeId> lasts;
  for (AxisId axis : steps_.still(v))
    lasts[axis] = graph_.op(Op::sub, {graph_.size_of(axis), graph_.integer(1)}, Type::i64);
  std::map<NodeId, NodeId> known; // what the last step leaves in variables that it hands on
  for (const auto &[var, last] : last_)
    if (held_.count(var) != 0 && steps_.still(var) == steps_.still(v))
      known.emplace(left_by(var), last);
  const NodeId left = lasts.empty() ? value : at_last(value, lasts, known);
  const NodeId exists = graph_.both(steps_.exists(steps_.still(v)), steps_.window_lanes(v));
  Store store{v, steps_.places(v), left, exists, false, kernel_.vars[v].place};
  if (revisits(v))
    store.condition = graph_.both(store.condition, steps_.edge(v, true));
  if (store.places.empty() && store.condition == kNoNode)
    save(v, left);
  out_.stores.push_back(std::move(store));
}

NodeId Tracer::at_last(NodeId id, const std::map<AxisId, NodeId> &lasts, std::map<NodeId, NodeId> &known) {
  AxisSet along;
  for (const auto &[axis, place] : lasts)
    along |= AxisSet::of(axis);
  const Node n = graph_.node(id);
  if ((n.axes & along).empty())
    return id;
  auto there = [&](NodeId arg) { return at_last(arg, lasts, known); };
  if (n.kind == Kind::choose) {
    const NodeId condition = moved(graph_, n.args[0], lasts);
    if (graph_.node(condition).kind == Kind::number)
      return there(n.args[graph_.node(condition).integer != 0 ? 1 : 2]);
  }
  if (const auto found = known.find(id); found != known.end())
    return found->second;
  if (n.kind == Kind::choose)
    return known[id] = graph_.choose(there(n.args[0]), there(n.args[1]), there(n.args[2]));
  if (n.kind == Kind::index)
    return lasts.at(n.axis);
  if (n.kind == Kind::op) {
    std::vector<NodeId> args;
    for (NodeId arg : n.args)
      args.push_back(there(arg));
    return known[id] = graph_.op(n.op, args, n.type);
  }
  return graph_.at(id, {lasts.begin(), lasts.end()});
}

bool Tracer::revisits(VarId v) const {
  return steps_.has_table_windows(v) && std::any_of(kernel_.grid.begin(), kernel_.grid.end(), [](const GridDim &grid) {
           return grid.semantics == Semantics::arbitrary;
         });
}

bool Tracer::is_carried(VarId v) const {
  const Var &var = kernel_.vars[v];
  const bool kept = var.kind == Var::Kind::output || var.kind == Var::Kind::scratch;
  return kept && !steps_.empty() && (!steps_.still(v).empty() || revisits(v));
}

bool Tracer::find_carried() {
  bool found = false;
  for (const auto &[v, placeholder] : std::map(carried_)) {
    const auto left = held_.find(v);
    if (found_.count(v) != 0 || left == held_.end() || holds_others(left->second, placeholder))
      continue;
    Carried carried{placeholder, left_by(v), steps_.still(v)};
    if (revisits(v))
      for (GridId g = 0; g < static_cast<GridId>(kernel_.grid.size()); ++g)
        if (kernel_.grid[g].semantics == Semantics::arbitrary)
          carried.along = {steps_.steps(g)};
    bool mixes = false;
    const auto value = found_by_scan(graph_, carried, &mixes);
    if (mixes)
      out_.unknown.at(placeholder).help = kMixedHelp;
    if (value) {
      found_[v] = value->found;
      last_[v] = value->last;
      found = true;
    }
  }
  return found;
}

bool Tracer::holds_others(NodeId id, NodeId own) {
  std::set<NodeId> seen;
  std::vector<NodeId> open = {id};
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    if (!seen.insert(at).second)
      continue;
    if (graph_.node(at).kind == Kind::carried && at != own)
      return true;
    const std::vector<NodeId> &args = graph_.node(at).args;
    open.insert(open.end(), args.begin(), args.end());
  }
  return false;
}

NodeId Tracer::carried(VarId v) {
  if (const auto found = found_.find(v); found != found_.end())
    return found->second;
  Node n;
  n.kind = Kind::carried;
  n.name = kernel_.vars[v].name;
  n.type = type_row(kernel_.vars[v].type).arithmetic;
  n.axes = steps_.positions(kernel_.vars[v].axes);
  for (AxisId axis : steps_.made())
    for (GridId g = 0; g < static_cast<GridId>(kernel_.grid.size()); ++g)
      if (steps_.steps(g) == axis)
        n.axes |= AxisSet::of(axis);
  const NodeId out = graph_.intern(n);
  out_.unknown.emplace(out,
                       Unknown{"what `" + n.name + "` carries from step to step", kernel_.vars[v].place, kCarriedHelp});
  return carried_[v] = out;
}

// Those that all have which it reads and which the conditions around it ask, beside those of its target's window.
NodeId Tracer::lanes_of(const Stmt &stmt, AxisSet axes) {
  if (steps_.empty())
    return kNoNode;
  std::vector<ExprId> touched = conditions_around_;
  touched.push_back(stmt.value);
  const NodeId own = steps_.window_lanes(stmt.target);
  return graph_.without(steps_.lanes_of_all(touched, axes),
                        [&](NodeId part) { return own != kNoNode && graph_.asks(own, part); });
}

void Tracer::window_store(const Stmt &stmt, Store &store) {
  if (!store.adds && !steps_.still(stmt.target).empty())
    return trouble_.refuse("a write at other places that later steps may repeat", stmt.place,
                           "write the kernel over whole axes, without the grid");
  for (auto &[axis, place] : store.places) {
    if (steps_.position(axis) != axis)
      store.condition = graph_.both(store.condition, in_block(stmt.target, axis, place));
    axis = steps_.whole(stmt.target, axis);
  }
  const auto others = steps_.places(stmt.target, stmt.coords);
  store.places.insert(store.places.end(), others.begin(), others.end());
}

NodeId Tracer::in_block_at(VarId v, AxisId axis, NodeId place) {
  return graph_.op(Op::sub, {place, steps_.window_start(v, axis)}, Type::i64);
}

NodeId Tracer::in_block(VarId v, AxisId axis, NodeId place) {
  const NodeId at = in_block_at(v, axis, place);
  return graph_.both(graph_.compare(Op::ge, at, graph_.integer(0)),
                     graph_.compare(Op::lt, at, graph_.size_of(steps_.position(axis))));
}

} // namespace kgen::grad
