#include "grad/steps.h"

#include <algorithm>

#include "analysis/facts.h"
#include "analysis/flow.h"
#include "grad/transpose.h"

namespace kgen::grad {

using Kind = Node::Kind;

Steps::Steps(const Kernel &kernel, const WholeDims &dims, Graph &graph, Trouble &trouble)
    : kernel_(kernel), dims_(dims), graph_(graph), trouble_(trouble) {
  if (empty())
    return;
  for (GridId g = 0; g < static_cast<GridId>(kernel.grid.size()); ++g) {
    const GridDim &grid = kernel.grid[g];
    const bool varies =
        any_node(grid.size, [](const Size &s) { return s.op == Size::Op::grid || s.op == Size::Op::table; });
    const std::optional<Size> size = grid.at_most ? grid.at_most : most(grid.size);
    if (!size) {
      trouble.refuse_grid(grid.name, grid.place,
                          "their number has no bound that sizes give: say `at_most`, or give the table a `range`");
      return;
    }
    if (varies)
      varying_.insert(g);
    steps_.push_back(add_axis(grid.name, *size));
  }
  if (!trouble)
    find_positions();
}

// N - 1 + 1 is N.
Size Steps::added(const Size &a, const Size &b) {
  if (a.is_integer() && !b.is_integer())
    return added(b, a);
  const bool less = a.op == Size::Op::subtract && a.args[1].is_integer() && a.args[1].value >= 0;
  if (!less || !b.is_integer() || b.value < 0)
    return Size::make(Size::Op::add, {a, b});
  const long long more = b.value - a.args[1].value;
  return more < 0 ? Size::make(Size::Op::subtract, {a.args[0], Size::integer(-more)})
                  : Size::make(Size::Op::add, {a.args[0], Size::integer(more)});
}

// A size that this one never exceeds, by sizes of axes alone.
std::optional<Size> Steps::most(const Size &size) const {
  const Size one = Size::integer(1);
  std::vector<Size> args;
  switch (size.op) {
  case Size::Op::integer:
  case Size::Op::axis:
    return size;
  case Size::Op::grid:
    for (const GridDim &grid : kernel_.grid)
      if (grid.name == size.name)
        if (const auto steps = grid.at_most ? grid.at_most : most(grid.size))
          return Size::make(Size::Op::subtract, {*steps, one});
    return std::nullopt;
  case Size::Op::table:
    for (const Table &table : kernel_.tables)
      if (table.name == size.name && table.range)
        return Size::make(Size::Op::subtract, {*table.range, one});
    return std::nullopt;
  case Size::Op::subtract:
  case Size::Op::divide:
  case Size::Op::cdiv:
  case Size::Op::multiply:
    if (!any_node(size, [](const Size &s) { return s.op == Size::Op::grid || s.op == Size::Op::table; }))
      return size;
    if (!size.args[1].is_integer() || size.args[1].value < 0)
      return std::nullopt;
    [[fallthrough]];
  case Size::Op::add:
  case Size::Op::min:
  case Size::Op::max:
    for (const Size &arg : size.args) {
      const auto bound = most(arg);
      if (!bound)
        return std::nullopt;
      args.push_back(*bound);
    }
    return size.op == Size::Op::add ? added(args[0], args[1]) : Size::make(size.op, args);
  default:
    if (any_node(size, [](const Size &s) { return s.op == Size::Op::grid || s.op == Size::Op::table; }))
      return std::nullopt;
    return size;
  }
}

NodeId Steps::exists(const std::vector<AxisId> &but) {
  NodeId out = kNoNode;
  for (GridId g : varying_)
    if (std::find(but.begin(), but.end(), steps(g)) == but.end())
      out = graph_.both(out, graph_.compare(Op::lt, graph_.index(steps(g)), value(kernel_.grid[g].size)));
  return out;
}

AxisId Steps::add_axis(const std::string &name, const Size &size) {
  Axis axis;
  axis.name = name;
  axis.size = axis.block = size;
  made_.push_back(graph_.add_axis(axis));
  return made_.back();
}

bool Steps::moves(const Size &size) const {
  return any_node(size, [](const Size &s) { return s.op == Size::Op::grid; });
}

// An axis that any window cuts has positions: as many as a block has. Where all windows along it begin and end alike,
// one question says which of them exist.
void Steps::find_positions() {
  for (AxisId a = 0; a < static_cast<AxisId>(kernel_.axes.size()); ++a) {
    const Axis &axis = kernel_.axes[a];
    const Dim *cut = nullptr;
    bool alike = axis.uniform;
    for (const Var &var : kernel_.vars)
      for (const Dim &dim : var.dims)
        if (dim.axis == a && var.kind != Var::Kind::scratch) {
          if (!dim.whole && cut == nullptr)
            cut = &dim;
          alike = alike && dim.start == axis.start && !(dim.offset && var.kind == Var::Kind::input);
        }
    if (cut == nullptr && !moves(axis.start) && is_size_of(axis, axis.block))
      continue;
    if (axis.ragged != kNone)
      return trouble_.refuse("rows of different lengths that a grid cuts", axis.place,
                             "write the kernel over whole axes, without the grid");
    const Size block = axis.uniform ? axis.block : cut->block;
    if (moves(block) || any_node(block, [](const Size &s) { return s.op == Size::Op::table; }))
      return trouble_.refuse("a grid whose blocks differ in size", axis.place, "give all steps blocks of one size");
    blocks_[a] = block;
    positions_[a] = add_axis(axis.name + "_within", block);
    if (alike)
      common_.insert(a);
  }
  bool changed = true;
  analysis::visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
    if (stmt.kind == Stmt::Kind::assign && stmt.context.empty())
      plain_.insert(stmt.target);
  });
  for (int round = 0; changed && round < 50; ++round) {
    changed = false;
    std::vector<ExprId> conditions;
    find_locals(kernel_.statements, conditions, changed);
  }
}

AxisId Steps::position(AxisId axis) const {
  const auto found = positions_.find(axis);
  return found == positions_.end() ? axis : found->second;
}

AxisSet Steps::positions(AxisSet axes) const {
  if (empty())
    return axes;
  AxisSet out;
  for (AxisId axis : axes.list())
    out |= AxisSet::of(position(axis));
  return out;
}

NodeId Steps::value(const Size &size) {
  for (const auto &[axis, block] : blocks_)
    if (!block.is_integer() && size == block)
      return graph_.size_of(position(axis));
  std::vector<NodeId> args;
  for (const Size &arg : size.args)
    args.push_back(value(arg));
  auto op = [&](Op op, Type type = Type::i64) { return graph_.op(op, args, type); };
  const NodeId one = graph_.integer(1);
  switch (size.op) {
  case Size::Op::integer:
    return graph_.integer(size.value);
  case Size::Op::axis:
    for (AxisId a = 0; a < static_cast<AxisId>(kernel_.axes.size()); ++a)
      if (kernel_.axes[a].name == size.name)
        return graph_.size_of(a);
    break;
  case Size::Op::grid:
  case Size::Op::grid_size:
    for (size_t g = 0; g < kernel_.grid.size(); ++g)
      if (kernel_.grid[g].name == size.name)
        return size.op == Size::Op::grid ? graph_.index(steps_[g]) : graph_.size_of(steps_[g]);
    break;
  case Size::Op::table: {
    Node n;
    n.kind = Kind::table;
    n.name = size.name;
    n.type = Type::i64;
    n.args = args;
    return graph_.intern(n);
  }
  case Size::Op::negate:
    return op(Op::neg);
  case Size::Op::add:
    return op(Op::add);
  case Size::Op::subtract:
    return op(Op::sub);
  case Size::Op::multiply:
    return op(Op::mul);
  case Size::Op::divide:
    return op(Op::div);
  case Size::Op::modulo:
    return op(Op::rem);
  case Size::Op::cdiv:
    args[0] = graph_.op(Op::add, {args[0], graph_.op(Op::sub, {args[1], one}, Type::i64)}, Type::i64);
    return op(Op::div);
  case Size::Op::min:
    return op(Op::min);
  case Size::Op::max:
    return op(Op::max);
  case Size::Op::choose:
    return graph_.choose(args[0], args[1], args[2]);
  case Size::Op::less:
    return op(Op::lt, Type::boolean);
  case Size::Op::less_equal:
    return op(Op::le, Type::boolean);
  case Size::Op::greater:
    return op(Op::gt, Type::boolean);
  case Size::Op::greater_equal:
    return op(Op::ge, Type::boolean);
  case Size::Op::equal:
    return op(Op::eq, Type::boolean);
  case Size::Op::not_equal:
    return op(Op::ne, Type::boolean);
  case Size::Op::param:
    break;
  }
  trouble_.refuse("a window at `" + to_string(size) + "`", size.place, "write it with sizes and steps of the grid");
  return graph_.integer(0);
}

NodeId Steps::index(const Expr &e) {
  const NodeId here = graph_.index(position(e.axis));
  if (position(e.axis) == e.axis)
    return here;
  const NodeId begin = e.ref != kNone ? window_start(e.ref, e.axis) : start(e.axis);
  return graph_.op(Op::add, {begin, here}, Type::i64);
}

NodeId Steps::first(GridId grid) { return graph_.compare(Op::eq, graph_.index(steps(grid)), graph_.integer(0)); }

NodeId Steps::last(GridId grid) {
  const NodeId count = varying_.count(grid) != 0 ? value(kernel_.grid[grid].size) : graph_.size_of(steps(grid));
  return graph_.compare(Op::eq, graph_.index(steps(grid)), graph_.op(Op::sub, {count, graph_.integer(1)}, Type::i64));
}

// Of windows that tables pick: the step before, or the next one, has another.
NodeId Steps::edge(VarId id, bool at_end) {
  NodeId out = graph_.truth(true);
  for (AxisId axis : still(id)) {
    const GridId grid = static_cast<GridId>(std::find(steps_.begin(), steps_.end(), axis) - steps_.begin());
    out = graph_.both(out, at_end ? last(grid) : first(grid));
  }
  const Var &var = kernel_.vars[id];
  for (GridId g = 0; g < static_cast<GridId>(kernel_.grid.size()); ++g) {
    NodeId changes = kNoNode;
    for (const Dim &dim : var.dims) {
      const bool picks = any_node(dim.start, [&](const Size &s) {
        return s.op == Size::Op::table && mentions(s, Size::Op::grid, kernel_.grid[g].name);
      });
      if (!picks)
        continue;
      const NodeId here = graph_.index(steps(g)), begin = value(dim.start);
      const NodeId beside = graph_.op(at_end ? Op::add : Op::sub, {here, graph_.integer(1)}, Type::i64);
      const NodeId there = moved(graph_, begin, {{steps(g), beside}});
      const NodeId differs = graph_.compare(Op::ne, begin, there);
      changes = changes == kNoNode ? differs : graph_.either(changes, differs);
    }
    if (changes != kNoNode)
      out = graph_.both(out, graph_.either(at_end ? last(g) : first(g), changes));
  }
  return out;
}

AxisId Steps::whole_dim(VarId var, size_t dim) const {
  const auto found = dims_.find(var);
  return found == dims_.end() || dim >= found->second.size() ? kNone : found->second[dim];
}

AxisId Steps::whole(VarId id, AxisId axis) const {
  const Var &var = kernel_.vars[id];
  for (size_t d = 0; d < var.dims.size(); ++d)
    if (var.dims[d].axis == axis && whole_dim(id, d) != kNone)
      return whole_dim(id, d);
  return axis;
}

std::vector<std::pair<AxisId, NodeId>> Steps::places(VarId id, const std::vector<Coordinate> &but) {
  std::vector<std::pair<AxisId, NodeId>> out;
  const Var &var = kernel_.vars[id];
  for (size_t d = 0; d < var.dims.size() && !empty(); ++d) {
    const Dim &dim = var.dims[d];
    const AxisId whole = whole_dim(id, d);
    if (whole == kNone || find_coordinate(but, dim.axis) != nullptr)
      continue;
    const NodeId begin = value(dim.start);
    if (dim.axis == kNone)
      out.emplace_back(whole, begin);
    else if (position(dim.axis) != dim.axis)
      out.emplace_back(whole, graph_.op(Op::add, {begin, graph_.index(position(dim.axis))}, Type::i64));
  }
  return out;
}

AxisSet Steps::whole_axes(VarId id) const {
  if (empty() || dims_.count(id) == 0)
    return kernel_.vars[id].axes;
  AxisSet out;
  for (AxisId axis : dims_.at(id))
    if (axis != kNone)
      out |= AxisSet::of(axis);
  return out;
}

NodeId Steps::window_start(VarId var, AxisId axis) {
  for (const Dim &dim : kernel_.vars[var].dims)
    if (dim.axis == axis && kernel_.vars[var].kind != Var::Kind::scratch)
      return value(dim.start);
  return start(axis);
}

bool Steps::has_table_windows(VarId var) const {
  const auto &dims = kernel_.vars[var].dims;
  return std::any_of(dims.begin(), dims.end(), [](const Dim &dim) {
    return any_node(dim.start, [](const Size &s) { return s.op == Size::Op::table; });
  });
}

std::vector<AxisId> Steps::still(VarId id) const {
  const Var &var = kernel_.vars[id];
  std::vector<AxisId> out;
  for (size_t g = 0; g < kernel_.grid.size(); ++g) {
    const bool moves = std::any_of(var.dims.begin(), var.dims.end(), [&](const Dim &dim) {
      return mentions(dim.start, Size::Op::grid, kernel_.grid[g].name);
    });
    const bool own = var.kind == Var::Kind::scratch && kernel_.grid[g].semantics == Semantics::parallel;
    if (var.kind == Var::Kind::scratch ? !own : !moves)
      out.push_back(steps_[g]);
  }
  return out;
}

// A position of a window whose element exists.
NodeId Steps::inside(VarId id, size_t d) {
  const Var &var = kernel_.vars[id];
  const Dim &dim = var.dims[d];
  if ((dim.offset && var.kind == Var::Kind::input) || position(dim.axis) == dim.axis || dim.whole)
    return kNoNode;
  // Blocks that end where the array does.
  for (const GridDim &grid : kernel_.grid)
    if (dim.start == Size::make(Size::Op::multiply, {Size::grid(grid.name), dim.block}) &&
        (Size::make(Size::Op::multiply, {grid.size, dim.block}) == dim.extent ||
         Size::make(Size::Op::multiply, {dim.block, grid.size}) == dim.extent))
      return kNoNode;
  const NodeId place = graph_.op(Op::add, {value(dim.start), graph_.index(position(dim.axis))}, Type::i64);
  const AxisId whole = whole_dim(id, d);
  const NodeId end = whole == kNone ? value(dim.extent) : graph_.size_of(whole);
  const NodeId ends = graph_.compare(Op::lt, place, end);
  return dim.offset ? graph_.both(graph_.compare(Op::ge, place, graph_.integer(0)), ends) : ends;
}

void Steps::touch(ExprId id, AxisId axis, std::set<NodeId> &out, bool &touches) {
  const Expr &e = kernel_.expr(id);
  const bool reads = e.op == Op::read || e.op == Op::inside || e.op == Op::element;
  if (reads && find_coordinate(e.coords, axis) == nullptr) {
    const Var &var = kernel_.vars[e.ref];
    if (var.kind == Var::Kind::local && var.axes.contains(axis)) {
      const auto known = exists_.find({e.ref, axis});
      if (known != exists_.end())
        out.insert(known->second.begin(), known->second.end());
      touches = true;
    }
    for (size_t d = 0; d < var.dims.size(); ++d)
      if (var.dims[d].axis == axis && var.kind != Var::Kind::scratch) {
        if (const NodeId condition = inside(e.ref, d); condition != kNoNode)
          out.insert(condition);
        touches = true;
      }
  }
  for (ExprId arg : e.args)
    if (!(e.op == Op::fold && e.reduced.contains(axis)))
      touch(arg, axis, out, touches);
  for (const Coordinate &coordinate : e.coords)
    touch(coordinate.value, axis, out, touches);
}

NodeId Steps::all(const std::set<NodeId> &conditions) {
  NodeId out = kNoNode;
  for (NodeId condition : conditions)
    out = graph_.both(out, condition);
  return out;
}

// The positions that any array has.
NodeId Steps::any_window(AxisId axis) {
  NodeId out = kNoNode;
  for (VarId v = 0; v < static_cast<VarId>(kernel_.vars.size()); ++v)
    for (size_t d = 0; d < kernel_.vars[v].dims.size(); ++d) {
      if (kernel_.vars[v].dims[d].axis != axis || kernel_.vars[v].kind == Var::Kind::scratch)
        continue;
      const NodeId own = inside(v, d);
      if (own == kNoNode)
        return kNoNode;
      out = graph_.any(out, own);
    }
  return out;
}

NodeId Steps::lanes(std::vector<ExprId> touched, AxisId axis) {
  if (position(axis) == axis)
    return kNoNode;
  std::set<NodeId> conditions;
  bool touches = false;
  for (ExprId id : touched)
    if (id != kNone)
      touch(id, axis, conditions, touches);
  if (touches && common_.count(axis) == 0)
    return all(conditions);
  // What touches nothing counts within the axis.
  const NodeId place = graph_.op(Op::add, {start(axis), graph_.index(position(axis))}, Type::i64);
  for (VarId v = 0; v < static_cast<VarId>(kernel_.vars.size()) && common_.count(axis) != 0; ++v)
    for (size_t d = 0; d < kernel_.vars[v].dims.size(); ++d)
      if (kernel_.vars[v].dims[d].axis == axis && kernel_.vars[v].kind != Var::Kind::scratch)
        return inside(v, d);
  if (!kernel_.axes[axis].uniform)
    return any_window(axis);
  return graph_.compare(Op::lt, place, graph_.size_of(axis));
}

NodeId Steps::lanes(const std::vector<ExprId> &touched, AxisSet axes) {
  NodeId out = kNoNode;
  for (AxisId axis : axes.list())
    out = graph_.both(out, lanes(touched, axis));
  return out;
}

NodeId Steps::lanes_of_all(const std::vector<ExprId> &touched, AxisSet axes) {
  std::set<NodeId> conditions;
  bool touches = false;
  for (AxisId axis : axes.list())
    for (ExprId id : touched)
      if (position(axis) != axis)
        touch(id, axis, conditions, touches);
  return all(conditions);
}

NodeId Steps::window_lanes(VarId id) {
  const Var &var = kernel_.vars[id];
  NodeId out = kNoNode;
  for (size_t d = 0; d < var.dims.size(); ++d)
    if (var.dims[d].axis != kNone && var.kind != Var::Kind::scratch)
      out = graph_.both(out, inside(id, d));
  return out;
}

NodeId Steps::known_lanes(VarId local, AxisId axis) {
  if (common_.count(axis) != 0)
    return lanes(std::vector<ExprId>{}, axis);
  const auto known = exists_.find({local, axis});
  return known == exists_.end() ? kNoNode : all(known->second);
}

// A local has the lanes of what is assigned to it. What is assigned under a condition leaves the other lanes as they
// were; a local that is only assigned so has the lanes of the conditions, too.
void Steps::find_locals(const std::vector<Stmt> &list, std::vector<ExprId> &conditions, bool &changed) {
  for (const Stmt &s : list) {
    if (s.kind == Stmt::Kind::assign && kernel_.vars[s.target].kind == Var::Kind::local && !keeps_other_lanes(s))
      for (AxisId axis : kernel_.vars[s.target].axes.list()) {
        std::set<NodeId> conditions_here;
        bool touches = false;
        touch(s.value, axis, conditions_here, touches);
        for (ExprId condition : conditions)
          if (!s.context.empty())
            touch(condition, axis, conditions_here, touches);
        auto &known = exists_[{s.target, axis}];
        const size_t before = known.size();
        known.insert(conditions_here.begin(), conditions_here.end());
        changed = changed || known.size() != before;
      }
    const bool differs = s.value != kNone && !s.axes.empty();
    if (differs)
      conditions.push_back(s.value);
    for (const std::vector<Stmt> *inside : {&s.body, &s.otherwise, &s.step})
      find_locals(*inside, conditions, changed);
    if (differs)
      conditions.pop_back();
  }
}

} // namespace kgen::grad
