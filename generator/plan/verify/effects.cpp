// The statements are gone through once in their order, as if each axis had one position that stands for all. A loop is
// seen by what is read too early in it: a total before its loop has ended, an element that another round writes.
#include "plan/verify/effects.h"

#include <algorithm>
#include <optional>
#include <set>

#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {

namespace {

constexpr int kAdditions = -2; // in place of the number of a statement
constexpr int kMostRounds = 8; // of loops whose rounds depend on those before; each brings what one more copy carries
constexpr int kMostDepth = 5;  // of such loops inside each other

// The number of each loop around the statement at hand is a bit.
struct State {
  MadeOf made;
  uint64_t growing = 0;   // loops around that go on to change it, while it was started before them
  uint64_t written = 0;   // loops in whose current round it was written
  uint64_t elsewhere = 0; // or read at other positions than the one at hand
  uint64_t started = 0;   // loops in which it was started anew
  bool fresh = false;     // was started, and nothing has been added yet
  bool unread = false;    // holds a value that no one has read
  std::set<int> last;     // the statements that may have written it last, by number
};

class Walk {
public:
  Walk(const Kernel &kernel, AxisSet shares, const Answers &answers, Values &values, Atoms &atoms, bool in_loops)
      : kernel_(kernel), shares_(shares), answers_(answers), values_(values), atoms_(atoms), in_loops_(in_loops),
        nothing_(atoms.number_of({ValueAtom::Kind::nothing})),
        unfinished_(atoms.number_of({ValueAtom::Kind::unfinished})) {
    states_.resize(kernel.vars.size());
    for (VarId v = 0; v < static_cast<VarId>(kernel.vars.size()); ++v) {
      const Var &var = kernel.vars[v];
      const bool held = var.kind == Var::Kind::input || var.kind == Var::Kind::output;
      const int what = held ? atoms.number_of({ValueAtom::Kind::initial, memory_of(kernel, v)}) : nothing_;
      states_[v].made.add(what);
    }
  }

  void list(const std::vector<PlanNode> &nodes) {
    for (const PlanNode &node : nodes)
      statement(node);
  }

  std::vector<MadeOf> result() const {
    std::vector<MadeOf> out;
    for (const State &state : states_)
      out.push_back(state.made);
    return out;
  }

private:
  using Saved = std::map<VarId, State>;

  // ---- values -------------------------------------------------------------------------------------------------------

  void add(ExprId id, MadeOf &to, VarId own = kNone) {
    if (id == kNone)
      return;
    const Parts &parts = values_.of(id);
    to.surely.add(parts.fixed);
    to.possibly.add(parts.fixed);
    for (const Read &read : parts.reads)
      add_read(read, to, own);
  }

  void add_read(const Read &read, MadeOf &to, VarId own) {
    if (states_[read.memory].unread) {
      save(read.memory);
      states_[read.memory].unread = false;
    }
    State &state = states_[read.memory];
    to.add(state.made);
    if (read.memory != own && state.fresh && !grows_around(read.memory))
      to.possibly.add(unfinished_);
    uint64_t other_rounds = 0;
    for (size_t level = 0; level < loops_.size(); ++level)
      if ((kernel_.vars[read.memory].axes - read.aligned).contains(loops_[level]))
        other_rounds |= uint64_t{1} << level;
    if (other_rounds != 0 && !(state.elsewhere == (state.elsewhere | other_rounds))) {
      save(read.memory);
      state.elsewhere |= other_rounds;
    }
    if ((read.memory != own && state.growing != 0) || (state.written & other_rounds) != 0)
      to.possibly.add(unfinished_);
  }

  // Is the read in a loop that adds to the variable further down?
  bool grows_around(VarId memory) const {
    return std::any_of(around_.begin(), around_.end(),
                       [&](const PlanNode *loop) { return targets_of(loop->body).count(memory) != 0; });
  }

  // ---- statements ---------------------------------------------------------------------------------------------------

  void statement(const PlanNode &node) {
    switch (node.kind) {
    case PlanNode::Kind::loop:
      return loop(node);
    case PlanNode::Kind::steps:
    case PlanNode::Kind::repeat:
      return rounds(node);
    case PlanNode::Kind::branch:
      return branch(node);
    case PlanNode::Kind::fold_init:
    case PlanNode::Kind::scan_init:
      start(node.target);
      return start(node.partner);
    case PlanNode::Kind::declare:
      return start(node.target);
    case PlanNode::Kind::fold_step:
      return fold(node);
    case PlanNode::Kind::scan_step:
      return scan(node);
    case PlanNode::Kind::assign:
      return assign(node);
    case PlanNode::Kind::leave:
    case PlanNode::Kind::next:
      return;
    }
  }

  // Stands before each change of a state.
  void save(VarId var) {
    if (!touched_.empty())
      touched_.back().push_back(var);
    if (!saved_.empty())
      saved_.back().try_emplace(var, states_[var]);
  }

  uint64_t open() const { return loops_.size() >= 64 ? ~uint64_t{0} : (uint64_t{1} << loops_.size()) - 1; }

  void start(VarId var) {
    if (var == kNone)
      return;
    MadeOf value;
    if (states_[var].unread)
      value.possibly.add(unfinished_);
    write(var, std::move(value), true);
    states_[var].fresh = in_loops_;
    states_[var].unread = false;
  }

  // What a statement under conditions writes depends on them.
  void write(VarId var, MadeOf value, bool whole) {
    const VarId memory = memory_of(kernel_, var);
    save(memory);
    State &state = states_[memory];
    for (const MadeOf &condition : conditions_) {
      value.add(condition);
    }
    uint64_t other_rounds = 0;
    for (size_t level = 0; level < loops_.size(); ++level)
      if (kernel_.vars[var].axes.contains(loops_[level]))
        other_rounds |= uint64_t{1} << level;
    if ((state.elsewhere & other_rounds) != 0)
      value.possibly.add(unfinished_);
    if (whole) {
      state.made = std::move(value);
      state.growing = 0;
      state.started = open();
    } else {
      state.made.add(value);
    }
    state.written = open();
    state.fresh = false;
    state.unread = in_loops_ && kernel_.vars[var].kind == Var::Kind::local;
  }

  void assign(const PlanNode &node) {
    const VarId memory = memory_of(kernel_, node.target);
    const uint64_t growing = states_[memory].growing, started = states_[memory].started;
    bool continues = false; // what is there already
    MadeOf value;
    for (ExprId id : expressions_of(node)) {
      add(id, value, memory);
      for (const Read &read : values_.of(id).reads)
        continues = continues || read.memory == memory;
    }
    const bool whole =
        aligned_axes(kernel_, node.target, node.coords) == kernel_.vars[node.target].axes && node.indices.empty();
    add_step(node, whole && !continues && saved_.empty(), value);
    write(node.target, std::move(value), whole && !node.scatter_add);
    follow(node, whole, continues);
    if (continues && whole) {
      states_[memory].growing = growing;
      states_[memory].started = started;
    }
  }

  void grow(VarId var, MadeOf value) {
    if (var == kNone)
      return;
    write(var, std::move(value), false);
    State &state = states_[memory_of(kernel_, var)];
    for (size_t level = 0; level < loops_.size(); ++level)
      if (!kernel_.vars[var].axes.contains(loops_[level]))
        state.growing |= uint64_t{1} << level & ~state.started;
  }

  void fold(const PlanNode &node) {
    MadeOf value;
    for (ExprId id : expressions_of(node))
      add(id, value, node.target);
    add_step(node, false, value);
    if (goes_astray(node.target, node.reduced))
      value.possibly.add(unfinished_);
    grow(node.target, value);
    grow(node.partner, value);
  }

  // Loops around that repeat a step, which stands for one round of each: those between it and its start.
  std::vector<AxisId> loops_from_start(VarId var) const {
    const uint64_t inside = open() & ~states_[memory_of(kernel_, var)].started;
    std::vector<AxisId> out;
    for (size_t level = 0; level < loops_.size(); ++level)
      if ((inside >> level & 1) != 0 && !kernel_.vars[var].axes.contains(loops_[level]))
        out.push_back(loops_[level]);
    return out;
  }

  // Do these loops go over other axes than those that a fold reduces, or not over all of them?
  bool goes_astray(VarId var, AxisSet reduced) const {
    AxisSet missing = reduced;
    bool others = false;
    for (AxisId axis : loops_from_start(var)) {
      others = others || !(reduced | shares_).contains(axis);
      missing -= AxisSet::of(axis);
    }
    return in_loops_ && (others || !missing.empty());
  }

  // What the same statement has put into another variable?
  bool stores_again(const PlanNode &node) const {
    const Expr *value = node.kind == PlanNode::Kind::assign ? &kernel_.expr(node.value) : nullptr;
    return value != nullptr && value->op == Op::read && value->coords.empty() &&
           states_[memory_of(kernel_, value->ref)].last == std::set<int>{node.origin};
  }

  // Which of several statements, and behind which: their order counts. Not where nothing is left of those before, which
  // another variable may then hold.
  void add_step(const PlanNode &node, bool replaces, MadeOf &to) {
    if (node.origin == kNone || stores_again(node))
      return;
    const bool assigns = node.kind == PlanNode::Kind::assign && !node.scatter_add; // additions come in any order
    const std::set<int> &last = states_[memory_of(kernel_, node.target)].last;
    if (!assigns || replaces || last.empty())
      return to.add(atoms_.number_of({assigns ? ValueAtom::Kind::step : ValueAtom::Kind::fold, node.origin}));
    for (int before : last) {
      const int atom =
          atoms_.number_of({ValueAtom::Kind::step, node.origin, static_cast<uint64_t>(before - kAdditions)});
      to.possibly.add(atom);
      if (last.size() == 1)
        to.surely.add(atom);
    }
  }

  // What passes add to a variable is a sum of additions.
  void follow(const PlanNode &node, bool whole, bool continues) {
    std::set<int> &last = states_[memory_of(kernel_, node.target)].last;
    const bool adds = node.scatter_add || (node.origin == kNone && continues);
    if (whole && !adds)
      last.clear();
    if (adds || node.origin != kNone)
      last.insert(adds ? kAdditions : node.origin);
  }

  void scan(const PlanNode &node) {
    MadeOf value;
    for (ExprId id : expressions_of(node))
      add(id, value, node.target);
    add_step(node, false, value);
    if (goes_astray(node.target, AxisSet::of(node.axis)))
      value.possibly.add(unfinished_);
    grow(node.target, std::move(value));
    states_[node.target].unread = false; // its end may be of no use
    if (node.partner != kNone)
      write(node.partner, states_[node.target].made, true);
  }

  // ---- what has statements inside -----------------------------------------------------------------------------------

  void loop(const PlanNode &node) {
    MadeOf bounds;
    add(node.end, bounds);
    add(node.entry, bounds);
    if (node.table != kNone) {
      const int atom = atoms_.number_of({ValueAtom::Kind::table, node.table});
      bounds.add(atom);
    }
    conditions_.push_back(std::move(bounds));
    loops_.push_back(node.axis);
    touched_.emplace_back();
    around_.push_back(&node);
    list(node.body);
    around_.pop_back();
    close_loop();
    conditions_.pop_back();
  }

  void close_loop() {
    loops_.pop_back();
    for (VarId var : touched_.back()) {
      State &state = states_[var];
      state.growing &= open();
      state.written &= open();
      state.elsewhere &= open();
      state.started &= open();
    }
    const std::vector<VarId> inside = std::move(touched_.back());
    touched_.pop_back();
    if (!touched_.empty())
      touched_.back().insert(touched_.back().end(), inside.begin(), inside.end());
  }

  // Rounds in order: what one leaves, the next finds. Deep inside other loops one round is gone through each time, as
  // each loop with rounds of its own doubles the time.
  void rounds(const PlanNode &node) {
    const int most = ++depth_ > kMostDepth ? 1 : kMostRounds;
    for (int i = 0; i < most && round(node); ++i)
      ;
    --depth_;
  }

  // Does it leave other values than it finds?
  bool round(const PlanNode &node) {
    saved_.emplace_back();
    MadeOf condition;
    add(node.condition, condition);
    conditions_.push_back(std::move(condition));
    list(node.body);
    list(node.step);
    conditions_.pop_back();
    bool changed = false;
    for (const auto &[var, before] : saved_.back()) {
      states_[var].unread = false; // the last round may leave what no one reads
      MadeOf &made = states_[var].made;
      if (node.kind == PlanNode::Kind::repeat) // there may be none
        made.surely.keep(before.made.surely);
      made.possibly.add(before.made.possibly);
      changed = changed || !(made.surely == before.made.surely) || !(made.possibly == before.made.possibly);
    }
    close_arm();
    return changed;
  }

  // What was before this arm was before the one around as well.
  void close_arm() {
    Saved before = std::move(saved_.back());
    saved_.pop_back();
    if (!saved_.empty())
      saved_.back().merge(before);
  }

  void branch(const PlanNode &node) {
    if (node.near > 0)
      return list(answers_.holds(kernel_, node.condition) ? node.body : node.otherwise);
    if (answers_.is_known(kernel_, node.condition))
      return list(answers_.holds(kernel_, node.condition) ? node.body : node.otherwise);
    if (asks_for_window(node.condition))
      return list(node.body);
    if (const AxisId shares = share_asked_for(node.condition); shares != kNone)
      return answers_.has_several(shares) ? list(node.body) : list(node.otherwise);
    MadeOf condition;
    add(node.condition, condition);
    conditions_.push_back(std::move(condition));
    saved_.emplace_back();
    list(node.body);
    Saved first;
    for (const auto &[var, state] : saved_.back()) {
      first.emplace(var, std::move(states_[var]));
      states_[var] = state;
    }
    close_arm();
    saved_.emplace_back();
    list(node.otherwise);
    conditions_.pop_back();
    first.insert(saved_.back().begin(), saved_.back().end()); // what only this arm changes
    close_arm();
    for (const auto &[var, state] : first)
      join(states_[var], state);
  }

  static void join(State &state, const State &other) {
    state.made.surely.keep(other.made.surely);
    state.made.possibly.add(other.made.possibly);
    state.growing |= other.growing;
    state.written |= other.written;
    state.elsewhere |= other.elsewhere;
    state.started &= other.started;
    state.fresh = state.fresh && other.fresh;
    state.unread = state.unread && other.unread;
    state.last.insert(other.last.begin(), other.last.end());
  }

  // Conditions around statements whose windows end elsewhere than the loop.
  bool asks_for_window(ExprId id) const {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::both)
      return asks_for_window(e.args[0]) && asks_for_window(e.args[1]);
    if (e.op != Op::lt && e.op != Op::ge)
      return false;
    const Expr &at = kernel_.expr(e.args[0]), &end = kernel_.expr(e.args[1]);
    return at.op == Op::index && (end.op == Op::size || (e.op == Op::ge && end.op == Op::constant && end.integer == 0));
  }

  // Conditions around what comes from other shares.
  AxisId share_asked_for(ExprId id) const {
    AxisId found = kNone;
    walk(kernel_, id, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if ((e.op == Op::index || e.op == Op::block || e.op == Op::size) && shares_.contains(e.axis))
        found = e.axis;
      return true;
    });
    return found;
  }

  const Kernel &kernel_;
  const AxisSet shares_;
  const Answers &answers_;
  Values &values_;
  Atoms &atoms_;
  const bool in_loops_; // each statement stands in the loops of its lanes
  const int nothing_, unfinished_;
  std::vector<State> states_;               // by memory
  std::vector<AxisId> loops_;               // around the statement at hand
  std::vector<std::vector<VarId>> touched_; // in each of them
  std::vector<const PlanNode *> around_;    // the same, as they stand in the plan
  std::vector<MadeOf> conditions_;
  std::vector<Saved> saved_;
  int depth_ = 0; // of loops whose rounds are in order
};

} // namespace

std::vector<MadeOf> effects_of(const Kernel &kernel, const std::vector<PlanNode> &program, const Answers &answers,
                               Atoms &atoms) {
  Values values(kernel, atoms);
  Walk all(kernel, AxisSet(), answers, values, atoms, false);
  all.list(program);
  return all.result();
}

std::vector<MadeOf> effects_of(const Plan &plan, const Answers &answers, Values &values, Atoms &atoms) {
  Walk all(plan.kernel, plan.shares, answers, values, atoms, true);
  for (const Phase &phase : plan.phases)
    if (phase.when == kNone || answers.holds(plan.kernel, phase.when) != phase.unless)
      all.list(phase.nodes);
  return all.result();
}

} // namespace kgen
