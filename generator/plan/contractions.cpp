#include "plan/contractions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "plan/access.h"
#include "plan/anew.h"
#include "plan/exprs.h"
#include "plan/lanes.h"
#include "plan/order.h"
#include "plan/storage.h"
#include "plan/tree.h"
#include "support/text.h"

namespace kgen {
namespace {

constexpr int64_t kLeastDepth = 9;   // where fewer numbers are folded, the result costs more than the fold
constexpr int64_t kLeastColumns = 8; // fewer fill no vector
constexpr int64_t kManyRows = 32;    // for which columns that lie across memory are worth being packed

using Nodes = std::vector<PlanNode>;

bool is_loop(const PlanNode &node, PlanNode::Order order) {
  return node.kind == PlanNode::Kind::loop && node.order == order && node.parts == 0 && node.share == kNone &&
         node.end == kNone && !node.reversed;
}

// The loops over rows and columns, around one list of statements in which one nest folds.
struct Nest {
  std::vector<PlanNode> loops; // outermost first, each without its body
  std::vector<PlanNode> body;
  size_t fold = 0; // where in the body its loops stand
  std::vector<PlanNode> depth;
  PlanNode step;
};

PlanNode without_body(const PlanNode &loop) {
  PlanNode out = loop;
  out.body.clear();
  return out;
}

PlanNode wrapped(const std::vector<PlanNode> &loops, std::vector<PlanNode> body) {
  for (size_t i = loops.size(); i-- > 0;) {
    PlanNode loop = loops[i];
    loop.body = std::move(body);
    body = {std::move(loop)};
  }
  return body.front();
}

// The statements of the innermost loop, with what only names a part of another's value put in there.
Nodes without_names(Plan &plan, Nodes list) {
  while (list.size() > 1 && list.front().kind == PlanNode::Kind::assign && list.front().coords.empty() &&
         list.front().indices.empty() && plan.storage[list.front().target].kind == Storage::Kind::scalar &&
         plan.kernel.vars[list.front().target].type == plan.kernel.expr(list.front().value).type) {
    const PlanNode name = list.front();
    list.erase(list.begin());
    for (PlanNode &node : list)
      replace_reads(plan.kernel, node, name.target, name.value, true);
  }
  return list;
}

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

class Contractions {
public:
  Contractions(Plan &plan, Phase &phase) : plan_(plan), kernel_(plan.kernel), phase_(phase) {}

  bool run() {
    std::optional<Nest> nest = find_nest(plan_, phase_.nodes.front());
    if (!nest)
      return false;
    nest_ = std::move(*nest);
    if (!is_plain_fold() || !find_column() || !find_roles() || !are_worth_it() || !find_factors())
      return false;
    rebuild();
    return true;
  }

private:
  // One total, of numbers that are there before the nest begins.
  bool is_plain_fold() const {
    const PlanNode &step = nest_.step;
    if (step.kind != PlanNode::Kind::fold_step || step.partner != kNone ||
        kernel_.vars[step.target].type == Type::boolean || plan_.storage[step.target].kind != Storage::Kind::scalar)
      return false;
    AxisSet depth;
    for (const PlanNode &loop : nest_.depth)
      depth |= AxisSet::of(loop.axis);
    const std::set<VarId> set = targets_of(phase_.nodes);
    bool fits = step.reduced == depth;
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
      if (storage.kind == Storage::Kind::program && !storage.dims.empty())
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
    return (!depth || *depth >= kLeastDepth) && (!columns || *columns >= kLeastColumns);
  }

  void factors_of(ExprId id, std::vector<ExprId> &out) const {
    const Expr &e = kernel_.expr(id);
    if (e.op != Op::mul)
      return out.push_back(id);
    for (ExprId arg : e.args)
      factors_of(arg, out);
  }

  ExprId product(const std::vector<ExprId> &factors) {
    ExprId out = factors.front();
    for (size_t i = 1; i < factors.size(); ++i)
      out = make_op(kernel_, Op::mul, kernel_.expr(out).type, {out, factors[i]});
    return out;
  }

  // Where the element is a product, its factors are put together by the side that they belong to.
  void sort_factors() {
    std::vector<ExprId> factors, left, right;
    factors_of(nest_.step.value, factors);
    for (ExprId id : factors) {
      const AxisSet axes = kernel_.expr(id).axes;
      if (!(axes & rows_).empty() && !(axes & columns_).empty())
        return;
      ((axes & columns_).empty() ? left : right).push_back(id);
    }
    if (!left.empty() && !right.empty())
      nest_.step.value =
          make_op(kernel_, Op::mul, kernel_.expr(nest_.step.value).type, {product(left), product(right)});
  }

  // The largest parts of the element that belong to one side: there is one on each.
  bool split(ExprId id) {
    const Expr e = kernel_.expr(id);
    const bool on_left = !(e.axes & rows_).empty(), on_right = !(e.axes & columns_).empty();
    if (on_left && on_right)
      return (is_scalar_op(e.op) || e.op == Op::cast) &&
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

  void rebuild() {
    Contraction found;
    found.left = factor("left", left_);
    found.right = factor("right", right_);
    found.total = nest_.step.target;
    const ExprId read_left = make_read(kernel_, found.left), read_right = make_read(kernel_, found.right);
    PlanNode step = nest_.step;
    step.value = replace(kernel_, step.value, [&](ExprId id) {
      return same(kernel_, id, left_) ? read_left : same(kernel_, id, right_) ? read_right : kNone;
    });
    found.pairs = takes_pairs(step);
    std::vector<PlanNode> element = {make_assign(kernel_, found.left, left_, step.place),
                                     make_assign(kernel_, found.right, right_, step.place), std::move(step)};
    nest_.body[nest_.fold] = wrapped(nest_.depth, std::move(element));
    std::vector<PlanNode> loops = put_in_order(found);
    phase_.nodes = {wrapped(loops, std::move(nest_.body))};
    phase_.kind = Phase::Kind::contracted;
    phase_.split = static_cast<int>(loops.size()) - found.rows - found.columns;
    phase_.lane = column_;
    phase_.contraction = found;
  }

  // Is it a sum of products of numbers that 16 bits can hold?
  bool takes_pairs(const PlanNode &step) const {
    const Bounds words = bounds_of(Type::i16);
    const auto is_short = [&](ExprId id) {
      const Expr &e = kernel_.expr(id);
      return e.type == Type::i32 && e.bounds.low >= words.low && e.bounds.high <= words.high;
    };
    const Expr &product = kernel_.expr(step.value);
    const auto is_factor = [&](ExprId id) { return kernel_.expr(id).op == Op::read; };
    return step.monoid == Monoid::sum && step.condition == kNone && kernel_.vars[step.target].type == Type::i32 &&
           product.op == Op::mul && std::all_of(product.args.begin(), product.args.end(), is_factor) &&
           is_short(left_) && is_short(right_);
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
  Phase &phase_;
  Nest nest_;
  AxisId column_ = kNone; // of neighbours in the result
  AxisSet rows_, columns_;
  ExprId left_ = kNone, right_ = kNone;
};

// The loops of a phase that is one: those of both sides, the rows, the columns.
std::vector<const PlanNode *> loops_of(const Phase &phase) {
  return leading_loops(phase.nodes.front(), phase.split + phase.contraction->rows + phase.contraction->columns);
}

// Is it an axis of the loops around the statements?
bool loops_over(const Phase &phase, AxisId axis) {
  const std::vector<const PlanNode *> loops = leading_loops(phase.nodes.front(), phase.split);
  return std::any_of(loops.begin(), loops.end(),
                     [&](const PlanNode *loop) { return loop->kind == PlanNode::Kind::loop && loop->axis == axis; });
}

std::vector<AxisId> rows_of(const Phase &phase) {
  std::vector<AxisId> out;
  const std::vector<const PlanNode *> loops = loops_of(phase);
  for (int i = phase.split; i < phase.split + phase.contraction->rows; ++i)
    out.push_back(loops[static_cast<size_t>(i)]->axis);
  return out;
}

} // namespace

const PlanNode &column_loop(const Phase &phase) { return *loops_of(phase).back(); }

namespace {

// The list inside the loops that stand around each other, and those.
const Nodes &inner_list(const Phase &phase, Nodes &loops) {
  const std::vector<const PlanNode *> around = leading_loops(phase.nodes.front(), phase.split);
  for (const PlanNode *loop : around)
    loops.push_back(without_body(*loop));
  return around.back()->body;
}

bool keeps_no_arrays(const Plan &plan) {
  for (size_t v = 0; v < plan.storage.size(); ++v)
    if (plan.storage[v].kind == Storage::Kind::program && !plan.kernel.vars[v].array.empty())
      return false;
  return true;
}

// What stands in the loops around a contraction: before it, it, and after it.
struct Parts {
  Nodes before, alone, after;
};

// What comes before comes after, where that is as well: one phase less.
void move_back(const Kernel &kernel, Parts &parts) {
  if (!may_exchange(accesses_of(kernel, parts.before), accesses_of(kernel, parts.alone)))
    return;
  parts.before.insert(parts.before.end(), parts.after.begin(), parts.after.end());
  parts.after = std::exchange(parts.before, {});
}

// The plan in which the parts of the phase are phases; none where the second is no contraction then.
std::optional<Plan> in_phases(Plan plan, size_t phase, const Nodes &loops, Parts parts) {
  move_back(plan.kernel, parts);
  std::vector<Phase> phases;
  size_t alone = phase;
  for (const Nodes *list : {&parts.before, &parts.alone, &parts.after}) {
    if (list->empty())
      continue;
    if (list == &parts.alone)
      alone += phases.size();
    phases.push_back(plan.phases[phase]);
    phases.back().nodes = {wrapped(loops, *list)};
    phases.back().split = leading_parallel_loops(phases.back().nodes.front());
  }
  const auto place = plan.phases.erase(plan.phases.begin() + static_cast<std::ptrdiff_t>(phase));
  plan.phases.insert(place, phases.begin(), phases.end());
  place_variables(plan);
  Plan contracted = plan;
  Phase &middle = contracted.phases[alone];
  const bool fits = keeps_no_arrays(plan) && Contractions(contracted, middle).run() && middle.split == 0 &&
                    LaneAnalysis(contracted).possible(column_loop(middle));
  return fits ? std::optional(std::move(plan)) : std::nullopt;
}

// A loop that does more than contract: its first fold becomes a loop of its own, with a total that is no other
// statement's, which sets the one that they know.
class TakenOut {
public:
  explicit TakenOut(Plan &plan) : plan_(plan), kernel_(plan.kernel) {}

  // Leaves the rest in `loop`; nothing where there is no such fold.
  std::optional<PlanNode> first_fold(PlanNode &loop) {
    const auto nest =
        std::find_if(loop.body.begin(), loop.body.end(), [](const PlanNode &n) { return contains_loop({n}); });
    PlanNode *inner = nest == loop.body.end() ? nullptr : &*nest;
    while (inner != nullptr && is_loop(*inner, PlanNode::Order::reduction) &&
           is_loop(inner->body.front(), PlanNode::Order::reduction))
      inner = &inner->body.front();
    if (inner == nullptr || !is_loop(*inner, PlanNode::Order::reduction))
      return std::nullopt;
    inner->body = without_names(plan_, inner->body);
    if (inner->body.front().kind != PlanNode::Kind::fold_step)
      return std::nullopt;
    const PlanNode step = inner->body.front();
    const auto starts = [&](const PlanNode &n) {
      return n.kind == PlanNode::Kind::fold_init && n.target == step.target;
    };
    const auto init = std::find_if(loop.body.begin(), loop.body.end(), starts);
    if (init == loop.body.end() || init > nest)
      return std::nullopt;
    PlanNode out = without_body(loop), start = *init, fold = *nest;
    out.order = PlanNode::Order::parallel;
    Var total = kernel_.vars[step.target];
    total.name += "_here";
    start.target = add_var(kernel_, std::move(total));
    keep_only_first(fold, start.target);
    const ExprId found = make_read(kernel_, start.target);
    out.body = {std::move(start), std::move(fold), make_assign(kernel_, step.target, found, step.place)};
    inner->body.erase(inner->body.begin());
    if (inner->body.empty())
      loop.body.erase(nest);
    loop.body.erase(std::find_if(loop.body.begin(), loop.body.end(), starts));
    return out;
  }

private:
  static void keep_only_first(PlanNode &nest, VarId total) {
    nest.body.resize(1);
    if (nest.body.front().kind == PlanNode::Kind::loop)
      return keep_only_first(nest.body.front(), total);
    nest.body.front().target = total;
  }

  Plan &plan_;
  Kernel &kernel_;
};

// The plan in which the contraction in statement `at` of the phase's list is a phase of its own, with what stands in
// its loop if it can be. None where there is none.
std::optional<Plan> part(const Plan &plan, size_t phase, size_t at) {
  Nodes loops;
  const Nodes list = inner_list(plan.phases[phase], loops);
  const auto here = list.begin() + static_cast<std::ptrdiff_t>(at);
  const Parts parts = {Nodes(list.begin(), here), {*here}, Nodes(here + 1, list.end())};
  if (is_parallel_loop(*here))
    if (std::optional<Plan> whole = in_phases(plan, phase, loops, parts))
      return whole;
  Plan other = plan;
  PlanNode rest = *here;
  const std::optional<PlanNode> fold = TakenOut(other).first_fold(rest);
  if (!fold)
    return std::nullopt;
  other.storage.resize(other.kernel.vars.size());
  Parts taken = {parts.before, {*fold}, parts.after};
  taken.after.insert(taken.after.begin(), rest);
  return in_phases(std::move(other), phase, loops, taken);
}

} // namespace

void part_contractions(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  for (size_t phase = 0; phase < plan.phases.size(); ++phase) {
    std::vector<PlanNode> loops;
    if (plan.phases[phase].kind != Phase::Kind::parallel)
      continue;
    const Nodes list = inner_list(plan.phases[phase], loops);
    for (size_t at = 0; at < list.size() && std::none_of(list.begin(), list.end(), jumps_out); ++at)
      if (list[at].kind == PlanNode::Kind::loop && contains_loop(list[at].body))
        if (std::optional<Plan> parted = part(plan, phase, at)) {
          plan = std::move(*parted);
          break; // what came before it is a phase without one, and what comes after is asked next
        }
  }
}

std::string contraction_words(const Plan &plan, const Phase &phase) {
  std::vector<std::string> names;
  for (const PlanNode *loop : loops_of(phase))
    names.push_back(name_of_loop(plan.kernel, *loop));
  const auto part = [&](int from, size_t to, const char *between) {
    return join(std::vector<std::string>(names.begin() + from, names.begin() + static_cast<std::ptrdiff_t>(to)),
                between);
  };
  const int rows = phase.split, columns = rows + phase.contraction->rows;
  return "tiles of " + part(rows, static_cast<size_t>(columns), "*") + " x " + part(columns, names.size(), "*") +
         (phase.contraction->pairs ? ", pairs of numbers at a time" : "") +
         (rows > 0 ? ", for each " + part(0, static_cast<size_t>(rows), ", ") : "");
}

void find_contractions(Plan &plan) {
  if (!wants_lanes(plan.kernel))
    return;
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind != Phase::Kind::parallel)
      continue;
    const AxisId lane = plan.phases[i].lane;
    Plan contracted = plan;
    if (!Contractions(contracted, contracted.phases[i]).run() ||
        !LaneAnalysis(contracted).possible(column_loop(contracted.phases[i])))
      continue;
    if (!loops_over(plan.phases[i], lane)) { // neighbours lie along the depth
      const ExprId many = have_at_least(plan.kernel, rows_of(contracted.phases[i]), kManyRows);
      add_alternative(plan, i, many);
      plan.phases[i + 1].whole = true;
      contracted = plan;
      Contractions(contracted, contracted.phases[i++]).run();
    }
    plan = std::move(contracted);
  }
}

} // namespace kgen
