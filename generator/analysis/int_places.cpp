// Axes whose indices and sizes an `int` holds that says which element is met: int j = 2 * index(N) + 1. Launchers
// refuse sizes for which it would wrap around and other elements would be met; so the int is what it is computed of.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "analysis/bounds.h"
#include "analysis/coordinates.h"
#include "analysis/flow.h"

namespace kgen::analysis {
namespace {

// So many times the sizes of axes, and a rest.
struct Sum {
  std::map<AxisId, int64_t> times;
  int64_t rest = 0;
};

// A whole number is at most `up`, and at least minus `down`.
struct Reach {
  Sum up, down;
};

using Found = std::optional<Reach>;

constexpr int64_t kMost = INT32_MAX;

Sum operator+(Sum a, const Sum &b) {
  for (const auto &[axis, times] : b.times)
    a.times[axis] += times;
  a.rest = std::min(a.rest + b.rest, kMost);
  return a;
}

Sum operator*(Sum a, int64_t by) {
  for (auto &[axis, times] : a.times)
    times = std::min(times * by, kMost);
  a.rest = std::min(a.rest * by, kMost);
  return a;
}

Sum larger(Sum a, const Sum &b) {
  for (const auto &[axis, times] : b.times)
    a.times[axis] = std::max(a.times[axis], times);
  a.rest = std::max(a.rest, b.rest);
  return a;
}

Found either(const Found &a, const Found &b) {
  return a && b ? Found(Reach{larger(a->up, b->up), larger(a->down, b->down)}) : std::nullopt;
}

Found sum(const Found &a, const Found &b) {
  return a && b ? Found(Reach{a->up + b->up, a->down + b->down}) : std::nullopt;
}

Found negative(const Found &a) { return a ? Found(Reach{a->down, a->up}) : a; }

Found product(const Found &a, int64_t by) {
  const Found out = by < 0 ? negative(a) : a;
  return out ? Found(Reach{out->up * std::abs(by), out->down * std::abs(by)}) : out;
}

class IntPlaces {
public:
  explicit IntPlaces(Kernel &kernel) : kernel_(kernel) {}

  void run() {
    visit_statements(kernel_.statements, [&](const Stmt &stmt, const auto &) {
      for (const Coordinate &c : stmt.coords)
        place(c.value);
      for (ExprId id : expressions_of(stmt))
        visit_expressions(kernel_, id, [&](const Expr &e, ExprId) {
          for (const Coordinate &c : e.coords)
            place(c.value);
        });
    });
    for (const auto &[axis, most] : most_)
      hold_in_int(kernel_.axes[axis], most);
  }

private:
  void place(ExprId id) {
    visit_with_locals(kernel_, id, followed_, [&](const Expr &e, ExprId inner) {
      if (e.type == Type::i32 && e.op != Op::read)
        hold(reach(inner));
    });
  }

  void hold(const Found &reach) {
    if (!reach)
      return;
    hold(reach->up);
    hold(reach->down);
  }

  // Each axis may have its share of the numbers that an int holds.
  void hold(const Sum &reach) {
    int64_t left = kMost - reach.rest, shares = 0;
    for (const auto &[axis, times] : reach.times)
      if (const Size &size = kernel_.axes[axis].size; size.is_integer())
        left -= times * std::min<int64_t>(size.value, kMost);
      else
        shares += times;
    if (shares == 0 || left < shares)
      return;
    for (const auto &[axis, times] : reach.times)
      if (!kernel_.axes[axis].size.is_integer()) {
        const auto [known, is_new] = most_.emplace(axis, left / shares);
        known->second = std::min(known->second, left / shares);
      }
  }

  Found reach(ExprId id, int depth = 0) {
    constexpr int kDeepest = 32;
    constexpr int64_t kOften = 64; // more times is a number that is meant to wrap around
    const Expr &e = kernel_.expr(id);
    if (depth > kDeepest || !is_integer(e.type) || is_unsigned(e.type))
      return std::nullopt;
    const auto of = [&](size_t arg) { return reach(e.args[arg], depth + 1); };
    switch (e.op) {
    case Op::constant:
      return std::abs(e.integer) <= kMost ? product(Reach{{{}, 1}, {}}, e.integer) : std::nullopt;
    case Op::index:
    case Op::size:
      return is_whole(e) ? Found(Reach{{{{e.axis, 1}}, 0}, {}}) : std::nullopt;
    case Op::read:
      if (const ExprId set = Coordinates::setting(kernel_, e); set != kNone)
        return reach(set, depth + 1);
      return std::nullopt;
    case Op::cast:
      return of(0);
    case Op::neg:
      return negative(of(0));
    case Op::add:
      return sum(of(0), of(1));
    case Op::sub:
      return sum(of(0), negative(of(1)));
    case Op::min:
    case Op::max:
      return either(of(0), of(1));
    case Op::clamp:
      return either(of(0), either(of(1), of(2)));
    case Op::choose:
      return either(of(1), of(2));
    case Op::abs:
    case Op::div: // whose sign may be the other one
    case Op::rem:
    case Op::shr:
      return either(of(0), negative(of(0)));
    case Op::mul:
      for (const size_t by : {0, 1})
        if (const Expr &times = kernel_.expr(e.args[by]); times.op == Op::constant && std::abs(times.integer) <= kOften)
          return product(of(1 - by), times.integer);
      return std::nullopt;
    default:
      return std::nullopt;
    }
  }

  bool is_whole(const Expr &e) const {
    const bool ragged = kernel_.axes[e.axis].ragged != kNone;
    return e.ref == kNone && (e.op == Op::size ? !ragged : index_count(kernel_, e.axis, kNone).has_value());
  }

  Kernel &kernel_;
  std::set<VarId> followed_;
  std::map<AxisId, int64_t> most_;
};

} // namespace

void find_int_places(Kernel &kernel) { IntPlaces(kernel).run(); }

} // namespace kgen::analysis
