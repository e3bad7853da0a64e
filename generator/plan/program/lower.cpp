// Folds and scans leave their expressions: each gets an accumulator and an init, a step, and a read where it stood.
// What reads its own target at other points goes through a temporary, since all reads of a statement come before its
// writes.
#include "plan/program/lower.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ir/presence.h"
#include "ir/roles.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/program/known.h"
#include "plan/program/numbers.h"
#include "support/naming.h"

namespace kgen {
namespace {

class Lowering {
public:
  explicit Lowering(Kernel &kernel) : kernel_(kernel) {}

  std::vector<PlanNode> statements(const std::vector<Stmt> &list) {
    std::vector<PlanNode> out;
    for (const Stmt &stmt : list)
      statement(stmt, out);
    return out;
  }

private:
  void statement(const Stmt &stmt, std::vector<PlanNode> &out) {
    switch (stmt.kind) {
    case Stmt::Kind::assign:
      return assign(stmt, out);
    case Stmt::Kind::branch:
      return branch(stmt, out);
    case Stmt::Kind::loop:
      return loop(stmt, out);
    case Stmt::Kind::check:
    case Stmt::Kind::print:
      return; // the interpreter's alone
    case Stmt::Kind::declare:
    case Stmt::Kind::leave:
    case Stmt::Kind::next:
      break;
    }
    PlanNode node = make(stmt.kind == Stmt::Kind::declare ? PlanNode::Kind::declare
                         : stmt.kind == Stmt::Kind::leave ? PlanNode::Kind::leave
                                                          : PlanNode::Kind::next,
                         stmt);
    node.target = stmt.target;
    if (stmt.target != kNone)
      node.lanes = kernel_.vars[stmt.target].axes;
    out.push_back(std::move(node));
  }

  void assign(const Stmt &stmt, std::vector<PlanNode> &out) {
    PlanNode node = make(PlanNode::Kind::assign, stmt);
    node.target = stmt.target;
    node.scatter_add = stmt.scatter_add;
    assigned_ = kernel_.vars[stmt.target].name;
    for (ExprId index : stmt.indices)
      node.indices.push_back(hoist(index, stmt.context, out));
    for (const Coordinate &c : stmt.coords)
      node.coords.push_back({c.axis, hoist(c.value, stmt.context, out)});
    node.value = hoist(stmt.value, stmt.context, out);
    node.lanes = assigned_lanes(node, stmt.context);
    // All elements read before one of them writes.
    if (reads_elsewhere(node.value, node))
      node.value = kept(node.value, kernel_.vars[stmt.target].name + "_next", node, stmt, out);
    for (Coordinate &c : node.coords)
      if (reads_elsewhere(c.value, node))
        c.value = kept(c.value, kernel_.vars[stmt.target].name + "_place", node, stmt, out);
    if (!is_found_by_fold(node, stmt, out))
      out.push_back(std::move(node));
  }

  // A local that is what the fold before has found, and nothing else ever, is found by the fold itself.
  bool is_found_by_fold(const PlanNode &node, const Stmt &stmt, std::vector<PlanNode> &out) {
    const Expr &value = kernel_.expr(node.value);
    const Var &local = kernel_.vars[node.target];
    if (kernel_.expr(stmt.value).op != Op::fold || value.op != Op::read || out.size() < 2 ||
        out.back().kind != PlanNode::Kind::fold_step || out.back().target != value.ref || out.back().partner != kNone)
      return false;
    const Var &total = kernel_.vars[value.ref];
    if (local.kind != Var::Kind::local || !local.array.empty() || !stmt.context.empty() || local.type != total.type ||
        local.axes != total.axes || assignments(kernel_.statements, node.target) != 1)
      return false;
    for (PlanNode *n : {&out[out.size() - 2], &out.back()})
      n->target = node.target;
    return true;
  }

  // Those inside of loops and branches count twice: they may never be reached, or several times.
  static int assignments(const std::vector<Stmt> &list, VarId var) {
    int count = 0;
    for (const Stmt &stmt : list) {
      count += stmt.kind == Stmt::Kind::assign && stmt.target == var;
      for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
        count += 2 * assignments(*inner, var);
    }
    return count;
  }

  ExprId kept(ExprId value, const std::string &name, const PlanNode &node, const Stmt &stmt,
              std::vector<PlanNode> &out) {
    PlanNode first = make(PlanNode::Kind::assign, stmt);
    first.target = temporary({name}, kernel_.expr(value).type, node.lanes, stmt.place);
    first.value = value;
    first.lanes = node.lanes;
    out.push_back(first);
    return make_read(kernel_, first.target);
  }

  AxisSet assigned_lanes(const PlanNode &node, AxisSet context) const {
    AxisSet lanes = kernel_.vars[node.target].axes;
    for (const Coordinate &c : node.coords)
      lanes -= AxisSet::of(c.axis);
    lanes |= kernel_.expr(node.value).axes | context;
    for (const Coordinate &c : node.coords)
      lanes |= kernel_.expr(c.value).axes;
    for (ExprId index : node.indices)
      lanes |= kernel_.expr(index).axes;
    return lanes;
  }

  // Does it read, at another point than the one that is written, what the statement writes?
  bool reads_elsewhere(ExprId value, const PlanNode &write) const {
    const auto moves = [&](const std::vector<Coordinate> &coords) {
      return std::any_of(coords.begin(), coords.end(), [&](const Coordinate &c) { return !is_identity(kernel_, c); });
    };
    return any_node(kernel_, value, [&](const Expr &e) {
      return e.op == Op::read && same_memory(e.ref, write.target) && (moves(e.coords) || moves(write.coords));
    });
  }

  bool same_memory(VarId a, VarId b) const {
    return a == b || kernel_.vars[a].alias == b || kernel_.vars[b].alias == a;
  }

  void branch(const Stmt &stmt, std::vector<PlanNode> &out) {
    PlanNode node = make(PlanNode::Kind::branch, stmt);
    node.condition = hoist(stmt.value, stmt.context, out);
    node.lanes = kernel_.expr(node.condition).axes;
    node.body = statements(stmt.body);
    node.otherwise = statements(stmt.otherwise);
    if (writes_what_condition_reads(node)) {
      PlanNode test = make(PlanNode::Kind::assign, stmt);
      test.target = temporary({"condition"}, Type::boolean, node.lanes, stmt.place);
      test.value = node.condition;
      test.lanes = node.lanes;
      node.condition = make_read(kernel_, test.target);
      out.push_back(std::move(test));
    }
    if (node.body.empty()) {
      std::swap(node.body, node.otherwise);
      node.condition = make_not(kernel_, node.condition);
    }
    out.push_back(std::move(node));
  }

  // At other points, that is: all elements ask before one of them writes.
  bool writes_what_condition_reads(const PlanNode &branch) const {
    bool found = false;
    for_each_node(branch, [&](const PlanNode &node) {
      found = found || (node.target != kNone && reads_elsewhere(branch.condition, node));
    });
    return found;
  }

  // A condition with folds is computed anew in each round.
  void loop(const Stmt &stmt, std::vector<PlanNode> &out) {
    PlanNode node = make(PlanNode::Kind::repeat, stmt);
    std::vector<PlanNode> before;
    if (stmt.value != kNone)
      node.condition = hoist(stmt.value, stmt.context, before);
    if (node.condition != kNone)
      node.lanes = kernel_.expr(node.condition).axes;
    node.body = statements(stmt.body);
    node.step = statements(stmt.step);
    if (!before.empty()) {
      PlanNode test = make(PlanNode::Kind::branch, stmt);
      test.condition = make_not(kernel_, node.condition);
      test.lanes = node.lanes;
      test.body.push_back(make(PlanNode::Kind::leave, stmt));
      before.push_back(std::move(test));
      node.body.insert(node.body.begin(), before.begin(), before.end());
      node.condition = kNone;
    }
    out.push_back(std::move(node));
  }

  // Returns the expression without folds and scans; what they need is appended to `out`.
  ExprId hoist(ExprId id, AxisSet context, std::vector<PlanNode> &out) {
    return replace(kernel_, id, [&](ExprId at) -> ExprId {
      const Expr e = kernel_.expr(at);
      if (const std::optional<bool> known = known_condition(kernel_, at))
        return make_constant(kernel_, Type::boolean, *known ? 1 : 0, 0);
      if (e.op == Op::choose && mentions_present(e.args[0]))
        return hoist_optional(e, context, out);
      if (const AxisId axis = e.op == Op::fold ? summed_rows(e) : kNone; axis != kNone)
        return make_cast(kernel_, make_size(kernel_, axis, kSizeOfRows), e.type);
      if (e.op == Op::fold)
        return e.monoid == Monoid::mean ? mean(e, context, out) : fold(e, context, out);
      if (e.op == Op::scan)
        return scan(e, context, out);
      return kNone;
    });
  }

  bool mentions_present(ExprId id) const {
    return any_node(kernel_, id, [](const Expr &e) { return e.op == Op::present; });
  }

  // `present(b) ? sum(b, N) : 0`: an absent array must not be read, so what the arm needs stands under the condition.
  ExprId hoist_optional(const Expr &choose, AxisSet context, std::vector<PlanNode> &out) {
    Expr copy = choose;
    copy.args[0] = hoist(choose.args[0], context, out);
    std::vector<PlanNode> then, otherwise;
    copy.args[1] = hoist(choose.args[1], context, then);
    copy.args[2] = hoist(choose.args[2], context, otherwise);
    if (!kernel_.expr(copy.args[0]).axes.empty()) {
      unless_absent(std::move(then), choose.place, out);
      unless_absent(std::move(otherwise), choose.place, out);
    } else if (!then.empty() || !otherwise.empty()) {
      PlanNode guard;
      guard.kind = PlanNode::Kind::branch;
      guard.condition = copy.args[0];
      guard.lanes = kernel_.expr(guard.condition).axes;
      guard.body = std::move(then);
      guard.otherwise = std::move(otherwise);
      guard.place = choose.place;
      out.push_back(std::move(guard));
    }
    return kernel_.add(std::move(copy));
  }

  // What an arm needs where its condition differs from lane to lane: computed for all of them, but for absent arrays,
  // whose arm no lane takes.
  void unless_absent(std::vector<PlanNode> arm, const Place &place, std::vector<PlanNode> &out) {
    std::set<VarId> optional;
    find_optional(arm, {}, optional);
    PlanNode guard;
    guard.kind = PlanNode::Kind::branch;
    guard.place = place;
    for (VarId var : optional) {
      Expr present;
      present.op = Op::present;
      present.type = Type::boolean;
      present.ref = var;
      const ExprId one = kernel_.add(std::move(present));
      guard.condition =
          guard.condition == kNone ? one : make_op(kernel_, Op::both, Type::boolean, {guard.condition, one});
    }
    if (guard.condition != kNone && !arm.empty()) {
      guard.body = std::move(arm);
      arm.clear();
      arm.push_back(std::move(guard));
    }
    std::move(arm.begin(), arm.end(), std::back_inserter(out));
  }

  // What is read where nothing has asked whether it is there.
  void find_optional(const std::vector<PlanNode> &nodes, const std::set<VarId> &there,
                     std::set<VarId> &optional) const {
    for (const PlanNode &node : nodes) {
      const auto where = [&](bool value) {
        std::set<VarId> out = there;
        if (node.condition != kNone)
          out.merge(present_where(kernel_, node.condition, value));
        return out;
      };
      const std::set<VarId> inside = where(true);
      for (ExprId id : expressions_of(node))
        visit_reads(kernel_, id, id == node.condition ? there : inside, [&](const Expr &read, const auto &known) {
          if (kernel_.vars[read.ref].optional && known.count(read.ref) == 0)
            optional.insert(read.ref);
        });
      find_optional(node.body, inside, optional);
      find_optional(node.step, inside, optional);
      find_optional(node.otherwise, where(false), optional);
    }
  }

  ExprId fold(const Expr &e, AxisSet context, std::vector<PlanNode> &out) {
    PlanNode step;
    step.kind = PlanNode::Kind::fold_step;
    step.monoid = e.monoid;
    step.reduced = e.reduced;
    step.place = e.place;
    step.value = hoist(e.args[0], context | e.reduced, out);
    if (e.args.size() > 1)
      step.condition = hoist(e.args[1], context | e.reduced, out);
    AxisSet kept = kernel_.expr(step.value).axes;
    if (step.condition != kNone)
      kept |= kernel_.expr(step.condition).axes;
    kept |= rows_of(e.reduced);
    kept -= e.reduced;
    const bool selects = e.monoid == Monoid::argmax || e.monoid == Monoid::argmin;
    const Type accumulator = accumulator_of(e);
    std::vector<std::string> wishes = fold_names(kernel_, e);
    if (!assigned_.empty()) // by a local that is named for the fold itself
      wishes.push_back(name_of_parts(assigned_, "so_far"));
    step.target = temporary(wishes, selects ? Type::i64 : accumulator, kept, e.place);
    if (selects)
      step.partner = temporary(best_names(kernel_, e), kernel_.expr(step.value).type, kept, e.place);
    if (!selects)
      step.value = make_cast(kernel_, step.value, accumulator);
    step.lanes = kept | e.reduced;
    PlanNode init = step;
    init.kind = PlanNode::Kind::fold_init;
    init.lanes = kept;
    init.value = init.condition = kNone;
    ExprId found = make_read(kernel_, step.target);
    if (!selects && is_integer(e.type) && is_bounded(e))
      kernel_.exprs[found].bounds = e.bounds;
    if (selects)
      step.second = place_of_best(step.reduced.list().front(), found);
    const ExprId result = make_cast(kernel_, found, e.type);
    if (accumulator != e.accumulator)
      kernel_.exprs[result].bounds = e.bounds;
    out.push_back(std::move(init));
    out.push_back(std::move(step));
    return result;
  }

  // A sum of few small numbers needs no 64 bits.
  static Type accumulator_of(const Expr &fold) {
    const Bounds words = bounds_of(Type::i32);
    const bool fits = fold.bounds.low >= words.low && fold.bounds.high <= words.high;
    return fold.monoid == Monoid::sum && fold.accumulator == Type::i64 && fits ? Type::i32 : fold.accumulator;
  }

  // What an argmax notes for the best element: its index. -1 says that there is none yet, so where windows begin before
  // their array, and indices may be negative themselves, they are noted from kBefore on.
  ExprId place_of_best(AxisId axis, ExprId &found) {
    Expr index;
    index.op = Op::index;
    index.type = Type::i64;
    index.axis = axis;
    index.axes = AxisSet::of(axis);
    const ExprId place = kernel_.add(std::move(index));
    if (!sticks_out(kernel_, axis))
      return place;
    constexpr int64_t kBefore = int64_t{1} << 40;
    const ExprId shift = make_constant(kernel_, Type::i64, kBefore, 0);
    const ExprId none = make_op(kernel_, Op::lt, Type::boolean, {found, make_constant(kernel_, Type::i64, 0, 0)});
    found =
        make_op(kernel_, Op::choose, Type::i64,
                {none, make_constant(kernel_, Type::i64, -1, 0), make_op(kernel_, Op::sub, Type::i64, {found, shift})});
    return make_op(kernel_, Op::add, Type::i64, {place, shift});
  }

  // Of `sum(size(N), B)`, N ragged over B: N, for the lengths of all rows are its total. Else kNone.
  AxisId summed_rows(const Expr &e) const {
    const Expr &length = kernel_.expr(e.args[0]);
    const bool sum = e.monoid == Monoid::sum && e.args.size() == 1 && length.op == Op::size && length.ref == kNone;
    if (!sum || length.integer != kSizeOfAxis)
      return kNone;
    const Axis &axis = kernel_.axes[length.axis];
    return axis.ragged != kNone && e.reduced == AxisSet::of(axis.over) ? length.axis : kNone;
  }

  // mean = sum / number of lanes; the number is the product of the sizes, or a count where lanes are chosen.
  ExprId mean(const Expr &e, AxisSet context, std::vector<PlanNode> &out) {
    Expr sum = e;
    sum.monoid = Monoid::sum;
    const ExprId total = fold(sum, context, out);
    ExprId count = kNone;
    if (e.args.size() > 1) {
      Expr lanes = e;
      lanes.monoid = Monoid::sum;
      lanes.type = lanes.accumulator = Type::i64;
      lanes.args[0] = make_constant(kernel_, Type::i64, 1, 0);
      lanes.bounds = positions_of(e.reduced);
      count = fold(lanes, context, out);
    } else {
      for (AxisId axis : e.reduced.list()) {
        const Axis &a = kernel_.axes[axis];
        // Rows of a ragged axis together make its total: `over` adds nothing.
        bool is_over = false;
        for (AxisId other : e.reduced.list())
          is_over |= is_ragged_over(kernel_.axes[other], axis);
        if (is_over)
          continue;
        const bool all_rows = a.ragged != kNone && e.reduced.contains(a.over);
        const ExprId factor = make_size(kernel_, axis, all_rows ? kSizeOfRows : kSizeOfAxis);
        count = count == kNone ? factor : make_op(kernel_, Op::mul, Type::i64, {count, factor});
      }
    }
    return make_op(kernel_, Op::div, e.type, {make_cast(kernel_, total, e.type), make_cast(kernel_, count, e.type)});
  }

  // How many there may be; where a size is not known, any number.
  Bounds positions_of(AxisSet axes) const {
    int64_t most = 1;
    for (AxisId axis : axes.list()) {
      const Size &size = kernel_.axes[axis].size;
      if (!size.is_integer() || __builtin_mul_overflow(most, size.value, &most))
        return bounds_of(Type::i64);
    }
    return {0, most};
  }

  // Each row of a ragged axis has a length of its own, also where all elements are one constant by now.
  AxisSet rows_of(AxisSet axes) const {
    AxisSet rows;
    for (AxisId axis : axes.list())
      if (kernel_.axes[axis].ragged != kNone)
        rows |= AxisSet::of(kernel_.axes[axis].over);
    return rows;
  }

  ExprId scan(const Expr &e, AxisSet context, std::vector<PlanNode> &out) {
    PlanNode step;
    step.kind = PlanNode::Kind::scan_step;
    step.scan = e.scan;
    step.reverse = e.reverse;
    step.exclusive = e.exclusive;
    step.axis = e.axis;
    step.place = e.place;
    step.value = make_cast(kernel_, hoist(e.args[0], context, out), e.accumulator);
    if (e.args.size() > 1)
      step.second = make_cast(kernel_, hoist(e.args[1], context, out), e.accumulator);
    step.lanes = kernel_.expr(step.value).axes | rows_of(AxisSet::of(e.axis)) | AxisSet::of(e.axis);
    if (step.second != kNone)
      step.lanes |= kernel_.expr(step.second).axes;
    step.target = temporary(carry_names(kernel_, e), e.accumulator, step.lanes - AxisSet::of(e.axis), e.place);
    step.partner = temporary(scan_names(kernel_, e), e.accumulator, step.lanes, e.place);
    PlanNode init = step;
    init.kind = PlanNode::Kind::scan_init;
    init.lanes = step.lanes - AxisSet::of(e.axis);
    init.value = init.second = init.partner = kNone;
    const ExprId result = make_cast(kernel_, make_read(kernel_, step.partner), e.type);
    out.push_back(std::move(init));
    out.push_back(std::move(step));
    return result;
  }

  // Where all wishes are taken, as by the same fold in another branch, whoever prints the plan tells the two apart.
  VarId temporary(const std::vector<std::string> &wishes, Type type, AxisSet axes, const Place &place) {
    const auto is_taken = [&](const std::string &name) {
      return std::any_of(kernel_.vars.begin(), kernel_.vars.end(), [&](const Var &var) { return var.name == name; });
    };
    Var var;
    var.kind = Var::Kind::local;
    var.name = first_free(wishes, is_taken).value_or(wishes.front());
    var.type = type;
    var.axes = axes;
    var.place = place;
    return add_var(kernel_, std::move(var));
  }

  static PlanNode make(PlanNode::Kind kind, const Stmt &stmt) {
    PlanNode node;
    node.kind = kind;
    node.place = stmt.place;
    node.context = stmt.context;
    return node;
  }

  Kernel &kernel_;
  std::string assigned_; // the name of what the statement at hand sets
};

// Parallel dimensions go outside, wherever they stand, unless their size depends on an arbitrary one.
std::vector<GridId> nesting_order(const Kernel &kernel) {
  std::vector<GridId> outer, inner;
  for (GridId g = 0; g < static_cast<GridId>(kernel.grid.size()); ++g) {
    const bool bound = std::any_of(inner.begin(), inner.end(), [&](GridId other) {
      return mentions(kernel.grid[g].size, Size::Op::grid, kernel.grid[other].name);
    });
    (kernel.grid[g].semantics == Semantics::parallel && !bound ? outer : inner).push_back(g);
  }
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

} // namespace

std::vector<PlanNode> lower(Kernel &kernel) {
  const std::vector<Stmt> statements = kernel.statements;
  std::vector<PlanNode> program = Lowering(kernel).statements(statements);
  const std::vector<GridId> order = nesting_order(kernel);
  for (auto g = order.rbegin(); g != order.rend(); ++g) {
    PlanNode steps;
    steps.kind = PlanNode::Kind::steps;
    steps.grid = *g;
    steps.order =
        kernel.grid[*g].semantics == Semantics::parallel ? PlanNode::Order::parallel : PlanNode::Order::ordered;
    steps.body = std::move(program);
    program.clear();
    program.push_back(std::move(steps));
  }
  number_statements(kernel, program);
  return program;
}

} // namespace kgen
