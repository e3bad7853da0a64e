// Branches and loops: lanes that leave a round or a loop go on under a condition.
#include "grad/tracer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "grad/recurrence.h"

namespace kgen::grad {

using Kind = Node::Kind;

bool leaves(const Stmt &stmt, bool or_round) {
  const auto inside = [&](const Stmt &s) { return leaves(s, or_round); };
  return stmt.kind == Stmt::Kind::leave || (or_round && stmt.kind == Stmt::Kind::next) ||
         (stmt.kind == Stmt::Kind::branch &&
          (std::ranges::any_of(stmt.body, inside) || std::ranges::any_of(stmt.otherwise, inside)));
}

void Tracer::branch(const Stmt &stmt) {
  const NodeId condition = value(stmt.value);
  const size_t around = conditions_around_.size();
  if (!stmt.axes.empty())
    conditions_around_.push_back(stmt.value);
  const NodeId lanes = steps_.empty() || stmt.axes.empty() ? kNoNode : steps_.lanes_of_all({stmt.value}, stmt.axes);
  if (lanes == kNoNode || graph_.node(condition).kind == Kind::number)
    branch_by(condition, stmt);
  else // lanes that it cannot ask do neither, and go on behind the loop that it may leave
    in_either(lanes, stmt.place, [&] { branch_by(condition, stmt); }, [&] { left_ = leaves(stmt, true) ? 2 : 0; });
  conditions_around_.resize(around);
}

void Tracer::branch_by(NodeId condition, const Stmt &stmt) {
  const Node &n = graph_.node(condition);
  if (n.kind == Kind::number) {
    const Leaving outer = std::exchange(leaving_, {});
    statements(n.integer != 0 ? stmt.body : stmt.otherwise);
    perhaps_left_ = graph_.any(leaving_.rounds, leaving_.loop);
    leaving_ = {graph_.any(outer.rounds, leaving_.rounds), graph_.any(outer.loop, leaving_.loop)};
    return;
  }
  in_either(condition, stmt.place, [&] { statements(stmt.body); }, [&] { statements(stmt.otherwise); });
}

void Tracer::in_either(NodeId condition, const Place &place, const std::function<void()> &then,
                       const std::function<void()> &otherwise) {
  const Leaving outer = std::exchange(leaving_, {});
  Leaving first;
  under(
      condition, place,
      [&] {
        then();
        first = take_leaving();
      },
      [&] {
        otherwise();
        leaving_ = take_leaving();
      });
  // Lanes that have left the loop, or this round of it.
  const NodeId other = graph_.no(condition);
  Leaving joined;
  joined.rounds = graph_.any(graph_.only(condition, first.rounds), graph_.only(other, leaving_.rounds));
  joined.loop = graph_.any(graph_.only(condition, first.loop), graph_.only(other, leaving_.loop));
  leaving_ = {graph_.any(outer.rounds, joined.rounds), graph_.any(outer.loop, joined.loop)};
  perhaps_left_ = graph_.any(joined.rounds, joined.loop);
}

Tracer::Leaving Tracer::take_leaving() {
  Leaving out = std::exchange(leaving_, {});
  if (const int left = std::exchange(left_, 0))
    (left == 2 ? out.loop : out.rounds) = graph_.truth(true);
  perhaps_left_ = kNoNode;
  return out;
}

void Tracer::join_leaving(const Leaving &outer, NodeId condition) {
  const Leaving inner = take_leaving();
  leaving_ = {graph_.any(outer.rounds, graph_.only(condition, inner.rounds)),
              graph_.any(outer.loop, graph_.only(condition, inner.loop))};
}

void Tracer::loop(const Stmt &stmt) {
  if (keep_loop(stmt))
    return;
  const Leaving outer = std::exchange(leaving_, {});
  const Held before = held_;
  const auto arrays_before = arrays_;
  const auto stores_before = out_.stores;
  const NodeId around = condition_;
  const size_t nodes = graph_.size();
  rounds(stmt, 0);
  leaving_ = outer;
  perhaps_left_ = kNoNode;
  left_ = 0;
  if (!std::exchange(too_long_, false))
    return;
  wasted_ += graph_.size() - nodes;
  held_ = before;
  arrays_ = arrays_before;
  out_.stores = stores_before;
  condition_ = around;
  if (keep_loop(stmt, true))
    return;
  const Unknown why = unknown_rounds(stmt);
  forget(stmt.body, why);
  forget(stmt.step, why);
}

Unknown Tracer::unknown_rounds(const Stmt &stmt) const {
  const std::string most = std::to_string(stays_ ? kMostKeptRounds : kMostRounds);
  const std::string parameter = parameter_in(stmt.value);
  if (!parameter.empty() && !stays_)
    return {"this loop", stmt.place, "fix its rounds, at most " + most + ": -D " + parameter + "=..."};
  return {"this loop", stmt.place,
          "give it a constant bound of at most " + most + " rounds, which `break` may leave, or write a scan"};
}

std::string Tracer::parameter_in(ExprId id) const {
  if (id == kNone)
    return "";
  const Expr &e = kernel_.expr(id);
  if (e.op == Op::scalar && graph_.is_parameter(kernel_.scalars[e.ref].name))
    return kernel_.scalars[e.ref].name;
  for (ExprId arg : e.args)
    if (std::string found = parameter_in(arg); !found.empty())
      return found;
  return "";
}

// What the statements assign is no longer known.
void Tracer::forget(const std::vector<Stmt> &list, const Unknown &why) {
  for (const Stmt &stmt : list) {
    const bool known_store = !stmt.coords.empty() && stored_.count(stmt.target) != 0;
    if (stmt.kind == Stmt::Kind::assign && (known_store || kernel_.vars[stmt.target].array.size() > 0))
      return trouble_.refuse(why.what, why.place, why.help);
    if (stmt.kind == Stmt::Kind::assign)
      held_[stmt.target] = unknown(stmt.target, why);
    for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
      forget(*inner, why);
  }
}

NodeId Tracer::unknown(VarId var, const Unknown &why) {
  Node n;
  n.kind = Kind::carried;
  n.name = kernel_.vars[var].name;
  n.type = type_row(kernel_.vars[var].type).arithmetic;
  n.axes = steps_.positions(kernel_.vars[var].axes);
  n.which = ++unknowns_;
  const NodeId out = graph_.intern(n);
  out_.unknown.emplace(out, why);
  return out;
}

void Tracer::rounds(const Stmt &stmt, int round) {
  place_ = stmt.place;
  const NodeId condition = stmt.value == kNone ? graph_.truth(true) : value(stmt.value);
  const Node n = graph_.node(condition);
  if (trouble_ || (n.kind == Kind::number && n.integer == 0))
    return;
  if (too_long_ || round == kMostRounds || graph_.size() > wasted_ + kMostNodes / 2)
    return void(too_long_ = true);
  if (n.kind == Kind::number)
    return one_round(stmt, round);
  under(condition, stmt.place, [&] { one_round(stmt, round); });
}

void Tracer::one_round(const Stmt &stmt, int round) {
  statements(stmt.body);
  if (trouble_ || too_long_)
    return;
  const Leaving left = take_leaving();
  const auto go_on = [&] {
    statements(stmt.step);
    rounds(stmt, round + 1);
  };
  if (left.loop == kNoNode)
    return go_on();
  const Node n = graph_.node(left.loop);
  if (n.kind != Kind::number)
    under(graph_.no(left.loop), stmt.place, go_on);
}

} // namespace kgen::grad
