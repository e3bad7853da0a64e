// A share may be gone through alone where its rounds depend on those of other shares by the scans only, and where the
// total of a share is known before anything is written.
#include "plan/cut/share_scans.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/roles.h"
#include "plan/cut/share_lists.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/lanes.h"
#include "plan/index/order.h"
#include "plan/index/scopes.h"
#include "plan/place/storage.h"
#include "support/naming.h"

namespace kgen {
namespace {

// Shares read twice what they scan. That pays where there are more workers than rows.
struct Limits {
  int64_t most_rows;    // that are shared
  int64_t shares;       // of a row at least, so that these rows have enough workers
  int64_t least_shares; // of a row that is long enough
  int64_t least_rounds; // of a share, where a round is one element
  int64_t least_rows;   // where each has neighbours
  int64_t columns;      // of neighbours, for a worker
};
// On a GPU a worker is a block, and some of them hide each other's waiting; three kernels take longer to start than
// one.
constexpr Limits kOpenmp = {8, 8, 1, 65536, 4096, 64}, kCuda = {128, 8, 8, 4096, 64, 256};
constexpr int64_t kWholeVectors = 64; // elements: shares of aligned rows are aligned
constexpr double kMostGrowth = 16;    // of errors, where the rounds of a share are joined

using Nodes = std::vector<PlanNode>;

class Scans {
public:
  Scans(Plan &plan, size_t phase)
      : plan_(plan), kernel_(plan.kernel), limits_(is_cuda() ? kCuda : kOpenmp), lanes_(plan), scopes_(plan),
        lists_(plan), phase_(phase) {}

  bool run() {
    const Phase &phase = plan_.phases[phase_];
    if (phase.kind == Phase::Kind::chunked)
      return false;
    const bool serial = phase.kind == Phase::Kind::serial;
    const PlanNode *const loop = serial ? nullptr : lists_.find_chain(phase);
    if ((!serial && loop == nullptr) || (serial && !lists_.has_room()))
      return false;
    const Nodes &list = serial ? phase.nodes : loop->body;
    if (!find_range(list) || (!serial && (first_ != 0 || last_ != list.size())))
      return false;
    nodes_.assign(list.begin() + static_cast<std::ptrdiff_t>(first_),
                  list.begin() + static_cast<std::ptrdiff_t>(last_));
    if (!all_apart() || !find_scans())
      return false;
    if (!add_axis(loop))
      return false;
    split(serial);
    return true;
  }

private:
  bool is_cuda() const { return plan_.target == TargetKind::cuda; }

  struct Scan {
    const PlanNode *step;
    const PlanNode *loop;
    std::vector<VarId> needs; // values of one round that the scanned one is made of
    size_t total = 0;         // its place in totals_
    size_t start = 0;         // and in starts_
  };
  struct Total {
    const Scan *scan; // the first that needs it
    ExprId value, second;
    VarId own = kNone, part = kNone;
    VarId factor = kNone, factor_part = kNone; // of recurrences: what the rounds multiply a total before them by
  };
  struct Start {
    size_t total;
    const PlanNode *step;
    VarId place = kNone; // what each share starts from
  };

  // The statements from the first to the last that belong to a scan of one axis.
  bool find_range(const Nodes &list) {
    for (const PlanNode &node : list)
      if (node.kind == PlanNode::Kind::scan_init && axis_ == kNone)
        axis_ = node.axis;
    if (axis_ == kNone || !is_long_axis(kernel_.axes[axis_], limits_.least_rows))
      return false;
    const auto belongs = [&](const PlanNode &n) {
      return (n.kind == PlanNode::Kind::scan_init || n.kind == PlanNode::Kind::loop) && n.axis == axis_;
    };
    const auto first = std::find_if(list.begin(), list.end(), belongs);
    const auto last = std::find_if(list.rbegin(), list.rend(), belongs).base();
    first_ = static_cast<size_t>(first - list.begin());
    last_ = static_cast<size_t>(last - list.begin());
    return std::all_of(first, last, belongs);
  }

  // Do the rounds of the loops meet in the scans only?
  bool all_apart() {
    std::set<VarId> carries;
    bool fits = true;
    for (const PlanNode &root : nodes_)
      for_each_node(root, [&](const PlanNode &n) {
        const bool is_scan = n.kind == PlanNode::Kind::scan_init || n.kind == PlanNode::Kind::scan_step;
        if (is_scan && n.axis == axis_)
          carries.insert(n.target);
        fits = fits && !folds_over(n, axis_) && !n.scatter_add && n.kind != PlanNode::Kind::steps && n.share == kNone &&
               n.parts == 0;
      });
    const Accesses all = accesses_of(kernel_, nodes_);
    for (const Access &a : all)
      writers_[a.memory] += a.write;
    return fits && rounds_are_apart(all, axis_, scopes_, carries);
  }

  // Each stands in a loop of its axis, under no condition, and has a total that is found without the other scans.
  bool find_scans() {
    size_t inits = 0, all = 0;
    for (const PlanNode &root : nodes_) {
      inits += root.kind == PlanNode::Kind::scan_init;
      for_each_node(root, [&](const PlanNode &n) { all += n.kind == PlanNode::Kind::scan_step && n.axis == axis_; });
      for (const PlanNode &n : root.body)
        if (n.kind == PlanNode::Kind::scan_step && n.axis == axis_) {
          Scan scan = {&n, &root, {}};
          if (!has_total(n) || !find_needs(scan, n.value) || (n.second != kNone && !find_needs(scan, n.second)))
            return false;
          scans_.push_back(std::move(scan));
        }
    }
    return !scans_.empty() && scans_.size() == inits && scans_.size() == all;
  }

  // Rounding aside, do the rounds of a share have a total from which the next share can start? Those of a recurrence
  // multiply what was there by a factor, which f64 holds: all but products of f64 themselves.
  bool has_total(const PlanNode &scan) const {
    const Var &carry = kernel_.vars[scan.target];
    return (!is_joined(scan) || scan.scan == ScanKind::linear || carry.type == Type::f32) &&
           carry.type != Type::boolean && carry.axes == lists_.chain_axes() &&
           plan_.storage[scan.target].kind == Storage::Kind::scalar;
  }

  bool is_joined(const PlanNode &scan) const { return !lanes_.regroups(scan); }

  // What the expression reads of the values that are computed here: those of its own round, set once before it.
  bool find_needs(Scan &scan, ExprId id) const {
    bool known = true;
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op != Op::read && e.op != Op::element)
        return known;
      if (writers(e.ref) == 0)
        return known;
      const auto set = std::find_if(scan.loop->body.begin(), scan.loop->body.end(),
                                    [&](const PlanNode &n) { return n.target == e.ref; });
      known = known && set != scan.loop->body.end() && set->kind == PlanNode::Kind::assign && writers(e.ref) == 1 &&
              set->coords.empty() && set->indices.empty() && kernel_.vars[e.ref].kind == Var::Kind::local &&
              plan_.storage[e.ref].kind == Storage::Kind::scalar;
      if (known && std::find(scan.needs.begin(), scan.needs.end(), e.ref) == scan.needs.end()) {
        known = find_needs(scan, set->value);
        scan.needs.push_back(e.ref); // behind what it is made of
      }
      return known;
    });
    return known;
  }

  // Statements that write the variable's memory.
  int writers(VarId var) const {
    const auto found = writers_.find(memory_of(kernel_, var));
    return found == writers_.end() ? 0 : found->second;
  }

  // Nothing where no sizes make several shares of a row.
  bool add_axis(const PlanNode *loop) {
    const Phase &phase = plan_.phases[phase_];
    const bool alone = is_cuda() ? phase.mapping == Phase::Mapping::item_per_thread : loop && lanes_.possible(*loop);
    columns_ = loop != nullptr && alone && phase.lane == loop->axis;
    const auto whole = [&](Size a, Size b, int64_t each) {
      return of_two(Size::Op::multiply, of_two(Size::Op::divide, std::move(a), std::move(b)), Size::integer(each));
    };
    const Size items = of_two(Size::Op::max, Size::integer(1), lists_.items(columns_ ? limits_.columns : 1));
    const Size for_all = whole(Size::integer(limits_.most_rows), items, limits_.shares);
    const int64_t least = (columns_ ? limits_.least_rows : limits_.least_rounds) * limits_.least_shares;
    const Size for_length = whole(kernel_.axes[axis_].size, Size::integer(least), limits_.least_shares);
    if (for_all.is_integer(0) || for_length.is_integer(0))
      return false;
    lists_.add_axis(axis_, of_two(Size::Op::max, Size::integer(1), of_two(Size::Op::min, for_all, for_length)));
    return !kernel_.axes[lists_.axis()].size.is_integer(1);
  }

  PlanNode in_share(PlanNode loop) const {
    loop.share = lists_.axis();
    loop.share_step = columns_ ? 1 : kWholeVectors;
    return loop;
  }

  void split(bool serial) {
    find_totals();
    const Phase phase = plan_.phases[phase_];
    const AxisId shares = lists_.axis();
    std::vector<Phase> out(3, phase);
    const auto put = [&](Phase &p, PlanNode root) {
      p.kind = Phase::Kind::parallel;
      p.split = phase.split + 1;
      p.lane = serial ? axis_ : phase.lane;
      p.nodes = {std::move(root)};
    };
    const auto around = [&](Nodes list) {
      return serial ? std::move(list) : Nodes{lists_.in_chain(phase.nodes.front(), std::move(list))};
    };
    put(out[0], lists_.over_shares(PlanNode::Order::parallel, around(totals())));
    out[1].nodes = around(starts());
    if (is_cuda())
      out[1].mapping = Phase::Mapping::item_per_block, out[1].lane = kNone; // its threads share the shares
    else
      out[1].kind = Phase::Kind::serial; // there are few
    put(out[2], lists_.over_shares(PlanNode::Order::parallel, around(scans())));
    if (!kernel_.axes[shares].size.is_integer())
      out[0].when = out[1].when = lists_.has_several();
    if (serial) {
      const auto rest = [&](auto begin, auto end, auto at) {
        Phase others = phase;
        others.nodes.assign(begin, end);
        if (!others.nodes.empty())
          out.insert(at, std::move(others));
      };
      rest(phase.nodes.begin() + static_cast<std::ptrdiff_t>(last_), phase.nodes.end(), out.end());
      rest(phase.nodes.begin(), phase.nodes.begin() + static_cast<std::ptrdiff_t>(first_), out.begin());
    }
    const auto at = plan_.phases.erase(plan_.phases.begin() + static_cast<std::ptrdiff_t>(phase_));
    plan_.phases.insert(at, out.begin(), out.end());
  }

  // Scans of the same values have one total, and those in the same direction one start.
  void find_totals() {
    for (Scan &scan : scans_) {
      const PlanNode &step = *scan.step;
      const bool linear = step.scan == ScanKind::linear;
      const ExprId value = expanded(scan, step.value), second = linear ? expanded(scan, step.second) : kNone;
      const auto total = std::find_if(totals_.begin(), totals_.end(), [&](const Total &t) {
        const PlanNode &other = *t.scan->step;
        return other.scan == step.scan && same(kernel_, t.value, value) &&
               (!linear || (other.reverse == step.reverse && same(kernel_, t.second, second)));
      });
      scan.total = static_cast<size_t>(total - totals_.begin());
      if (total == totals_.end())
        totals_.push_back({&scan, value, second});
      const auto start = std::find_if(starts_.begin(), starts_.end(), [&](const Start &s) {
        return s.total == scan.total && s.step->reverse == scan.step->reverse;
      });
      scan.start = static_cast<size_t>(start - starts_.begin());
      if (start == starts_.end())
        starts_.push_back({scan.total, scan.step});
    }
    const AxisSet share = AxisSet::of(lists_.axis());
    for (Total &total : totals_) {
      const PlanNode &step = *total.scan->step;
      const std::string what = description(kernel_, step.value);
      const auto copy = [&](const char *role, AxisSet axes) {
        return lists_.copy_of(step.target, name_of_parts(role, what), axes);
      };
      if (is_joined(step)) {
        total.factor = copy("factor", AxisSet());
        total.factor_part = copy("share_factor", share);
        kernel_.vars[total.factor].type = kernel_.vars[total.factor_part].type = Type::f64;
      }
      if (!is_joined(step) || step.scan == ScanKind::linear) {
        total.own = copy("total", AxisSet());
        total.part = copy("share_total", share);
      }
    }
    for (Start &start : starts_)
      start.place = lists_.copy_of(start.step->target, name_for(start, "share_start"), share);
  }

  // Of the first that goes this way; others say what they are of.
  std::string name_for(const Start &start, const char *role) const {
    const auto goes_alike = [&](const Start &s) { return s.step->reverse == start.step->reverse; };
    const bool first = &*std::find_if(starts_.begin(), starts_.end(), goes_alike) == &start;
    const std::string name = first ? role : name_of_parts(role, description(kernel_, start.step->value));
    return start.step->reverse ? name + "_from_end" : name;
  }

  static const PlanNode &setter(const Scan &scan, VarId var) {
    return *std::find_if(scan.loop->body.begin(), scan.loop->body.end(),
                         [&](const PlanNode &n) { return n.target == var; });
  }

  // With what the values of the round are made of in their place.
  ExprId expanded(const Scan &scan, ExprId id) {
    return replace(kernel_, id, [&](ExprId at) -> ExprId {
      const Expr e = kernel_.expr(at);
      const bool needed =
          e.op == Op::read && std::find(scan.needs.begin(), scan.needs.end(), e.ref) != scan.needs.end();
      return needed ? make_cast(kernel_, expanded(scan, setter(scan, e.ref).value), e.type) : kNone;
    });
  }

  // total = identity; for n of the share { total += x }; total_part = total
  Nodes totals() {
    Nodes out, after;
    for (const Total &total : totals_) {
      const PlanNode &step = *total.scan->step;
      const auto start = [&](PlanNode first, PlanNode::Kind kind, VarId part) {
        first.kind = kind;
        first.value = first.second = kNone;
        first.lanes = kernel_.vars[first.target].axes;
        after.push_back(make_assign(kernel_, part, make_read(kernel_, first.target), first.place));
        out.push_back(std::move(first));
      };
      if (total.own != kNone && is_joined(step))
        start(step_of(*total.scan, total.own), PlanNode::Kind::scan_init, total.part);
      else if (total.own != kNone)
        start(fold_of(total), PlanNode::Kind::fold_init, total.part);
      if (total.factor != kNone)
        start(factor_of(total), PlanNode::Kind::fold_init, total.factor_part);
    }
    for (const PlanNode &node : nodes_) {
      PlanNode loop = in_share(node);
      loop.body.clear();
      copies_.clear();
      bool ordered = false;
      for (const Total &total : totals_) {
        if (total.scan->loop != &node)
          continue;
        add_round(*total.scan, is_joined(*total.scan->step) ? factor_of(total) : fold_of(total), loop.body);
        if (columns_ && is_ordered(total)) {
          add_round(*total.scan, step_of(*total.scan, total.own), loop.body);
          ordered = true;
        }
      }
      if (!ordered) {
        loop.order = PlanNode::Order::reduction;
        loop.reversed = false;
      }
      if (!loop.body.empty())
        out.push_back(std::move(loop));
      // Along a row, scans take lanes in another way than folds do.
      for (const Total &total : totals_)
        if (total.scan->loop == &node && !columns_ && is_ordered(total))
          out.push_back(in_order(*total.scan, total.own));
    }
    std::move(after.begin(), after.end(), std::back_inserter(out));
    return out;
  }

  // Is the total what is left of the rounds in their order?
  bool is_ordered(const Total &total) const { return total.own != kNone && is_joined(*total.scan->step); }

  PlanNode fold_of(const Total &total) const {
    PlanNode fold = step_of(*total.scan, total.own);
    fold.kind = PlanNode::Kind::fold_step;
    fold.monoid = monoid_of(fold.scan);
    fold.reduced = AxisSet::of(axis_);
    return fold;
  }

  PlanNode factor_of(const Total &total) const {
    PlanNode fold = step_of(*total.scan, total.factor);
    fold.kind = PlanNode::Kind::fold_step;
    fold.monoid = Monoid::product;
    fold.reduced = AxisSet::of(axis_);
    fold.value = make_cast(kernel_, fold.value, Type::f64);
    fold.second = kNone;
    return fold;
  }

  // A step of the scan that only leaves its total.
  PlanNode step_of(const Scan &scan, VarId total) const {
    PlanNode step = *scan.step;
    step.target = total;
    step.partner = kNone;
    return step;
  }

  // for n of the share { total = factor * total + x }
  PlanNode in_order(const Scan &scan, VarId total) {
    PlanNode loop = in_share(*scan.loop);
    loop.body.clear();
    copies_.clear();
    add_round(scan, step_of(scan, total), loop.body);
    return loop;
  }

  // The step, behind the statements that its values are made of, with variables of their own.
  void add_round(const Scan &scan, PlanNode step, Nodes &out) {
    const auto put = [&](PlanNode node) {
      for (const auto &[var, copy] : copies_)
        replace_reads(kernel_, node, var, make_read(kernel_, copy), false);
      out.push_back(std::move(node));
    };
    const std::set<VarId> wanted = wanted_by(step, scan);
    for (VarId var : scan.needs) {
      PlanNode set = setter(scan, var);
      if (copies_.count(var) != 0 || wanted.count(var) == 0)
        continue;
      const VarId copy = set.target = lists_.copy_of(var, kernel_.vars[var].name, AxisSet());
      put(std::move(set));
      copies_[var] = copy;
    }
    put(std::move(step));
  }

  // Of what the scan needs, in order: a factor alone may depend on less.
  std::set<VarId> wanted_by(const PlanNode &step, const Scan &scan) const {
    std::set<VarId> out;
    const auto note = [&](const PlanNode &node) {
      for (const Access &access : own_accesses_of(kernel_, node))
        if (!access.write)
          out.insert(access.var);
    };
    note(step);
    for (auto var = scan.needs.rbegin(); var != scan.needs.rend(); ++var)
      if (out.count(*var) != 0)
        note(setter(scan, *var));
    return out;
  }

  // carry = identity; for shares in order { start = carry; carry += total_part }
  Nodes starts() {
    Nodes out;
    for (const Start &start : starts_) {
      const Total &total = totals_[start.total];
      PlanNode step = *start.step;
      step.axis = lists_.axis();
      step.exclusive = true;
      step.target = lists_.copy_of(start.step->target, name_for(start, "carry"), AxisSet());
      step.partner = start.place;
      step.lanes = kernel_.vars[start.place].axes;
      PlanNode init = step;
      init.kind = PlanNode::Kind::scan_init;
      init.value = init.second = init.partner = kNone;
      init.lanes = kernel_.vars[step.target].axes;
      Nodes round;
      if (total.factor != kNone) {
        round = {make_assign(kernel_, start.place, make_read(kernel_, step.target), step.place),
                 next_start(total, step.target)};
      } else {
        step.value = make_read(kernel_, total.part);
        round = {std::move(step)};
      }
      PlanNode loop = lists_.over_shares(PlanNode::Order::ordered, std::move(round));
      loop.reversed = start.step->reverse;
      out.push_back(std::move(init));
      out.push_back(std::move(loop));
    }
    return out;
  }

  // if (the factor does not grow much, and all is finite) carry = factor * carry + total; else the rounds in order.
  PlanNode next_start(const Total &total, VarId carry) {
    const Type type = kernel_.vars[carry].type;
    const bool linear = total.own != kNone;
    const auto below = [&](VarId var, Op order, double most) {
      const ExprId read = make_read(kernel_, var), size = make_op(kernel_, Op::abs, kernel_.vars[var].type, {read});
      return make_op(kernel_, order, Type::boolean, {size, make_constant(kernel_, kernel_.vars[var].type, 0, most)});
    };
    const auto both = [&](ExprId a, ExprId b) { return make_op(kernel_, Op::both, Type::boolean, {a, b}); };
    const auto wide = [&](VarId var) { return make_cast(kernel_, make_read(kernel_, var), Type::f64); };
    PlanNode choice;
    choice.kind = PlanNode::Kind::branch;
    choice.place = total.scan->step->place;
    choice.condition =
        both(linear ? below(total.factor_part, Op::le, kMostGrowth) : below(total.factor_part, Op::lt, INFINITY),
             below(carry, Op::lt, INFINITY));
    ExprId next = make_op(kernel_, Op::mul, Type::f64, {make_read(kernel_, total.factor_part), wide(carry)});
    if (linear) {
      choice.condition = both(choice.condition, below(total.part, Op::lt, INFINITY));
      next = make_op(kernel_, Op::add, Type::f64, {next, wide(total.part)});
    }
    choice.lanes = kernel_.expr(choice.condition).axes;
    choice.body = {make_assign(kernel_, carry, make_cast(kernel_, next, type), choice.place)};
    choice.body.front().lanes |= choice.lanes;
    choice.otherwise = {in_order(*total.scan, carry)};
    return choice;
  }

  // The statements as they were, each share from its start.
  Nodes scans() {
    Nodes out;
    for (const PlanNode &node : nodes_) {
      out.push_back(node.kind == PlanNode::Kind::loop ? in_share(node) : node);
      const auto scan =
          std::find_if(scans_.begin(), scans_.end(), [&](const Scan &s) { return s.step->target == node.target; });
      if (node.kind != PlanNode::Kind::scan_init || scan == scans_.end())
        continue;
      PlanNode choice;
      choice.kind = PlanNode::Kind::branch;
      choice.condition = has_shares_before(node.reverse);
      choice.lanes = kernel_.expr(choice.condition).axes;
      choice.place = node.place;
      choice.body.push_back(
          make_assign(kernel_, node.target, make_read(kernel_, starts_[scan->start].place), node.place));
      choice.body.back().lanes |= choice.lanes;
      out.push_back(std::move(choice));
    }
    return out;
  }

  ExprId has_shares_before(bool reverse) {
    Expr index;
    index.op = Op::index;
    index.type = Type::i64;
    index.axis = lists_.axis();
    index.axes = AxisSet::of(index.axis);
    const ExprId share = kernel_.add(std::move(index));
    if (!reverse)
      return make_op(kernel_, Op::gt, Type::boolean, {share, make_constant(kernel_, Type::i64, 0, 0)});
    const ExprId next = make_op(kernel_, Op::add, Type::i64, {share, make_constant(kernel_, Type::i64, 1, 0)});
    return make_op(kernel_, Op::lt, Type::boolean, {next, lists_.count()});
  }

  Plan &plan_;
  Kernel &kernel_;
  const Limits limits_;
  const LaneAnalysis lanes_;
  const Scopes scopes_; // as long as no node has changed
  ShareLists lists_;
  const size_t phase_;
  AxisId axis_ = kNone;
  size_t first_ = 0, last_ = 0; // of the list
  Nodes nodes_;                 // between them
  bool columns_ = false;
  std::map<VarId, int> writers_; // of memory, in the nodes
  std::vector<Scan> scans_;
  std::vector<Total> totals_;
  std::vector<Start> starts_;
  std::map<VarId, VarId> copies_; // of values of a round, in the loop at hand
};

bool has_scans(const Phase &phase) {
  bool found = false;
  for (const PlanNode &root : phase.nodes)
    for_each_node(root, [&](const PlanNode &n) { found = found || n.kind == PlanNode::Kind::scan_init; });
  return found;
}

} // namespace

void share_scans(Plan &plan) {
  for (size_t i = 0; i < plan.phases.size(); ++i) {
    if (!has_scans(plan.phases[i]) || contains_contraction(plan.phases[i]))
      continue;
    Plan shared = plan;
    if (!Scans(shared, i).run())
      continue;
    place_variables(shared);
    i += shared.phases.size() - plan.phases.size();
    plan = std::move(shared);
  }
}

} // namespace kgen
