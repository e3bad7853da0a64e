// The walk over the statements. Within a scenario every question about first and last steps has one answer; other
// conditions may go either way, so that both arms are followed and only what both write counts as written.
#include "analysis/flow.h"

#include <algorithm>

namespace kgen::analysis {

namespace {

Truth negate(Truth t) { return t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes; }
Truth truth(bool b) { return b ? Truth::yes : Truth::no; }

constexpr size_t kMostQuestions = 12;
constexpr size_t kDeepestTwice = 6; // loops within each other

// The questions that a body asks of a step.
struct Question {
  Op op;
  int ref;
  auto operator<=>(const Question &) const = default;
};

// `i == 0` and `i == size(i) - 1` are first(i) and last(i).
std::optional<Question> question_of(const Kernel &kernel, const Expr &expr) {
  if (expr.op == Op::first || expr.op == Op::last || expr.op == Op::window_first || expr.op == Op::window_last)
    return Question{expr.op, expr.ref};
  if (expr.op != Op::eq && expr.op != Op::ne)
    return std::nullopt;
  const auto bare = [&](ExprId id) {
    while (kernel.expr(id).op == Op::cast)
      id = kernel.expr(id).args[0];
    return &kernel.expr(id);
  };
  const Expr *a = bare(expr.args[0]), *b = bare(expr.args[1]);
  if (b->op == Op::grid_index)
    std::swap(a, b);
  if (a->op != Op::grid_index)
    return std::nullopt;
  const auto is_integer = [](const Expr *e, int64_t v) {
    return e->op == Op::constant && !is_floating(e->type) && e->integer == v;
  };
  if (is_integer(b, 0))
    return Question{Op::first, a->ref};
  if (b->op == Op::sub && bare(b->args[0])->op == Op::grid_size && bare(b->args[0])->ref == a->ref &&
      is_integer(bare(b->args[1]), 1))
    return Question{Op::last, a->ref};
  return std::nullopt;
}

class Walk {
public:
  Walk(const Context &context, const WholeWrites &complete, const Scenario &scenario)
      : context_(context), kernel_(context.kernel), complete_(complete) {
    out_.scenario = scenario;
    out_.early_read.resize(kernel_.vars.size());
    out_.stale_read.resize(kernel_.vars.size());
    state_.surely.assign(kernel_.vars.size(), false);
    state_.maybe.assign(kernel_.vars.size(), false);
  }

  Outcome run() {
    statements(kernel_.statements);
    out_.written = state_.surely;
    return std::move(out_);
  }

private:
  struct State {
    std::vector<bool> surely, maybe;
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
      out.surely[v] = a.surely[v] && b.surely[v];
      out.maybe[v] = a.maybe[v] || b.maybe[v];
    }
    std::erase_if(out.constants, [&](const auto &entry) {
      const auto other = b.constants.find(entry.first);
      return other == b.constants.end() || other->second != entry.second;
    });
    return out;
  }

  const Truth &answer(const Question &question) const {
    const Scenario &s = out_.scenario;
    switch (question.op) {
    case Op::first:
      return s.first[question.ref];
    case Op::last:
      return s.last[question.ref];
    case Op::window_first:
      return s.window_first[question.ref];
    default:
      return s.window_last[question.ref];
    }
  }

  std::optional<int64_t> integer(ExprId id) const {
    const Expr &expr = kernel_.expr(id);
    if (expr.op == Op::cast && !is_floating(expr.type) && !is_floating(kernel_.expr(expr.args[0]).type))
      return integer(expr.args[0]);
    if (expr.op == Op::constant && !is_floating(expr.type))
      return expr.integer;
    if (expr.op == Op::read && expr.coords.empty()) {
      const auto known = state_.constants.find(expr.ref);
      if (known != state_.constants.end())
        return known->second;
    }
    return std::nullopt;
  }

  Truth condition(ExprId id) const {
    const Expr &expr = kernel_.expr(id);
    if (const auto question = question_of(kernel_, expr))
      return expr.op == Op::ne ? negate(answer(*question)) : answer(*question);
    switch (expr.op) {
    case Op::constant:
      return truth(is_floating(expr.type) ? expr.number != 0 : expr.integer != 0);
    case Op::cast:
      return condition(expr.args[0]);
    case Op::logical_not:
      return negate(condition(expr.args[0]));
    case Op::both:
    case Op::either: {
      const Truth decisive = expr.op == Op::both ? Truth::no : Truth::yes;
      const Truth a = condition(expr.args[0]), b = condition(expr.args[1]);
      return a == decisive || b == decisive               ? decisive
             : a == Truth::unknown || b == Truth::unknown ? Truth::unknown
                                                          : a;
    }
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge: {
      const auto a = integer(expr.args[0]), b = integer(expr.args[1]);
      if (!a || !b)
        return Truth::unknown;
      return truth(expr.op == Op::lt ? *a < *b : expr.op == Op::le ? *a <= *b : expr.op == Op::gt ? *a > *b : *a >= *b);
    }
    default:
      return Truth::unknown;
    }
  }

  void read(const Expr &expr) {
    const Var &var = kernel_.vars[expr.ref];
    if (var.kind == Var::Kind::input && var.alias != kNone && state_.maybe[var.alias] && !out_.stale_read[expr.ref])
      out_.stale_read[expr.ref] = expr.place;
    if (var.kind != Var::Kind::scratch && var.kind != Var::Kind::output)
      return;
    // Elements of other lanes may not have come this way.
    const bool others = !expr.coords.empty() && outside_.has_value();
    if (!(others ? outside_->at(expr.ref) : state_.surely[expr.ref]) && !out_.early_read[expr.ref])
      out_.early_read[expr.ref] = expr.place;
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
    for (ExprId arg : expr.args)
      expression(arg);
  }

  void assign(const Stmt &stmt) {
    for (ExprId id : expressions_of(stmt))
      expression(id);
    const Var &var = kernel_.vars[stmt.target];
    if (var.kind == Var::Kind::local) {
      const auto value = var.axes.empty() && stmt.indices.empty() ? integer(stmt.value) : std::nullopt;
      state_.constants.erase(stmt.target);
      if (value)
        state_.constants[stmt.target] = *value;
      return;
    }
    if (stmt.scatter_add && !state_.surely[stmt.target] && !out_.early_read[stmt.target])
      out_.early_read[stmt.target] = stmt.place;
    state_.maybe[stmt.target] = true;
  }

  void branch(const Stmt &stmt) {
    expression(stmt.value);
    const Truth t = condition(stmt.value);
    const bool per_lane = !kernel_.expr(stmt.value).axes.empty();
    const auto saved = outside_;
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
    state_ = t == Truth::yes ? after_yes : t == Truth::no ? after_no : meet(after_yes, after_no);
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
    if (stmt.value != kNone)
      expression(stmt.value);
    const bool twice = loops_.size() < kDeepestTwice;
    const bool enters = stmt.value == kNone || condition(stmt.value) == Truth::yes;
    const auto saved = outside_;
    if (stmt.value != kNone && !kernel_.expr(stmt.value).axes.empty() && !outside_)
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
        expression(stmt.value);
        break;
      }
      for (auto whole = complete_.lower_bound({&stmt, 0}); whole != complete_.end() && whole->first == &stmt; ++whole)
        state_.surely[whole->second] = true;
    }
  }

  const Context &context_;
  const Kernel &kernel_;
  const WholeWrites &complete_;
  State state_;
  std::optional<std::vector<bool>> outside_; // what was surely written before the outermost per-element condition
  std::vector<Loop> loops_;
  Outcome out_;
};

// All scenarios of the questions that the body asks.
class Scenarios {
public:
  explicit Scenarios(const Context &context) : context_(context), kernel_(context.kernel) {
    std::set<Question> asked;
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      for (ExprId id : expressions_of(stmt))
        visit_expressions(kernel_, id, [&](const Expr &expr, ExprId) {
          if (const auto question = question_of(kernel_, expr))
            asked.insert(*question);
        });
    });
    // The window of an output begins where all dimensions along which it stays do, if steps tell windows apart.
    std::set<Question> free;
    for (const Question &question : asked) {
      if (question.op == Op::first || question.op == Op::last) {
        free.insert(question);
        continue;
      }
      const Op op = question.op == Op::window_first ? Op::first : Op::last;
      for (GridId g : list_of(constant_steps(context, question.ref)))
        free.insert({op, g});
      if (!regular(question.ref))
        free.insert(question);
    }
    free_.assign(free.begin(), free.end());
    if (free_.size() > kMostQuestions)
      free_.resize(kMostQuestions);
  }

  std::vector<Scenario> all() const {
    std::vector<Scenario> out;
    for (uint64_t bits = 0; bits < uint64_t{1} << free_.size(); ++bits)
      if (auto scenario = make(bits))
        out.push_back(std::move(*scenario));
    return out;
  }

private:
  // Are the steps along which the window moves told apart by it?
  bool regular(VarId var) const {
    const auto &moves = context_.facts.operands[var].moves_with;
    const uint64_t known = determined_steps(context_, var, false).steps;
    return std::all_of(moves.begin(), moves.end(), [&](GridId g) { return (known >> g & 1) != 0; });
  }

  std::optional<Scenario> make(uint64_t bits) const {
    Scenario s;
    s.first.assign(kernel_.grid.size(), Truth::unknown);
    s.window_first.assign(kernel_.vars.size(), Truth::unknown);
    s.last = s.first;
    s.window_last = s.window_first;
    for (size_t i = 0; i < free_.size(); ++i) {
      const Truth t = truth((bits >> i & 1) != 0);
      if (free_[i].op == Op::first)
        s.first[free_[i].ref] = t;
      else if (free_[i].op == Op::last)
        s.last[free_[i].ref] = t;
      else
        (free_[i].op == Op::window_first ? s.window_first : s.window_last)[free_[i].ref] = t;
    }
    for (size_t g = 0; g < kernel_.grid.size(); ++g)
      if (context_.single(static_cast<GridId>(g))) {
        if (s.first[g] == Truth::no || s.last[g] == Truth::no)
          return std::nullopt;
        s.first[g] = s.last[g] = Truth::yes;
      }
    for (size_t v = 0; v < kernel_.vars.size(); ++v)
      if (context_.is_output(static_cast<VarId>(v)) && (!window(static_cast<VarId>(v), s.first, s.window_first[v]) ||
                                                        !window(static_cast<VarId>(v), s.last, s.window_last[v])))
        return std::nullopt;
    return s;
  }

  bool window(VarId v, const std::vector<Truth> &steps, Truth &result) const {
    Truth all = Truth::yes;
    for (GridId g : list_of(constant_steps(context_, v)))
      all = all == Truth::no || steps[g] == Truth::no ? Truth::no : steps[g] == Truth::unknown ? Truth::unknown : all;
    if (result == Truth::unknown) {
      if (all == Truth::no || regular(v))
        result = all;
      return true;
    }
    return !(result == Truth::yes && all == Truth::no);
  }

  const Context &context_;
  const Kernel &kernel_;
  std::vector<Question> free_;
};

} // namespace

uint64_t constant_steps(const Context &context, VarId var) {
  uint64_t steps = context.all_steps();
  for (GridId g : context.facts.operands[var].moves_with)
    steps &= ~(uint64_t{1} << g);
  return steps;
}

namespace {
bool all_true(const std::vector<Truth> &truths, const std::vector<Truth> &windows, uint64_t steps, VarId window) {
  for (GridId g : list_of(steps))
    if (truths[g] == Truth::no)
      return false;
  return window == kNone || windows[window] != Truth::no;
}

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

bool begins(const Scenario &scenario, uint64_t steps, VarId window) {
  return all_true(scenario.first, scenario.window_first, steps, window);
}

bool ends(const Scenario &scenario, uint64_t steps, VarId window) {
  return all_true(scenario.last, scenario.window_last, steps, window);
}

Flow follow(const Context &context, const WholeWrites &complete) {
  const Kernel &kernel = context.kernel;
  Flow flow;
  for (const Scenario &scenario : Scenarios(context).all())
    flow.outcomes.push_back(Walk(context, complete, scenario).run());
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
