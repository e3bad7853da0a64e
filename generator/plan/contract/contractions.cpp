#include "plan/contract/contractions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "plan/contract/fold_alone.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/program/anew.h"
#include "plan/tree/tree.h"
#include "support/text.h"

namespace kgen {
namespace {

// The loops over rows and columns, around one list of statements in which one nest folds.
struct Nest {
  std::vector<PlanNode> loops; // outermost first, each without its body
  std::vector<PlanNode> body;
  size_t fold = 0; // where in the body its loops stand
  std::vector<PlanNode> depth;
  PlanNode step;
};

std::optional<Nest> find_nest(Plan &plan, const PlanNode &root) {
  Nest nest;
  const std::vector<const PlanNode *> loops = leading_loops(root, leading_parallel_loops(root));
  for (const PlanNode *loop : loops)
    nest.loops.push_back(without_body(*loop));
  nest.body = loops.back()->body;
  const auto has_loop = [](const PlanNode &n) { return contains_loop({n}); };
  if (std::count_if(nest.body.begin(), nest.body.end(), has_loop) != 1)
    return std::nullopt;
  nest.fold = static_cast<size_t>(std::find_if(nest.body.begin(), nest.body.end(), has_loop) - nest.body.begin());
  Nodes inner = {nest.body[nest.fold]};
  while (inner.size() == 1 && is_loop(inner.front(), PlanNode::Order::reduction)) {
    nest.depth.push_back(without_body(inner.front()));
    inner = without_names(plan, Nodes(inner.front().body));
  }
  if (inner.size() != 1)
    return std::nullopt;
  nest.step = inner.front();
  return nest;
}

// Of nested loops, which it puts in order: those that both factors have, the rows, the columns.
class Contractions {
public:
  Contractions(Plan &plan, PlanNode &root) : plan_(plan), kernel_(plan.kernel), root_(root) {}

  // How many loops stand around the rows; nothing where it is none.
  std::optional<int> run() {
    std::optional<Nest> nest = find_nest(plan_, root_);
    if (!nest)
      return std::nullopt;
    nest_ = std::move(*nest);
    if (!is_plain_fold() || !find_column() || !find_roles() || !are_worth_it() || !find_factors())
      return std::nullopt;
    return rebuild();
  }

private:
  // One total, of numbers that are there before the nest begins. Rows of lengths of their own that all belong to the
  // depth are no rectangle, of which a position could be counted.
  bool is_plain_fold() const {
    const PlanNode &step = nest_.step;
    if (step.kind != PlanNode::Kind::fold_step || step.partner != kNone ||
        kernel_.vars[step.target].type == Type::boolean || plan_.storage[step.target].kind != Storage::Kind::scalar)
      return false;
    AxisSet depth;
    for (const PlanNode &loop : nest_.depth)
      depth |= AxisSet::of(loop.axis);
    const std::set<VarId> set = targets_of({root_});
    bool fits = step.reduced == depth && std::ranges::none_of(depth.list(), [&](AxisId id) {
                  const Axis &axis = kernel_.axes[id];
                  return axis.ragged != kNone && depth.contains(axis.over);
                });
    const auto look = [&](ExprId id) {
      const Expr &e = kernel_.expr(id);
      fits = fits && ((e.op != Op::read && e.op != Op::element) || set.count(e.ref) == 0);
      return fits;
    };
    walk(kernel_, step.value, look);
    if (step.condition != kNone)
      walk(kernel_, step.condition, look);
    return fits;
  }

  // Results are stored by vectors of columns.
  bool find_column() {
    for (const PlanNode &node : nest_.body) {
      if (node.kind != PlanNode::Kind::assign)
        continue;
      const Storage &storage = plan_.storage[node.target];
      if ((storage.kind == Storage::Kind::program || storage.kind == Storage::Kind::worker) && !storage.dims.empty())
        column_ = storage.dims.back();
      if (storage.kind == Storage::Kind::argument)
        for (const Dim &dim : kernel_.vars[node.target].dims)
          if (dim.axis != kNone)
            column_ = dim.axis;
      if (column_ != kNone)
        break;
    }
    return std::any_of(nest_.loops.begin(), nest_.loops.end(),
                       [&](const PlanNode &loop) { return loop.kind == PlanNode::Kind::loop && loop.axis == column_; });
  }

  // The values of which the element is made, by whether they differ along the innermost columns; factors of products
  // where that is all it is.
  void collect(ExprId id, std::vector<ExprId> &with, std::vector<ExprId> &without) const {
    const Expr &e = kernel_.expr(id);
    if (!e.axes.contains(column_))
      without.push_back(id);
    else if (e.op == Op::read || e.op == Op::table || !(is_scalar_op(e.op) || e.op == Op::cast))
      with.push_back(id);
    else
      for (ExprId arg : e.args)
        collect(arg, with, without);
  }

  bool find_roles() {
    std::vector<ExprId> with, without;
    collect(nest_.step.value, with, without);
    AxisSet left, right;
    for (ExprId id : with)
      right |= kernel_.expr(id).axes;
    for (ExprId id : without)
      left |= kernel_.expr(id).axes;
    for (const PlanNode &loop : nest_.loops) {
      if (loop.kind != PlanNode::Kind::loop)
        continue;
      const AxisSet axis = AxisSet::of(loop.axis);
      if (!right.contains(axis) && left.contains(axis))
        rows_ |= axis;
      if (right.contains(axis) && !left.contains(axis))
        columns_ |= axis;
    }
    if (rows_.empty() || !columns_.contains(column_))
      return false;
    // How far a loop goes may depend on where those stand that both factors have.
    const AxisSet all = rows_ | columns_;
    const auto is_free = [&](const PlanNode &loop) {
      const Axis &axis = kernel_.axes[loop.axis];
      return is_loop(loop, loop.order) && (axis.ragged == kNone || !all.contains(axis.over));
    };
    return std::all_of(nest_.depth.begin(), nest_.depth.end(), is_free) &&
           std::all_of(nest_.loops.begin(), nest_.loops.end(),
                       [&](const PlanNode &loop) { return loop.kind == PlanNode::Kind::steps || is_free(loop); });
  }

  bool are_worth_it() const {
    std::optional<int64_t> depth = 1;
    for (const PlanNode &loop : nest_.depth) {
      const std::optional<int64_t> most = most_positions(kernel_.axes[loop.axis]);
      depth = depth && most ? std::optional(*depth * *most) : std::nullopt;
    }
    const std::optional<int64_t> columns = most_positions(kernel_.axes[column_]);
    return (!depth || *depth >= plan_.decide(Decision::product_depth)) &&
           (!columns || *columns >= plan_.decide(Decision::product_columns));
  }

  struct Product {
    std::vector<ExprId> factors, divisors;
  };
  void factors_of(ExprId id, Product &out, bool divides = false) const {
    const Expr &e = kernel_.expr(id);
    const bool quotient = e.op == Op::div && is_floating(e.type);
    if (e.op != Op::mul && !quotient)
      return (divides ? out.divisors : out.factors).push_back(id);
    factors_of(e.args[0], out, divides);
    factors_of(e.args[1], out, divides != quotient);
  }

  ExprId value_of(const Product &product) {
    ExprId out = product.factors.front();
    for (size_t i = 1; i < product.factors.size(); ++i)
      out = make_op(kernel_, Op::mul, kernel_.expr(out).type, {out, product.factors[i]});
    for (ExprId divisor : product.divisors)
      out = make_op(kernel_, Op::div, kernel_.expr(out).type, {out, divisor});
    return out;
  }

  // Where the element is a product, its factors are put together by the side that they belong to.
  void sort_factors() {
    Product all, left, right;
    factors_of(nest_.step.value, all);
    bool fits = true;
    const auto sort = [&](std::vector<ExprId> Product::*list) {
      for (ExprId id : all.*list) {
        const AxisSet axes = kernel_.expr(id).axes;
        fits = fits && ((axes & rows_).empty() || (axes & columns_).empty());
        ((axes & columns_).empty() ? left.*list : right.*list).push_back(id);
      }
    };
    sort(&Product::factors);
    sort(&Product::divisors);
    if (fits && !left.factors.empty() && !right.factors.empty())
      nest_.step.value =
          make_op(kernel_, Op::mul, kernel_.expr(nest_.step.value).type, {value_of(left), value_of(right)});
  }

  // The largest parts of the element that belong to one side: there is one on each. The step puts them together for all
  // columns of a tile at once.
  bool split(ExprId id) {
    const Expr e = kernel_.expr(id);
    const bool on_left = !(e.axes & rows_).empty(), on_right = !(e.axes & columns_).empty();
    if (on_left && on_right)
      return (has_vector_form(kernel_, e) || e.op == Op::cast) &&
             std::all_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return split(arg); });
    if (!on_left && !on_right)
      return e.op == Op::constant || e.op == Op::scalar;
    ExprId &known = on_left ? left_ : right_;
    if (known == kNone)
      known = id;
    return e.type != Type::boolean && same(kernel_, known, id);
  }

  bool find_factors() {
    sort_factors();
    return split(nest_.step.value) && left_ != kNone && right_ != kNone && condition_fits();
  }

  // Rows alone may say which steps they take. What the columns give is found for all rows of a tile, so also where none
  // asked for it: it must be there and be harmless.
  bool condition_fits() const {
    const ExprId condition = nest_.step.condition;
    if (condition == kNone)
      return true;
    bool fits = (kernel_.expr(condition).axes & columns_).empty();
    walk(kernel_, right_, [&](ExprId id) {
      const Expr &e = kernel_.expr(id);
      const bool divides = (e.op == Op::div || e.op == Op::rem) && !is_floating(e.type);
      fits = fits && !divides && e.op != Op::element && e.coords.empty();
      return fits;
    });
    return fits;
  }

  VarId factor(const std::string &name, ExprId value) {
    Var var;
    var.name = name;
    var.type = kernel_.expr(value).type;
    var.axes = kernel_.expr(value).axes;
    const VarId id = add_var(kernel_, std::move(var));
    plan_.storage.resize(kernel_.vars.size());
    return id;
  }

  int rebuild() {
    Contraction found;
    found.left = factor("left", left_);
    found.right = factor("right", right_);
    found.total = nest_.step.target;
    const ExprId read_left = make_read(kernel_, found.left), read_right = make_read(kernel_, found.right);
    PlanNode step = nest_.step;
    step.value = replace(kernel_, step.value, [&](ExprId id) {
      return same(kernel_, id, left_) ? read_left : same(kernel_, id, right_) ? read_right : kNone;
    });
    found.short_types = short_types(step);
    found.stored = stored_type(step);
    std::vector<PlanNode> element = {make_assign(kernel_, found.left, left_, step.place),
                                     make_assign(kernel_, found.right, right_, step.place), std::move(step)};
    nest_.body[nest_.fold] = wrapped(nest_.depth, std::move(element));
    std::vector<PlanNode> loops = put_in_order(found);
    const int shared = static_cast<int>(loops.size()) - found.rows - found.columns;
    const LaneAnalysis lanes(plan_);
    found.left_along_rows = is_left_along(lanes, loops[static_cast<size_t>(shared + found.rows - 1)].axis);
    found.right_along_depth = nest_.depth.size() == 1 && is_right_along_depth(lanes, right_);
    loops[static_cast<size_t>(shared)].contraction = found;
    root_ = wrapped(loops, std::move(nest_.body));
    return shared;
  }

  // Of a factor.
  std::optional<Type> short_type(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    for (const Type type : {Type::i8, Type::u8, Type::i16})
      if (const Bounds held = bounds_of(type);
          e.type == Type::i32 && e.bounds.low >= held.low && e.bounds.high <= held.high)
        return type;
    return std::nullopt;
  }

  // The sum of products of the factors?
  bool sums_products(const PlanNode &step) const {
    const Expr &product = kernel_.expr(step.value);
    const auto is_factor = [&](ExprId id) { return kernel_.expr(id).op == Op::read; };
    return step.monoid == Monoid::sum && step.condition == kNone && product.op == Op::mul &&
           std::all_of(product.args.begin(), product.args.end(), is_factor);
  }

  std::optional<Type> stored_type(const PlanNode &step) const {
    const auto of_array = [&](ExprId id) -> std::optional<Type> {
      const Expr &e = kernel_.expr(id);
      if (e.op != Op::read || kernel_.vars[e.ref].kind != Var::Kind::input || kernel_.vars[e.ref].outside != 0)
        return std::nullopt; // locals have the same type whatever is stored
      return is_floating(kernel_.vars[e.ref].type) ? std::optional(kernel_.vars[e.ref].type) : std::nullopt;
    };
    const std::optional<Type> left = of_array(left_);
    const bool sums = sums_products(step) && kernel_.vars[step.target].type == kernel_.expr(left_).type;
    return sums && left == of_array(right_) ? left : std::nullopt;
  }

  std::optional<std::pair<Type, Type>> short_types(const PlanNode &step) const {
    const std::optional<Type> left = short_type(left_), right = short_type(right_);
    const bool sums = sums_products(step) && kernel_.vars[step.target].type == Type::i32;
    return sums && left && right ? std::optional(std::pair(*left, *right)) : std::nullopt;
  }

  // Are its neighbours those of the next rows, and none of them those of the next step down?
  bool is_left_along(const LaneAnalysis &lanes, AxisId row) const {
    const auto reads_along = [&](AxisId axis) {
      return any_node(kernel_, left_, [&](const Expr &e) {
        return e.op == Op::read && lanes.step_of(e.ref, e.coords, axis).kind == LaneStep::Kind::neighbour;
      });
    };
    return reads_along(row) && !reads_along(nest_.depth.back().axis);
  }

  // Can lanes that are positions of the depth find it as well, at one column?
  bool is_right_along_depth(const LaneAnalysis &lanes, ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if ((e.axes & (AxisSet::of(column_) | AxisSet::of(nest_.depth.front().axis))).empty())
      return true;
    if (has_vector_form(kernel_, e) || e.op == Op::cast) // else it is found lane by lane, of lanes that are columns
      return std::all_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return is_right_along_depth(lanes, arg); });
    if (e.op != Op::read || !e.coords.empty() || kernel_.vars[e.ref].optional || kernel_.vars[e.ref].outside != 0 ||
        lanes.may_leave(e) || lanes.guarded(e, column_))
      return false;
    constexpr int64_t kMostOfRecord = 8; // such are taken apart in other ways
    const AxisId depth = nest_.depth.front().axis;
    const LaneStep across = lanes.step_of(e.ref, e.coords, column_);
    if (!e.axes.contains(depth)) // of the column alone
      return across.kind == LaneStep::Kind::neighbour && kernel_.vars[e.ref].type != Type::boolean;
    return lanes.step_of(e.ref, e.coords, depth).kind == LaneStep::Kind::neighbour &&
           across.kind == LaneStep::Kind::stride &&
           !(across.stride.is_integer() && across.stride.value <= kMostOfRecord);
  }

  std::vector<PlanNode> put_in_order(Contraction &found) const {
    std::vector<PlanNode> shared, rows, columns, innermost;
    for (const PlanNode &loop : nest_.loops) {
      const bool is_steps = loop.kind == PlanNode::Kind::steps;
      auto &list = is_steps || !(rows_ | columns_).contains(loop.axis) ? shared
                   : rows_.contains(loop.axis)                         ? rows
                   : loop.axis == column_                              ? innermost
                                                                       : columns;
      list.push_back(loop);
    }
    found.rows = static_cast<int>(rows.size());
    found.columns = static_cast<int>(columns.size()) + 1;
    for (const auto &list : {rows, columns, innermost})
      shared.insert(shared.end(), list.begin(), list.end());
    return shared;
  }

  Plan &plan_;
  Kernel &kernel_;
  PlanNode &root_;
  Nest nest_;
  AxisId column_ = kNone; // of neighbours in the result
  AxisSet rows_, columns_;
  ExprId left_ = kNone, right_ = kNone;
};

std::vector<const PlanNode *> loops_of(const PlanNode &nest) {
  return leading_loops(nest, nest.contraction->rows + nest.contraction->columns);
}

// Is it an axis of the loops around the statements?
bool loops_over(const Phase &phase, AxisId axis) {
  const std::vector<const PlanNode *> loops = leading_loops(phase.nodes.front(), phase.split);
  return std::any_of(loops.begin(), loops.end(),
                     [&](const PlanNode *loop) { return loop->kind == PlanNode::Kind::loop && loop->axis == axis; });
}

std::vector<AxisId> rows_of(const PlanNode &nest) {
  std::vector<AxisId> out;
  for (const PlanNode *loop : leading_loops(nest, nest.contraction->rows))
    out.push_back(loop->axis);
  return out;
}

} // namespace

bool contract(Plan &plan, Phase &phase) {
  const std::optional<int> shared = Contractions(plan, phase.nodes.front()).run();
  if (!shared)
    return false;
  phase.kind = Phase::Kind::contracted;
  phase.split = *shared;
  const PlanNode &columns = column_loop(nest_of(phase));
  phase.lane = columns.axis;
  return LaneAnalysis(plan).possible(columns);
}

bool make_contraction(Plan &plan, PlanNode &rows) {
  return Contractions(plan, rows).run() == 0 && LaneAnalysis(plan).possible(column_loop(rows));
}

const PlanNode &nest_of(const Phase &phase) { return *leading_loops(phase.nodes.front(), phase.split + 1).back(); }

const PlanNode &column_loop(const PlanNode &nest) { return *loops_of(nest).back(); }
PlanNode &column_loop(PlanNode &nest) { return const_cast<PlanNode &>(column_loop(std::as_const(nest))); }

namespace {

std::string several_at_a_time(const Contraction &contraction) {
  if (!contraction.short_types)
    return "";
  const auto [left, right] = *contraction.short_types;
  return left == Type::i16 || right == Type::i16 ? ", pairs of numbers at a time" : ", four bytes at a time, or pairs";
}

} // namespace

std::string contraction_words(const Plan &plan, const PlanNode &nest) {
  std::vector<std::string> names;
  for (const PlanNode *loop : loops_of(nest))
    names.push_back(name_of_loop(plan.kernel, *loop));
  const auto columns = names.begin() + nest.contraction->rows;
  return "tiles of " + join(std::vector<std::string>(names.begin(), columns), "*") + " x " +
         join(std::vector<std::string>(columns, names.end()), "*") + several_at_a_time(*nest.contraction);
}

std::string contraction_words(const Plan &plan, const Phase &phase) {
  std::vector<std::string> shared;
  for (const PlanNode *loop : leading_loops(phase.nodes.front(), phase.split))
    shared.push_back(name_of_loop(plan.kernel, *loop));
  return contraction_words(plan, nest_of(phase)) + (shared.empty() ? "" : ", for each " + join(shared, ", "));
}

std::string row_contraction_words(const Plan &plan, const Phase &phase) {
  std::vector<std::string> tiles;
  std::string rows;
  if (phase.kind == Phase::Kind::parallel)
    for_each_node(phase.nodes.front(), [&](const PlanNode &n) {
      if (!n.contraction)
        return;
      tiles.push_back(contraction_words(plan, n));
      rows = plan.kernel.axes[n.axis].name;
    });
  return tiles.empty() ? "" : ", by parts of " + rows + ": " + join(tiles, " and ") + " are folded in registers";
}

namespace {

// However few rows there are, lanes that are positions of the depth read the right factor as it lies?
bool serves_few_rows(const Phase &phase) {
  const PlanNode &nest = nest_of(phase);
  bool takes_all = true;
  for_each_node(nest, [&](const PlanNode &n) {
    takes_all &= n.end == kNone && (n.kind != PlanNode::Kind::fold_step || n.condition == kNone);
  });
  return nest.contraction->right_along_depth && takes_all;
}

} // namespace

void find_contractions(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind != Phase::Kind::parallel)
      continue;
    const AxisId lane = plan.phases[i].lane;
    Plan contracted = plan;
    if (!contract(contracted, contracted.phases[i]))
      continue;
    const bool along_depth = !loops_over(plan.phases[i], lane);
    if (along_depth && !serves_few_rows(contracted.phases[i])) {
      const ExprId many =
          have_at_least(plan.kernel, rows_of(nest_of(contracted.phases[i])), plan.decide(Decision::product_rows));
      add_alternative(plan, i, many);
      plan.phases[i + 1].whole = true;
      contracted = plan;
      contract(contracted, contracted.phases[i++]);
    }
    plan = std::move(contracted);
  }
}

} // namespace kgen
