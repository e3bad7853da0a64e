#include "plan/program/elsewhere.h"

#include <algorithm>

#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

// What is known of a local.
struct Local {
  int assignments = 0, reads_elsewhere = 0;
  ExprId value = kNone;
  bool plain = true; // assigned as a whole, by a statement that each point meets once, and read so
};

class Elsewhere {
public:
  Elsewhere(Plan &plan, std::vector<PlanNode> &program)
      : plan_(plan), kernel_(plan.kernel), program_(program), locals_(kernel_.vars.size()) {}

  void run() {
    for (const PlanNode &node : program_)
      look(node, true);
    for (PlanNode &root : program_)
      for_each_node(root, [&](PlanNode &node) {
        for (ExprId *id : {&node.value, &node.second, &node.condition})
          *id = computed(*id);
        for (ExprId &id : node.indices)
          id = computed(id);
        for (Coordinate &c : node.coords)
          c.value = computed(c.value);
      });
  }

private:
  void look(const PlanNode &node, bool top) {
    for (ExprId id : expressions_of(node))
      walk(kernel_, id, [&](ExprId at) {
        const Expr &e = kernel_.expr(at);
        if (e.op == Op::element || e.op == Op::inside)
          locals_[e.ref].plain = false;
        if (e.op == Op::read && !e.coords.empty()) {
          Local &local = locals_[e.ref];
          ++local.reads_elsewhere;
          local.plain = local.plain && kernel_.vars[e.ref].axes.contains(node.lanes);
        }
        return true;
      });
    for (VarId var : {node.target, node.partner})
      if (var != kNone) {
        Local &local = locals_[var];
        ++local.assignments;
        local.value = node.value;
        local.plain =
            local.plain && top && node.kind == PlanNode::Kind::assign && node.coords.empty() && node.indices.empty();
      }
    for (const auto *list : {&node.body, &node.otherwise, &node.step})
      for (const PlanNode &inner : *list)
        look(inner, false);
  }

  ExprId computed(ExprId id) {
    return replace(kernel_, id, [&](ExprId at) {
      const Expr e = kernel_.expr(at); // expressions are added
      return e.op == Op::read && !e.coords.empty() && is_quick(e) ? value_at(e) : kNone;
    });
  }

  bool is_quick(const Expr &read) const {
    const Var &var = kernel_.vars[read.ref];
    if (var.kind != Var::Kind::local || !var.array.empty())
      return false;
    const Local &local = locals_[read.ref];
    if (!local.plain || local.assignments != 1 || local.reads_elsewhere > plan_.decide(Decision::reads_again) ||
        !is_light(kernel_, local.value))
      return false;
    bool fits = true, moves = false;
    walk(kernel_, local.value, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op == Op::read)
        moves = moves || moves_with(e, read);
      fits = fits && (e.op == Op::read ? can_move(e, read) : e.op == Op::index ? e.ref == kNone : is_of_point(e.op));
      return fits;
    });
    return fits && moves;
  }

  static bool is_of_point(Op op) {
    return op == Op::constant || op == Op::scalar || op == Op::cast || op == Op::round_like || op == Op::choose ||
           is_scalar_op(op);
  }

  // Has the input all axes along which the point is another one?
  bool moves_with(const Expr &input, const Expr &read) const {
    return std::all_of(read.coords.begin(), read.coords.end(),
                       [&](const Coordinate &c) { return kernel_.vars[input.ref].axes.contains(c.axis); });
  }

  // An input that never changes, and whose dimensions are as long as the axes.
  bool can_move(const Expr &input, const Expr &read) const {
    const Var &var = kernel_.vars[input.ref];
    if (var.kind != Var::Kind::input || var.alias != kNone || var.optional || !input.coords.empty())
      return false;
    return std::all_of(var.dims.begin(), var.dims.end(), [&](const Dim &dim) {
      if (dim.axis == kNone || find_coordinate(read.coords, dim.axis) == nullptr)
        return true;
      const Axis &axis = kernel_.axes[dim.axis];
      return dim.whole && !dim.offset && axis.ragged == kNone && is_size_of(axis, dim.extent);
    });
  }

  // 0 where that is no point.
  ExprId value_at(const Expr &read) {
    const ExprId there = moved(locals_[read.ref].value, read);
    if (read.safe)
      return there;
    ExprId asked = kNone;
    walk(kernel_, locals_[read.ref].value, [&](ExprId at) {
      if (kernel_.expr(at).op == Op::read && moves_with(kernel_.expr(at), read))
        asked = at;
      return asked == kNone;
    });
    Expr inside;
    inside.op = Op::inside;
    inside.type = Type::boolean;
    inside.ref = kernel_.expr(asked).ref;
    inside.coords = read.coords;
    inside.axes = axes_asked(kernel_, inside) | axes_of(read.coords);
    inside.place = read.place;
    const ExprId condition = kernel_.add(std::move(inside));
    return make_op(kernel_, Op::choose, kernel_.expr(there).type,
                   {condition, there, make_constant(kernel_, kernel_.expr(there).type, 0, 0)});
  }

  // The value at that point.
  ExprId moved(ExprId id, const Expr &read) {
    Expr e = kernel_.expr(id);
    if (e.op == Op::index) {
      const Coordinate *const c = find_coordinate(read.coords, e.axis);
      return c == nullptr ? id : c->value;
    }
    if (e.op == Op::read) {
      AxisSet elsewhere;
      for (const Coordinate &c : read.coords)
        if (kernel_.vars[e.ref].axes.contains(c.axis)) {
          e.coords.push_back(c);
          elsewhere |= AxisSet::of(c.axis);
        }
      if (e.coords.empty())
        return id;
      e.axes = (e.axes - elsewhere) | axes_of(e.coords);
      e.safe = read.safe;
      return kernel_.add(std::move(e));
    }
    if (e.args.empty())
      return id;
    e.axes = AxisSet();
    for (ExprId &arg : e.args) {
      arg = moved(arg, read);
      e.axes |= kernel_.expr(arg).axes;
    }
    return kernel_.add(std::move(e));
  }

  AxisSet axes_of(const std::vector<Coordinate> &coords) const {
    AxisSet out;
    for (const Coordinate &c : coords)
      out |= kernel_.expr(c.value).axes;
    return out;
  }

  const Plan &plan_;
  Kernel &kernel_;
  std::vector<PlanNode> &program_;
  std::vector<Local> locals_;
};

} // namespace

// With a grid, points are those of a block.
void compute_elsewhere(Plan &plan, std::vector<PlanNode> &program) {
  if (plan.kernel.grid.empty())
    Elsewhere(plan, program).run();
}

} // namespace kgen
