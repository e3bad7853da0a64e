// Loops that stay loops: a round is traced once, with what it finds in variables as values of their own.
#include <algorithm>

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

bool stays_in_loop(const Node &n) {
  return n.kind == Kind::at || n.kind == Kind::fold || n.kind == Kind::scan || n.kind == Kind::looped ||
         n.kind == Kind::inside;
}

} // namespace

// The condition asks about the counter alone, and `step` alone changes it.
std::optional<Tracer::Counter> Tracer::counter_of(const Stmt &stmt) {
  if (stmt.step.size() != 1 || stmt.step[0].kind != Stmt::Kind::assign || stmt.value == kNone)
    return std::nullopt;
  Counter out;
  out.var = stmt.step[0].target;
  const auto now = [&]() -> std::optional<int64_t> {
    const Node &n = graph_.node(held(out.var));
    return n.kind == Kind::number && is_integer(n.type) ? std::optional(n.integer) : std::nullopt;
  };
  std::optional<int64_t> at = now();
  if (!at)
    return std::nullopt;
  out.first = *at;
  for (;; ++out.rounds) {
    const Node asked = graph_.node(value(stmt.value));
    if (asked.kind != Kind::number || out.rounds > kMostKeptRounds)
      return std::nullopt;
    if (asked.integer == 0)
      return out.rounds > kFewRounds ? std::optional(out) : std::nullopt;
    statement(stmt.step[0]);
    const std::optional<int64_t> next = now();
    if (!next || (out.rounds > 0 && *next - *at != out.step))
      return std::nullopt;
    out.step = *next - *at;
    at = next;
  }
}

NodeId Tracer::in_round(const Counter &counter, NodeId round) {
  const Type type = kernel_.vars[counter.var].type;
  if (type != Type::i32) {
    Node wide;
    wide.kind = Kind::cast;
    wide.type = type;
    wide.args = {round};
    round = graph_.intern(wide);
  }
  const NodeId times = graph_.op(Op::mul, {graph_.integer(counter.step, type), round}, type);
  return graph_.op(Op::add, {graph_.integer(counter.first, type), times}, type);
}

// Until it is known which variables a round changes, and along which axes they differ.
std::optional<Tracer::KeptLoop> Tracer::loop_of(const Stmt &stmt, const Counter &counter,
                                                const std::set<VarId> &assigned) {
  const Held before = held_;
  std::vector<VarId> handed;
  AxisSet lanes;
  for (VarId v : assigned)
    if (before.count(v) != 0) {
      handed.push_back(v);
      lanes |= graph_.axes(before.at(v));
    }
  while (!handed.empty()) {
    Loop loop;
    loop.rounds = counter.rounds;
    loop.round = graph_.round();
    loop.lanes = lanes;
    loop.place = stmt.place;
    held_ = before;
    held_[counter.var] = in_round(counter, loop.round);
    for (VarId v : handed) {
      const NodeId entry = before.at(v), found = graph_.handed(kernel_.vars[v].name, graph_.node(entry).type, lanes);
      loop.variables.push_back({kernel_.vars[v].name, entry, found});
      held_[v] = found;
    }
    statements(stmt.body);
    if (trouble_ || too_long_ || take_leaving().loop != kNoNode)
      return std::nullopt;
    std::vector<VarId> changed;
    AxisSet wider = lanes;
    for (size_t i = 0; i < handed.size(); ++i) {
      loop.variables[i].next = held_.at(handed[i]);
      wider |= graph_.axes(loop.variables[i].next);
      if (loop.variables[i].next != loop.variables[i].found)
        changed.push_back(handed[i]);
    }
    if (changed == handed && wider == lanes) {
      const std::vector<NodeId> body = graph_.body_of(loop);
      const bool good =
          std::none_of(body.begin(), body.end(), [&](NodeId id) { return stays_in_loop(graph_.node(id)); });
      return good ? std::optional(KeptLoop{loop, handed}) : std::nullopt;
    }
    handed = changed;
    lanes = wider;
  }
  return std::nullopt;
}

bool Tracer::keep_loop(const Stmt &stmt) {
  std::set<VarId> assigned;
  if (!steps_.empty() || !assigned_in(kernel_, stmt.body, assigned))
    return false;
  const Held before = held_;
  const Trouble trouble = trouble_;
  const Leaving leaving = std::exchange(leaving_, {});
  const size_t nodes = graph_.size();
  const std::optional<Counter> counter = counter_of(stmt);
  const NodeId last = counter ? held_.at(counter->var) : kNoNode;
  held_ = before;
  std::optional<KeptLoop> kept;
  if (counter && assigned.count(counter->var) == 0)
    kept = loop_of(stmt, *counter, assigned);
  held_ = before;
  trouble_ = trouble;
  leaving_ = leaving;
  too_long_ = false;
  wasted_ += graph_.size() - nodes;
  if (!kept)
    return false;
  graph_.add_loop(kept->loop);
  held_[counter->var] = last;
  for (size_t i = 0; i < kept->vars.size(); ++i) {
    const NodeId result = kept->loop.variables[i].result;
    held_[kept->vars[i]] = result;
    note_name(result, kernel_.vars[kept->vars[i]], stmt.place);
  }
  return true;
}

} // namespace kgen::grad
