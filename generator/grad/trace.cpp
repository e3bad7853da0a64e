#include "grad/tracer.h"

#include <algorithm>
#include <bit>

#include "grad/recurrence.h"

namespace kgen::grad {

using Kind = Node::Kind;

Trace Tracer::run() {
  for (const Table &table : kernel_.tables)
    if (table.range)
      graph_.set_range(table.name, steps_.value(*table.range));
  for (const Stmt &stmt : kernel_.statements)
    stores_in(stmt);
  read_ = reads_of(kernel_, kernel_.statements);
  if (steps_.empty())
    for (VarId v = 0; v < static_cast<VarId>(kernel_.vars.size()); ++v)
      if (read_.count(v) != 0 || kernel_.vars[v].alias != kNone)
        stored_.erase(v); // it is known what they hold
  do {
    out_ = {};
    held_.clear();
    arrays_.clear();
    if (!trouble_)
      statements(kernel_.statements);
  } while (!trouble_ && (hold_written_over() || find_carried()));
  out_.steps = steps_.made();
  for (VarId v = 0; v < static_cast<VarId>(kernel_.vars.size()) && !trouble_; ++v)
    if (kernel_.vars[v].kind == Var::Kind::output)
      finish(v);
  return std::move(out_);
}

void Tracer::save(VarId v, NodeId value) {
  const Var &var = kernel_.vars[v];
  const Node &node = graph_.node(value);
  const bool plain = node.kind == Kind::operand || node.kind == Kind::number || node.kind == Kind::scalar ||
                     node.kind == Kind::index || node.kind == Kind::undefined;
  const bool added_to =
      std::any_of(out_.stores.begin(), out_.stores.end(), [&](const Store &s) { return s.output == v; });
  const bool complete = !var.partial || var.alias != kNone; // what it keeps of an input is known, too
  const bool exact = exact_.count(var.name) != 0 && !graph_.is_computed_extreme(value);
  if (!plain && exact && !var.optional && complete && stored_.count(v) == 0 && !added_to && var.axes == node.axes)
    out_.saved.emplace(value, var.name);
  if (out_.saved.count(value) == 0)
    return;
  graph_.hold(value);
  graph_.know_logarithm(value);
  graph_.know_sum(value);
}

void Tracer::stores_in(const Stmt &stmt) {
  if (stmt.kind == Stmt::Kind::assign && !stmt.coords.empty())
    stored_.insert(stmt.target);
  for (const auto *list : {&stmt.body, &stmt.otherwise, &stmt.step})
    for (const Stmt &inner : *list)
      stores_in(inner);
}

NodeId Tracer::undefined(Type type) {
  Node n;
  n.kind = Kind::undefined;
  n.type = type;
  return graph_.intern(n);
}

NodeId Tracer::held(VarId var) {
  const auto found = held_.find(var);
  return found != held_.end() ? found->second : unassigned(var);
}

NodeId Tracer::unassigned(VarId var) {
  if (is_carried(var))
    return carried(var);
  const Var &of = kernel_.vars[var];
  if (of.kind == Var::Kind::output && of.alias != kNone)
    return graph_.at(operand(of.alias), steps_.places(of.alias));
  return undefined(type_row(of.type).arithmetic);
}

void Tracer::statements(const std::vector<Stmt> &list, size_t from) {
  for (size_t at = from; at < list.size(); ++at) {
    if (trouble_ || left_ || too_long_)
      return;
    if (graph_.size() > wasted_ + kMostNodes)
      return trouble_.refuse("a body of so many operations", list[at].place, "split the kernel");
    statement(list[at]);
    if (perhaps_left_ != kNoNode && !left_) { // the others go on
      const NodeId goes_on = graph_.no(std::exchange(perhaps_left_, kNoNode));
      Leaving outer = std::exchange(leaving_, {});
      under(goes_on, list[at].place, [&] { statements(list, at + 1); });
      join_leaving(outer, goes_on);
      return;
    }
  }
}

void Tracer::statement(const Stmt &stmt) {
  place_ = stmt.place;
  switch (stmt.kind) {
  case Stmt::Kind::assign:
    return assign(stmt);
  case Stmt::Kind::declare:
    arrays_[stmt.target].clear();
    return;
  case Stmt::Kind::branch:
    return branch(stmt);
  case Stmt::Kind::loop:
    return loop(stmt);
  case Stmt::Kind::leave:
  case Stmt::Kind::next:
    left_ = stmt.kind == Stmt::Kind::leave ? 2 : 1;
    return;
  case Stmt::Kind::check:
  case Stmt::Kind::print:
    return;
  }
}

void Tracer::assign(const Stmt &stmt) {
  const Var &var = kernel_.vars[stmt.target];
  if (var.kind == Var::Kind::scratch)
    return assign_plain(stmt, var);
  if (!stmt.coords.empty())
    return store(stmt);
  if (!var.array.empty())
    return assign_element(stmt);
  assign_plain(stmt, var);
}

void Tracer::assign_plain(const Stmt &stmt, const Var &var) {
  const NodeId before = held(stmt.target), value = this->value(stmt.value);
  if (var.kind == Var::Kind::output && graph_.is_floating(value))
    write_over_stores(stmt);
  held_[stmt.target] = value;
  if (var.kind != Var::Kind::local || steps_.keeps_other_lanes(stmt))
    if (const NodeId lanes = lanes_of(stmt, var.axes); lanes != kNoNode)
      held_[stmt.target] = graph_.choose(lanes, value, before);
  graph_.know_product(value);
  note_name(value, var, stmt.place);
}

void Tracer::note_name(NodeId value, const Var &var, const Place &place) {
  const Kind kind = graph_.node(value).kind;
  if (kind == Kind::operand || kind == Kind::number || kind == Kind::scalar || kind == Kind::undefined ||
      kind == Kind::index || kind == Kind::size)
    return;
  if (var.kind == Var::Kind::local) {
    out_.names.emplace(value, var.name);
    graph_.hold(value);
  }
  out_.places.emplace(value, place);
}

std::vector<std::pair<std::vector<int64_t>, NodeId>> Tracer::elements_of(VarId var,
                                                                         const std::vector<ExprId> &indices) {
  std::vector<std::pair<std::vector<int64_t>, NodeId>> out = {{{}, kNoNode}};
  for (size_t i = 0; i < indices.size(); ++i) {
    const NodeId index = value(indices[i]);
    const Node n = graph_.node(index);
    decltype(out) longer;
    for (const auto &[at, condition] : out)
      for (int64_t k = 0; k < kernel_.vars[var].array[i]; ++k) {
        if (n.kind == Kind::number && n.integer != k)
          continue;
        longer.emplace_back(at, condition);
        longer.back().first.push_back(k);
        if (n.kind != Kind::number)
          longer.back().second =
              graph_.both(condition, graph_.compare(Op::eq, index, graph_.integer(k, graph_.node(index).type)));
      }
    out = std::move(longer);
  }
  if (out.size() > static_cast<size_t>(kMostRounds))
    trouble_.refuse("an element of a large local array at a place that is computed", place_,
                    "make the array an axis of the kernel");
  return out;
}

void Tracer::assign_element(const Stmt &stmt) {
  const NodeId value = this->value(stmt.value);
  for (const auto &[at, condition] : elements_of(stmt.target, stmt.indices)) {
    const auto known = arrays_[stmt.target].find(at);
    const NodeId before = known == arrays_[stmt.target].end() ? zero(stmt.target) : known->second;
    arrays_[stmt.target][at] = graph_.choose(condition, value, before);
  }
}

NodeId Tracer::element(const Expr &e) {
  NodeId out = zero(e.ref);
  const auto elements = elements_of(e.ref, e.args);
  for (auto it = elements.rbegin(); it != elements.rend(); ++it) {
    const auto known = arrays_[e.ref].find(it->first);
    const NodeId value = known == arrays_[e.ref].end() ? zero(e.ref) : known->second;
    out = graph_.choose(it->second, value, out); // outside there is 0 to read
  }
  return out;
}

NodeId Tracer::plus(NodeId a, NodeId b) {
  return graph_.is_floating(a) ? graph_.add(a, b) : graph_.op(Op::add, {a, b}, graph_.node(a).type);
}

NodeId Tracer::zero(VarId var) {
  const Type type = kernel_.vars[var].type;
  return kgen::is_floating(type) ? graph_.number(0) : graph_.integer(0, type);
}

Trace trace(const Kernel &kernel, const WholeDims &dims, Graph &graph, const std::set<std::string> &exact,
            Trouble &trouble) {
  return Tracer(kernel, dims, graph, exact, trouble).run();
}

} // namespace kgen::grad
