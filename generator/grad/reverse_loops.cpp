// Back through the rounds of loops.
#include <algorithm>
#include <utility>

#include "grad/reverser.h"
#include "support/check.h"

namespace kgen::grad {

using Kind = Node::Kind;

// The loop from its last round to its first: the gradients of what a round left give those of what it found, which
// are handed on, and those of what it read from outside, which add up.
void Reverse::unwind(const Loop &loop) {
  const size_t before = graph_.size();
  place_ = loop.place;
  std::vector<Returned> returned;
  for (size_t v = 0; v < loop.variables.size(); ++v)
    if (const auto &parts = parts_[static_cast<size_t>(loop.variables[v].result)]; !parts.empty())
      add_returned(loop, v, {}, whole_of(graph_, parts), returned);
  if (returned.empty())
    return;
  auto outer = std::exchange(parts_, {});
  do { // until no other ones come out
    parts_.assign(outer.size(), {});
    in_rounds_.clear();
    round_back(loop, returned);
  } while (!trouble_ && (find_returned(loop, returned) || widen(loop, returned)));
  Loop back = loop;
  back.backwards = true;
  back.variables.clear();
  std::vector<Of> of; // each variable's
  for (const auto &[v, later, entry, found, condition] : returned) {
    const Loop::Variable &variable = loop.variables[v];
    back.variables.push_back({variable.name, entry, found, value_of(graph_, parts_of(variable.found, later))});
    of.push_back({variable.entry, graph_.axes(variable.found) | later, condition});
  }
  add_shares(loop, back, of);
  for (const ReadInRounds &read : in_rounds_)
    back.arrays.push_back({name_of(read.base), read.value});
  parts_ = std::move(outer);
  graph_.add_loop(back);
  for (size_t i = 0; i < of.size(); ++i) {
    graph_.set_nothing_outside(back.variables[i].result, of[i].condition);
    give(of[i].value, {of[i].condition, back.variables[i].result}, of[i].lanes);
  }
  const std::vector<ReadInRounds> reads = std::exchange(in_rounds_, {});
  for (size_t i = 0; i < reads.size(); ++i)
    give_rounds(back, reads[i], back.arrays[i].result);
  for (size_t made = before; made < graph_.size(); ++made)
    out_.places.emplace(static_cast<NodeId>(made), loop.place);
}

void Reverse::add_returned(const Loop &loop, size_t v, AxisSet later, const Part &entry,
                           std::vector<Returned> &returned) {
  const NodeId found = graph_.handed(loop.variables[v].name, Type::f32, graph_.axes(entry.value));
  graph_.set_nothing_outside(found, entry.condition);
  returned.push_back({v, later, entry.value, found, entry.condition});
}

// What it asks that is the same in all rounds.
NodeId Reverse::in_all_rounds(NodeId condition) {
  if (condition == kNoNode || !graph_.node(condition).in_loop)
    return condition;
  const Node n = graph_.node(condition);
  if (n.kind == Kind::both)
    return graph_.both(in_all_rounds(n.args[0]), in_all_rounds(n.args[1]));
  return n.kind == Kind::either ? graph_.either(in_all_rounds(n.args[0]), in_all_rounds(n.args[1])) : kNoNode;
}

// The same for what rounds add up, if there are any.
NodeId Reverse::in_any_round(const Loop &loop, NodeId condition) {
  const bool counted = loop.count == kNoNode || graph_.node(loop.count).kind == Kind::number;
  const NodeId any =
      counted ? kNoNode : graph_.compare(Op::gt, loop.count, graph_.integer(0, graph_.node(loop.count).type));
  return graph_.both(any, in_all_rounds(condition));
}

// One round of it.
void Reverse::round_back(const Loop &loop, const std::vector<Returned> &returned) {
  looped_ = loop.lanes;
  for (const auto &[v, later, entry, found, condition] : returned)
    give(loop.variables[v].next, {condition, found}, graph_.axes(loop.variables[v].found) | later);
  const std::vector<NodeId> body = graph_.body_of(loop);
  for (auto id = body.rbegin(); id != body.rend() && !trouble_; ++id)
    if (graph_.node(*id).kind != Kind::handed && !parts_[static_cast<size_t>(*id)].empty())
      visit(*id);
  looped_ = {};
}

bool Reverse::find_returned(const Loop &loop, std::vector<Returned> &returned) {
  const size_t known = returned.size();
  for (size_t v = 0; v < loop.variables.size(); ++v)
    for (const Part &part : parts_[static_cast<size_t>(loop.variables[v].found)])
      if (std::none_of(returned.begin(), returned.end(),
                       [&](const Returned &r) { return r.variable == v && r.later == part.later; }))
        add_returned(loop, v, part.later, {in_all_rounds(part.condition), graph_.number(0)}, returned);
  return returned.size() != known;
}

// Does a round hand on what differs along more axes than what it finds, or under other conditions?
bool Reverse::widen(const Loop &loop, std::vector<Returned> &returned) {
  bool any = false;
  for (auto &[v, later, entry, found, condition] : returned) {
    const Loop::Variable &variable = loop.variables[v];
    const std::vector<Part> parts = parts_of(variable.found, later);
    if (parts.empty())
      continue;
    const Part whole = whole_of(graph_, parts);
    const NodeId wider = graph_.either(condition, in_all_rounds(whole.condition));
    const AxisSet next = graph_.axes(whole.value), known = graph_.axes(found);
    if (known.contains(next) && wider == condition)
      continue;
    if (!known.contains(next))
      found = graph_.handed(variable.name, Type::f32, known | next);
    condition = wider;
    graph_.set_nothing_outside(found, condition);
    any = true;
  }
  return any;
}

// What comes out of all rounds for what they read.
void Reverse::add_shares(const Loop &loop, Loop &back, std::vector<Of> &of) {
  for (NodeId id : graph_.outside_of(loop))
    for (AxisSet later : laters(id)) {
      const Part share = whole_of(graph_, parts_of(id, later));
      if (graph_.is_zero(share.value))
        continue;
      const NodeId found = graph_.handed(name_of(id), Type::f32, graph_.axes(share.value));
      back.variables.push_back({graph_.node(found).name, graph_.number(0), found, graph_.add(found, share.value)});
      of.push_back({id, graph_.axes(id) | later, in_any_round(loop, share.condition)});
    }
}

// Which lanes parts of a node leave for later, each set once.
std::vector<AxisSet> Reverse::laters(NodeId id) const {
  std::vector<AxisSet> out;
  for (const Part &part : parts_[static_cast<size_t>(id)])
    if (std::find(out.begin(), out.end(), part.later) == out.end())
      out.push_back(part.later);
  return out;
}

std::vector<Part> Reverse::parts_of(NodeId id, AxisSet later) const {
  std::vector<Part> out;
  for (const Part &part : parts_[static_cast<size_t>(id)])
    if (part.later == later)
      out.push_back(part);
  return out;
}

// That of the forward kernel.
std::string Reverse::name_of(NodeId id) const {
  const auto named = trace_.names.find(id);
  return named != trace_.names.end() ? named->second : graph_.node(id).name.empty() ? "share" : graph_.node(id).name;
}

// What each round gives is kept, in an array. Lanes along the axis that the rounds go along are summed before.
void Reverse::read_in_round(const Node &n, Part part, AxisSet lanes) {
  const std::optional<PlaceOfRounds> at = place_of_rounds(graph_, n);
  KGEN_CHECK(at);
  lanes |= graph_.axes(part.value) | graph_.axes(part.condition);
  const AxisSet along = AxisSet::of(at->axis);
  part = summed(part, lanes & along);
  const NodeId value = graph_.choose(part.condition, part.value, graph_.number(0));
  in_rounds_.push_back({n.args[0], *at, value, lanes - along, part.condition, place_});
}

// The element at a place gets what the round has left that has read it.
void Reverse::give_rounds(const Loop &back, const ReadInRounds &read, NodeId array) {
  place_ = read.place;
  const NodeId rounds = back.count != kNoNode ? back.count : graph_.integer(back.rounds);
  const RoundOf round = round_of(graph_, read.at, rounds);
  const NodeId condition = graph_.both(in_any_round(back, read.condition), round.exists);
  const Part part{condition, graph_.element(array, round.round)};
  const AxisSet lanes = read.lanes | AxisSet::of(read.at.axis);
  const NodeId rest = graph_.at(read.base, read.at.others);
  if (rest == read.base)
    give(read.base, part, lanes);
  else
    this->read(rest, Node(graph_.node(rest)), part, lanes);
}

} // namespace kgen::grad
