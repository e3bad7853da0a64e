#include "grad/trace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "grad/recurrence.h"
#include "grad/transpose.h"
#include "support/check.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

constexpr int kMostRounds = 64; // of a loop that is written out
constexpr size_t kMostNodes = 20000;

class Tracer {
public:
  Tracer(const Kernel &kernel, const WholeDims &dims, Graph &graph, Trouble &trouble)
      : kernel_(kernel), graph_(graph), trouble_(trouble), steps_(kernel, dims, graph, trouble) {}

  Trace run() {
    for (const Stmt &stmt : kernel_.statements)
      stores_in(stmt);
    if (steps_.empty())
      for (VarId v : read_)
        stored_.erase(v); // it is known what they hold
    do {
      out_ = {};
      held_.clear();
      arrays_.clear();
      if (!trouble_)
        statements(kernel_.statements);
    } while (!trouble_ && find_carried());
    out_.steps = steps_.made();
    for (VarId v = 0; v < static_cast<VarId>(kernel_.vars.size()) && !trouble_; ++v)
      if (kernel_.vars[v].kind == Var::Kind::output)
        finish(v);
    return std::move(out_);
  }

private:
  using Held = std::map<VarId, NodeId>;
  // Lanes that are done with a round of a loop, or with all of it. Never: kNoNode.
  struct Leaving {
    NodeId rounds = kNoNode, loop = kNoNode;
  };


  // What the output holds in the end.
  void finish(VarId v) {
    const Var &var = kernel_.vars[v];
    if (var.alias != kNone)
      out_.written_over.insert(kernel_.vars[var.alias].name);
    const auto held = held_.find(v);
    if (held == held_.end())
      return;
    if (!steps_.empty())
      return finish_steps(v, left_by(v));
    out_.outputs[v] = held->second;
    save(v, held->second);
  }

  void save(VarId v, NodeId value) {
    const Var &var = kernel_.vars[v];
    const Node &node = graph_.node(value);
    const bool plain = node.kind == Kind::operand || node.kind == Kind::number || node.kind == Kind::scalar ||
                       node.kind == Kind::index || node.kind == Kind::undefined;
    if (!plain && !var.optional && !var.partial && stored_.count(v) == 0 && var.axes == node.axes)
      out_.saved.emplace(value, var.name);
  }

  // What a step leaves in a variable: one that does not exist, what it found.
  NodeId left_by(VarId v) {
    const NodeId exists = is_carried(v) ? steps_.exists({}) : kNoNode;
    return exists == kNoNode ? held_.at(v) : graph_.choose(exists, held_.at(v), carried(v));
  }

  // Each step stores its window, the last one of those that have the same.
  void finish_steps(VarId v, NodeId value) {
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

  NodeId at_last(NodeId id, const std::map<AxisId, NodeId> &lasts, const std::map<NodeId, NodeId> &known) {
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
      return graph_.choose(there(n.args[0]), there(n.args[1]), there(n.args[2]));
    if (n.kind == Kind::index)
      return lasts.at(n.axis);
    if (n.kind == Kind::op) {
      std::vector<NodeId> args;
      for (NodeId arg : n.args)
        args.push_back(there(arg));
      return graph_.op(n.op, args, n.type);
    }
    return graph_.at(id, {lasts.begin(), lasts.end()});
  }

  // May steps that do not follow the grid's order along still dimensions share a window? Tables pick it then.
  bool revisits(VarId v) const {
    return steps_.has_table_windows(v) &&
           std::any_of(kernel_.grid.begin(), kernel_.grid.end(),
                       [](const GridDim &grid) { return grid.semantics == Semantics::arbitrary; });
  }

  bool is_carried(VarId v) const {
    const Var &var = kernel_.vars[v];
    const bool kept = var.kind == Var::Kind::output || var.kind == Var::Kind::scratch;
    return kept && !steps_.empty() && (!steps_.still(v).empty() || revisits(v));
  }

  // Variables of which it is now known what each step finds in them; then all is traced again with that.
  bool find_carried() {
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
      if (const auto value = found_by_scan(graph_, carried)) {
        found_[v] = value->found;
        last_[v] = value->last;
        found = true;
      }
    }
    return found;
  }

  // Does it hang on what variables carry of which that is not known yet?
  bool holds_others(NodeId id, NodeId own) {
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

  NodeId carried(VarId v) {
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
    return carried_[v] = graph_.intern(n);
  }

  void stores_in(const Stmt &stmt) {
    if (stmt.kind == Stmt::Kind::assign && !stmt.coords.empty())
      stored_.insert(stmt.target);
    reads_in(stmt.value, stmt.kind == Stmt::Kind::assign && stmt.scatter_add ? stmt.target : kNone);
    for (const Coordinate &c : stmt.coords)
      reads_in(c.value, kNone);
    for (const auto *list : {&stmt.body, &stmt.otherwise, &stmt.step})
      for (const Stmt &inner : *list)
        stores_in(inner);
  }

  // Outputs that the body reads.
  void reads_in(ExprId id, VarId but) {
    if (id == kNone)
      return;
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::read && e.ref != but)
      read_.insert(e.ref);
    for (ExprId arg : e.args)
      reads_in(arg, but);
    for (const Coordinate &c : e.coords)
      reads_in(c.value, but);
  }

  NodeId undefined(Type type) {
    Node n;
    n.kind = Kind::undefined;
    n.type = type;
    return graph_.intern(n);
  }

  NodeId held(VarId var) {
    const auto found = held_.find(var);
    if (found != held_.end())
      return found->second;
    return is_carried(var) ? carried(var) : undefined(type_row(kernel_.vars[var].type).arithmetic);
  }

  void statements(const std::vector<Stmt> &list, size_t from = 0) {
    for (size_t at = from; at < list.size(); ++at) {
      if (trouble_ || left_)
        return;
      if (graph_.size() > kMostNodes)
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

  void statement(const Stmt &stmt) {
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

  void assign(const Stmt &stmt) {
    const Var &var = kernel_.vars[stmt.target];
    if (var.kind == Var::Kind::scratch)
      return assign_plain(stmt, var);
    if (!stmt.coords.empty())
      return store(stmt);
    if (!var.array.empty())
      return assign_element(stmt);
    assign_plain(stmt, var);
  }

  void assign_plain(const Stmt &stmt, const Var &var) {
    const NodeId before = held(stmt.target), value = this->value(stmt.value);
    if (var.kind == Var::Kind::output && stored_.count(stmt.target) != 0 && graph_.is_floating(value) &&
        graph_.node(value).kind != Kind::number)
      for (const Store &before : out_.stores)
        if (before.output == stmt.target)
          return trouble_.refuse("a write over what was stored elsewhere", stmt.place,
                                 "write each element of `" + var.name + "` once");
    if (var.kind == Var::Kind::output)
      std::erase_if(out_.stores, [&](const Store &s) { return s.output == stmt.target && condition_ == kNoNode; });
    held_[stmt.target] = value;
    if (var.kind == Var::Kind::scratch && !steps_.empty())
      if (const NodeId lanes = steps_.lanes({stmt.value}, var.axes); lanes != kNoNode)
        held_[stmt.target] = graph_.choose(lanes, value, before);
    graph_.know_product(value);
    note_name(value, var, stmt.place);
  }

  void note_name(NodeId value, const Var &var, const Place &place) {
    const Kind kind = graph_.node(value).kind;
    if (kind == Kind::operand || kind == Kind::number || kind == Kind::scalar || kind == Kind::undefined ||
        kind == Kind::index || kind == Kind::size)
      return;
    if (var.kind == Var::Kind::local)
      out_.names.emplace(value, var.name);
    out_.places.emplace(value, place);
  }

  // The elements of a local array that indices may mean, each with the condition that they do.
  std::vector<std::pair<std::vector<int64_t>, NodeId>> elements_of(VarId var, const std::vector<ExprId> &indices) {
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

  void assign_element(const Stmt &stmt) {
    const NodeId value = this->value(stmt.value);
    for (const auto &[at, condition] : elements_of(stmt.target, stmt.indices)) {
      const auto known = arrays_[stmt.target].find(at);
      const NodeId before = known == arrays_[stmt.target].end() ? zero(stmt.target) : known->second;
      arrays_[stmt.target][at] = graph_.choose(condition, value, before);
    }
  }

  NodeId element(const Expr &e) {
    NodeId out = kNoNode;
    const auto elements = elements_of(e.ref, e.args);
    for (auto it = elements.rbegin(); it != elements.rend(); ++it) {
      const auto known = arrays_[e.ref].find(it->first);
      const NodeId value = known == arrays_[e.ref].end() ? zero(e.ref) : known->second;
      out = out == kNoNode ? value : graph_.choose(it->second, value, out);
    }
    return out == kNoNode ? zero(e.ref) : out;
  }

  void store(const Stmt &stmt) {
    Store store{stmt.target, {}, value(stmt.value), condition_, stmt.scatter_add, stmt.place};
    for (const Coordinate &c : stmt.coords)
      store.places.emplace_back(c.axis, value(c.value));
    if (!steps_.empty())
      window_store(stmt, store);
    else if (stored_.count(stmt.target) == 0)
      return hold_store(stmt, store);
    for (Store &other : out_.stores)
      if (!store.adds && other.output == store.output && other.places == store.places && condition_ == kNoNode)
        return void(other = store); // the last one counts
    out_.stores.push_back(std::move(store));
  }

  // What is read again: an element holds what the lane stores whose place it is.
  void hold_store(const Stmt &stmt, const Store &store) {
    const NodeId array = operand(stmt.target), there = graph_.at(array, store.places);
    AxisSet lanes = graph_.axes(store.value);
    for (const auto &[axis, place] : store.places)
      lanes |= graph_.axes(place);
    const NodeId before = held(stmt.target);
    if (there == array)
      return void(held_[stmt.target] = store.adds ? plus(before, store.value) : store.value);
    const std::optional<Transposed> own = transpose(graph_, there, {kNoNode, store.value}, lanes);
    if (!own || !own->part || own->summed)
      return trouble_.refuse("a write at these places, which is read again,", stmt.place,
                             "keep what is needed of it in a local");
    NodeId condition = own->part->condition;
    if (own->slice)
      condition = graph_.both(condition, graph_.compare(Op::eq, graph_.index(own->slice->first),
                                                        graph_.integer(own->slice->second)));
    const NodeId value = store.adds ? plus(before, own->part->value) : own->part->value;
    held_[stmt.target] = graph_.choose(condition, value, before);
  }

  NodeId plus(NodeId a, NodeId b) {
    return graph_.is_floating(a) ? graph_.add(a, b) : graph_.op(Op::add, {a, b}, graph_.node(a).type);
  }

  // Within its window.
  void window_store(const Stmt &stmt, Store &store) {
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

  // Where a place along an axis lies in the block of a step, and whether it does.
  NodeId in_block_at(VarId v, AxisId axis, NodeId place) {
    return graph_.op(Op::sub, {place, steps_.window_start(v, axis)}, Type::i64);
  }
  NodeId in_block(VarId v, AxisId axis, NodeId place) {
    const NodeId at = in_block_at(v, axis, place);
    return graph_.both(graph_.compare(Op::ge, at, graph_.integer(0)),
                       graph_.compare(Op::lt, at, graph_.size_of(steps_.position(axis))));
  }

  void branch(const Stmt &stmt) {
    const NodeId condition = value(stmt.value);
    const Node &n = graph_.node(condition);
    if (n.kind == Kind::number) {
      const Leaving outer = std::exchange(leaving_, {});
      statements(n.integer != 0 ? stmt.body : stmt.otherwise);
      perhaps_left_ = graph_.any(leaving_.rounds, leaving_.loop);
      leaving_ = {graph_.any(outer.rounds, leaving_.rounds), graph_.any(outer.loop, leaving_.loop)};
      return;
    }
    const Leaving outer = std::exchange(leaving_, {});
    Leaving first;
    under(condition, stmt.place, [&] {
      statements(stmt.body);
      first = take_leaving();
    }, [&] {
      statements(stmt.otherwise);
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

  Leaving take_leaving() {
    Leaving out = std::exchange(leaving_, {});
    if (const int left = std::exchange(left_, 0))
      (left == 2 ? out.loop : out.rounds) = graph_.truth(true);
    perhaps_left_ = kNoNode;
    return out;
  }

  void join_leaving(const Leaving &outer, NodeId condition) {
    const Leaving inner = take_leaving();
    leaving_ = {graph_.any(outer.rounds, graph_.only(condition, inner.rounds)),
                graph_.any(outer.loop, graph_.only(condition, inner.loop))};
  }

  // What is done where the condition holds, and elsewhere; afterwards each variable is a choice.
  template <class Then> void under(NodeId condition, const Place &place, Then then) {
    under(condition, place, then, [] {});
  }
  template <class Then, class Else> void under(NodeId condition, const Place &place, Then body, Else otherwise) {
    const Held before = held_;
    const auto arrays_before = arrays_;
    const NodeId around = condition_;
    condition_ = graph_.both(around, condition);
    body();
    Held then = std::exchange(held_, before);
    auto arrays_then = std::exchange(arrays_, arrays_before);
    condition_ = graph_.both(around, graph_.no(condition));
    otherwise();
    condition_ = around;
    place_ = place;
    for (const auto &[var, value] : then) {
      const NodeId other = held(var);
      if (value == other)
        continue;
      held_[var] = graph_.choose(condition, value, other);
      note_name(held_[var], kernel_.vars[var], place);
    }
    for (const auto &[var, other] : Held(held_))
      if (then.count(var) == 0)
        held_[var] = graph_.choose(condition, undefined(graph_.node(other).type), other);
    for (auto &[var, elements] : arrays_then)
      for (const auto &[at, value] : elements) {
        NodeId &other = arrays_[var].try_emplace(at, zero(var)).first->second;
        other = graph_.choose(condition, value, other);
      }
    for (auto &[var, elements] : arrays_)
      for (auto &[at, value] : elements)
        if (arrays_then[var].count(at) == 0)
          value = graph_.choose(condition, zero(var), value);
  }

  NodeId zero(VarId var) {
    const Type type = kernel_.vars[var].type;
    return kgen::is_floating(type) ? graph_.number(0) : graph_.integer(0, type);
  }

  // A loop of at most so many rounds is written out.
  void loop(const Stmt &stmt) {
    const Leaving outer = std::exchange(leaving_, {});
    rounds(stmt, 0);
    leaving_ = outer;
    perhaps_left_ = kNoNode;
    left_ = 0;
  }

  // The round and all later ones. Each stands under the condition of the one before, so that counters stay numbers.
  void rounds(const Stmt &stmt, int round) {
    place_ = stmt.place;
    const NodeId condition = stmt.value == kNone ? graph_.truth(true) : value(stmt.value);
    const Node n = graph_.node(condition);
    if (trouble_ || (n.kind == Kind::number && n.integer == 0))
      return;
    if (round == kMostRounds || graph_.size() > kMostNodes)
      return trouble_.refuse("this loop", stmt.place,
                             "give it a constant bound of at most " + std::to_string(kMostRounds) +
                                 " rounds, or write a scan");
    if (n.kind == Kind::number)
      return one_round(stmt, round);
    under(condition, stmt.place, [&] { one_round(stmt, round); });
  }

  void one_round(const Stmt &stmt, int round) {
    statements(stmt.body);
    if (trouble_)
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

  NodeId value(ExprId id) {
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
      const NodeId then = value(e.args[1]), otherwise = value(e.args[2]);
      return graph_.choose(condition, then, otherwise);
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
      n.kind = Kind::call;
      n.name = kernel_.named_functions[e.ref];
      n.args = values(e.args);
      return graph_.intern(n);
    default:
      break;
    }
    if (is_scalar_op(e.op)) {
      const NodeId out = graph_.op(e.op, values(e.args), e.type);
      graph_.know_product(out);
      out_.places.emplace(out, place_);
      return out;
    }
    trouble_.refuse("`" + std::string(op_name(e.op)) + "`, which asks about steps of the grid,", e.place,
                    "write the kernel without a grid");
    return undefined(e.type);
  }

  std::vector<NodeId> values(const std::vector<ExprId> &list) {
    std::vector<NodeId> out;
    for (ExprId id : list)
      out.push_back(value(id));
    return out;
  }

  NodeId extent(const Expr &e) {
    for (const Dim &dim : kernel_.vars[e.ref].dims)
      if (dim.axis == e.axis && dim.extent.is_integer())
        return graph_.integer(dim.extent.value);
    return graph_.size_of(steps_.whole(e.ref, e.axis));
  }

  // Between floating types nothing is rounded: gradients are computed in `real`.
  NodeId cast(NodeId id, const Expr &e) {
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
    Node n;
    n.kind = Kind::cast;
    n.type = e.type;
    n.args = {id};
    return graph_.intern(n);
  }

  // An input where a step sees it.
  NodeId operand(VarId v) {
    const Var &var = kernel_.vars[v];
    Node n;
    n.kind = Kind::operand;
    n.name = var.name;
    n.type = type_row(var.type).arithmetic;
    n.axes = steps_.whole_axes(v);
    return graph_.intern(n);
  }

  NodeId read(const Expr &e) {
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

  // Beyond what it has, a variable is 0.
  NodeId read_held(const Expr &e) {
    const NodeId base = held(e.ref);
    std::vector<std::pair<AxisId, NodeId>> places;
    NodeId exists = kNoNode;
    for (const Coordinate &c : e.coords) {
      NodeId place = value(c.value);
      if (const AxisId within = steps_.position(c.axis); within != c.axis) {
        place = in_block_at(e.ref, c.axis, place);
        const NodeId lanes = kernel_.vars[e.ref].kind == Var::Kind::local
                                 ? steps_.known_lanes(e.ref, c.axis)
                                 : steps_.lanes(std::vector<ExprId>{}, c.axis);
        exists = graph_.both(exists, lanes == kNoNode ? lanes : moved(graph_, lanes, {{within, place}}));
        places.emplace_back(within, place);
      } else {
        places.emplace_back(c.axis, place);
      }
      if (const auto &[axis, there] = places.back(); !graph_.axes(base).contains(axis)) // the same at all places it has
        exists = graph_.both(exists, graph_.both(graph_.compare(Op::ge, there, graph_.integer(0)),
                                                 graph_.compare(Op::lt, there, graph_.size_of(axis))));
    }
    const NodeId there = graph_.at(base, places);
    return graph_.choose(exists, there, graph_.is_floating(there) ? graph_.number(0) : graph_.integer(0, e.type));
  }

  NodeId inside(const Expr &e) {
    const Var &var = kernel_.vars[e.ref];
    NodeId out = kNoNode;
    if (var.kind != Var::Kind::input) { // whole axes
      for (const Coordinate &c : e.coords) {
        const NodeId place = value(c.value);
        if (steps_.position(c.axis) != c.axis) {
          out = graph_.both(out, in_block(e.ref, c.axis, place));
          continue;
        }
        out = graph_.both(out, graph_.compare(Op::ge, place, graph_.integer(0)));
        out = graph_.both(out, graph_.compare(Op::lt, place, graph_.size_of(c.axis)));
      }
      return out == kNoNode ? graph_.truth(true) : out;
    }
    Node n;
    n.kind = Kind::inside;
    n.type = Type::boolean;
    n.name = var.name;
    n.axes = steps_.positions(e.axes);
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

  NodeId fold(const Expr &e) {
    NodeId element = value(e.args[0]), where = e.args.size() > 1 ? value(e.args[1]) : kNoNode;
    // What a sum of truth values or whole numbers is accumulated in goes without saying.
    const Node &n = graph_.node(element);
    if (n.kind == Kind::cast && !kgen::is_floating(n.type) && bytes_of(n.type) == 8) {
      const Type from = graph_.node(n.args[0]).type;
      if (from == Type::boolean || (is_integer(from) && bytes_of(from) >= 4))
        element = n.args[0];
    }
    if (steps_.empty())
      return graph_.fold(e.monoid, element, e.reduced, where, e.type);
    where = graph_.both(where, steps_.lanes(e.args, e.reduced));
    NodeId out = graph_.fold(e.monoid, element, steps_.positions(e.reduced), where, e.type);
    const AxisId along = e.reduced.list().front();
    if ((e.monoid == Monoid::argmax || e.monoid == Monoid::argmin) && steps_.position(along) != along)
      out = graph_.op(Op::add, {out, steps_.start(along)}, e.type);
    return out;
  }

  // Positions that do not exist leave a scan as it is.
  NodeId scan(const Expr &e) {
    std::vector<NodeId> args = values(e.args);
    const NodeId lanes = steps_.empty() ? kNoNode : steps_.lanes(e.args, e.axis);
    for (NodeId &arg : args) {
      const bool floating = graph_.is_floating(arg);
      const double neutral = e.scan == ScanKind::product ? 1 : 0;
      NodeId nothing = floating ? graph_.number(neutral) : graph_.integer(static_cast<int64_t>(neutral), e.type);
      if (e.scan == ScanKind::max)
        nothing = floating ? graph_.number(-HUGE_VAL) : graph_.integer(bounds_of(e.type).low, e.type);
      arg = graph_.choose(lanes, arg, nothing);
    }
    return graph_.scan(e.scan, args, steps_.position(e.axis), e.reverse, e.exclusive);
  }

  const Kernel &kernel_;
  Graph &graph_;
  Trouble &trouble_;
  Steps steps_;
  // Of variables that steps hand on: a name for what a step finds, the value of it, and what the last one leaves.
  std::map<VarId, NodeId> carried_, found_, last_;
  Trace out_;
  Held held_;
  std::map<VarId, std::map<std::vector<int64_t>, NodeId>> arrays_;
  std::set<VarId> stored_, read_;
  NodeId condition_ = kNoNode;
  Place place_;
  int left_ = 0;   // all lanes, by `continue` (1) or `break` (2)
  Leaving leaving_; // some lanes
  NodeId perhaps_left_ = kNoNode; // those of the last statement
};

} // namespace

Trace trace(const Kernel &kernel, const WholeDims &dims, Graph &graph, Trouble &trouble) {
  return Tracer(kernel, dims, graph, trouble).run();
}

} // namespace kgen::grad
