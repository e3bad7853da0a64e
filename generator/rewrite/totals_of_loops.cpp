#include "rewrite/totals_of_loops.h"

#include <algorithm>
#include <set>

#include "analysis/flow.h"
#include "ir/op_rows.h"
#include "ir/statements.h"

namespace kgen {
namespace {

class Totals {
public:
  Totals(const Kernel &kernel, const Stmt &loop, const CountedLoop &counted)
      : kernel_(kernel), loop_(loop), counted_(counted) {}

  std::map<const Stmt *, std::vector<Total>> find() {
    if (collect() && are_alike() && pass_alone() && !mix_own())
      return totals_;
    return {};
  }

private:
  bool is_target(ExprId id, VarId target) const {
    const Expr &e = kernel_.expr(id);
    return e.op == Op::read && e.ref == target && e.coords.empty();
  }

  bool collect() {
    for (const Stmt &s : loop_.body)
      if (const std::vector<Total> found = totals(s); !found.empty() && own_.count(found.front().target) == 0)
        totals_[&s] = found;
      else if (!sets_locals(s))
        return false;
    return !totals_.empty();
  }

  // Locals alone, without leaving the loop.
  bool sets_locals(const Stmt &s) {
    const auto all = [&](const std::vector<Stmt> &list) {
      return std::ranges::all_of(list, [&](const Stmt &one) { return sets_locals(one); });
    };
    if (s.kind == Stmt::Kind::branch || s.kind == Stmt::Kind::loop)
      return all(s.body) && all(s.otherwise) && all(s.step);
    if (s.kind != Stmt::Kind::assign || !is_number(s.target))
      return false;
    own_.insert(s.target);
    return true;
  }

  bool is_number(VarId id) const {
    return kernel_.vars[id].kind == Var::Kind::local && kernel_.vars[id].array.empty() && id != counted_.counter;
  }

  std::vector<Total> totals(const Stmt &s) const {
    if (s.kind == Stmt::Kind::branch)
      return under_condition(s);
    const std::optional<Total> found = total(s);
    return found ? std::vector<Total>{*found} : std::vector<Total>{};
  }

  std::optional<Total> total(const Stmt &s) const {
    if (s.kind != Stmt::Kind::assign || !is_number(s.target))
      return std::nullopt;
    const Expr &e = kernel_.expr(s.value);
    if (e.op == Op::choose && is_target(e.args[2], s.target))
      if (const std::optional<Total> best = best_of(s.target, e.args[0], e.args[1]))
        return best;
    const std::optional<RunningTotal> found = running_total(kernel_, s);
    return found ? std::optional(Total{*found, std::nullopt, kNone}) : std::nullopt;
  }

  // if (condition) { ... }
  std::vector<Total> under_condition(const Stmt &branch) const {
    if (!branch.otherwise.empty() || branch.body.empty())
      return {};
    if (const std::optional<Total> best = best_with_place(branch))
      return {*best};
    std::vector<Total> out;
    for (const Stmt &s : branch.body) {
      std::optional<Total> found = total(s);
      if (!found || found->better || found->condition != kNone)
        return {};
      found->condition = branch.value;
      out.push_back(*found);
    }
    return out;
  }

  // if (value > target) target = value;
  std::optional<Total> best_of(VarId target, ExprId condition, ExprId value) const {
    const Expr &question = kernel_.expr(condition);
    if (!is_comparison(question.op) || question.op == Op::eq || question.op == Op::ne)
      return std::nullopt;
    const size_t own = is_target(question.args[0], target) ? 0 : 1;
    if (!is_target(question.args[own], target) || !is_same(question.args[1 - own], value))
      return std::nullopt;
    Total out;
    out.target = target;
    out.type = kernel_.expr(value).type;
    out.value = value;
    out.better = own == 0 ? mirrored(question.op) : question.op;
    out.monoid = out.better == Op::gt || out.better == Op::ge ? Monoid::max : Monoid::min;
    return out;
  }

  // if (value > target) target = value; or { target = value; place = counter; }, in which the first of several stays.
  std::optional<Total> best_with_place(const Stmt &s) const {
    if (s.body.size() == 1 && s.body[0].kind == Stmt::Kind::assign && is_number(s.body[0].target) &&
        s.body[0].indices.empty() && s.body[0].coords.empty())
      return best_of(s.body[0].target, s.value, s.body[0].value);
    if (s.body.size() != 2)
      return std::nullopt;
    const auto is_plain = [&](const Stmt &one) { return one.kind == Stmt::Kind::assign && is_number(one.target); };
    const auto places = [&](const Stmt &one) { return is_counter(kernel_, one.value, counted_.counter); };
    if (!std::ranges::all_of(s.body, is_plain) || places(s.body[0]) == places(s.body[1]))
      return std::nullopt;
    const size_t at = places(s.body[0]) ? 0 : 1;
    std::optional<Total> out = best_of(s.body[1 - at].target, s.value, s.body[1 - at].value);
    if (!out || (out->better != Op::gt && out->better != Op::lt) || s.body[at].target == out->target ||
        !is_integer(kernel_.vars[s.body[at].target].type))
      return std::nullopt;
    out->place = s.body[at].target;
    return out;
  }

  // The same read or the same expression: names for what is compared and set are the rule.
  bool is_same(ExprId a, ExprId b) const {
    const Expr &x = kernel_.expr(a), &y = kernel_.expr(b);
    const auto same = [&](const Coordinate &c, const Coordinate &d) {
      return c.axis == d.axis && is_same(c.value, d.value);
    };
    return a == b || (x.op == y.op && x.type == y.type && x.ref == y.ref && x.axis == y.axis &&
                      x.integer == y.integer && x.number == y.number && x.op != Op::fold && x.op != Op::scan &&
                      std::ranges::equal(x.args, y.args, [&](ExprId c, ExprId d) { return is_same(c, d); }) &&
                      std::ranges::equal(x.coords, y.coords, same));
  }

  // Of one local there is one kind of total, which differs from round to round; and one alone where it is a sum of
  // floats: those of two may be far larger than what is left of both.
  bool are_alike() {
    for (const auto &[at, list] : totals_)
      all_.insert(all_.end(), list.begin(), list.end());
    const bool in_range = counted_.low != kNone || counted_.high != kNone;
    for (const Total &total : all_) {
      if (!in_range && !differs(total.value) && !differs(total.factor) && !differs(total.condition))
        return false;
      const auto is_own = [&](VarId var) { return var != kNone && own_.count(var) != 0; };
      const auto is_other = [&](const Total &other) {
        const bool shares = other.target == total.target || other.target == total.place ||
                            other.place == total.target || (other.place != kNone && other.place == total.place);
        return &other != &total && shares &&
               (other.monoid != total.monoid || other.better || total.better || is_floating(total.type));
      };
      if (is_own(total.target) || is_own(total.place) || std::ranges::any_of(all_, is_other))
        return false;
    }
    return true;
  }

  bool differs(ExprId id) const {
    bool found = false;
    std::set<VarId> seen;
    if (id != kNone)
      analysis::visit_with_locals(kernel_, id, seen, [&](const Expr &e, ExprId) {
        found = found || (e.op == Op::read && e.ref == counted_.counter);
      });
    return found;
  }

  // Nothing passes from one round to the next but totals, and these are not looked at on the way; what rounds have of
  // their own is not looked at behind them.
  bool pass_alone() const {
    std::set<VarId> set;
    for (const Stmt &s : loop_.body) {
      for (const Total &total : all_)
        if (looks_at(s, total.target) || (total.place != kNone && readers_in(kernel_, s, total.place) != 0))
          return false;
      for (VarId own : own_)
        if (set.count(own) == 0 && (readers_in(kernel_, s, own) != 0 || is_set_within(s, own)))
          return false;
      if (s.kind == Stmt::Kind::assign)
        set.insert(s.target);
    }
    return std::ranges::all_of(own_,
                               [&](VarId own) { return readers_of(kernel_, own) == readers_in(kernel_, loop_, own); });
  }

  // Is what a round has for itself folded along an axis of the totals? Rounds of their own need no memory for that; all
  // of them together would be an array.
  bool mix_own() const {
    AxisSet axes;
    for (const Total &total : all_)
      axes |= kernel_.vars[total.target].axes;
    bool found = false;
    const auto look = [&](const Expr &e, ExprId id) {
      const bool mixes =
          (e.op == Op::fold && !(e.reduced & axes).empty()) || (e.op == Op::scan && axes.contains(e.axis));
      found =
          found || (mixes && std::ranges::any_of(own_, [&](VarId own) { return analysis::reads(kernel_, id, own); }));
    };
    for_each(loop_.body, [&](const Stmt &s) {
      for (ExprId id : analysis::expressions_of(s))
        analysis::visit_expressions(kernel_, id, look);
    });
    return found;
  }

  // Other than to add to it.
  bool looks_at(const Stmt &s, VarId target) const {
    const auto found = totals_.find(&s);
    if (found == totals_.end())
      return readers_in(kernel_, s, target) != 0;
    return std::ranges::any_of(found->second, [&](const Total &total) {
      return std::ranges::any_of(std::vector<ExprId>{total.value, total.factor, total.condition},
                                 [&](ExprId id) { return id != kNone && analysis::reads(kernel_, id, target); });
    });
  }

  static bool is_set_within(const Stmt &stmt, VarId var) {
    bool found = false;
    for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
      for_each(*inner, [&](const Stmt &s) { found = found || s.target == var; });
    return found;
  }

  const Kernel &kernel_;
  const Stmt &loop_;
  const CountedLoop &counted_;
  std::map<const Stmt *, std::vector<Total>> totals_;
  std::vector<Total> all_;
  std::set<VarId> own_; // set by each round for itself
};

} // namespace

std::map<const Stmt *, std::vector<Total>> totals_of(const Kernel &kernel, const Stmt &loop,
                                                     const CountedLoop &counted) {
  return Totals(kernel, loop, counted).find();
}

} // namespace kgen
