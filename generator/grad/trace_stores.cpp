// What is written at other places, and over what was written before.
#include "grad/tracer.h"

#include <algorithm>

namespace kgen::grad {

using Kind = Node::Kind;

void Tracer::store(const Stmt &stmt) {
  Store store{stmt.target, {}, value(stmt.value), condition_, stmt.scatter_add, stmt.place};
  for (const Coordinate &c : stmt.coords)
    store.places.emplace_back(c.axis, value(c.value));
  if (!steps_.empty())
    window_store(stmt, store);
  if (!store.adds && graph_.is_floating(store.value))
    write_over(store);
  if (steps_.empty() && stored_.count(stmt.target) == 0)
    return hold_store(stmt, store);
  out_.stores.push_back(std::move(store));
}

void Tracer::write_over(const Store &store) {
  bool known = replace_stores(store);
  const auto before = held_.find(store.output);
  const Kind kind = before == held_.end() ? Kind::undefined : graph_.node(before->second).kind;
  const bool over_value = kind != Kind::number && kind != Kind::undefined;
  if (!steps_.empty())
    known = !over_value;
  else if (stored_.count(store.output) != 0)
    known = known && !over_value;
  if (!known)
    meet_stores(store.output, store.place);
}

// Those at the same places; false where another one may have an element of these, too.
bool Tracer::replace_stores(const Store &store) {
  std::vector<Store> stay;
  bool known = true;
  for (Store &earlier : out_.stores) {
    const bool same = earlier.output == store.output && earlier.places == store.places;
    if (same && condition_ == kNoNode)
      continue;
    if (same)
      earlier.condition = graph_.both(earlier.condition, graph_.no(condition_));
    known = known && (same || earlier.output != store.output || are_apart(earlier, store));
    stay.push_back(earlier);
  }
  out_.stores = std::move(stay);
  return known;
}

bool Tracer::are_apart(const Store &a, const Store &b) {
  for (const auto &[axis, place] : a.places)
    for (const auto &[other_axis, other] : b.places)
      if (axis == other_axis && never_meet(graph_, place, other))
        return true;
  return false;
}

// All elements are written anew.
void Tracer::write_over_stores(const Stmt &stmt) {
  const auto same = [&](const Store &store) { return store.output == stmt.target; };
  if (condition_ == kNoNode)
    std::erase_if(out_.stores, same);
  else if (std::any_of(out_.stores.begin(), out_.stores.end(), same))
    meet_stores(stmt.target, stmt.place);
}

// Traced again, the output is held as what is read again is.
void Tracer::meet_stores(VarId output, const Place &place) {
  if (steps_.empty() && stored_.count(output) != 0)
    written_over_.insert(output);
  else
    trouble_.refuse("a write over what was stored elsewhere", place,
                    "write each element of `" + kernel_.vars[output].name + "` once");
}

bool Tracer::hold_written_over() {
  bool any = false;
  for (VarId v : written_over_)
    any = stored_.erase(v) != 0 || any;
  return any;
}

// Does the condition differ along the lanes whose places these are? Elsewhere it is not asked for them.
bool Tracer::asks_other_lanes(const Node &there) const {
  AxisSet lanes;
  for (size_t i = 0; i < there.places.size(); ++i)
    lanes |= AxisSet::of(there.places[i]) | graph_.axes(there.args[i + 1]);
  return !(graph_.axes(condition_) & lanes).empty();
}

// Where it takes the place of what was there before, that must not count.
NodeId Tracer::scattered(const Store &store, NodeId before, const Unknown &why) {
  const NodeId out = unknown(store.output, why);
  const Kind kind = graph_.node(before).kind;
  if (graph_.is_floating(out) && (store.adds || kind == Kind::number || kind == Kind::undefined))
    out_.scattered.emplace(out, Scattered{before, store});
  out_.names.emplace(out, kernel_.vars[store.output].name);
  return out;
}

NodeId Tracer::scattered_in_either(NodeId then, NodeId otherwise) {
  const auto held_by = [&](NodeId id) { // what it held at last, and before each addition
    std::vector<NodeId> out = {id};
    for (auto at = out_.scattered.find(id); at != out_.scattered.end(); at = out_.scattered.find(out.back()))
      out.push_back(at->second.before);
    return out;
  };
  const std::vector<NodeId> in_then = held_by(then), in_other = held_by(otherwise);
  if (std::find(in_other.begin(), in_other.end(), then) != in_other.end())
    return otherwise;
  size_t common = 0;
  while (common < in_other.size() && std::find(in_then.begin(), in_then.end(), in_other[common]) == in_then.end())
    ++common;
  if (common == in_other.size())
    return kNoNode;
  NodeId out = then;
  while (common-- > 0) {
    const Store store = out_.scattered.at(in_other[common]).store;
    out = scattered(store, out, out_.unknown.at(in_other[common]));
  }
  return out;
}

void Tracer::hold_store(const Stmt &stmt, const Store &store) {
  const NodeId array = operand(stmt.target), there = graph_.at(array, store.places);
  AxisSet lanes = graph_.axes(store.value);
  for (const auto &[axis, place] : store.places)
    lanes |= graph_.axes(place);
  const NodeId before = held(stmt.target);
  if (there == array)
    return void(held_[stmt.target] = store.adds ? plus(before, store.value) : store.value);
  const std::optional<Transposed> own = transpose(graph_, there, {kNoNode, store.value}, lanes);
  if (!own || !own->part || own->summed || asks_other_lanes(graph_.node(there))) {
    if (store.adds && read_.count(stmt.target) == 0)
      return out_.stores.push_back(store);
    const std::string why = kernel_.vars[stmt.target].alias != kNone ? "beside which `alias` keeps the rest"
                            : read_.count(stmt.target) != 0          ? "which is read again"
                                                                     : "over what was written before";
    const Unknown refused = {"a write at these places, " + why + ",", stmt.place,
                             store.adds ? "read it when all is added, or keep what it holds there in a further output"
                                        : "keep what is needed of it in a local"};
    held_[stmt.target] = scattered(store, before, refused);
    return;
  }
  NodeId condition = own->part->condition;
  if (own->slice)
    condition = graph_.both(
        condition, graph_.compare(Op::eq, graph_.index(own->slice->first), graph_.integer(own->slice->second)));
  const NodeId value = store.adds ? plus(before, own->part->value) : own->part->value;
  held_[stmt.target] = graph_.choose(condition, value, before);
}

} // namespace kgen::grad
