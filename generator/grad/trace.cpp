#include "grad/trace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "support/check.h"

namespace kgen::grad {
namespace {

using Kind = Node::Kind;

constexpr int kMostRounds = 64; // of a loop that is written out
constexpr size_t kMostNodes = 20000;

class Tracer {
public:
  Tracer(const Kernel &kernel, Graph &graph, Trouble &trouble) : kernel_(kernel), graph_(graph), trouble_(trouble) {}

  Trace run() {
    for (const Stmt &stmt : kernel_.statements)
      stores_in(stmt);
    statements(kernel_.statements);
    for (VarId v = 0; v < static_cast<VarId>(kernel_.vars.size()); ++v) {
      const Var &var = kernel_.vars[v];
      if (var.kind != Var::Kind::output)
        continue;
      if (var.alias != kNone)
        out_.written_over.insert(kernel_.vars[var.alias].name);
      const auto held = held_.find(v);
      if (held == held_.end())
        continue;
      out_.outputs[v] = held->second;
      const Node &node = graph_.node(held->second);
      const bool plain = node.kind == Kind::operand || node.kind == Kind::number || node.kind == Kind::scalar ||
                         node.kind == Kind::index || node.kind == Kind::undefined;
      if (!plain && !var.optional && !var.partial && stored_.count(v) == 0 && var.axes == node.axes)
        out_.saved.emplace(held->second, var.name);
    }
    return std::move(out_);
  }

private:
  using Held = std::map<VarId, NodeId>;

  void stores_in(const Stmt &stmt) {
    if (stmt.kind == Stmt::Kind::assign && !stmt.coords.empty())
      stored_.insert(stmt.target);
    for (const auto *list : {&stmt.body, &stmt.otherwise, &stmt.step})
      for (const Stmt &inner : *list)
        stores_in(inner);
  }

  NodeId undefined(Type type) {
    Node n;
    n.kind = Kind::undefined;
    n.type = type;
    return graph_.intern(n);
  }

  NodeId held(VarId var) {
    const auto found = held_.find(var);
    return found == held_.end() ? undefined(type_row(kernel_.vars[var].type).arithmetic) : found->second;
  }

  void statements(const std::vector<Stmt> &list) {
    for (const Stmt &stmt : list) {
      if (trouble_ || left_)
        return;
      if (graph_.size() > kMostNodes)
        return trouble_.refuse("a body of so many operations", stmt.place, "split the kernel");
      statement(stmt);
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
    const NodeId value = this->value(stmt.value);
    if (var.kind == Var::Kind::output && stored_.count(stmt.target) != 0 && graph_.is_floating(value) &&
        graph_.node(value).kind != Kind::number)
      for (const Store &before : out_.stores)
        if (before.output == stmt.target)
          return trouble_.refuse("a write over what was stored elsewhere", stmt.place,
                                 "write each element of `" + var.name + "` once");
    if (var.kind == Var::Kind::output)
      std::erase_if(out_.stores, [&](const Store &s) { return s.output == stmt.target && condition_ == kNoNode; });
    held_[stmt.target] = value;
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

  // Elements of local arrays are known one by one.
  std::optional<std::vector<int64_t>> element_of(const std::vector<ExprId> &indices) {
    std::vector<int64_t> out;
    for (ExprId index : indices) {
      const Node &n = graph_.node(value(index));
      if (n.kind != Kind::number)
        return std::nullopt;
      out.push_back(n.integer);
    }
    return out;
  }

  void assign_element(const Stmt &stmt) {
    const auto element = element_of(stmt.indices);
    if (!element)
      return trouble_.refuse("an element of a local array at a place that is computed", stmt.place,
                             "index it by numbers, or make the array an axis of the kernel");
    arrays_[stmt.target][*element] = value(stmt.value);
  }

  void store(const Stmt &stmt) {
    Store store{stmt.target, {}, value(stmt.value), condition_, stmt.scatter_add, stmt.place};
    for (const Coordinate &c : stmt.coords)
      store.places.emplace_back(c.axis, value(c.value));
    for (Store &other : out_.stores)
      if (!store.adds && other.output == store.output && other.places == store.places && condition_ == kNoNode)
        return void(other = store); // the last one counts
    out_.stores.push_back(std::move(store));
  }

  void branch(const Stmt &stmt) {
    const NodeId condition = value(stmt.value);
    const Node &n = graph_.node(condition);
    if (n.kind == Kind::number)
      return statements(n.integer != 0 ? stmt.body : stmt.otherwise);
    const Held before = held_;
    const auto arrays_before = arrays_;
    const NodeId around = condition_;
    condition_ = graph_.both(around, condition);
    statements(stmt.body);
    if (left_)
      return refuse_leaving(stmt);
    Held then = std::exchange(held_, before);
    auto arrays_then = std::exchange(arrays_, arrays_before);
    condition_ = graph_.both(around, graph_.no(condition));
    statements(stmt.otherwise);
    if (left_)
      return refuse_leaving(stmt);
    condition_ = around;
    place_ = stmt.place;
    for (const auto &[var, value] : then) {
      const NodeId other = held(var);
      if (value == other)
        continue;
      held_[var] = graph_.choose(condition, value, other);
      note_name(held_[var], kernel_.vars[var], stmt.place);
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

  void refuse_leaving(const Stmt &stmt) {
    trouble_.refuse("a `break`, `continue` or `return` that hangs on values", stmt.place,
                    "give the loop a constant bound, or write a scan");
  }

  NodeId zero(VarId var) {
    const Type type = kernel_.vars[var].type;
    return kgen::is_floating(type) ? graph_.number(0) : graph_.integer(0, type);
  }

  // A loop whose rounds are known is written out.
  void loop(const Stmt &stmt) {
    for (int round = 0; round < kMostRounds; ++round) {
      place_ = stmt.place;
      const NodeId condition = stmt.value == kNone ? graph_.truth(true) : value(stmt.value);
      const Node &n = graph_.node(condition);
      if (trouble_)
        return;
      if (n.kind != Kind::number)
        break;
      if (n.integer == 0)
        return;
      statements(stmt.body);
      const int left = std::exchange(left_, 0);
      if (left == 2 || trouble_)
        return;
      statements(stmt.step);
    }
    trouble_.refuse("this loop", stmt.place,
                    "give it a constant bound of at most " + std::to_string(kMostRounds) + " rounds, or write a scan");
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
    case Op::element: {
      const auto at = element_of(e.args);
      if (!at) {
        trouble_.refuse("an element of a local array at a place that is computed", e.place,
                        "index it by numbers, or make the array an axis of the kernel");
        return undefined(e.type);
      }
      const auto &array = arrays_[e.ref];
      const auto found = array.find(*at);
      return found == array.end() ? zero(e.ref) : found->second;
    }
    case Op::table:
      n.kind = Kind::table;
      n.name = kernel_.tables[e.ref].name;
      n.args = values(e.args);
      return graph_.intern(n);
    case Op::index:
      return graph_.index(e.axis);
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
      if (floating != kgen::is_floating(kernel_.expr(e.args[0]).type))
        trouble_.refuse("`bitcast`", e.place, "compute with the value itself");
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
      return graph_.scan(e.scan, values(e.args), e.axis, e.reverse, e.exclusive);
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
    return graph_.size_of(e.axis);
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

  NodeId operand(const Var &var) {
    Node n;
    n.kind = Kind::operand;
    n.name = var.name;
    n.type = type_row(var.type).arithmetic;
    n.axes = var.axes;
    return graph_.intern(n);
  }

  NodeId read(const Expr &e) {
    const Var &var = kernel_.vars[e.ref];
    if (var.kind == Var::Kind::output && stored_.count(e.ref) != 0) {
      trouble_.refuse("a read of `" + var.name + "`, which is written elsewhere,", e.place,
                      "keep what is needed of it in a local");
      return undefined(e.type);
    }
    const NodeId base = var.kind == Var::Kind::input ? operand(var) : held(e.ref);
    if (e.coords.empty())
      return base;
    std::vector<std::pair<AxisId, NodeId>> places;
    for (const Coordinate &c : e.coords)
      places.emplace_back(c.axis, value(c.value));
    if (graph_.node(base).kind == Kind::number)
      return base;
    const NodeId there = graph_.at(base, places);
    const bool zero = std::bit_cast<uint64_t>(var.outside) == 0;
    if (var.kind != Var::Kind::input || zero || e.safe || there == base)
      return there;
    const double outside = var.outside;
    const NodeId otherwise =
        graph_.is_floating(there) ? graph_.number(outside) : graph_.integer(static_cast<int64_t>(outside), e.type);
    return graph_.choose(inside(e), there, otherwise);
  }

  NodeId inside(const Expr &e) {
    const Var &var = kernel_.vars[e.ref];
    if (var.kind != Var::Kind::input) { // whole axes
      NodeId out = kNoNode;
      for (const Coordinate &c : e.coords) {
        const NodeId place = value(c.value);
        out = graph_.both(out, graph_.compare(Op::ge, place, graph_.integer(0)));
        out = graph_.both(out, graph_.compare(Op::lt, place, graph_.size_of(c.axis)));
      }
      return out;
    }
    Node n;
    n.kind = Kind::inside;
    n.type = Type::boolean;
    n.name = var.name;
    n.axes = e.axes;
    for (const Coordinate &c : e.coords) {
      n.places.push_back(c.axis);
      n.args.push_back(value(c.value));
    }
    return graph_.intern(n);
  }

  NodeId fold(const Expr &e) {
    NodeId element = value(e.args[0]);
    const NodeId where = e.args.size() > 1 ? value(e.args[1]) : kNoNode;
    // What a sum of truth values or whole numbers is accumulated in goes without saying.
    const Node &n = graph_.node(element);
    if (n.kind == Kind::cast && !kgen::is_floating(n.type) && bytes_of(n.type) == 8) {
      const Type from = graph_.node(n.args[0]).type;
      if (from == Type::boolean || (is_integer(from) && bytes_of(from) >= 4))
        element = n.args[0];
    }
    return graph_.fold(e.monoid, element, e.reduced, where, e.type);
  }

  const Kernel &kernel_;
  Graph &graph_;
  Trouble &trouble_;
  Trace out_;
  Held held_;
  std::map<VarId, std::map<std::vector<int64_t>, NodeId>> arrays_;
  std::set<VarId> stored_;
  NodeId condition_ = kNoNode;
  Place place_;
  int left_ = 0; // by `continue` (1) or `break` (2)
};

} // namespace

Trace trace(const Kernel &kernel, Graph &graph, Trouble &trouble) { return Tracer(kernel, graph, trouble).run(); }

} // namespace kgen::grad
