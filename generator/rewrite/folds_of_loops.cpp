// Inner loops come first, so that a loop around a fold may become one as well. The rest of a body, which sets locals
// that each round has for itself, stays as statements along the axis.
#include "rewrite/folds_of_loops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "ir/axes_of_values.h"
#include "ir/statements.h"
#include "rewrite/counted_loops.h"
#include "rewrite/fold_locals.h"
#include "rewrite/totals_of_loops.h"

namespace kgen {
namespace {

constexpr size_t kMostAxes = 64; // an AxisSet has so many

class Folding {
public:
  Folding(const Kernel &kernel, bool with_own_axes) : out_(kernel), with_own_axes_(with_own_axes) {}

  Kernel run() {
    list(out_.statements);
    return std::move(out_);
  }

private:
  void list(std::vector<Stmt> &statements) {
    for (Stmt &s : statements)
      for (std::vector<Stmt> *inner : {&s.body, &s.otherwise})
        list(*inner);
    for (size_t at = 1; at < statements.size();)
      at = fold(statements, at) ? at : at + 1;
  }

  // Makes folds of the loop that stands there, and drops what sets its counter.
  bool fold(std::vector<Stmt> &statements, size_t at) {
    const std::optional<CountedLoop> loop = counted_loop(out_, statements, at);
    if (!loop)
      return false;
    loop_ = *loop;
    totals_ = totals_of(out_, statements[at], loop_);
    if (totals_.empty() || !settle_axis(statements[at]))
      return false;
    const std::vector<Stmt> now = rebuilt(statements[at].body);
    const auto place = [&](size_t i) { return statements.begin() + static_cast<ptrdiff_t>(i); };
    statements.erase(place(at));
    statements.insert(place(at), now.begin(), now.end());
    statements.erase(place(loop_.start));
    find_axes_of_values(out_);
    return true;
  }

  // The axis itself, or one that is as long, where the point has a place along that already.
  bool settle_axis(const Stmt &loop) {
    axis_ = loop_.axis;
    if (!axes_around(out_, loop).contains(axis_))
      return true;
    Axis other;
    other.name = out_.axes[axis_].name + "_" + out_.vars[loop_.counter].name;
    const auto is_name = [&](const Axis &axis) { return axis.name == other.name; };
    if (!with_own_axes_ || out_.axes[axis_].ragged != kNone || out_.axes.size() >= kMostAxes ||
        std::ranges::any_of(out_.axes, is_name))
      return false;
    other.size = other.block = out_.axes[axis_].size;
    other.start = Size::integer(0);
    other.place = out_.axes[axis_].place;
    out_.axes.push_back(other);
    axis_ = static_cast<AxisId>(out_.axes.size()) - 1;
    return true;
  }

  std::vector<Stmt> rebuilt(const std::vector<Stmt> &body) {
    made_.clear();
    std::vector<Stmt> out;
    for (const Stmt &s : body)
      if (const auto found = totals_.find(&s); found == totals_.end())
        count(out.emplace_back(s));
      else
        for (const Total &total : found->second)
          add_total(s, total, out);
    return out;
  }

  void count(Stmt &s) {
    if (s.value != kNone)
      s.value = counted(s.value);
    for (std::vector<Stmt> *inner : {&s.body, &s.otherwise, &s.step})
      for (Stmt &one : *inner)
        count(one);
  }

  void add_total(const Stmt &s, const Total &total, std::vector<Stmt> &out) {
    place_ = s.place;
    Stmt sets = s;
    sets.kind = Stmt::Kind::assign;
    sets.body.clear();
    sets.target = total.target;
    if (!total.better) {
      sets.value = make(total.op, total.type, {read(total.target, total.type), fold(total, total.monoid, total.type)});
      out.push_back(sets);
      return;
    }
    // The best of all rounds, if it is better than what there was; its place first, which asks that as well.
    const Stmt finds = keep_fold(out_, fold(total, total.monoid, total.type), {});
    out.push_back(finds);
    const ExprId best = read(finds.target, total.type), before = read(total.target, total.type);
    const ExprId question = make(*total.better, Type::boolean, {best, before});
    if (total.place != kNone) {
      const Type type = out_.vars[total.place].type;
      const Monoid where = total.monoid == Monoid::max ? Monoid::argmax : Monoid::argmin;
      Stmt places = sets;
      places.target = total.place;
      places.value =
          make(Op::choose, type, {question, as(fold(total, where, Type::i64), type), read(total.place, type)});
      out.push_back(places);
    }
    sets.value = make(Op::choose, total.type, {question, best, before});
    out.push_back(sets);
  }

  ExprId fold(const Total &total, Monoid monoid, Type type) {
    ExprId value = counted(total.value);
    if (total.factor != kNone)
      value = make(Op::mul, total.type, {value, counted(total.factor)});
    if (total.is_taken_away)
      value = make(Op::neg, total.type, {value});
    ExprId condition = range();
    if (total.condition != kNone)
      condition = both(condition, counted(total.condition));
    if (total.better && is_floating(total.type)) // what is no number is better than nothing
      value = make(Op::choose, total.type, {make(Op::eq, Type::boolean, {value, value}), value, worst(total)});
    Expr e;
    e.op = Op::fold;
    e.type = type;
    e.accumulator = total.type;
    e.monoid = monoid;
    e.reduced = AxisSet::of(axis_);
    e.args = {value};
    if (condition != kNone)
      e.args.push_back(condition);
    e.place = place_;
    return out_.add(std::move(e));
  }

  ExprId worst(const Total &total) {
    Expr e;
    e.type = total.type;
    e.number = total.monoid == Monoid::max ? -std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::infinity();
    e.place = place_;
    return out_.add(std::move(e));
  }

  // Of all positions, those to which it counts; kNone: all.
  ExprId range() {
    ExprId out = kNone;
    if (loop_.low != kNone)
      out = make(Op::ge, Type::boolean, {index(Type::i64), as(loop_.low, Type::i64)});
    if (loop_.high != kNone)
      out = both(out,
                 make(loop_.with_high ? Op::le : Op::lt, Type::boolean, {index(Type::i64), as(loop_.high, Type::i64)}));
    return out;
  }

  ExprId both(ExprId a, ExprId b) { return a == kNone ? b : make(Op::both, Type::boolean, {a, b}); }

  ExprId read(VarId var, Type type) {
    Expr e;
    e.op = Op::read;
    e.type = type;
    e.ref = var;
    e.place = place_;
    return out_.add(std::move(e));
  }

  ExprId make(Op op, Type type, std::vector<ExprId> args) {
    Expr e;
    e.op = op;
    e.type = type;
    e.args = std::move(args);
    e.place = place_;
    return out_.add(std::move(e));
  }

  ExprId as(ExprId id, Type type) { return out_.expr(id).type == type ? id : make(Op::cast, type, {id}); }

  ExprId index(Type type) {
    Expr e;
    e.op = Op::index;
    e.type = Type::i64;
    e.axis = axis_;
    e.place = place_;
    return as(out_.add(std::move(e)), type);
  }

  // The same with the index of the axis for the counter.
  ExprId counted(ExprId id) {
    if (const auto known = made_.find(id); known != made_.end())
      return known->second;
    return made_[id] = make_counted(id);
  }

  ExprId make_counted(ExprId id) {
    Expr e = out_.expr(id);
    place_ = e.place;
    if (is_counter(out_, id, loop_.counter))
      return index(e.type);
    for (ExprId &arg : e.args)
      arg = counted(arg);
    std::vector<Coordinate> coords;
    for (const Coordinate &c : e.coords)
      if (!is_here(e, c))
        coords.push_back({c.axis, counted(c.value)});
    e.coords = coords;
    const Expr &was = out_.expr(id);
    const bool same = e.args == was.args && std::ranges::equal(e.coords, was.coords, [](const auto &a, const auto &b) {
                        return a.axis == b.axis && a.value == b.value;
                      });
    return same ? id : out_.add(std::move(e));
  }

  // Is the coordinate the position along the axis itself?
  bool is_here(const Expr &e, const Coordinate &c) const {
    if (e.op != Op::read || c.axis != axis_ || !is_counter(out_, c.value, loop_.counter))
      return false;
    const Var &var = out_.vars[e.ref];
    return var.axes.contains(axis_) && std::ranges::all_of(var.dims, [&](const Dim &dim) {
             return dim.axis != axis_ ||
                    (dim.whole && !dim.offset && !dim.may_miss && is_size_of(out_.axes[axis_], dim.extent));
           });
  }

  Kernel out_;
  const bool with_own_axes_;
  CountedLoop loop_;
  std::map<const Stmt *, std::vector<Total>> totals_;
  AxisId axis_ = kNone; // of the folds
  Place place_;
  std::map<ExprId, ExprId> made_;
};

} // namespace

Kernel folds_of_loops(const Kernel &kernel, bool with_own_axes) { return Folding(kernel, with_own_axes).run(); }

} // namespace kgen
