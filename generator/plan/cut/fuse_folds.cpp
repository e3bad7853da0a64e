// Two loops `for n { m = max(m, x) } for n { s += exp(x - m) }` read a row twice, from memory where it does not fit a
// cache. Here the row is cut into blocks that do; each goes through both loops at once:
//
//   for blocks of n { now = m; for n { now = max(now, x) } if (now > m) s *= exp(m - now); m = now;
//                     for n { s += exp(x - m) } }
//
// and for `t += x`, `s += (x - t / N) ^ 2`, by the parallel axis theorem:
//
//   for blocks of n { part = 0; for n { part += x } mean = part / positions; for n { s += (x - mean) ^ 2 }
//                     s += (mean - t / seen) ^ 2 * seen * positions / (seen + positions); t += part; }
//
// With loops around, blocks may be short and many. Those of some rounds of the outermost loop are put together first.
#include "plan/cut/fuse_folds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/roles.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/index/order.h"
#include "support/naming.h"

namespace kgen {
namespace {

using Nodes = std::vector<PlanNode>;

class OnePass {
public:
  OnePass(Plan &plan, Nodes &list) : plan_(plan), kernel_(plan.kernel), list_(list) {}

  // Two loops of the list; those nested in them over the same axes go along. False: not these. `lanes`: the loops that
  // vectors take.
  bool fuse(size_t first, size_t second, const std::set<const PlanNode *> &lanes) {
    if (!is_fold_loop(list_[first]) || !is_fold_loop(list_[second]) || list_[first].axis != list_[second].axis ||
        lanes.count(&innermost(list_[first])) == 0 || lanes.count(&innermost(list_[second])) == 0)
      return false;
    count_writers();
    if (!find_definitions(first, second))
      return false;
    PlanNode a = list_[first], b = list_[second];
    for_each_node(b, [&](PlanNode &n) { expand(n, between_); });
    std::vector<PlanNode> outer; // the loops around the innermost ones
    PlanNode *inner_a = &a, *inner_b = &b;
    while (is_fold_loop(*inner_a) && is_fold_loop(*inner_b) && inner_a->axis == inner_b->axis &&
           inner_a->limits == inner_b->limits && inner_a->body.size() == 1 && inner_b->body.size() == 1 &&
           inner_a->body[0].kind == PlanNode::Kind::loop && inner_b->body[0].kind == PlanNode::Kind::loop) {
      outer.push_back(*inner_a);
      inner_a = &inner_a->body[0];
      inner_b = &inner_b->body[0];
    }
    if (!is_fold_loop(*inner_a) || !is_fold_loop(*inner_b) || inner_a->axis != inner_b->axis ||
        inner_a->limits != inner_b->limits || contains_loop(inner_a->body) || contains_loop(inner_b->body) ||
        is_short(inner_a->axis) || meet_elsewhere(*inner_a, *inner_b))
      return false;
    if (!find_totals(*inner_a, *inner_b) || !all_follow(*inner_b))
      return false;
    in_parts_ = !outer.empty() && std::all_of(totals_.begin(), totals_.end(),
                                              [](const Total &total) { return total.step->monoid == Monoid::sum; });
    PlanNode whole = blocks(*inner_a, *inner_b);
    for (auto loop = outer.rbegin(); loop != outer.rend(); ++loop) {
      loop->body = {std::move(whole)};
      whole = std::move(*loop);
    }
    if (in_parts_)
      whole = parts_of(std::move(whole));
    put(first, second, std::move(whole));
    for (const Total &total : totals_)
      plan_.followed.push_back(
          {total.step->target, total.power, total.step->monoid == Monoid::sum ? seen_ : kNone, total.followers});
    return true;
  }

private:
  // A total of the first loop that the second one needs, and what stands for it within a block.
  struct Total {
    const PlanNode *step = nullptr;
    VarId now = kNone;  // the greatest so far; of sums that of the block
    VarId mean = kNone; // of the block
    VarId part = kNone; // the sum of a part
    Op power = Op::exp; // of what depends on a greatest value: exp or exp2
    std::vector<VarId> followers, parts_of_followers;
  };

  static const PlanNode &innermost(const PlanNode &node) {
    const PlanNode *loop = &node;
    while (loop->body.size() == 1 && loop->body[0].kind == PlanNode::Kind::loop)
      loop = &loop->body[0];
    return *loop;
  }

  // A value that is set again, perhaps from what it was, does not stand for its expression.
  void count_writers() {
    for (const Phase &phase : plan_.phases)
      for (const PlanNode &root : phase.nodes)
        for_each_node(root, [&](const PlanNode &n) {
          if (n.target != kNone)
            ++writers_[n.target];
        });
  }

  static bool is_fold_loop(const PlanNode &n) {
    return n.kind == PlanNode::Kind::loop && n.order == PlanNode::Order::reduction && !n.reversed && n.parts == 0 &&
           n.share == kNone && n.table == kNone;
  }

  bool is_short(AxisId axis) const {
    const std::optional<int64_t> most = most_positions(kernel_.axes[axis]);
    return most && *most <= plan_.decide(Decision::sum_block);
  }

  // What stands between the loops: starts of folds, which go before both, and values, which go behind them. Those that
  // the second loop needs are taken into it.
  bool find_definitions(size_t first, size_t second) {
    const Accesses early = accesses_of(kernel_, list_[first]), late = accesses_of(kernel_, list_[second]);
    Accesses moved;  // behind the second loop, which would not see what they write
    Accesses values; // that the starts behind them pass
    for (size_t i = first + 1; i < second; ++i) {
      const PlanNode &n = list_[i];
      const Accesses own = accesses_of(kernel_, n);
      if (n.kind == PlanNode::Kind::fold_init && may_exchange(own, early) && may_exchange(own, values))
        continue;
      values.insert(values.end(), own.begin(), own.end());
      Accesses others = own; // than what it sets
      std::erase_if(others, [&](const Access &a) { return a.var == n.target; });
      const bool value = n.kind == PlanNode::Kind::assign && n.coords.empty() && n.indices.empty() && !n.scatter_add;
      if (!value || !may_exchange(others, late))
        return false;
      const Var &var = kernel_.vars[n.target];
      if (var.kind == Var::Kind::local && plan_.storage[n.target].kind == Storage::Kind::scalar &&
          writers_[n.target] == 1 && var.type == kernel_.expr(n.value).type && may_exchange(own, moved)) {
        between_[n.target] = n.value;
        continue;
      }
      if (std::any_of(late.begin(), late.end(), [&](const Access &a) { return a.memory == n.target; }))
        return false;
      moved.insert(moved.end(), own.begin(), own.end());
    }
    return true;
  }

  using Values = std::map<VarId, ExprId>;

  ExprId expanded(ExprId id, const Values &values) {
    return replace(kernel_, id, [&](ExprId at) -> ExprId {
      const Expr &e = kernel_.expr(at);
      const auto found = e.op == Op::read ? values.find(e.ref) : values.end();
      return found == values.end() ? kNone : make_cast(kernel_, expanded(found->second, values), kernel_.expr(at).type);
    });
  }

  void expand(PlanNode &n, const Values &values) {
    n.value = expanded(n.value, values);
    n.second = expanded(n.second, values);
    n.condition = expanded(n.condition, values);
  }

  // Do the loops touch memory at different positions, one of them writing? Their totals aside.
  bool meet_elsewhere(const PlanNode &a, const PlanNode &b) const {
    std::vector<VarId> totals;
    for_each_node(a, [&](const PlanNode &n) {
      if (folds_over(n, a.axis))
        totals.push_back(n.target);
    });
    Accesses others = accesses_of(kernel_, a);
    std::erase_if(others,
                  [&](const Access &one) { return std::find(totals.begin(), totals.end(), one.var) != totals.end(); });
    return !may_share_loop(others, accesses_of(kernel_, b), a.axis);
  }

  // ---- which totals, and what depends on them
  // -------------------------------------------------------------------------

  bool find_totals(const PlanNode &a, const PlanNode &b) {
    for (const PlanNode &n : a.body)
      if (n.kind == PlanNode::Kind::assign && is_own(n, a))
        own_a_[n.target] = n.value;
    for (const PlanNode &n : b.body)
      if (n.kind == PlanNode::Kind::assign && is_own(n, b))
        own_b_[n.target] = n.value;
    for (const PlanNode &n : a.body) {
      bool needed = false;
      for (VarId total : {n.target, n.partner})
        for_each_node(b, [&](const PlanNode &reader) {
          for (ExprId id : expressions_of(reader))
            needed = needed || (total != kNone && folds_over(n, a.axis) && reads(kernel_, id, total));
        });
      if (!needed)
        continue;
      const bool known = n.monoid == Monoid::max || n.monoid == Monoid::sum;
      if (!known || n.condition != kNone || plan_.storage[n.target].kind != Storage::Kind::scalar ||
          !is_floating(kernel_.vars[n.target].type))
        return false;
      Total total;
      total.step = &n;
      totals_.push_back(total);
    }
    return !totals_.empty();
  }

  // A value of one iteration, which nothing outside of the loop asks for.
  bool is_own(const PlanNode &n, const PlanNode &loop) const {
    if (!n.coords.empty() || !n.indices.empty() || kernel_.vars[n.target].kind != Var::Kind::local ||
        plan_.storage[n.target].kind != Storage::Kind::scalar || !kernel_.vars[n.target].axes.contains(loop.axis))
      return false;
    return writers_.at(n.target) == 1;
  }

  // Whatever needs a total is a value of one iteration, or a sum that can be put right.
  bool all_follow(const PlanNode &b) {
    for (Total &total : totals_)
      for (const PlanNode &n : b.body) {
        const VarId t = total.step->target;
        bool needs = false;
        for (ExprId id : expressions_of(n))
          needs = needs || reads(kernel_, expanded(id, own_b_), t);
        if (!needs || (n.kind == PlanNode::Kind::assign && own_b_.count(n.target) != 0))
          continue;
        const bool sums = folds_over(n, b.axis) && n.monoid == Monoid::sum && n.reduced == total.step->reduced &&
                          n.condition == kNone && plan_.storage[n.target].kind == Storage::Kind::scalar;
        if (!sums || !follows(expanded(n.value, own_b_), total))
          return false;
        total.followers.push_back(n.target);
      }
    return true;
  }

  bool follows(ExprId value, Total &total) {
    const ExprId element = bare(expanded(total.step->value, own_a_));
    return total.step->monoid == Monoid::max
               ? is_weighted_power(value, element, total)
               : is_squared_distance(value, element, total.step->target, total.step->reduced);
  }

  // Without casts to types that hold all values.
  ExprId bare(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    const bool widens = e.op == Op::cast && is_floating(e.type) && is_floating(kernel_.expr(e.args[0]).type) &&
                        bytes_of(e.type) >= bytes_of(kernel_.expr(e.args[0]).type);
    return widens ? bare(e.args[0]) : id;
  }

  bool is_read(ExprId id, VarId var) const {
    const Expr &e = kernel_.expr(bare(id));
    return e.op == Op::read && e.ref == var && e.coords.empty();
  }

  // exp(element - greatest), times or over what does not depend on the greatest.
  bool is_weighted_power(ExprId value, ExprId element, Total &total) {
    const Expr &e = kernel_.expr(bare(value));
    const VarId greatest = total.step->target;
    if (e.op == Op::mul && reads(kernel_, e.args[1], greatest))
      return !reads(kernel_, e.args[0], greatest) && is_weighted_power(e.args[1], element, total);
    if (e.op == Op::mul || e.op == Op::div)
      return !reads(kernel_, e.args[1], greatest) && is_weighted_power(e.args[0], element, total);
    if (e.op != Op::exp && e.op != Op::exp2)
      return false;
    const Expr &difference = kernel_.expr(bare(e.args[0]));
    const bool one_power = total.followers.empty() || total.power == e.op;
    total.power = e.op;
    return one_power && difference.op == Op::sub && same(kernel_, bare(difference.args[0]), element) &&
           is_read(difference.args[1], greatest);
  }

  // (element - mean) * (element - mean)
  bool is_squared_distance(ExprId value, ExprId element, VarId sum, AxisSet reduced) const {
    const Expr &e = kernel_.expr(bare(value));
    if (e.op != Op::mul || !same(kernel_, e.args[0], e.args[1]))
      return false;
    const Expr &distance = kernel_.expr(bare(e.args[0]));
    if (distance.op != Op::sub)
      return false;
    return (same(kernel_, bare(distance.args[0]), element) && is_mean(distance.args[1], sum, reduced)) ||
           (same(kernel_, bare(distance.args[1]), element) && is_mean(distance.args[0], sum, reduced));
  }

  // sum / number of positions
  bool is_mean(ExprId id, VarId sum, AxisSet reduced) const {
    const Expr &e = kernel_.expr(bare(id));
    AxisSet counted;
    return e.op == Op::div && is_read(e.args[0], sum) && counts(e.args[1], counted) && counted == reduced;
  }

  // A product of sizes, each of another axis.
  bool counts(ExprId id, AxisSet &counted) const {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::cast)
      return counts(e.args[0], counted);
    if (e.op == Op::mul)
      return counts(e.args[0], counted) && counts(e.args[1], counted);
    if (e.op != Op::size || e.ref != kNone || counted.contains(e.axis) || e.integer != 0)
      return false;
    counted |= AxisSet::of(e.axis);
    return true;
  }

  // ---- the loop over blocks -----------------------------------------------------------------------------------------

  PlanNode blocks(PlanNode a, PlanNode b) {
    PlanNode whole = a;
    whole.parts = plan_.decide(Decision::sum_block); // as long sums are cut, so that short rows are what they were
    whole.body.clear();
    Nodes before, between, after;
    for (const Total &total : totals_)
      if (total.step->monoid == Monoid::sum && seen_ == kNone) {
        const Type type = kernel_.vars[total.step->target].type;
        seen_ = number("count_before", type, a);
        here_ = number("count_in_block", type, a);
        if (in_parts_)
          in_part_ = number("count_in_part", type, a);
        before.push_back(assign(here_, make_cast(kernel_, positions(a.axis), type), a));
      }
    for (Total &total : totals_)
      if (total.step->monoid == Monoid::max)
        follow_greatest(total, a, before, between);
      else
        follow_mean(total, a, b, before, between, after);
    if (seen_ != kNone)
      count(in_parts_ ? in_part_ : seen_, here_, a, after);
    std::move(before.begin(), before.end(), std::back_inserter(whole.body));
    whole.body.push_back(std::move(a));
    std::move(between.begin(), between.end(), std::back_inserter(whole.body));
    whole.body.push_back(std::move(b));
    std::move(after.begin(), after.end(), std::back_inserter(whole.body));
    return whole;
  }

  // A scalar beside the totals of the loop.
  VarId number(const std::string &name, Type type, const PlanNode &loop) {
    Var var;
    var.kind = Var::Kind::local;
    var.name = name;
    var.type = type;
    var.axes = kernel_.vars[totals_.front().step->target].axes;
    var.place = loop.place;
    return add_var(kernel_, std::move(var));
  }

  PlanNode assign(VarId target, ExprId value, const PlanNode &loop) const {
    return make_assign(kernel_, target, value, loop.place);
  }

  PlanNode branch(ExprId condition, Nodes body, const PlanNode &loop) const {
    PlanNode n;
    n.kind = PlanNode::Kind::branch;
    n.condition = condition;
    n.lanes = kernel_.expr(condition).axes;
    n.body = std::move(body);
    n.place = loop.place;
    return n;
  }

  ExprId op(Op o, ExprId one, ExprId other) { return make_op(kernel_, o, kernel_.expr(one).type, {one, other}); }
  ExprId add(ExprId one, ExprId other) { return op(Op::add, one, other); }

  // Those of the block at hand.
  ExprId positions(AxisId axis) { return make_size(kernel_, axis, kSizeOfPart); }

  // Steps of the total go to another variable, which is that of the loop alone. Returns the axes over which they go.
  static AxisSet redirect(PlanNode &loop, VarId total, VarId to) {
    AxisSet inside;
    for_each_node(loop, [&](PlanNode &n) {
      if (n.kind == PlanNode::Kind::loop)
        inside |= AxisSet::of(n.axis);
      if (n.kind != PlanNode::Kind::fold_step || n.target != total)
        return;
      n.target = to;
      n.reduced = n.reduced & inside;
    });
    return inside;
  }

  void follow_greatest(Total &total, PlanNode &a, Nodes &before, Nodes &between) {
    const VarId greatest = total.step->target;
    const Type type = kernel_.vars[greatest].type;
    total.now = number(kernel_.vars[greatest].name + "_now", type, a);
    before.push_back(assign(total.now, make_read(kernel_, greatest), a));
    redirect(a, greatest, total.now);
    const ExprId old = make_read(kernel_, greatest), now = make_read(kernel_, total.now);
    const ExprId lowest = make_constant(kernel_, type, 0, -INFINITY);
    // From -inf on: whatever was added, also -inf - -inf.
    const ExprId any = make_op(kernel_, Op::gt, Type::boolean, {old, lowest});
    Nodes rescale;
    for (VarId sum : total.followers) {
      const Type own = kernel_.vars[sum].type;
      const ExprId rise = op(Op::sub, make_cast(kernel_, old, own), make_cast(kernel_, now, own));
      const ExprId scaled = op(Op::mul, make_read(kernel_, sum), make_op(kernel_, total.power, own, {rise}));
      rescale.push_back(
          assign(sum, make_op(kernel_, Op::choose, own, {any, scaled, make_constant(kernel_, own, 0, 0)}), a));
    }
    between.push_back(branch(make_op(kernel_, Op::gt, Type::boolean, {now, old}), std::move(rescale), a));
    between.push_back(assign(greatest, now, a));
  }

  void follow_mean(Total &total, PlanNode &a, PlanNode &b, Nodes &before, Nodes &between, Nodes &after) {
    const VarId sum = total.step->target;
    const Type type = kernel_.vars[sum].type;
    total.now = number(kernel_.vars[sum].name + "_in_block", type, a);
    total.mean = number(name_of_parts("mean", description(kernel_, total.step->value) + "_in_block"), type, a);
    PlanNode init = *total.step;
    init.kind = PlanNode::Kind::fold_init;
    init.target = total.now;
    init.value = kNone;
    init.lanes = kernel_.vars[sum].axes;
    const AxisSet reduced = total.step->reduced;
    init.reduced = reduced & redirect(a, sum, total.now);
    before.push_back(std::move(init));
    auto read = [&](VarId var) { return make_cast(kernel_, make_read(kernel_, var), type); };
    between.push_back(assign(total.mean, op(Op::div, read(total.now), read(here_)), a));
    for_each_node(b, [&](PlanNode &n) {
      for (ExprId *id : {&n.value, &n.second, &n.condition})
        *id = replace(kernel_, *id, [&](ExprId at) {
          return is_mean(at, sum, reduced) ? make_cast(kernel_, read(total.mean), kernel_.expr(at).type) : kNone;
        });
    });
    Moments to = {sum, seen_, total.followers};
    if (in_parts_) {
      total.part = like(sum, "_in_part");
      for (VarId squares : total.followers) {
        total.parts_of_followers.push_back(like(squares, "_in_part"));
        for_each_node(
            b, [&](PlanNode &n) { n.target = n.target == squares ? total.parts_of_followers.back() : n.target; });
      }
      to = {total.part, in_part_, total.parts_of_followers};
    }
    add_moments(to, {total.now, here_, {}}, total.mean, a, after);
  }

  // What is known of some positions: their sum, how many they are, and sums of squares about their mean.
  struct Moments {
    VarId sum, count;
    std::vector<VarId> squares;
  };

  // The count aside, which several totals may have in common. `mean`: that of what is added.
  void add_moments(const Moments &to, const Moments &more, VarId mean, const PlanNode &loop, Nodes &out) {
    const Type type = kernel_.vars[to.sum].type;
    const auto read = [&](VarId var) { return make_cast(kernel_, make_read(kernel_, var), type); };
    const VarId apart = number("mean_apart", type, loop);
    Nodes correct = {assign(apart, op(Op::sub, read(mean), op(Op::div, read(to.sum), read(to.count))), loop)};
    const ExprId weight =
        op(Op::div, op(Op::mul, read(to.count), read(more.count)), add(read(to.count), read(more.count)));
    const ExprId missing = op(Op::mul, op(Op::mul, read(apart), read(apart)), weight);
    for (VarId squares : to.squares)
      correct.push_back(assign(
          squares, add(make_read(kernel_, squares), make_cast(kernel_, missing, kernel_.vars[squares].type)), loop));
    for (size_t i = 0; i < more.squares.size(); ++i)
      out.push_back(
          assign(to.squares[i], add(make_read(kernel_, to.squares[i]), make_read(kernel_, more.squares[i])), loop));
    out.push_back(branch(make_op(kernel_, Op::gt, Type::boolean, {read(to.count), make_constant(kernel_, type, 0, 0)}),
                         std::move(correct), loop));
    out.push_back(assign(to.sum, add(make_read(kernel_, to.sum), make_read(kernel_, more.sum)), loop));
  }

  void count(VarId all, VarId more, const PlanNode &loop, Nodes &out) {
    out.push_back(assign(all, add(make_read(kernel_, all), make_read(kernel_, more)), loop));
  }

  VarId like(VarId var, const char *suffix) {
    Var same = kernel_.vars[var];
    same.name += suffix;
    return add_var(kernel_, std::move(same));
  }

  // for rows { ... }  ->  for parts of the rows { start those of the part; for rows of the part { ... }; add them }
  PlanNode parts_of(PlanNode walk) {
    PlanNode parts = walk;
    parts.parts = plan_.decide(Decision::sum_block);
    parts.body = {assign(in_part_, make_constant(kernel_, kernel_.vars[in_part_].type, 0, 0), walk)};
    Nodes after;
    for (const Total &total : totals_) {
      std::vector<VarId> started = total.parts_of_followers;
      started.push_back(total.part);
      for (VarId var : started)
        parts.body.push_back(assign(var, make_constant(kernel_, kernel_.vars[var].type, 0, 0), walk));
      const Type type = kernel_.vars[total.part].type;
      const std::string of = description(kernel_, total.step->value) + "_in_part";
      const VarId mean = number(name_of_parts("mean", of), type, walk);
      const auto read = [&](VarId var) { return make_cast(kernel_, make_read(kernel_, var), type); };
      after.push_back(assign(mean, op(Op::div, read(total.part), read(in_part_)), walk));
      add_moments({total.step->target, seen_, total.followers}, {total.part, in_part_, total.parts_of_followers}, mean,
                  walk, after);
    }
    count(seen_, in_part_, walk, after);
    parts.body.push_back(std::move(walk));
    std::move(after.begin(), after.end(), std::back_inserter(parts.body));
    return parts;
  }

  void put(size_t first, size_t second, PlanNode whole) {
    Nodes out, values;
    if (seen_ != kNone)
      out.push_back(assign(seen_, make_constant(kernel_, kernel_.vars[seen_].type, 0, 0), list_[first]));
    for (size_t i = first + 1; i < second; ++i)
      (list_[i].kind == PlanNode::Kind::fold_init ? out : values).push_back(list_[i]);
    out.push_back(std::move(whole));
    std::move(values.begin(), values.end(), std::back_inserter(out));
    const auto at = list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(first),
                                list_.begin() + static_cast<std::ptrdiff_t>(second) + 1);
    list_.insert(at, std::make_move_iterator(out.begin()), std::make_move_iterator(out.end()));
    std::erase_if(list_, [&](const PlanNode &n) { // values that only the second loop asked for
      return n.kind == PlanNode::Kind::assign && between_.count(n.target) != 0 && !is_read(n.target);
    });
  }

  bool is_read(VarId var) const {
    bool found = false;
    for (const Phase &phase : plan_.phases)
      for (const PlanNode &root : phase.nodes)
        for (const Access &a : accesses_of(kernel_, root))
          found = found || (a.var == var && !a.write);
    return found;
  }

  Plan &plan_;
  Kernel &kernel_;
  Nodes &list_;
  std::map<VarId, int> writers_;
  Values between_;       // values between the loops
  Values own_a_, own_b_; // values of one iteration
  std::vector<Total> totals_;
  bool in_parts_ = false; // of the outermost loop
  // How many positions are in the blocks before, or parts; in this block; in the blocks of this part.
  VarId seen_ = kNone, here_ = kNone, in_part_ = kNone;
};

} // namespace

bool fuse_folds(Plan &plan, std::vector<PlanNode> &list, size_t first, size_t second,
                const std::set<const PlanNode *> &lanes) {
  return OnePass(plan, list).fuse(first, second, lanes);
}

} // namespace kgen
