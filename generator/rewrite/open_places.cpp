// Statements are followed in order, with what each local stands for at the moment.
#include "rewrite/open_places.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "analysis/flow.h"
#include "ir/axes_of_values.h"
#include "ir/op_rows.h"
#include "ir/statements.h"
#include "rewrite/quotients.h"

namespace kgen {
namespace {

constexpr int kMostOperations = 8;                // more are better computed once
constexpr int kLittle = 1;                        // so many are better said than kept, wherever they stand
constexpr int64_t kMostNumber = int64_t{1} << 40; // of numbers that are added up

class Opening {
public:
  explicit Opening(const Kernel &kernel) : out_(kernel) {}

  Kernel run() {
    list(out_.statements);
    find_axes_of_values(out_);
    return std::move(out_);
  }

private:
  // A local's value in 64 bits, of positions and of numbers that are the same for all lanes.
  struct Meaning {
    ExprId value = kNone;
    int operations = 0;
  };

  void list(std::vector<Stmt> &statements) {
    for (Stmt &s : statements)
      statement(s);
  }

  void statement(Stmt &s) {
    if (s.kind == Stmt::Kind::loop)
      forget_targets({s});
    open(s.value);
    for (ExprId &index : s.indices)
      open(index);
    for (Coordinate &c : s.coords)
      place(c.value);
    if (s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::declare)
      return set(s);
    const std::map<VarId, Meaning> before = meanings_;
    for (std::vector<Stmt> *inner : {&s.body, &s.otherwise, &s.step}) {
      meanings_ = before;
      list(*inner);
    }
    meanings_ = before;
    forget_targets({s});
  }

  void set(const Stmt &s) {
    int operations = 0;
    const bool whole = s.kind == Stmt::Kind::assign && s.coords.empty() && s.indices.empty() &&
                       out_.vars[s.target].kind == Var::Kind::local && out_.vars[s.target].array.empty();
    // What gets more axes elsewhere has them here too, and may be folded along them.
    const bool same_axes = whole && out_.vars[s.target].axes == (out_.expr(s.value).axes | s.context);
    const bool known = same_axes && is_integer(out_.expr(s.value).type) && is_known(s.value, operations);
    const ExprId value = known ? opened(s.value) : kNone;
    forget(s.target);
    if (known && !analysis::reads(out_, value, s.target))
      meanings_[s.target] = {value, operations};
  }

  void forget_targets(const std::vector<Stmt> &statements) {
    for_each(statements, [&](const Stmt &s) {
      if (s.target != kNone)
        forget(s.target);
    });
  }

  void forget(VarId var) {
    std::erase_if(meanings_, [&](const auto &known) {
      return known.first == var || analysis::reads(out_, known.second.value, var);
    });
  }

  // Opens the places in the expression, and what is as short as its name; a copy, where there are any.
  void open(ExprId &id) {
    if (id == kNone)
      return;
    Expr e = out_.expr(id);
    if (const auto known = meanings_.find(e.ref); e.op == Op::read && e.type == Type::i64 && known != meanings_.end() &&
                                                  e.coords.empty() && known->second.operations <= kLittle) {
      id = known->second.value;
      return;
    }
    for (ExprId &arg : e.args)
      open(arg);
    for (Coordinate &c : e.coords)
      place(c.value);
    const Expr &was = out_.expr(id);
    const bool same_places = std::ranges::equal(e.coords, was.coords, {}, &Coordinate::value, &Coordinate::value);
    if (e.args != was.args || !same_places)
      id = out_.add(std::move(e));
  }

  void place(ExprId &id) {
    int operations = 0;
    if (is_known(id, operations))
      id = opened(id);
    else
      open(id);
  }

  // Is it computed of positions and of what is the same for all lanes, in a few steps that all hold their exact value?
  bool is_known(ExprId id, int &operations) const {
    const Expr &e = out_.expr(id);
    const bool asks = e.type == Type::boolean && e.op != Op::read && e.op != Op::scalar;
    if (e.type != Type::i64 && !(e.type == Type::i32 && is_bounded(e)) && !asks)
      return false;
    if (is_comparison(e.op) && !is_integer(out_.expr(e.args[0]).type))
      return false;
    switch (e.op) {
    case Op::constant:
    case Op::index:
    case Op::size:
    case Op::scalar:
      return true;
    case Op::read: {
      const auto known = meanings_.find(e.ref);
      if (known != meanings_.end() && e.coords.empty())
        operations += known->second.operations;
      return e.coords.empty() && operations <= kMostOperations && (known != meanings_.end() || is_number(e.ref));
    }
    case Op::cast:
      return is_known(e.args[0], operations);
    case Op::shr:
    case Op::bit_and:
      return divisor(e) != 0 && ++operations <= kMostOperations && is_known(e.args[0], operations);
    case Op::choose:
    case Op::both:
    case Op::either:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::eq:
    case Op::ne:
    case Op::logical_not:
    case Op::abs:
    case Op::neg:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::rem:
    case Op::min:
    case Op::max:
    case Op::clamp:
      return ++operations <= kMostOperations &&
             std::ranges::all_of(e.args, [&](ExprId arg) { return is_known(arg, operations); });
    default:
      return false;
    }
  }

  // What `n >> 3` and `n & 7` divide by where n is not negative; 0: they are not known to divide.
  int64_t divisor(const Expr &e) const { return out_.expr(e.args[0]).bounds.low < 0 ? 0 : divisor_of(out_, e); }

  // A local without axes, as the counter of a loop is.
  bool is_number(VarId var) const {
    const Var &v = out_.vars[var];
    return v.kind == Var::Kind::local && v.axes.empty() && v.array.empty();
  }

  // Its numbers in 64 bits.
  ExprId opened(ExprId id) {
    Expr e = out_.expr(id);
    if (e.op == Op::read)
      if (const auto known = meanings_.find(e.ref); known != meanings_.end())
        return known->second.value;
    if (e.op == Op::cast && is_integer(e.type) && is_integer(out_.expr(e.args[0]).type))
      return opened(e.args[0]);
    if ((e.op == Op::scalar || e.op == Op::read) && is_integer(e.type) && e.type != Type::i64)
      return widened(id);
    if (e.op == Op::shr || e.op == Op::bit_and)
      return quotient(e);
    for (ExprId &arg : e.args)
      arg = opened(arg);
    if (is_integer(e.type))
      e.type = Type::i64;
    e = with_one_number(std::move(e));
    return is_as_before(e, id) ? id : out_.add(std::move(e));
  }

  ExprId quotient(Expr e) {
    Expr number;
    number.type = Type::i64;
    number.integer = divisor(e);
    e.op = e.op == Op::shr ? Op::div : Op::rem;
    e.type = Type::i64;
    e.args = {opened(e.args[0]), out_.add(number)};
    return out_.add(std::move(e));
  }

  bool is_as_before(const Expr &e, ExprId id) const {
    const Expr &was = out_.expr(id);
    return e.op == was.op && e.type == was.type && e.args == was.args && e.integer == was.integer;
  }

  ExprId widened(ExprId id) {
    Expr wide;
    wide.op = Op::cast;
    wide.type = Type::i64;
    wide.axes = out_.expr(id).axes;
    wide.bounds = out_.expr(id).bounds;
    wide.args = {id};
    wide.place = out_.expr(id).place;
    return out_.add(wide);
  }

  // x + 1 - 2 is x - 1.
  Expr with_one_number(Expr e) {
    const auto number = [&](const Expr &sum) -> std::optional<int64_t> {
      if ((sum.op != Op::add && sum.op != Op::sub) || out_.expr(sum.args[1]).op != Op::constant)
        return std::nullopt;
      const int64_t value = out_.expr(sum.args[1]).integer;
      return std::abs(value) > kMostNumber ? std::nullopt : std::optional(sum.op == Op::add ? value : -value);
    };
    const auto outer = number(e), inner = outer ? number(out_.expr(e.args[0])) : std::nullopt;
    if (!inner)
      return e;
    const int64_t both = *inner + *outer;
    if (both == 0)
      return out_.expr(out_.expr(e.args[0]).args[0]);
    Expr rest = out_.expr(e.args[1]);
    rest.integer = std::abs(both);
    e.op = both > 0 ? Op::add : Op::sub;
    e.args = {out_.expr(e.args[0]).args[0], out_.add(rest)};
    return e;
  }

  Kernel out_;
  std::map<VarId, Meaning> meanings_;
};

} // namespace

Kernel open_places(const Kernel &kernel) { return Opening(kernel).run(); }

} // namespace kgen
