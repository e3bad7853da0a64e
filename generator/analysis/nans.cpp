// Expressions are numbered by value: what stands twice, or goes by way of a local, has one number. Everything that
// leaves the numbered values is an end: what is stored, what decides, what indexes. An extreme may ignore the NaN of an
// argument when each end is NaN by that argument, or does not depend on the extreme.
//
// Those that may come to ignore NaN count as stopping it, so that all that are found may ignore it together.
#include "analysis/nans.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "analysis/flow.h"
#include "ir/op_rows.h"

namespace kgen::analysis {
namespace {

using ValueId = int;

// A NaN of `value` at the current point, or at any along `over`.
struct Source {
  ValueId value;
  AxisSet over;
  bool operator<(const Source &o) const {
    return std::make_pair(value, over.bits()) < std::make_pair(o.value, o.over.bits());
  }
};

struct Value {
  ExprId expr;
  std::vector<ValueId> args;
  std::set<Source> shows; // whose NaN makes this NaN
};

// NaN where an argument is, for all values of the others.
bool hands_on_nan(Op op) { return has(op, op::carries_nan) || op == Op::cast || op == Op::round_like; }

// One side of the others is the same for all elements: these take no more than one instruction anyway.
bool may_ignore_nan(const Kernel &kernel, const Expr &e) {
  return (e.op == Op::min || e.op == Op::max) && is_floating(e.type) && !kernel.expr(e.args[0]).axes.empty() &&
         !kernel.expr(e.args[1]).axes.empty();
}

bool adds_or_multiplies(const Expr &fold) {
  return fold.args.size() == 1 &&
         (fold.monoid == Monoid::sum || fold.monoid == Monoid::product || fold.monoid == Monoid::mean);
}

// The locals that stand for one expression: set once, outside loops, and read only after that, where it surely was.
class Names {
public:
  explicit Names(const Kernel &kernel) : kernel_(kernel), homes_(kernel.vars.size()) { walk(kernel.statements, false); }

  // kNone: it does not.
  ExprId meaning(VarId local) const { return homes_[local].known ? homes_[local].value : kNone; }

private:
  struct Home {
    bool known = true;
    ExprId value = kNone;
    const std::vector<Stmt> *list = nullptr;
  };

  void walk(const std::vector<Stmt> &list, bool repeated) {
    open_.push_back(&list);
    for (const Stmt &stmt : list) {
      for (ExprId id : expressions_of(stmt))
        visit_expressions(kernel_, id, [&](const Expr &e, ExprId) { note_read(e); });
      const bool repeats = repeated || stmt.kind == Stmt::Kind::loop;
      for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
        walk(*inner, repeats);
      if (stmt.target != kNone)
        note_write(stmt, list, repeated);
    }
    open_.pop_back();
  }

  void note_read(const Expr &e) {
    if (e.op != Op::read && e.op != Op::element)
      return;
    Home &home = homes_[e.ref];
    home.known &= std::find(open_.begin(), open_.end(), home.list) != open_.end();
  }

  void note_write(const Stmt &stmt, const std::vector<Stmt> &list, bool repeated) {
    Home &home = homes_[stmt.target];
    const Var &var = kernel_.vars[stmt.target];
    home.known &= home.list == nullptr && !repeated && stmt.kind == Stmt::Kind::assign && stmt.indices.empty() &&
                  stmt.coords.empty() && var.kind == Var::Kind::local && is_floating(var.type) &&
                  is_floating(kernel_.expr(stmt.value).type);
    home.list = &list;
    home.value = stmt.value;
  }

  const Kernel &kernel_;
  std::vector<Home> homes_;
  std::vector<const std::vector<Stmt> *> open_;
};

class Values {
public:
  Values(const Kernel &kernel, const std::set<ExprId> &extremes) : kernel_(kernel), names_(kernel) {
    visit_statements(kernel.statements, [&](const Stmt &stmt, const std::vector<const Stmt *> &) {
      const bool names = stmt.target != kNone && names_.meaning(stmt.target) != kNone;
      for (ExprId id : expressions_of(stmt))
        if (const ValueId value = number(id); !names)
          ends_.insert(value);
    });
    for (ExprId id : extremes)
      asked_.insert(values_[number(id)].args.begin(), values_[number(id)].args.end());
    for (ValueId value = 0; value < static_cast<ValueId>(values_.size()); ++value)
      values_[value].shows = shown_by(value);
  }

  // May the extreme ignore the NaN of its arguments?
  bool nan_shows(ExprId extreme) {
    const ValueId value = number(extreme);
    return std::all_of(values_[value].args.begin(), values_[value].args.end(),
                       [&](ValueId arg) { return Question(*this, value, arg).shows_at(ends_); });
  }

private:
  // Does the NaN of one argument of an extreme show wherever something depends on the extreme?
  class Question {
  public:
    Question(const Values &values, ValueId extreme, ValueId arg) : values_(values), extreme_(extreme), arg_(arg) {
      for (ValueId id = extreme; id < static_cast<ValueId>(values.values_.size()); ++id)
        answers_.push_back(find(id));
    }

    bool shows_at(const std::set<ValueId> &ends) const {
      return std::all_of(ends.begin(), ends.end(), [&](ValueId end) { return of(end).shows; });
    }

  private:
    struct Answer {
      bool hangs = false; // on the extreme,
      bool apart = false; // at points that nothing here accounts for,
      AxisSet over;       // or at all points along these axes
      bool shows = true;  // NaN by the argument, or does not depend on the extreme
    };

    // What a value is made of has a lower number.
    Answer of(ValueId id) const { return id < extreme_ ? Answer{} : answers_[static_cast<size_t>(id - extreme_)]; }

    Answer find(ValueId id) const {
      if (id == extreme_)
        return {.hangs = true, .apart = false, .over = {}, .shows = false};
      const Value &value = values_.values_[id];
      const Expr &e = values_.kernel_.expr(value.expr);
      Answer all;
      for (ValueId arg : value.args) {
        const Answer one = of(arg);
        all.hangs |= one.hangs;
        all.apart |= one.apart;
        all.over |= one.over;
        all.shows &= one.shows;
      }
      if (!all.hangs)
        return {};
      all.apart |= e.op == Op::scan || e.op == Op::read; // a local at other coordinates
      all.over |= e.op == Op::fold ? e.reduced : AxisSet();
      const AxisSet needed = all.over & values_.kernel_.expr(values_.values_[arg_].expr).axes;
      all.shows |= !all.apart && std::any_of(value.shows.begin(), value.shows.end(), [&](const Source &source) {
        return source.value == arg_ && source.over.contains(needed);
      });
      return all;
    }

    const Values &values_;
    ValueId extreme_, arg_;
    std::vector<Answer> answers_; // of the extreme and all that follow
  };

  // What tells two expressions apart but their arguments; numbers by their bits, as NaN has no order. Reads of what
  // statements write are all different.
  using Key = std::tuple<Op, Type, int, AxisId, int64_t, uint64_t, Monoid, uint64_t, int, Type, Type, ExprId,
                         std::vector<ValueId>>;

  ValueId number(ExprId id) {
    if (const auto known = numbers_.find(id); known != numbers_.end())
      return known->second;
    return numbers_[id] = find_number(id);
  }

  ValueId find_number(ExprId id) {
    const Expr &e = kernel_.expr(id);
    Value value{id, {}, {}};
    ExprId own = kNone;
    if (e.op == Op::read || e.op == Op::element) {
      const Var &var = kernel_.vars[e.ref];
      const ExprId meaning = var.kind == Var::Kind::local ? names_.meaning(e.ref) : kNone;
      if (meaning != kNone && e.coords.empty())
        return number(meaning);
      if (meaning != kNone)
        value.args.push_back(number(meaning));
      else if (var.kind != Var::Kind::input || var.alias != kNone)
        own = id;
    }
    for (ExprId arg : e.args)
      value.args.push_back(number(arg));
    for (const Coordinate &coordinate : e.coords)
      value.args.push_back(number(coordinate.value));
    std::vector<ValueId> told = value.args;
    for (const Coordinate &coordinate : e.coords)
      told.push_back(coordinate.axis);
    const int order = static_cast<int>(e.scan) * 4 + e.reverse * 2 + e.exclusive;
    const auto [at, added] =
        known_.emplace(Key(e.op, e.type, e.ref, e.axis, e.integer, std::bit_cast<uint64_t>(e.number), e.monoid,
                           e.reduced.bits(), order, e.accumulator, e.element, own, told),
                       static_cast<ValueId>(values_.size()));
    if (added)
      values_.push_back(std::move(value));
    return at->second;
  }

  // Of those that are asked for. What a value is made of has a lower number.
  std::set<Source> shown_by(ValueId self) const {
    const Expr &e = kernel_.expr(values_[self].expr);
    const std::vector<ValueId> &args = values_[self].args;
    std::set<Source> out;
    if (!is_floating(e.type))
      return out;
    const bool extreme = e.op == Op::min || e.op == Op::max;
    if (hands_on_nan(e.op) || (extreme && !may_ignore_nan(kernel_, e)))
      for (ValueId arg : args)
        out.insert(values_[arg].shows.begin(), values_[arg].shows.end());
    if (e.op == Op::choose)
      std::set_intersection(values_[args[1]].shows.begin(), values_[args[1]].shows.end(),
                            values_[args[2]].shows.begin(), values_[args[2]].shows.end(),
                            std::inserter(out, out.end()));
    if (e.op == Op::fold && adds_or_multiplies(e))
      for (const Source &source : values_[args[0]].shows)
        if (kernel_.expr(values_[source.value].expr).axes.contains(e.reduced))
          out.insert({source.value, source.over | e.reduced});
    if (asked_.count(self) != 0)
      out.insert({self, {}});
    return out;
  }

  const Kernel &kernel_;
  Names names_;
  std::vector<Value> values_;
  std::map<ExprId, ValueId> numbers_;
  std::map<Key, ValueId> known_;
  std::set<ValueId> ends_, asked_; // the arguments of extremes
};

} // namespace

void find_shown_nans(Kernel &kernel) {
  std::set<ExprId> extremes;
  visit_statements(kernel.statements, [&](const Stmt &stmt, const std::vector<const Stmt *> &) {
    for (ExprId id : expressions_of(stmt))
      visit_expressions(kernel, id, [&](const Expr &e, ExprId at) {
        if (may_ignore_nan(kernel, e))
          extremes.insert(at);
      });
  });
  if (extremes.empty())
    return;
  Values values(kernel, extremes);
  for (ExprId id : extremes)
    kernel.exprs[id].nan_shows = values.nan_shows(id);
}

} // namespace kgen::analysis
