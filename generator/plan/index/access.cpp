#include "plan/index/access.h"

#include <algorithm>

#include "plan/index/exprs.h"

namespace kgen {

VarId memory_of(const Kernel &kernel, VarId var) {
  const Var &v = kernel.vars[var];
  return v.kind == Var::Kind::input && v.alias != kNone ? v.alias : var;
}

bool is_only_read(const Kernel &kernel, VarId var) {
  return kernel.vars[var].kind == Var::Kind::input && memory_of(kernel, var) == var;
}

AxisSet aligned_axes(const Kernel &kernel, VarId var, const std::vector<Coordinate> &coords) {
  AxisSet aligned = kernel.vars[var].axes;
  for (const Coordinate &c : coords)
    if (!is_identity(kernel, c))
      aligned -= AxisSet::of(c.axis);
  return aligned;
}

namespace {

void add_reads(const Kernel &kernel, ExprId id, std::vector<Access> &out) {
  walk(kernel, id, [&](ExprId at) {
    const Expr &e = kernel.expr(at);
    if (e.op == Op::read || e.op == Op::element)
      out.push_back({memory_of(kernel, e.ref), e.ref, false, aligned_axes(kernel, e.ref, e.coords)});
    return true;
  });
}

} // namespace

std::vector<ExprId> expressions_of(const PlanNode &node) {
  std::vector<ExprId> out;
  for (ExprId id : {node.value, node.second, node.condition, node.end, node.entry})
    if (id != kNone)
      out.push_back(id);
  for (ExprId id : node.indices)
    out.push_back(id);
  for (const Coordinate &c : node.coords)
    out.push_back(c.value);
  return out;
}

void for_each_node(const PlanNode &node, const std::function<void(const PlanNode &)> &visit) {
  visit(node);
  for (const auto *list : {&node.body, &node.otherwise, &node.step})
    for (const PlanNode &child : *list)
      for_each_node(child, visit);
}

void for_each_node(PlanNode &node, const std::function<void(PlanNode &)> &visit) {
  visit(node);
  for (auto *list : {&node.body, &node.otherwise, &node.step})
    for (PlanNode &child : *list)
      for_each_node(child, visit);
}

void for_each_node_of_loops(PlanNode &node, const std::function<void(PlanNode &)> &visit) {
  if (node.contraction)
    return;
  visit(node);
  for (auto *list : {&node.body, &node.otherwise, &node.step})
    for (PlanNode &child : *list)
      for_each_node_of_loops(child, visit);
}

namespace {
bool contains(const std::vector<PlanNode> &nodes, const std::function<bool(const PlanNode &)> &test) {
  bool found = false;
  for (const PlanNode &n : nodes)
    for_each_node(n, [&](const PlanNode &inner) { found = found || test(inner); });
  return found;
}
} // namespace

std::set<VarId> targets_of(const std::vector<PlanNode> &nodes) {
  std::set<VarId> out;
  for (const PlanNode &node : nodes)
    for_each_node(node, [&](const PlanNode &n) {
      if (n.target != kNone)
        out.insert(n.target);
    });
  return out;
}

bool contains_contraction(const Phase &phase) {
  return contains(phase.nodes, [](const PlanNode &n) { return n.contraction.has_value(); });
}

bool contains_steps(const std::vector<PlanNode> &nodes) {
  return contains(nodes, [](const PlanNode &n) { return n.kind == PlanNode::Kind::steps; });
}

bool contains_loop(const std::vector<PlanNode> &nodes) {
  return contains(nodes, [](const PlanNode &n) {
    return n.kind == PlanNode::Kind::loop || n.kind == PlanNode::Kind::steps || n.kind == PlanNode::Kind::repeat;
  });
}

bool is_composite(const PlanNode &node) {
  return node.kind == PlanNode::Kind::branch || node.kind == PlanNode::Kind::repeat ||
         node.kind == PlanNode::Kind::steps;
}

bool is_jump(const PlanNode &node) { return node.kind == PlanNode::Kind::leave || node.kind == PlanNode::Kind::next; }

bool jumps_out(const PlanNode &node) {
  if (is_jump(node))
    return true;
  if (node.kind == PlanNode::Kind::repeat)
    return false;
  return std::any_of(node.body.begin(), node.body.end(), jumps_out) ||
         std::any_of(node.otherwise.begin(), node.otherwise.end(), jumps_out);
}

std::vector<const PlanNode *> folds_over(const PlanNode &loop) {
  std::vector<const PlanNode *> out;
  for_each_node(loop, [&](const PlanNode &n) {
    if (n.kind == PlanNode::Kind::fold_step && n.reduced.contains(loop.axis))
      out.push_back(&n);
  });
  return out;
}

std::vector<Access> accesses_of(const Kernel &kernel, const PlanNode &root) {
  std::vector<Access> out;
  for_each_node(root, [&](const PlanNode &node) {
    const std::vector<Access> own = own_accesses_of(kernel, node);
    out.insert(out.end(), own.begin(), own.end());
  });
  return out;
}

std::vector<Access> own_accesses_of(const Kernel &kernel, const PlanNode &node) {
  std::vector<Access> out;
  for (ExprId id : expressions_of(node))
    add_reads(kernel, id, out);
  if (node.target != kNone) {
    out.push_back({memory_of(kernel, node.target), node.target, true, aligned_axes(kernel, node.target, node.coords),
                   node.scatter_add});
    // An accumulator is read and written by its step.
    if (node.kind == PlanNode::Kind::fold_step || node.kind == PlanNode::Kind::scan_step)
      out.push_back({node.target, node.target, false, kernel.vars[node.target].axes});
  }
  if (node.partner != kNone)
    out.push_back({node.partner, node.partner, true, kernel.vars[node.partner].axes});
  return out;
}

namespace {
// Operands stand before locals, of which there may be thousands.
template <class Test> bool any_operand(const Kernel &kernel, const Test &test) {
  for (const Var &var : kernel.vars)
    if (var.kind == Var::Kind::local)
      return false;
    else if (test(var))
      return true;
  return false;
}
} // namespace

bool sticks_out(const Kernel &kernel, AxisId axis) {
  return any_operand(kernel, [&](const Var &var) {
    return std::any_of(var.dims.begin(), var.dims.end(), [&](const Dim &dim) {
      return dim.axis == axis && dim.offset && var.kind != Var::Kind::scratch;
    });
  });
}

bool has_other_ends(const Kernel &kernel, AxisId axis) {
  return sticks_out(kernel, axis) || any_operand(kernel, [&](const Var &var) {
           return (var.kind == Var::Kind::input || var.kind == Var::Kind::output) &&
                  std::any_of(var.dims.begin(), var.dims.end(), [&](const Dim &dim) {
                    return dim.axis == axis && !is_size_of(kernel.axes[axis], dim.extent);
                  });
         });
}

namespace {
bool counts(const Kernel &kernel, const PlanNode &node, AxisId axis) {
  bool found = false;
  for (ExprId id : expressions_of(node))
    walk(kernel, id, [&](ExprId at) {
      const Expr &e = kernel.expr(at);
      found = found || (e.op == Op::index && e.axis == axis);
      return true;
    });
  return found;
}

// Does the node read or write something at the current point of the axis? (An assigned local has what lanes its value
// has.)
bool touches(const Kernel &kernel, const PlanNode &node, AxisId axis) {
  auto here = [&](VarId var, const std::vector<Coordinate> &coords) {
    return kernel.vars[var].axes.contains(axis) && find_coordinate(coords, axis) == nullptr;
  };
  bool found =
      node.target != kNone && kernel.vars[node.target].kind == Var::Kind::output && here(node.target, node.coords);
  for (ExprId id : expressions_of(node))
    walk(kernel, id, [&](ExprId at) {
      const Expr &e = kernel.expr(at);
      found = found || (ends_lanes(e) && here(e.ref, e.coords));
      return true;
    });
  return found;
}
} // namespace

std::vector<std::pair<VarId, int>> own_limits(const Kernel &kernel, const PlanNode &node, AxisId axis) {
  std::vector<std::pair<VarId, int>> out;
  const bool other_ends = has_other_ends(kernel, axis);
  bool ends_with_axis = other_ends && counts(kernel, node, axis) && !touches(kernel, node, axis);
  auto add = [&](VarId var, const std::vector<Coordinate> &coords) {
    const Var &v = kernel.vars[var];
    if (v.kind != Var::Kind::input && v.kind != Var::Kind::output)
      return;
    const Axis &a = kernel.axes[axis];
    for (int d = 0; d < static_cast<int>(v.dims.size()); ++d) {
      const Dim &dim = v.dims[d];
      if (dim.axis != axis)
        continue;
      const bool elsewhere = find_coordinate(coords, axis) != nullptr;
      if (elsewhere || (dim.offset && v.kind == Var::Kind::input))
        continue;
      if (a.uniform && dim.start == a.start && is_size_of(a, dim.extent)) {
        ends_with_axis = ends_with_axis || other_ends;
        continue;
      }
      out.push_back({var, d});
    }
  };
  for (ExprId id : expressions_of(node))
    walk(kernel, id, [&](ExprId at) {
      const Expr &e = kernel.expr(at);
      if (ends_lanes(e))
        add(e.ref, e.coords);
      return true;
    });
  if (node.target != kNone)
    add(node.target, node.coords);
  if (ends_with_axis)
    out.insert(out.begin(), {kNone, 0});
  return out;
}

AxisSet long_loops(const Plan &plan, const PlanNode &loop) {
  AxisSet out;
  for_each_node(loop, [&](const PlanNode &n) {
    if (n.kind == PlanNode::Kind::loop && &n != &loop && !most_positions(plan.kernel.axes[n.axis]))
      out |= AxisSet::of(n.axis);
  });
  return out;
}

bool reads_rows(const Plan &plan, const PlanNode &loop) {
  const AxisSet inner = long_loops(plan, loop);
  bool found = false;
  for_each_node(loop, [&](const PlanNode &n) {
    for (ExprId id : expressions_of(n))
      walk(plan.kernel, id, [&](ExprId at) {
        const Expr &e = plan.kernel.expr(at);
        const bool in_memory = e.op == Op::read && plan.storage[e.ref].kind != Storage::Kind::scalar;
        found = found || (in_memory && e.axes.contains(loop.axis) && !(e.axes - (e.axes - inner)).empty());
        return !found;
      });
  });
  return found;
}

} // namespace kgen
