// Loops that stay loops: a round is traced once, with what it finds in variables as values of their own.
#include <algorithm>
#include <set>

#include "grad/place_of_rounds.h"
#include "grad/tracer.h"

namespace kgen::grad {

using Kind = Node::Kind;

namespace {

// The plain locals that statements assign. False where they do anything else that a later round could find.
bool assigned_in(const Kernel &kernel, const std::vector<Stmt> &list, std::set<VarId> &out) {
  for (const Stmt &stmt : list) {
    if (stmt.kind == Stmt::Kind::declare)
      return false;
    if (stmt.kind == Stmt::Kind::assign) {
      const Var &var = kernel.vars[stmt.target];
      if (var.kind != Var::Kind::local || !var.array.empty() || !stmt.coords.empty())
        return false;
      out.insert(stmt.target);
    }
    for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
      if (!assigned_in(kernel, *inner, out))
        return false;
  }
  return true;
}

// The variables without a value that a loop's rounds give one to, which is read behind it.
std::set<VarId> begun_in(const Kernel &kernel, const Stmt &loop, const std::set<VarId> &assigned) {
  Reads all = reads_of(kernel, kernel.statements), own = reads_of(kernel, {loop});
  std::set<VarId> out;
  for (VarId v : assigned)
    if (all[v] != own[v])
      out.insert(v);
  return out;
}

// What a loop that stays one has no text for: scans (of which a product is made, too), loops, and reads at other places
// than those that the rounds go along.
bool cannot_stay(Graph &graph, const Node &n, AxisSet lanes) {
  if (n.kind == Kind::at) {
    const auto place = place_of_rounds(graph, n);
    return !place || (lanes | n.axes).contains(place->axis);
  }
  return n.kind == Kind::scan || n.kind == Kind::looped || n.kind == Kind::inside ||
         (n.kind == Kind::fold && n.monoid == Monoid::product);
}

} // namespace

std::optional<Tracer::Counter> Tracer::counter_of(const Stmt &stmt, const std::set<VarId> &assigned, bool by_value) {
  if (stmt.step.size() != 1 || stmt.step[0].kind != Stmt::Kind::assign || stmt.value == kNone ||
      assigned.count(stmt.step[0].target) != 0)
    return std::nullopt;
  return by_value ? counted_by_value(stmt, assigned) : counted(stmt);
}

// The condition asks about the counter alone, and `step` alone changes it.
std::optional<Tracer::Counter> Tracer::counted(const Stmt &stmt) {
  Counter out;
  out.var = stmt.step[0].target;
  const auto now = [&]() -> std::optional<int64_t> {
    const Node &n = graph_.node(held(out.var));
    return n.kind == Kind::number && is_integer(n.type) ? std::optional(n.integer) : std::nullopt;
  };
  std::optional<int64_t> at = now();
  if (!at)
    return std::nullopt;
  out.first = held(out.var);
  const bool is_left = std::ranges::any_of(stmt.body, [](const Stmt &s) { return leaves(s, false); });
  for (;; ++out.rounds) {
    const Node asked = graph_.node(value(stmt.value));
    if (asked.kind != Kind::number || out.rounds > kMostKeptRounds)
      return std::nullopt;
    out.last = held(out.var);
    if (asked.integer == 0)
      return out.rounds > (is_left ? kFewLeftRounds : kFewRounds) ? std::optional(out) : std::nullopt;
    statement(stmt.step[0]);
    const std::optional<int64_t> next = now();
    if (!next || (out.rounds > 0 && *next - *at != out.step))
      return std::nullopt;
    out.step = *next - *at;
    at = next;
  }
}

// for (int i = first; i < end; ++i), with an end that no round changes.
std::optional<Tracer::Counter> Tracer::counted_by_value(const Stmt &stmt, const std::set<VarId> &assigned) {
  Counter out;
  out.var = stmt.step[0].target;
  out.type = kernel_.vars[out.var].type;
  out.first = held(out.var);
  if (out.type != Type::i32 && out.type != Type::i64)
    return std::nullopt;
  for (VarId v : assigned)
    held_[v] = graph_.handed(kernel_.vars[v].name, kernel_.vars[v].type, {});
  const NodeId round = held_[out.var] = graph_.round(out.type);
  const NodeId asked = value(stmt.value);
  statement(stmt.step[0]);
  const Node stepped = graph_.node(held(out.var));
  if (stepped.kind != Kind::op || (stepped.op != Op::add && stepped.op != Op::sub) || stepped.args[0] != round ||
      graph_.node(stepped.args[1]).kind != Kind::number)
    return std::nullopt;
  out.step = graph_.node(stepped.args[1]).integer * (stepped.op == Op::sub ? -1 : 1);
  out.count = out.step == 0 ? kNoNode : rounds_of(out, asked);
  if (out.count == kNoNode)
    return std::nullopt;
  out.last = unknown(out.var, {"the counter of this loop", stmt.place, "name its last value before the loop"});
  return out;
}

// How many there are while `asked` holds: a comparison of the counter with what no round changes; else kNoNode.
NodeId Tracer::rounds_of(const Counter &counter, NodeId asked) {
  const Node n = graph_.node(asked);
  if (n.kind != Kind::op || n.args.size() != 2)
    return kNoNode;
  const bool up = counter.step > 0, ends_at = n.op == Op::le || n.op == Op::ge;
  const Node compared = graph_.node(n.args[0]), end = graph_.node(n.args[1]);
  const bool asks_counter = compared.kind == Kind::round ||
                            (compared.kind == Kind::cast && graph_.node(compared.args[0]).kind == Kind::round);
  if ((n.op != (up ? Op::lt : Op::gt) && n.op != (up ? Op::le : Op::ge)) || !asks_counter || end.in_loop ||
      (end.type != Type::i32 && end.type != Type::i64))
    return kNoNode;
  const auto whole = [&](Op op, NodeId a, NodeId b) { return graph_.op(op, {a, b}, end.type); };
  const auto number = [&](int64_t value) { return graph_.integer(value, end.type); };
  const NodeId first = cast_to(counter.first, end.type);
  const NodeId span = up ? whole(Op::sub, n.args[1], first) : whole(Op::sub, first, n.args[1]);
  const int64_t step = std::abs(counter.step);
  return whole(Op::div, whole(Op::add, span, number(step - (ends_at ? 0 : 1))), number(step));
}

NodeId Tracer::cast_to(NodeId id, Type type) {
  const Node from = graph_.node(id);
  if (from.type == type)
    return id;
  if (from.kind == Kind::number)
    return graph_.integer(from.integer, type);
  Node cast;
  cast.kind = Kind::cast;
  cast.type = type;
  cast.args = {id};
  return graph_.intern(cast);
}

// Is it made of numbers and parameters? A local array may have so many elements.
bool Tracer::is_constant(NodeId id) const {
  const Node &n = graph_.node(id);
  if (n.kind == Kind::scalar)
    return graph_.is_parameter(n.name);
  return n.kind == Kind::number || ((n.kind == Kind::op || n.kind == Kind::cast) &&
                                    std::ranges::all_of(n.args, [&](NodeId arg) { return is_constant(arg); }));
}

// A value of each of so many rounds, in a local array.
bool Tracer::may_keep(NodeId rounds) const {
  const Node &n = graph_.node(rounds);
  return is_constant(rounds) && (n.kind != Kind::number || n.integer <= kMostKeptRounds);
}

NodeId Tracer::in_round(const Counter &counter, NodeId round) {
  const Type type = kernel_.vars[counter.var].type;
  const NodeId times = graph_.op(Op::mul, {graph_.integer(std::abs(counter.step), type), cast_to(round, type)}, type);
  return graph_.op(counter.step < 0 ? Op::sub : Op::add, {counter.first, times}, type);
}

// Traced again until it is known which variables a round changes, and along which axes each of them differs.
std::optional<Tracer::KeptLoop> Tracer::loop_of(const Stmt &stmt, const Counter &counter,
                                                const std::set<VarId> &assigned) {
  for (VarId v : begun_in(kernel_, stmt, assigned))
    held_.emplace(v, zero(v));
  const Held before = held_;
  std::vector<VarId> handed;
  AxisSet going = graph_.axes(counter.count); // axes of whether a lane has not left
  std::map<VarId, AxisSet> axes;
  for (VarId v : assigned)
    if (before.count(v) != 0) {
      handed.push_back(v);
      axes[v] = graph_.axes(before.at(v)) | graph_.axes(counter.count);
    }
  while (!handed.empty()) {
    Loop loop;
    loop.rounds = counter.rounds;
    loop.count = counter.count;
    loop.round = graph_.round(counter.type);
    loop.place = stmt.place;
    if (counter.step == 1 && graph_.is_number(counter.first, 0))
      loop.counter = kernel_.vars[counter.var].name;
    held_ = before;
    held_[counter.var] = in_round(counter, loop.round);
    for (VarId v : handed) {
      const NodeId entry = before.at(v),
                   found = graph_.handed(kernel_.vars[v].name, graph_.node(entry).type, axes.at(v));
      loop.variables.push_back({kernel_.vars[v].name, entry, found});
      held_[v] = found;
    }
    statements(stmt.body);
    const NodeId left = take_leaving().loop;
    if (trouble_ || too_long_)
      return std::nullopt;
    for (size_t i = 0; i < handed.size(); ++i)
      loop.variables[i].next = held_.at(handed[i]);
    bool wider = left != kNoNode && hold_left(loop, left, going);
    std::vector<VarId> changed;
    for (size_t i = 0; i < handed.size(); ++i) {
      const NodeId next = loop.variables[i].next;
      AxisSet &known = axes.at(handed[i]);
      wider = wider || !known.contains(graph_.axes(next));
      loop.lanes |= known |= graph_.axes(next);
      if (next != loop.variables[i].found)
        changed.push_back(handed[i]);
    }
    if (changed == handed && !wider) {
      const std::vector<NodeId> body = graph_.body_of(loop);
      stays_ = std::none_of(body.begin(), body.end(),
                            [&](NodeId id) { return cannot_stay(graph_, Node(graph_.node(id)), loop.lanes); });
      return stays_ ? std::optional(KeptLoop{loop, handed}) : std::nullopt;
    }
    handed = changed;
  }
  return std::nullopt;
}

// What lanes that have left find, they hand on. Are there more axes than thought?
bool Tracer::hold_left(Loop &loop, NodeId left, AxisSet &axes) {
  const NodeId goes_on = graph_.handed("goes_on", Type::boolean, axes), other = graph_.no(left);
  for (Loop::Variable &variable : loop.variables)
    variable.next = graph_.choose(goes_on, variable.next, variable.found);
  loop.variables.push_back({"goes_on", graph_.truth(true), goes_on, graph_.both(goes_on, other)});
  const bool wider = !axes.contains(graph_.axes(left));
  loop.lanes |= axes |= graph_.axes(left);
  return wider;
}

bool Tracer::keep_loop(const Stmt &stmt, bool by_value) {
  std::set<VarId> assigned;
  stays_ = steps_.empty() && assigned_in(kernel_, stmt.body, assigned);
  if (!stays_)
    return false;
  const Held before = held_;
  const Trouble trouble = trouble_;
  const Leaving leaving = std::exchange(leaving_, {});
  const size_t nodes = graph_.size();
  const std::optional<Counter> counter = counter_of(stmt, assigned, by_value);
  held_ = before;
  std::optional<KeptLoop> kept;
  if (counter)
    kept = loop_of(stmt, *counter, assigned);
  held_ = before;
  trouble_ = trouble;
  leaving_ = leaving;
  too_long_ = false;
  wasted_ += graph_.size() - nodes;
  if (!kept)
    return false;
  if (counter->count != kNoNode && !may_keep(counter->count))
    kept->loop.unknown = unknown(counter->var, unknown_rounds(stmt));
  graph_.add_loop(kept->loop);
  const bool left = kept->loop.variables.size() > kept->vars.size();
  held_[counter->var] = left ? unknown(counter->var, unknown_rounds(stmt)) : counter->last;
  for (size_t i = 0; i < kept->vars.size(); ++i) {
    const NodeId result = kept->loop.variables[i].result;
    held_[kept->vars[i]] = result;
    note_name(result, kernel_.vars[kept->vars[i]], stmt.place);
  }
  return true;
}

} // namespace kgen::grad
