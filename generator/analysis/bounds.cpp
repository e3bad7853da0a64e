#include "analysis/bounds.h"

#include <algorithm>

#include "analysis/coordinates.h"
#include "analysis/flow.h"
#include "ir/op_rows.h"

namespace kgen::analysis {
namespace {

using Wide = __int128;
constexpr int kDeepest = 4; // loops within loops that are gone through until nothing moves

struct WideBounds {
  Wide low, high;
};

Bounds join(Bounds a, Bounds b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.below == b.below ? a.below : kNone};
}

// The locals of which more is known than their type, by number. Few, and copied often: at each turn of the statements.
class Known {
  using Entry = std::pair<VarId, Bounds>;

  template <class Entries> static auto place(Entries &entries, VarId var) {
    return std::lower_bound(entries.begin(), entries.end(), var,
                            [](const Entry &entry, VarId wanted) { return entry.first < wanted; });
  }

public:
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  std::vector<Entry>::const_iterator find(VarId var) const {
    const auto at = place(entries_, var);
    return at != end() && at->first == var ? at : end();
  }
  Bounds &operator[](VarId var) {
    auto at = place(entries_, var);
    if (at == entries_.end() || at->first != var)
      at = entries_.insert(at, {var, Bounds()});
    return at->second;
  }
  void erase(VarId var) {
    if (const auto at = find(var); at != end())
      entries_.erase(at);
  }

private:
  std::vector<Entry> entries_;
};
// Where a statement stands; none: no lane comes there.
using State = std::optional<Known>;

State join(const State &a, const State &b) {
  if (!a || !b)
    return a ? a : b;
  Known out;
  for (const auto &[var, range] : *a)
    if (const auto other = b->find(var); other != b->end())
      out[var] = join(range, other->second);
  return out;
}

bool covers(const State &outer, const State &inner) {
  if (!inner || !outer)
    return !inner;
  return std::all_of(outer->begin(), outer->end(), [&](const auto &known) {
    const auto other = inner->find(known.first);
    return other != inner->end() && contains(known.second, other->second);
  });
}

// Bounds that move are given up, so that this ends.
State widen(const Kernel &kernel, const State &before, const State &now) {
  if (!before || !now)
    return before ? before : now;
  Known out;
  for (const auto &[var, range] : *before)
    if (const auto other = now->find(var); other != now->end()) {
      const Bounds all = bounds_of(kernel.vars[var].type);
      out[var] = {other->second.low < range.low ? all.low : range.low,
                  other->second.high > range.high ? all.high : range.high,
                  other->second.below == range.below ? range.below : kNone};
    }
  return out;
}

class Follower {
public:
  explicit Follower(Kernel &kernel) : kernel_(kernel), found_(kernel.exprs.size()) {}

  void run() {
    list(kernel_.statements, Known());
    for (size_t id = 0; id < found_.size(); ++id)
      kernel_.exprs[id].bounds = found_[id].value_or(Bounds());
  }

private:
  // ---- statements ---------------------------------------------------------------------------------------------------

  State list(const std::vector<Stmt> &statements, State state) {
    for (const Stmt &stmt : statements)
      state = statement(stmt, std::move(state));
    return state;
  }

  State statement(const Stmt &stmt, State state) {
    if (stmt.kind == Stmt::Kind::loop)
      return loop(stmt, state);
    if (!state)
      return state;
    for (ExprId id : expressions_of(stmt))
      value(id, *state);
    switch (stmt.kind) {
    case Stmt::Kind::assign:
      set(stmt, *state);
      return state;
    case Stmt::Kind::branch: {
      ++conditions_;
      const State taken = list(stmt.body, given(stmt.value, true, state)),
                  rest = list(stmt.otherwise, given(stmt.value, false, state));
      --conditions_;
      return join(taken, rest);
    }
    case Stmt::Kind::leave:
      left_ = join(left_, state);
      return std::nullopt;
    case Stmt::Kind::next:
      next_ = join(next_, state);
      return std::nullopt;
    default:
      return state;
    }
  }

  void set(const Stmt &stmt, Known &known) {
    const Var &var = kernel_.vars[stmt.target];
    if (var.kind != Var::Kind::local || !is_integer(var.type))
      return;
    const Bounds all = bounds_of(var.type), range = value(stmt.value, known);
    if (stmt.coords.empty() && stmt.indices.empty() && is_integer(kernel_.expr(stmt.value).type) &&
        contains(all, range))
      known[stmt.target] = range;
    else
      known.erase(stmt.target);
  }

  struct Round {
    State again, after; // at the end of the round; where lanes go on behind the loop
  };

  Round round(const Stmt &loop, State state) {
    State after;
    if (loop.value != kNone && state) {
      value(loop.value, *state);
      after = given(loop.value, false, state);
      state = given(loop.value, true, state);
    }
    const State outer_left = std::exchange(left_, std::nullopt), outer_next = std::exchange(next_, std::nullopt);
    state = join(list(loop.body, state), next_);
    state = list(loop.step, state);
    after = join(after, left_);
    left_ = outer_left;
    next_ = outer_next;
    return {state, after};
  }

  State loop(const Stmt &stmt, const State &entry) {
    State head = entry;
    ++conditions_;
    ++depth_;
    ++trying_;
    if (depth_ > kDeepest) {
      forget(stmt, head);
    } else {
      for (;;) {
        const State again = join(entry, round(stmt, head).again);
        if (covers(head, again))
          break;
        head = widen(kernel_, head, again);
      }
      head = join(entry, round(stmt, head).again); // what conditions say of the bounds that were given up
    }
    --trying_;
    const State after = round(stmt, head).after;
    --depth_;
    --conditions_;
    return after;
  }

  static void forget(const Stmt &stmt, State &state) {
    for (const auto *inner : {&stmt.body, &stmt.otherwise, &stmt.step})
      visit_statements(*inner, [&](const Stmt &s, const auto &) {
        if (state)
          state->erase(s.target);
      });
  }

  // ---- conditions ---------------------------------------------------------------------------------------------------

  // Where the condition holds, or does not.
  State given(ExprId id, bool holds, State state) {
    const Expr &e = kernel_.expr(id);
    if (!state)
      return state;
    if (e.op == Op::logical_not)
      return given(e.args[0], !holds, state);
    if (e.op == (holds ? Op::both : Op::either))
      return given(e.args[1], holds, given(e.args[0], holds, state));
    if (!is_comparison(e.op))
      return state;
    const Bounds a = value(e.args[0], *state), b = value(e.args[1], *state);
    if (!is_integer(kernel_.expr(e.args[0]).type) || kernel_.expr(e.args[0]).type == Type::u64)
      return state;
    const Op op = holds ? e.op : negated(e.op);
    const auto below = [](Bounds r) { return r.high == INT64_MIN ? r.high : r.high - 1; };
    const auto above = [](Bounds r) { return r.low == INT64_MAX ? r.low : r.low + 1; };
    Bounds left, right;
    if (op == Op::lt)
      left.high = below(b), right.low = above(a), left.below = size_of(e.args[1], *state);
    if (op == Op::le)
      left.high = b.high, right.low = a.low;
    if (op == Op::gt)
      left.low = above(b), right.high = below(a), right.below = size_of(e.args[0], *state);
    if (op == Op::ge)
      left.low = b.low, right.high = a.high;
    if (op == Op::eq)
      left = b, right = a;
    bound(e.args[0], left, state);
    bound(e.args[1], right, state);
    return state;
  }

  void bound(ExprId id, Bounds by, State &state) {
    const Expr &e = kernel_.expr(id);
    if (!state)
      return;
    if (e.op == Op::cast && is_integer(kernel_.expr(e.args[0]).type) &&
        contains(bounds_of(e.type), value(e.args[0], *state)))
      return bound(e.args[0], by, state);
    if (e.op != Op::read || !is_followed(e))
      return;
    const Bounds old = value(id, *state),
                 both{std::max(old.low, by.low), std::min(old.high, by.high), by.below != kNone ? by.below : old.below};
    if (both.low > both.high)
      state.reset();
    else
      (*state)[e.ref] = both;
  }

  // ---- values -------------------------------------------------------------------------------------------------------

  bool is_followed(const Expr &read) const {
    const Var &var = kernel_.vars[read.ref];
    return var.kind == Var::Kind::local && is_integer(var.type) && var.type != Type::u64 && var.array.empty() &&
           read.coords.empty();
  }

  Bounds value(ExprId id, const Known &known) {
    const Expr &e = kernel_.expr(id);
    // Folds go over points that conditions around them have not let in.
    static const Known kNothing;
    const bool folds = (e.op == Op::fold || e.op == Op::scan) && conditions_ > 0;
    for (const Coordinate &c : e.coords)
      value(c.value, known);
    std::vector<Bounds> args;
    for (ExprId arg : e.args)
      args.push_back(value(arg, folds ? kNothing : known));
    const Bounds all = bounds_of(e.type);
    Bounds out = all;
    if ((is_integer(e.type) && e.type != Type::u64) || e.type == Type::boolean)
      if (const std::optional<WideBounds> found = computed(e, args, known);
          found && found->low >= all.low && found->high <= all.high)
        out = {static_cast<int64_t>(found->low), static_cast<int64_t>(found->high), below(e, args, known)};
    if (trying_ == 0)
      found_[id] = found_[id] ? join(*found_[id], out) : out;
    return out;
  }

  // The axis whose size this is at most, or none.
  AxisId size_of(ExprId id, const Known &known) {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::sub && e.type == Type::i64 && value(e.args[1], known).low >= 0)
      return size_of(e.args[0], known);
    if (e.op == Op::cast && bytes_of(e.type) == 8 && is_integer(kernel_.expr(e.args[0]).type))
      return size_of(e.args[0], known);
    return e.op == Op::size && e.ref == kNone && kernel_.axes[e.axis].ragged == kNone ? e.axis : kNone;
  }

  // The size that a value is below, where its exact result fits its type.
  AxisId below(const Expr &e, const std::vector<Bounds> &args, const Known &known) {
    if (e.op == Op::read) {
      const auto at = known.find(e.ref);
      return at != known.end() && is_followed(e) ? at->second.below : kNone;
    }
    if (e.op == Op::index)
      return e.ref == kNone && index_count(kernel_, e.axis, kNone) ? e.axis : kNone;
    if (e.op == Op::sub && args[1].low >= 1)
      if (const AxisId axis = size_of(e.args[0], known); axis != kNone)
        return axis;
    if (e.op == Op::cast || (e.op == Op::sub && args[1].low >= 0))
      return args[0].below;
    if (e.op == Op::min)
      return args[0].below != kNone ? args[0].below : args[1].below;
    return kNone;
  }

  // Before the type limits it; none: nothing is known.
  std::optional<WideBounds> computed(const Expr &e, const std::vector<Bounds> &args, const Known &known) const {
    const auto low = [&](size_t i) { return Wide(args[i].low); };
    const auto high = [&](size_t i) { return Wide(args[i].high); };
    switch (e.op) {
    case Op::constant:
      return WideBounds{e.integer, e.integer};
    case Op::read:
      if (const auto it = known.find(e.ref); it != known.end() && is_followed(e))
        return WideBounds{it->second.low, it->second.high};
      return std::nullopt;
    case Op::index:
      return position(e);
    case Op::size: {
      const Axis &axis = kernel_.axes[e.axis];
      const bool known_size = e.ref == kNone && axis.ragged == kNone && axis.size.is_integer();
      const bool fits_int = e.ref == kNone && axis.ragged == kNone && axis.most_in_int > 0;
      return known_size ? WideBounds{axis.size.value, axis.size.value}
                        : WideBounds{0, fits_int ? axis.most_in_int : INT64_MAX};
    }
    case Op::fold:
      return folded(e, {low(0), high(0)});
    case Op::cast:
      if (is_floating(kernel_.expr(e.args[0]).type) || kernel_.expr(e.args[0]).type == Type::u64 ||
          e.type == Type::boolean)
        return std::nullopt;
      return WideBounds{low(0), high(0)};
    case Op::choose:
      return WideBounds{std::min(low(1), low(2)), std::max(high(1), high(2))};
    case Op::add:
      return WideBounds{low(0) + low(1), high(0) + high(1)};
    case Op::sub:
      return WideBounds{low(0) - high(1), high(0) - low(1)};
    case Op::neg:
      return WideBounds{-high(0), -low(0)};
    case Op::abs:
      return WideBounds{low(0) > 0 ? low(0) : high(0) < 0 ? -high(0) : 0, std::max(-low(0), high(0))};
    case Op::min:
      return WideBounds{std::min(low(0), low(1)), std::min(high(0), high(1))};
    case Op::max:
      return WideBounds{std::max(low(0), low(1)), std::max(high(0), high(1))};
    case Op::clamp: // min(max(x, least), most)
      return WideBounds{std::min(std::max(low(0), low(1)), low(2)), std::min(std::max(high(0), high(1)), high(2))};
    case Op::mul:
      return corners(args, [](Wide a, Wide b) { return a * b; });
    case Op::div:
      if (args[1].low < 1)
        return std::nullopt;
      return corners(args, [](Wide a, Wide b) { return a / b; });
    case Op::rem: {
      if (args[1].low < 1)
        return std::nullopt;
      const Wide most = high(1) - 1;
      return WideBounds{args[0].low < 0 ? std::max(-most, low(0)) : 0, args[0].high > 0 ? std::min(most, high(0)) : 0};
    }
    case Op::bit_and: // with a number that is not negative
      if (args[0].low < 0 && args[1].low < 0)
        return std::nullopt;
      return WideBounds{0, args[0].low < 0 ? high(1) : args[1].low < 0 ? high(0) : std::min(high(0), high(1))};
    case Op::bit_or: // of numbers that are not negative: has no higher bit than they have
    case Op::bit_xor:
      if (args[0].low < 0 || args[1].low < 0)
        return std::nullopt;
      return WideBounds{0, all_bits(std::max(high(0), high(1)))};
    case Op::bit_not:
      return WideBounds{-high(0) - 1, -low(0) - 1};
    case Op::shl:
    case Op::shr:
      if (args[1].low < 0 || args[1].high >= 8 * bytes_of(e.type))
        return std::nullopt;
      if (e.op == Op::shl)
        return corners(args, [](Wide a, Wide b) { return a * (Wide(1) << static_cast<int>(b)); });
      return corners(args, [](Wide a, Wide b) { return a >> static_cast<int>(b); });
    case Op::sign:
      return WideBounds{sign(low(0)), sign(high(0))};
    default:
      return std::nullopt;
    }
  }

  // Of so many values that are met at most; conditions may leave some out.
  std::optional<WideBounds> folded(const Expr &fold, WideBounds each) const {
    if (fold.monoid != Monoid::sum || !is_integer(fold.type))
      return std::nullopt;
    constexpr Wide kMost = Wide(1) << 40;
    Wide count = 1;
    for (AxisId axis : fold.reduced.list()) {
      const std::optional<int64_t> most = most_positions(kernel_.axes[axis]);
      if (!most || (count *= *most) > kMost)
        return std::nullopt;
    }
    return WideBounds{std::min<Wide>(0, each.low * count), std::max<Wide>(0, each.high * count)};
  }

  static Wide sign(Wide value) { return Wide(value > 0) - Wide(value < 0); }

  // The greatest number of as many bits.
  static Wide all_bits(Wide value) {
    Wide out = 0;
    while (out < value)
      out = 2 * out + 1;
    return out;
  }

  template <class Operation> static WideBounds corners(const std::vector<Bounds> &args, Operation operation) {
    const Wide all[] = {operation(args[0].low, args[1].low), operation(args[0].low, args[1].high),
                        operation(args[0].high, args[1].low), operation(args[0].high, args[1].high)};
    return {*std::min_element(all, all + 4), *std::max_element(all, all + 4)};
  }

  std::optional<WideBounds> position(const Expr &index) const {
    if (index.ref != kNone || !index_count(kernel_, index.axis, kNone))
      return std::nullopt;
    const Axis &axis = kernel_.axes[index.axis];
    if (axis.size.is_integer())
      return WideBounds{0, std::max<int64_t>(axis.size.value - 1, 0)};
    return WideBounds{0, axis.most_in_int > 0 ? axis.most_in_int - 1 : INT64_MAX};
  }

  Kernel &kernel_;
  std::vector<std::optional<Bounds>> found_;
  State left_, next_;  // of the innermost loop: lanes that break, and that continue
  int depth_ = 0;      // of loops
  int conditions_ = 0; // branches and loops around the statement at hand
  int trying_ = 0;     // loops whose bounds are still looked for
};

} // namespace

void find_bounds(Kernel &kernel) { Follower(kernel).run(); }

} // namespace kgen::analysis
