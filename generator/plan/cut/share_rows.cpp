// The fold of a row is one loop by now (see fold_in_one_pass), whose totals a share finds as a row does. Those of the
// shares are then combined as those of blocks are: sums of powers are brought to one greatest value, sums of squares to
// one mean.
#include "plan/cut/share_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "plan/cut/one_pass.h"
#include "plan/cut/share_lists.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/index/order.h"
#include "plan/index/scopes.h"
#include "plan/place/storage.h"
#include "plan/program/anew.h"

namespace kgen {
namespace {

constexpr int64_t kWholeVectors = 64; // elements: shares of aligned rows are aligned

using Nodes = std::vector<PlanNode>;

class Rows {
public:
  Rows(Plan &plan, size_t phase)
      : plan_(plan), kernel_(plan.kernel), lanes_(plan), scopes_(plan), lists_(plan), phase_(phase) {}

  bool run() {
    const Phase &phase = plan_.phases[phase_];
    const PlanNode *const loop = lists_.find_chain(phase);
    const bool shared = loop != nullptr && !(plan_.shares & lists_.chain_axes()).empty();
    if (loop == nullptr || shared || (lanes_.possible(*loop) && phase.lane == loop->axis))
      return false;
    const Nodes &far = find_lists(loop->body);
    if (!find_parts(far) || !find_length() || !find_totals() || !all_apart())
      return false;
    add_axis();
    if (is_surely_near())
      return false;
    split();
    return true;
  }

private:
  // Rows that are long already have a list of their own where they are computed in two ways.
  const Nodes &find_lists(const Nodes &list) {
    const PlanNode &first = list.front();
    if (list.size() != 1 || first.near == 0) {
      near_ = list;
      return list;
    }
    // That is asked of each row where their lengths differ, but here of all together.
    const bool each = kernel_.axes[first.axis].ragged != kNone;
    near_ = each ? list : first.body;
    is_near_ = each ? kNone : first.condition;
    most_near_ = each ? 0 : first.near;
    return first.otherwise;
  }

  // Folds with their starts, values of the row, and loops that go over it again.
  bool find_parts(const Nodes &list) {
    size_t at = 0;
    for (; at < list.size() && (is_start(list[at]) || is_fold(list[at])); ++at)
      (is_start(list[at]) ? starts_ : folds_).push_back(list[at]);
    if (folds_.empty() || starts_.empty())
      return false;
    axis_ = folds_.front().axis;
    for (; at < list.size() && is_value(list[at]); ++at)
      values_.push_back(list[at]);
    for (; at < list.size() && is_map(list[at]); ++at)
      maps_.push_back(list[at]);
    return at == list.size() && !plan_.shares.contains(axis_) &&
           std::all_of(folds_.begin(), folds_.end(), [&](const PlanNode &n) { return n.axis == axis_; });
  }

  static bool is_fold(const PlanNode &n) {
    return n.kind == PlanNode::Kind::loop && n.order == PlanNode::Order::reduction && n.share == kNone &&
           n.table == kNone;
  }

  bool is_start(const PlanNode &n) const {
    return (n.kind == PlanNode::Kind::fold_init && n.partner == kNone) ||
           (n.kind == PlanNode::Kind::assign && is_value(n) && kernel_.expr(n.value).op == Op::constant);
  }

  bool is_value(const PlanNode &n) const {
    return n.kind == PlanNode::Kind::assign && n.coords.empty() && n.indices.empty() && !n.scatter_add &&
           kernel_.vars[n.target].axes == lists_.chain_axes();
  }

  bool is_map(const PlanNode &n) const {
    bool fits = n.kind == PlanNode::Kind::loop && n.axis == axis_ && n.parts == 0;
    for_each_node(n, [&](const PlanNode &inner) {
      fits = fits && inner.kind != PlanNode::Kind::steps && inner.kind != PlanNode::Kind::repeat;
      if (inner.kind == PlanNode::Kind::loop)
        fits = fits && inner.order == PlanNode::Order::parallel && inner.share == kNone;
    });
    return fits;
  }

  // A row may have several axes: workers share the outermost one of its loops.
  bool find_length() {
    length_ = kernel_.axes[axis_].size;
    axes_ = AxisSet::of(axis_);
    bool whole = true;
    for (const Nodes *list : {&folds_, &maps_})
      for (const PlanNode &root : *list)
        for_each_node(root, [&](const PlanNode &n) {
          if (n.kind != PlanNode::Kind::loop || axes_.contains(n.axis))
            return;
          axes_ |= AxisSet::of(n.axis);
          whole = whole && is_long_axis(kernel_.axes[n.axis], 0);
          length_ = Size::make(Size::Op::multiply, {length_, kernel_.axes[n.axis].size});
        });
    return whole && is_long_row(kernel_, axis_, lists_.chain_axes(), is_nested() ? 1 : share_elements());
  }

  bool is_nested() const { return axes_.count() > 1; }

  // What the folds leave: totals that are combined on their own, and those that follow one of them.
  bool find_totals() {
    bool fits = true;
    std::map<VarId, const PlanNode *> written; // by which fold
    for (const PlanNode &fold : folds_)
      for_each_node(fold, [&](const PlanNode &n) {
        fits = fits && n.partner == kNone && !n.scatter_add && n.coords.empty() && n.indices.empty() &&
               n.kind != PlanNode::Kind::steps && n.kind != PlanNode::Kind::repeat;
        if (n.target == kNone)
          return;
        fits = fits && kernel_.vars[n.target].kind == Var::Kind::local &&
               plan_.storage[n.target].kind == Storage::Kind::scalar &&
               written.emplace(n.target, &fold).first->second == &fold;
      });
    std::set<VarId> later;
    for (const PlanNode &start : starts_)
      later.insert(start.target);
    for (VarId var : later) {
      const std::optional<Monoid> monoid = monoid_of_total(var);
      fits =
          fits && written.count(var) != 0 && (monoid || follows(var)) && kernel_.vars[var].axes == lists_.chain_axes();
      if (fits && monoid)
        totals_[var] = *monoid;
    }
    for (const auto &[var, fold] : written) // nothing else of a fold is asked for afterwards, nor by other folds
      for (const Nodes *list : {&folds_, &values_, &maps_})
        for (const PlanNode &n : *list)
          fits = fits && (&n == fold || (list != &folds_ && later.count(var) != 0) || !touches(n, var));
    return fits;
  }

  bool touches(const PlanNode &root, VarId var) const {
    const std::vector<Access> accesses = accesses_of(kernel_, root);
    return std::any_of(accesses.begin(), accesses.end(), [&](const Access &a) { return a.var == var; });
  }

  std::optional<Monoid> monoid_of_total(VarId var) const {
    for (const FollowedTotal &f : plan_.followed) {
      if (f.total == var)
        return f.seen == kNone ? Monoid::max : Monoid::sum;
      if (f.seen == var)
        return Monoid::sum;
    }
    std::optional<Monoid> found;
    int writers = 0;
    for (const PlanNode &fold : folds_)
      for_each_node(fold, [&](const PlanNode &n) {
        writers += n.target == var;
        if (n.target == var && folds_over(n, axis_))
          found = n.monoid;
      });
    return writers == 1 && !follows(var) ? found : std::nullopt;
  }

  const FollowedTotal *follows(VarId var) const {
    for (const FollowedTotal &f : plan_.followed)
      if (std::find(f.followers.begin(), f.followers.end(), var) != f.followers.end())
        return &f;
    return nullptr;
  }

  // Do the rounds of the last loops meet nowhere?
  bool all_apart() const {
    bool scatters = false;
    for (const PlanNode &map : maps_)
      for_each_node(map, [&](const PlanNode &n) { scatters = scatters || n.scatter_add; });
    return !scatters && rounds_are_apart(accesses_of(kernel_, maps_), axis_, scopes_);
  }

  int64_t share_elements() const { return plan_.decide(Decision::share_elements, axis_); }

  void add_axis() {
    const Size items = of_two(Size::Op::max, Size::integer(1), lists_.items(1));
    const Size for_all = of_two(Size::Op::divide, Size::integer(plan_.decide(Decision::enough_items)), items);
    Size for_length = of_two(Size::Op::cdiv, length_, Size::integer(share_elements()));
    if (is_nested())
      for_length = of_two(Size::Op::min, for_length, kernel_.axes[axis_].size);
    lists_.add_axis(axis_, of_two(Size::Op::max, Size::integer(1), of_two(Size::Op::min, for_all, for_length)));
  }

  // Two lists of the same statements.
  void rename() {
    Nodes all = starts_;
    all.insert(all.end(), folds_.begin(), folds_.end());
    all.insert(all.end(), values_.begin(), values_.end());
    all.insert(all.end(), maps_.begin(), maps_.end());
    const std::map<VarId, VarId> names = declare_anew(plan_, near_, all);
    auto at = all.begin();
    for (Nodes *list : {&starts_, &folds_, &values_, &maps_})
      for (PlanNode &n : *list)
        n = *at++;
    for (const auto &[total, monoid] : std::exchange(totals_, {}))
      totals_[names.count(total) != 0 ? names.at(total) : total] = monoid;
  }

  void split() {
    if (is_near_ == kNone)
      rename();
    const Phase phase = plan_.phases[phase_];
    const PlanNode &root = phase.nodes.front();
    const auto put = [&](Nodes body) {
      Phase out = phase;
      out.nodes = {lists_.over_shares(PlanNode::Order::parallel, {lists_.in_chain(root, std::move(body))})};
      ++out.split;
      return out;
    };
    std::vector<Phase> out = {put(shares())};
    Phase whole = phase; // of one worker: there are few
    whole.kind = Phase::Kind::serial;
    whole.split = 0;
    whole.nodes = {lists_.in_chain(root, rows())};
    out.push_back(std::move(whole));
    if (!maps_.empty())
      out.push_back(put(last()));
    Phase near = phase;
    near.nodes = {lists_.in_chain(root, near_)};
    choose(std::move(near), std::move(out));
  }

  // Which rows are shared: without a last loop all that have several shares, else those that leave the cache anyway.
  // All, where a plan of its own is there for all that matters.
  void choose(Phase near, std::vector<Phase> shared) {
    const bool first = !maps_.empty(); // is the list as it was named first?
    if (near.when == kNone && !is_surely_far()) {
      near.when = first ? near_condition() : lists_.has_several();
      near.unless = near.whole = !first;
      for (Phase &phase : shared) {
        phase.when = near.when;
        phase.unless = first;
      }
      shared.insert(first ? shared.begin() : shared.end(), std::move(near));
    }
    const auto at = plan_.phases.erase(plan_.phases.begin() + static_cast<std::ptrdiff_t>(phase_));
    plan_.phases.insert(at, std::make_move_iterator(shared.begin()), std::make_move_iterator(shared.end()));
  }

  // Sizes that are known.
  bool is_surely_far() {
    const Size &size = maps_.empty() ? kernel_.axes[lists_.axis()].size : length_;
    return size.is_integer() && size.value > (maps_.empty() ? 1 : most_near());
  }
  bool is_surely_near() {
    const Size &size = maps_.empty() ? kernel_.axes[lists_.axis()].size : length_;
    return size.is_integer() && !is_surely_far();
  }

  // Does a core find in its cache again what it has folded?
  ExprId near_condition() {
    if (is_near_ != kNone)
      return is_near_;
    const ExprId most = make_constant(kernel_, Type::i64, most_near(), 0);
    if (kernel_.axes[axis_].ragged == kNone)
      return make_op(kernel_, Op::le, Type::boolean, {make_positions(kernel_, axes_.list()), most});
    const ExprId rows = make_positions(kernel_, lists_.chain()); // on average
    return make_op(
        kernel_, Op::le, Type::boolean,
        {make_positions(kernel_, axes_.list(), kSizeOfRows), make_op(kernel_, Op::mul, Type::i64, {most, rows})});
  }

  int64_t most_near() const {
    if (most_near_ > 0)
      return most_near_;
    int64_t bytes = 0;
    std::set<VarId> inputs;
    for (const PlanNode &fold : folds_)
      for (const Access &a : accesses_of(kernel_, fold))
        if (kernel_.vars[a.var].axes.contains(axis_) && kernel_.vars[a.var].kind == Var::Kind::input &&
            inputs.insert(a.var).second)
          bytes += bytes_of(kernel_.vars[a.var].type);
    return plan_.decide(Decision::near_bytes, axis_) / std::max<int64_t>(bytes, 1);
  }

  PlanNode in_share(PlanNode loop) const {
    loop.share = lists_.axis();
    loop.share_step = is_nested() ? 1 : kWholeVectors;
    return loop;
  }

  // The starts and the fold with variables of their own, then what comes out into memory.
  Nodes shares() {
    Nodes out = starts_;
    for (const PlanNode &fold : folds_)
      out.push_back(in_share(fold));
    const std::set<VarId> totals = targets_of(starts_);
    const std::map<VarId, VarId> copies = with_copies(targets_of(out), out);
    follow_too(plan_, copies);
    for (const auto &[var, copy] : copies) {
      if (totals.count(var) == 0)
        continue;
      parts_[var] = lists_.copy_of(var, kernel_.vars[var].name + "_part", AxisSet::of(lists_.axis()));
      out.push_back(assign(parts_[var], make_read(kernel_, copy)));
    }
    return out;
  }

  // The totals of a row, in the order of its shares, and the values that depend on them.
  Nodes rows() {
    Nodes alone, following;
    for (const auto &[total, monoid] : totals_)
      alone.push_back(fold(total, monoid, part(total)));
    for (const FollowedTotal &f : plan_.followed)
      for (VarId var : f.followers)
        if (parts_.count(var) != 0)
          follow(f, var, following);
    Nodes out = starts_;
    out.push_back(lists_.over_shares(PlanNode::Order::reduction, std::move(alone)));
    if (!following.empty())
      out.push_back(lists_.over_shares(PlanNode::Order::reduction, std::move(following)));
    out.insert(out.end(), values_.begin(), values_.end());
    for (const auto &[total, copy] : with_copies(targets_of(starts_), out))
      if (needed().count(total) != 0)
        out.push_back(assign(total, make_read(kernel_, copy)));
    return out;
  }

  // Gives the list variables of its own for these: which for which.
  std::map<VarId, VarId> with_copies(const std::set<VarId> &vars, Nodes &list) {
    std::map<VarId, VarId> own;
    for (VarId var : vars)
      own[var] = lists_.copy_of(var, kernel_.vars[var].name, AxisSet());
    for (PlanNode &root : list) {
      for (const auto &[var, copy] : own)
        replace_reads(kernel_, root, var, make_read(kernel_, copy), true);
      for_each_node(root, [&](PlanNode &n) { n.target = own.count(n.target) != 0 ? own.at(n.target) : n.target; });
    }
    return own;
  }

  // What the last loops ask for.
  std::set<VarId> needed() const {
    std::set<VarId> out;
    for (const Nodes *list : {&starts_, &values_})
      for (const PlanNode &n : *list)
        if (kernel_.vars[n.target].kind == Var::Kind::local &&
            std::any_of(maps_.begin(), maps_.end(), [&](const PlanNode &map) { return touches(map, n.target); }))
          out.insert(n.target);
    return out;
  }

  void follow(const FollowedTotal &f, VarId var, Nodes &out) {
    if (f.seen == kNone) {
      out.push_back(fold(var, Monoid::sum, scaled(f, var)));
      return;
    }
    const VarId apart = lists_.copy_of(f.total, "mean_apart", AxisSet::of(lists_.axis()));
    out.push_back(assign(apart, distance(f)));
    out.push_back(fold(var, Monoid::sum, about_mean(f, var, make_read(kernel_, apart))));
  }

  ExprId part(VarId total) { return make_read(kernel_, parts_.at(total)); }

  PlanNode fold(VarId total, Monoid monoid, ExprId value) const {
    PlanNode step;
    step.kind = PlanNode::Kind::fold_step;
    step.target = total;
    step.monoid = monoid;
    step.value = value;
    step.reduced = AxisSet::of(lists_.axis());
    step.lanes = kernel_.vars[total].axes | step.reduced;
    step.place = folds_.front().place;
    return step;
  }

  // part * exp(greatest of the share - greatest). A share of -inf only adds nothing to others, and where all are such,
  // or empty, what they have is added as it is.
  ExprId scaled(const FollowedTotal &f, VarId sum) {
    const Type type = kernel_.vars[sum].type, own = kernel_.vars[f.total].type;
    const ExprId lowest = make_constant(kernel_, own, 0, -INFINITY), greatest = make_read(kernel_, f.total);
    const ExprId fall =
        make_op(kernel_, Op::sub, type, {make_cast(kernel_, part(f.total), type), make_cast(kernel_, greatest, type)});
    const ExprId value = make_op(kernel_, Op::mul, type, {part(sum), make_op(kernel_, f.power, type, {fall})});
    const auto is = [&](ExprId other) { return make_op(kernel_, Op::eq, Type::boolean, {part(f.total), other}); };
    const ExprId fallen = make_op(kernel_, Op::choose, type, {is(lowest), make_constant(kernel_, type, 0, 0), value});
    return make_op(kernel_, Op::choose, type, {is(greatest), part(sum), fallen});
  }

  // mean of the share - mean; none where the share is empty, as those of rows shorter than others are
  ExprId distance(const FollowedTotal &f) {
    const Type type = kernel_.vars[f.total].type;
    const auto mean = [&](ExprId sum, ExprId seen) {
      return make_op(kernel_, Op::div, type, {sum, make_cast(kernel_, seen, type)});
    };
    const ExprId none = make_constant(kernel_, type, 0, 0);
    const ExprId apart =
        make_op(kernel_, Op::sub, type,
                {mean(part(f.total), part(f.seen)), mean(make_read(kernel_, f.total), make_read(kernel_, f.seen))});
    const ExprId seen = make_cast(kernel_, part(f.seen), type);
    return make_op(kernel_, Op::choose, type, {make_op(kernel_, Op::gt, Type::boolean, {seen, none}), apart, none});
  }

  // part + apart * apart * positions
  ExprId about_mean(const FollowedTotal &f, VarId squares, ExprId apart) {
    const Type type = kernel_.vars[f.total].type, own = kernel_.vars[squares].type;
    const ExprId square = make_op(kernel_, Op::mul, type, {apart, apart});
    const ExprId missing = make_op(kernel_, Op::mul, type, {square, make_cast(kernel_, part(f.seen), type)});
    return make_op(kernel_, Op::add, own, {part(squares), make_cast(kernel_, missing, own)});
  }

  // The last loops, with what they need of the row in variables.
  Nodes last() {
    Nodes out, loops;
    for (const PlanNode &map : maps_)
      loops.push_back(in_share(map));
    for (VarId var : needed()) {
      const VarId here = lists_.copy_of(var, kernel_.vars[var].name, AxisSet());
      out.push_back(assign(here, make_read(kernel_, var)));
      for (PlanNode &loop : loops)
        replace_reads(kernel_, loop, var, make_read(kernel_, here), true);
    }
    std::move(loops.begin(), loops.end(), std::back_inserter(out));
    return out;
  }

  PlanNode assign(VarId target, ExprId value) const {
    return make_assign(kernel_, target, value, folds_.front().place);
  }

  Plan &plan_;
  Kernel &kernel_;
  const LaneAnalysis lanes_;
  const Scopes scopes_; // as long as no node has changed
  ShareLists lists_;
  const size_t phase_;
  Nodes near_;
  ExprId is_near_ = kNone; // the condition that chooses between them, and the most positions for which it holds
  int64_t most_near_ = 0;
  Nodes starts_, folds_, values_, maps_;
  AxisId axis_ = kNone;
  AxisSet axes_;                   // this and those inside of it
  Size length_;                    // of all of them
  std::map<VarId, Monoid> totals_; // less those that follow one
  std::map<VarId, VarId> parts_;   // of the shares
};

} // namespace

void share_rows(Plan &plan) {
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (plan.phases[i].kind != Phase::Kind::parallel || contains_contraction(plan.phases[i]))
      continue;
    Plan shared = plan;
    if (!Rows(shared, i).run())
      continue;
    place_variables(shared);
    i += shared.phases.size() - plan.phases.size();
    plan = std::move(shared);
  }
}

} // namespace kgen
