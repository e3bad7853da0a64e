// The walk over the statements. Within a scenario every question about first and last steps has one answer; other
// conditions may go either way, so that both arms are followed and only what both write counts as written.
#include "analysis/flow.h"

#include <algorithm>

namespace kgen::analysis {

namespace {

constexpr size_t kDeepestTwice = 6; // loops within each other

class Walk {
public:
  Walk(const Context &context, const Conditions &conditions, const Writes &writes, const Scenario &scenario)
      : kernel_(context.kernel), lanes_(context.lanes), conditions_(conditions), writes_(writes) {
    out_.scenario = scenario;
    out_.early_reads.resize(kernel_.vars.size());
    out_.stale_read.resize(kernel_.vars.size());
    state_.surely.resize(kernel_.vars.size());
    state_.maybe.assign(kernel_.vars.size(), false);
  }

  Outcome run() {
    statements(kernel_.statements);
    out_.written = state_.surely;
    for (size_t output : absent_)
      out_.written[output] = Windows();
    return std::move(out_);
  }

private:
  struct State {
    std::vector<Written> surely;
    std::vector<bool> maybe;
    std::map<VarId, int64_t> constants; // uniform locals whose value is known
    bool dead = false;                  // not reached: break or continue stands before
  };

  static State meet(const State &a, const State &b) {
    if (a.dead || b.dead) {
      State out = a.dead ? b : a;
      for (size_t v = 0; v < out.maybe.size(); ++v)
        out.maybe[v] = a.maybe[v] || b.maybe[v];
      return out;
    }
    State out = a;
    for (size_t v = 0; v < out.surely.size(); ++v) {
      out.surely[v] = on_both(a.surely[v], b.surely[v]);
      out.maybe[v] = a.maybe[v] || b.maybe[v];
    }
    std::erase_if(out.constants, [&](const auto &entry) {
      const auto other = b.constants.find(entry.first);
      return other == b.constants.end() || other->second != entry.second;
    });
    return out;
  }

  Truth condition(ExprId id) const { return conditions_.truth(out_.scenario, state_.constants, id); }

  void read(const Expr &expr) {
    const Var &var = kernel_.vars[expr.ref];
    if (var.kind == Var::Kind::input && var.alias != kNone && state_.maybe[var.alias] && !out_.stale_read[expr.ref])
      out_.stale_read[expr.ref] = expr.place;
    if (var.kind != Var::Kind::scratch && var.kind != Var::Kind::output)
      return;
    // Elements of other lanes may not have come this way.
    const bool others = !expr.coords.empty() && outside_.has_value();
    read(expr.ref, expr.coords, others ? outside_->at(expr.ref) : state_.surely[expr.ref], expr.place);
  }

  void read(VarId var, const std::vector<Coordinate> &coords, const Written &written, const Place &place) {
    Windows here = here_;
    std::erase_if(here, [&](const Window &w) { return find_coordinate(coords, lanes_.dim(w).axis) != nullptr; });
    const auto ends = written ? lanes_.ends_before(*written, here) : std::nullopt;
    std::vector<EarlyRead> &early = out_.early_reads[var];
    const bool known = std::ranges::any_of(early, [&](const EarlyRead &other) { return other.lanes == here; });
    if ((!written || ends) && !known)
      early.push_back({place, std::move(here), ends});
  }

  // The lanes of a statement, for what its expressions read; of one that writes, with the window of its target.
  void enter(const Stmt &stmt) {
    here_ = around_;
    here_.merge(lanes_.of(stmt.value));
    for (const Coordinate &coordinate : stmt.coords)
      here_.merge(lanes_.of(coordinate.value));
    if (stmt.target != kNone && kernel_.vars[stmt.target].kind != Var::Kind::local)
      lanes_.add(stmt.target, stmt.coords, here_);
  }

  void expression(ExprId id) {
    if (id == kNone)
      return;
    const Expr &expr = kernel_.expr(id);
    if (expr.op == Op::read)
      read(expr);
    for (const Coordinate &coordinate : expr.coords)
      expression(coordinate.value);
    if (expr.op == Op::choose || expr.op == Op::both || expr.op == Op::either) {
      expression(expr.args[0]);
      const Truth t = condition(expr.args[0]);
      if (expr.op == Op::choose) {
        if (t != Truth::no)
          expression(expr.args[1]);
        if (t != Truth::yes)
          expression(expr.args[2]);
      } else if (t != (expr.op == Op::both ? Truth::no : Truth::yes)) {
        expression(expr.args[1]);
      }
      return;
    }
    if (expr.op == Op::fold || expr.op == Op::scan)
      return folded(expr);
    for (ExprId arg : expr.args)
      expression(arg);
  }

  // Along its axis, what is folded has lanes of its own.
  void folded(const Expr &expr) {
    const Windows around = here_;
    const auto is_along = [&](const Window &window) {
      const AxisId axis = lanes_.dim(window).axis;
      return expr.op == Op::scan ? axis == expr.axis : expr.reduced.contains(axis);
    };
    std::erase_if(here_, is_along);
    for (ExprId arg : expr.args)
      for (const Window &window : lanes_.of(arg))
        if (is_along(window))
          here_.insert(window);
    for (ExprId arg : expr.args)
      expression(arg);
    here_ = around;
  }

  void assign(const Stmt &stmt) {
    enter(stmt);
    for (ExprId id : expressions_of(stmt))
      expression(id);
    const Var &var = kernel_.vars[stmt.target];
    if (var.kind == Var::Kind::local) {
      const bool one = var.axes.empty() && stmt.indices.empty() && stmt.context.empty();
      const auto value = one ? conditions_.integer(out_.scenario, state_.constants, stmt.value) : std::nullopt;
      state_.constants.erase(stmt.target);
      if (value)
        state_.constants[stmt.target] = *value;
      return;
    }
    if (stmt.scatter_add)
      read(stmt.target, stmt.coords, state_.surely[stmt.target], stmt.place);
    state_.maybe[stmt.target] = true;
  }

  void branch(const Stmt &stmt) {
    enter(stmt);
    expression(stmt.value);
    const Truth t = condition(stmt.value);
    const bool per_lane = !kernel_.expr(stmt.value).axes.empty();
    const auto saved = outside_;
    const Windows around = around_;
    if (per_lane)
      around_ = here_;
    if (per_lane && !outside_)
      outside_ = state_.surely;
    const State before = state_;
    State after_yes = before, after_no = before;
    after_yes.dead = after_no.dead = true;
    if (t != Truth::no) {
      statements(stmt.body);
      after_yes = state_;
    }
    state_ = before;
    if (t != Truth::yes) {
      statements(stmt.otherwise);
      after_no = state_;
    }
    outside_ = saved;
    around_ = around;
    state_ = t == Truth::yes ? after_yes : t == Truth::no ? after_no : meet(after_yes, after_no);
    if (!after_yes.dead || !after_no.dead)
      ask_presence(stmt.value, t, after_yes, after_no);
  }

  // What is written where an optional output is there is all that it needs.
  void ask_presence(ExprId question, Truth said, const State &after_yes, const State &after_no) {
    for (size_t v = 0; v < kernel_.vars.size(); ++v) {
      if (kernel_.vars[v].kind != Var::Kind::output || !kernel_.vars[v].optional)
        continue;
      const Truth t = if_there(question, static_cast<VarId>(v));
      if (t == Truth::unknown)
        continue;
      if (said == Truth::unknown)
        state_.surely[v] = (t == Truth::yes ? after_yes : after_no).surely[v];
      else if (said != t) // a scenario in which it is not there
        absent_.insert(v);
    }
  }

  // What the question comes to where the output is there.
  Truth if_there(ExprId id, VarId output) const {
    const Expr &expr = kernel_.expr(id);
    if (expr.op == Op::present)
      return expr.ref == output ? Truth::yes : Truth::unknown;
    if (expr.op == Op::logical_not) {
      const Truth t = if_there(expr.args[0], output);
      return t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes;
    }
    if (expr.op != Op::both && expr.op != Op::either)
      return Truth::unknown;
    const Truth decisive = expr.op == Op::both ? Truth::no : Truth::yes;
    const Truth a = if_there(expr.args[0], output), b = if_there(expr.args[1], output);
    return a == decisive || b == decisive ? decisive : a == b ? a : Truth::unknown;
  }

  struct Loop {
    std::optional<State> left, next;
  };

  void note(std::optional<State> &slot) {
    slot = slot ? meet(*slot, state_) : state_;
    state_.dead = true;
  }

  void iteration(const Stmt &stmt) {
    loops_.back().next.reset();
    statements(stmt.body);
    if (loops_.back().next)
      state_ = meet(state_, *loops_.back().next);
    statements(stmt.step);
  }

  // As if an iteration had been before: nothing is known of locals, and what the loop writes may have been written.
  void forget(const Stmt &loop) {
    state_.constants.clear();
    for (const std::vector<Stmt> *list : {&loop.body, &loop.step})
      visit_statements(*list, [&](const Stmt &stmt, const auto &) {
        if (stmt.kind == Stmt::Kind::assign)
          state_.maybe[stmt.target] = true;
      });
  }

  // Two iterations are followed, so nested loops would double the work at every depth: deep ones are followed once,
  // with nothing known.
  void loop(const Stmt &stmt) {
    enter(stmt);
    if (stmt.value != kNone)
      expression(stmt.value);
    const bool twice = loops_.size() < kDeepestTwice;
    const bool enters = stmt.value == kNone || condition(stmt.value) == Truth::yes;
    const auto saved = outside_;
    const Windows around = around_;
    const bool per_lane = stmt.value != kNone && !kernel_.expr(stmt.value).axes.empty();
    if (per_lane)
      around_ = here_;
    if (per_lane && !outside_)
      outside_ = state_.surely;
    const State before = state_;
    if (!twice)
      forget(stmt);
    loops_.emplace_back();
    iteration(stmt);
    const State once = state_;
    // Once more with what an iteration leaves behind: constants may have changed, reads may come after writes.
    state_.constants.clear();
    if (twice) {
      here_ = around_;
      here_.merge(lanes_.of(stmt.value));
      if (stmt.value != kNone)
        expression(stmt.value);
      iteration(stmt);
    }
    State after = enters ? once : meet(before, once);
    after.dead = stmt.value == kNone || (enters && once.dead);
    after.constants.clear();
    after.maybe = meet(after, state_).maybe;
    if (loops_.back().left)
      after = meet(after, *loops_.back().left);
    after.constants.clear();
    loops_.pop_back();
    outside_ = saved;
    around_ = around;
    state_ = after;
  }

  void statements(const std::vector<Stmt> &list) {
    for (const Stmt &stmt : list) {
      if (state_.dead)
        return;
      out_.reached.insert(&stmt);
      switch (stmt.kind) {
      case Stmt::Kind::assign:
        assign(stmt);
        break;
      case Stmt::Kind::declare:
        break;
      case Stmt::Kind::branch:
        branch(stmt);
        break;
      case Stmt::Kind::loop:
        loop(stmt);
        break;
      case Stmt::Kind::leave:
        note(loops_.back().left);
        break;
      case Stmt::Kind::next:
        note(loops_.back().next);
        break;
      case Stmt::Kind::check:
      case Stmt::Kind::print:
        enter(stmt);
        for (ExprId id : expressions_of(stmt))
          expression(id);
        break;
      }
      for (auto write = writes_.lower_bound({&stmt, 0}); write != writes_.end() && write->first.first == &stmt; ++write)
        wrote(state_.surely[write->first.second], write->second);
    }
  }

  // Of two that limit the same, the one that goes on farther.
  static void wrote(Written &written, const Windows &limits) {
    if (!written || std::ranges::includes(*written, limits))
      written = limits;
  }

  const Kernel &kernel_;
  const Lanes &lanes_;
  const Conditions &conditions_;
  const Writes &writes_;
  State state_;
  std::optional<std::vector<Written>> outside_; // what was surely written before the outermost per-element condition
  Windows around_, here_; // what limits the lanes: by the conditions around, at the expression at hand
  std::vector<Loop> loops_;
  std::set<size_t> absent_; // optional outputs that are not there in this scenario
  Outcome out_;
};

// What each variable comes from, through others as well.
std::vector<std::set<VarId>> reached_by(const std::vector<std::set<VarId>> &direct) {
  std::vector<std::set<VarId>> out;
  for (const std::set<VarId> &first : direct) {
    std::vector<bool> seen(direct.size(), false);
    std::vector<VarId> open(first.begin(), first.end());
    while (!open.empty()) {
      const VarId v = open.back();
      open.pop_back();
      if (seen[v])
        continue;
      seen[v] = true;
      open.insert(open.end(), direct[v].begin(), direct[v].end());
    }
    std::set<VarId> all;
    for (size_t v = 0; v < seen.size(); ++v)
      if (seen[v])
        all.insert(all.end(), static_cast<VarId>(v));
    out.push_back(std::move(all));
  }
  return out;
}
} // namespace

Written on_both(const Written &a, const Written &b) {
  if (!a || !b)
    return std::nullopt;
  Windows out = *a;
  out.insert(b->begin(), b->end());
  return out;
}

Flow follow(const Context &context, const Writes &writes) {
  const Kernel &kernel = context.kernel;
  Flow flow;
  const Conditions conditions(context);
  for (const Scenario &scenario : conditions.scenarios())
    flow.outcomes.push_back(Walk(context, conditions, writes, scenario).run());
  flow.sources.resize(kernel.vars.size());
  visit_statements(kernel.statements, [&](const Stmt &stmt, const std::vector<const Stmt *> &enclosing) {
    flow.has_loops |= stmt.kind == Stmt::Kind::loop;
    if (stmt.kind != Stmt::Kind::assign || kernel.vars[stmt.target].kind != Var::Kind::local)
      return;
    const auto note = [&](const Expr &expr, ExprId) {
      if (expr.op == Op::read || expr.op == Op::element)
        flow.sources[stmt.target].insert(expr.ref);
    };
    for (ExprId id : expressions_of(stmt))
      visit_expressions(kernel, id, note);
    for (const Stmt *outer : enclosing)
      visit_expressions(kernel, outer->value, note);
  });
  flow.sources = reached_by(flow.sources);
  return flow;
}

bool is_update(const Kernel &kernel, const Flow &flow, const Stmt &stmt, const std::vector<const Stmt *> &enclosing) {
  if (stmt.scatter_add)
    return true;
  bool found = false;
  const auto look = [&](const Expr &expr, ExprId) {
    if (expr.op == Op::read || expr.op == Op::element)
      found |= expr.ref == stmt.target || flow.sources[expr.ref].count(stmt.target) > 0;
  };
  for (ExprId id : expressions_of(stmt))
    visit_expressions(kernel, id, look);
  for (const Stmt *outer : enclosing)
    visit_expressions(kernel, outer->value, look);
  return found;
}

} // namespace kgen::analysis
